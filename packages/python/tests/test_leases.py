"""Tests leased generators with SQLite: in one process, in forks and process pools, and in gunicorn."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import multiprocessing
import os
import pickle
import pydoc
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import polyflake
from polyflake import Lease, PolyflakeError, _lease, _lease_stores, hotguid, layout, randflake, sno, uuid7
from polyflake._polyflake import parse_lease_url
from support import REPOSITORY, ignore_fork_warnings, raises_code

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no forks here"),
    pytest.mark.filterwarnings("ignore:unclosed <Lease:ResourceWarning"),
]


@pytest.fixture
def url() -> Iterator[str]:
    """Yields the URL of a store on disk or in a container's file system, because the temporary folder may be in
    memory."""
    target = REPOSITORY / "target"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as folder:
        yield f"sqlite:{folder}/ids.db?allow=overlayfs"
        _lease._close_all()


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:").partition("?")[0]


def records(url: str, namespace: str = "orders/sno") -> list[tuple[int, bool]]:
    """Returns every worker ID that was ever leased, with a flag that is true if the worker ID is currently granted."""
    with closing(sqlite3.connect(path_of(url))) as database:
        query = "SELECT first, granted_until FROM polyflake_leases WHERE namespace = ? AND start > 0 ORDER BY first"
        rows = database.execute(query, [namespace]).fetchall()
    # A worker ID becomes free when its last tick ends. In some formats, a tick lasts a second.
    return [(first, until > time.time() * 1000 + 2000) for first, until in rows]


def granted_ids(url: str, namespace: str = "orders/sno") -> list[int]:
    return [number for number, is_granted in records(url, namespace) if is_granted]


FAMILIES: dict[str, Callable[[Lease], Any]] = {
    "sno": lambda lease: sno.Generator(lease=lease),
    "hotguid": lambda lease: hotguid.Generator(lease=lease),
    "uuid7": lambda lease: uuid7.Generator(lease=lease),
    "randflake": lambda lease: randflake.Generator(None, bytes(16), lease=lease),
    "layout": lambda lease: layout.Generator(
        layout.Layout.preset("twitter"), lease=lease, fields=("datacenter", "worker")
    ),
}


def worker_id_of(family: str, id: Any) -> int:
    if family == "sno":
        return int(id.partition)
    if family == "hotguid":
        return int.from_bytes(hotguid.parts(id).machine[:3], "big")
    if family == "uuid7":
        return uuid7.worker_id(id)
    if family == "randflake":
        return randflake.Codec(bytes(16)).inspect(id).node
    parsed_id = layout.Layout.preset("twitter").parse(id)
    return int(parsed_id.bindables["datacenter"]) << 5 | int(parsed_id.bindables["worker"])


def assert_closed(ids: Any) -> None:
    """Asserts that every call of a closed generator fails without waiting."""
    start_time = time.monotonic()
    for call in (
        ids.generate,
        ids.try_generate,
        lambda: asyncio.run(ids.generate_async()),
        lambda: ids.generate_many(2),
        lambda: ids.try_generate_many(2),
        lambda: asyncio.run(ids.generate_many_async(2)),
    ):
        with raises_code("generator_closed"):
            call()
    assert time.monotonic() - start_time < 1.0


@pytest.mark.parametrize("family", FAMILIES)
def test_every_format_makes_ids_with_its_worker_id(url: str, family: str) -> None:
    with polyflake.lease(url, "orders", worker_ids=(37, 40)) as lease:
        ids = FAMILIES[family](lease)
        made_ids = [ids.generate(), ids.try_generate(), asyncio.run(ids.generate_async())]
        made_ids += [*ids.generate_many(1000), *asyncio.run(ids.generate_many_async(1000)), *ids.try_generate_many(10)]
        assert {worker_id_of(family, id) for id in made_ids} == {37} == {lease.worker_id}
        assert len(set(made_ids)) == len(made_ids)
        assert granted_ids(url, f"orders/{family}") == [37]
        status = lease.status()
        assert (status.worker_id, status.grants, status.failures, status.rejected) == (37, 1, 0, None)
        assert 3_590_000 < status.remaining_ms <= 3_600_000
    assert granted_ids(url, f"orders/{family}") == []
    assert lease.status().worker_id is lease.worker_id is None
    assert_closed(ids)


@pytest.mark.parametrize("family", FAMILIES)
def test_unsupported_calls_of_a_leased_generator_name_the_remedy(url: str, family: str) -> None:
    lease = polyflake.lease(url, "orders")
    ids = FAMILIES[family](lease)
    calls = [ids.close, ids.stats]
    calls += [lambda: ids.extend_window(2**40)] if family != "randflake" else [lambda: ids.grant]
    calls += [lambda: ids.generate_at(2**40)] if family == "sno" else []
    for call in calls:
        with raises_code("lease_mismatch") as error:
            call()
        assert "`lease.close()`" in str(error.value)
    with raises_code("invalid_type"):
        pickle.dumps(lease)
    with raises_code("lease_mismatch") as error:
        FAMILIES[family](lease)
    assert "call `polyflake.lease` again" in str(error.value)
    assert not Path(path_of(url)).exists(), "nothing was leased"


def test_arguments_that_conflict_with_a_lease_are_rejected(url: str) -> None:
    grant = randflake.Grant(1, 1_730_000_000, 1_730_000_001)
    twitter = layout.Layout.preset("twitter")
    window = (0, 2**40)
    for make in (
        lambda lease: sno.Generator(7, lease=lease),
        lambda lease: sno.Generator(sequence_min=7, lease=lease),
        lambda lease: sno.Generator(window=window, lease=lease),
        lambda lease: sno.Generator(clock=time.time_ns, lease=lease),
        lambda lease: hotguid.Generator(window=window, lease=lease),
        lambda lease: uuid7.Generator(7, lease=lease),
        lambda lease: uuid7.Generator(resume_after=0, lease=lease),
        lambda lease: uuid7.Generator(follow_rollbacks=True, lease=lease),
        lambda lease: uuid7.Generator(clock=time.time_ns, lease=lease),
        lambda lease: randflake.Generator(grant, bytes(16), lease=lease),
        lambda lease: randflake.Generator(None, bytes(16), resume_after=1_730_000_000, lease=lease),
        lambda lease: layout.Generator(twitter, bindables={"worker": 1}, lease=lease, fields=("datacenter",)),
        lambda lease: layout.Generator(twitter, lease=lease),
        lambda lease: layout.Generator(twitter, fields=("worker",)),
    ):
        with raises_code("lease_mismatch"):
            make(polyflake.lease(url, "orders"))
    with raises_code("invalid_type", field="lease"):
        sno.Generator(lease=url)  # type: ignore[arg-type]
    with raises_code("invalid_type", field="grant"):
        randflake.Generator(None, bytes(16))
    ids = layout.Generator(twitter, lease=polyflake.lease(url, "orders"), fields=("datacenter", "worker"))
    with raises_code("lease_mismatch"):
        ids.generate({"worker": 1})


URLS = json.loads((REPOSITORY / "tests/leases/urls.json").read_text("utf-8"))["cases"]
#: Default values for the store settings that a test case omits.
URL_DEFAULTS = {
    "allows_overlayfs": False,
    "create": None,
    "lease_ms": None,
    "environment_worker_id": None,
    "worker_ids": None,
    "renew_ms": None,
    "schema": None,
    "sigterm": False,
    "storage": None,
    "strict": False,
    "wait_ms": None,
}


def test_url_parsing_matches_the_other_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    for case in URLS:
        monkeypatch.delenv("POLYFLAKE_LEASE", raising=False)
        monkeypatch.delenv("POLYFLAKE_WORKER_ID", raising=False)
        url = case["url"]
        if case.get("variable"):
            monkeypatch.setenv("POLYFLAKE_LEASE", url)
            url = None
            if "worker_id" in case:
                monkeypatch.setenv("POLYFLAKE_WORKER_ID", case["worker_id"])
        if "parsed" in case:
            assert json.loads(parse_lease_url(url, case.get("namespace"))) == {**URL_DEFAULTS, **case["parsed"]}
            continue
        with raises_code(case["error"]["code"]) as error:
            polyflake.lease(url, case.get("namespace"))
        message = str(error.value)
        assert all(said in message for said in case["error"]["says"]), (case, message)
        assert "sesame" not in message


def parse_server(url: str) -> dict[str, Any]:
    server: dict[str, Any] = json.loads(parse_lease_url(url, "orders"))["server"]
    return server


def test_clients_connect_with_the_parameters_of_the_url() -> None:
    url = "postgres://lease:a%40b@[::1]:6432/app?options=-c%20a%3Db&application_name=ids"
    assert _lease_stores.psycopg_arguments(parse_server(url)) == {
        "host": "::1",
        "port": "6432",
        "user": "lease",
        "password": "a@b",
        "dbname": "app",
        "sslmode": "disable",
        "application_name": "ids",
        "options": "-c a=b",
    }
    assert _lease_stores.asyncpg_arguments(parse_server(url)) == {
        "host": ["::1"],
        "port": [6432],
        "user": "lease",
        "password": "a@b",
        "database": "app",
        "ssl": False,
        "server_settings": {"application_name": "ids", "options": "-c a=b"},
    }
    multi_host_server = parse_server("postgres://lease@one,two:6432/app?sslrootcert=%2Froot.pem")
    psycopg_arguments = _lease_stores.psycopg_arguments(multi_host_server)
    assert (psycopg_arguments["host"], psycopg_arguments["port"], psycopg_arguments["target_session_attrs"]) == (
        "one,two",
        "5432,6432",
        "read-write",
    )
    assert (psycopg_arguments["sslmode"], psycopg_arguments["sslrootcert"]) == ("verify-full", "/root.pem")
    psycopg_arguments = _lease_stores.psycopg_arguments(parse_server("postgres://lease@db/app"))
    assert psycopg_arguments["sslrootcert"] == "system" or Path(psycopg_arguments["sslrootcert"]).exists()
    context = _lease_stores.asyncpg_arguments(parse_server("postgres://lease@one,two/app"))
    assert (context["ssl"].check_hostname, context["target_session_attrs"]) == (True, "read-write")
    for given in (_lease_stores.psycopg_arguments, _lease_stores.asyncpg_arguments):
        for attributes, expected in (("read-write", "read-write"), ("primary", "read-write"), ("any", None)):
            server = parse_server(f"postgres://lease@localhost/app?target_session_attrs={attributes}")
            assert given(server).get("target_session_attrs") == expected, attributes


def test_arguments_override_the_parameters_of_a_url(url: str) -> None:
    url_with_terms = f"{url}&worker_ids=3-4&lease_seconds=90&wait=2.5"
    lease = polyflake.lease(url_with_terms, "orders")
    assert [lease._upkeep.settings[name] for name in ("worker_ids", "lease_ms", "wait_ms")] == [[3, 4], 90_000, 2500]
    lease = polyflake.lease(url_with_terms, "orders", worker_ids=(5, 6), lease_seconds=60, wait=1)
    assert [lease._upkeep.settings[name] for name in ("worker_ids", "lease_ms", "wait_ms")] == [(5, 6), 60_000, 1000]
    with polyflake.lease(url_with_terms, "orders") as lease:
        assert sno.Generator(lease=lease).generate().partition in (3, 4)


def test_an_invalid_variable_is_rejected_for_every_id() -> None:
    code = """
from polyflake import PolyflakeError, sno
for _ in range(2):
    try:
        print(sno.generate())
    except PolyflakeError as error:
        print(error.code, error)
"""
    environment = {**os.environ, "POLYFLAKE_LEASE": "amqp://me:sesame@db?namespace=orders"}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    first, second = result.stdout.splitlines()
    assert first == second, "an invalid variable fails each time, and no other worker ID is leased"
    assert first.startswith("out_of_range cannot read POLYFLAKE_LEASE: the scheme `amqp:` is not supported"), first
    assert "sesame" not in result.stdout + result.stderr


def test_relative_paths_resolve_where_the_lease_was_made(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(path_of(url)).parent
    other_folder = folder / "elsewhere"
    other_folder.mkdir()
    monkeypatch.chdir(folder)
    with polyflake.lease("sqlite:ids.db?allow=overlayfs", "orders", lease_seconds=1.0) as lease:
        ids = sno.Generator(lease=lease)
        monkeypatch.chdir(other_folder)
        ids.generate()
        deadline = time.monotonic() + 20
        while lease.status().renewals < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (lease.status().renewals >= 2, lease.status().failures) == (True, 0)
        assert [number for number, _ in records(url)] == [0]
    assert list(other_folder.iterdir()) == []


def run_program(code: str, **environment: str) -> Any:
    """Returns the JSON that a program prints."""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


DEFAULTS_PROGRAM = """
import json
from polyflake import hotguid, sno, uuid7
machine = hotguid.parts(hotguid.generate()).machine
ids = [sno.generate().partition, sno.generate_many(2)[1].partition, machine[2], uuid7.worker_id(uuid7.generate())]
print(json.dumps(ids))
"""


def test_the_variable_sets_the_worker_id_of_module_functions(url: str) -> None:
    assert run_program(DEFAULTS_PROGRAM, POLYFLAKE_LEASE=f"{url}&namespace=orders", POLYFLAKE_WORKER_ID="41") == [
        41,
        41,
        41,
        41,
    ]
    assert [records(url, f"orders/{family}")[-1] for family in ("sno", "hotguid", "uuid7")] == [(41, False)] * 3


@pytest.mark.parametrize("call", ["polyflake.sno.generate()", "polyflake.hotguid.generate()", "polyflake.lease()"])
def test_variables_without_a_store_are_rejected(call: str) -> None:
    code = f"""
import json, polyflake
try:
    {call}
except polyflake.PolyflakeError as error:
    print(json.dumps([error.code, str(error)]))
"""
    example = "set it to a URL such as `sqlite:/var/lib/app/ids.db?namespace=orders`"
    expected_prefix = "cannot read POLYFLAKE_LEASE: "
    node_only_error = ["lease_unavailable", f"{expected_prefix}POLYFLAKE_WORKER_ID is set without it; {example}"]
    empty_value_error = ["out_of_range", f"{expected_prefix}it is empty; {example}"]
    assert run_program(code, POLYFLAKE_WORKER_ID="7") == node_only_error
    assert (
        run_program(code, POLYFLAKE_LEASE="")
        == run_program(code, POLYFLAKE_LEASE="", POLYFLAKE_WORKER_ID="7")
        == empty_value_error
    )


def test_a_lease_without_a_store_names_the_variable_to_set() -> None:
    with pytest.raises(PolyflakeError, match=r"POLYFLAKE_LEASE: it is not set; .*") as caught:
        polyflake.lease()
    assert caught.value.code == "lease_unavailable"


def test_a_variable_set_before_the_first_id_takes_effect(url: str) -> None:
    code = f"""
import os, polyflake
os.environ |= {{"POLYFLAKE_LEASE": "{url}&namespace=orders", "POLYFLAKE_WORKER_ID": "9"}}
print(polyflake.sno.generate().partition)
"""
    assert run_program(code) == 9


@pytest.mark.parametrize("variable", ["POLYFLAKE_LEASE", "POLYFLAKE_WORKER_ID"])
def test_a_random_worker_id_with_a_lease_variable_warns(
    url: str, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("POLYFLAKE_LEASE", raising=False)
    monkeypatch.delenv("POLYFLAKE_WORKER_ID", raising=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sno.Generator()
        monkeypatch.setenv(variable, f"{url}&namespace=orders")
        sno.Generator(7)
        sno.Generator(lease=polyflake.lease(url, "orders"))
        snapshot = sno.Generator(8).close()
        sno.Generator.restore(snapshot)
    with pytest.warns(RuntimeWarning, match=f"^{variable} is set, but this generator picks a random partition"):
        sno.Generator()


def test_a_leased_program_gets_no_warning(url: str) -> None:
    code = f"""
import json, os, warnings
warnings.simplefilter("error")
os.environ["POLYFLAKE_LEASE"] = "{url}&namespace=orders"
from polyflake import hotguid, sno
hotguid.generate()
print(json.dumps(sno.generate().partition))
"""
    assert run_program(code) == 0


def test_dir_and_help_list_the_lease_names() -> None:
    assert {*polyflake.__all__, "__doc__"} <= set(dir(polyflake))
    text = pydoc.render_doc(polyflake)
    assert "LeaseStatus" in text
    assert not re.findall(":[a-z]+:`", text)
    for family in (sno, hotguid, uuid7):
        assert "POLYFLAKE_LEASE" in pydoc.render_doc(family.generate)


def test_atexit_functions_can_make_ids_before_the_release(url: str) -> None:
    code = f"""
import atexit, polyflake
from polyflake import sno
ids = sno.Generator(lease=polyflake.lease({url!r}, "orders"))
atexit.register(lambda: print(ids.generate().partition))
ids.generate()
"""
    assert (run_program(code), granted_ids(url)) == (0, [])


def test_the_readme_example_runs(url: str) -> None:
    (block,) = re.findall(
        r"```Python\n(.*?)```", (REPOSITORY / "packages/python/README.md").read_text("utf-8"), re.DOTALL
    )
    block = block.replace("sqlite:ids.db", "sqlite:ids.db?allow=overlayfs")
    folder = Path(path_of(url)).parent
    result = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True, check=True)
    assert "LeaseStatus(worker_id=" in result.stdout
    assert granted_ids(url) == []


def test_importing_polyflake_loads_no_lease_modules() -> None:
    code = """
import json, sys
before = set(sys.modules)
import polyflake
polyflake.sno.generate()
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    assert not {"polyflake._lease", "logging", "asyncio", "sqlite3", "threading"} & set(run_program(code))


def test_events_reach_the_logger_and_the_callback(url: str, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[polyflake.LeaseEvent] = []

    def watch(event: polyflake.LeaseEvent) -> None:
        heard.append(event)
        raise ValueError("of the callback")

    with caplog.at_level(logging.INFO, "polyflake.lease"):
        with polyflake.lease(url, "orders", watch=watch, worker_ids=(5, 5), holder="me") as lease:
            sno.Generator(lease=lease).generate()
        other = polyflake.lease(url, "orders", worker_ids=(5, 6), wait=0.2, watch=heard.append)
        with raises_code("lease_unavailable") as error:
            sno.Generator(lease=other).generate()
        other.close()
    assert [event["name"] for event in heard][:3] == ["acquired", "sealed", "rejected"]
    assert all(set(event) <= set(polyflake.LeaseEvent.__annotations__) for event in heard)
    assert (heard[0]["worker_id"], heard[2]["code"]) == (5, "namespace_mismatch")
    assert heard[2]["message"] in str(error.value)
    log_messages = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert log_messages[0][1].startswith("orders: acquired: worker ID 5 until ")
    assert ("ERROR", "orders: the callback of the lease failed") in log_messages
    assert any(level == "WARNING" for level, _ in log_messages)


def test_a_namespace_with_another_shape_is_rejected_immediately(url: str) -> None:
    with polyflake.lease(url, "orders", worker_ids=(5, 5)) as lease:
        sno.Generator(lease=lease).generate()
    start_time = time.monotonic()
    with polyflake.lease(url, "orders", worker_ids=(5, 6), wait=60) as other:
        with raises_code("lease_unavailable") as error:
            sno.Generator(lease=other).generate()
        assert "the namespace orders/sno was made for worker IDs 5 to 5, not worker IDs 5 to 6" in str(error.value)
        for ready in (other.ready, lambda: asyncio.run(other.aready())):
            with raises_code("lease_unavailable"):
                ready()
    assert time.monotonic() - start_time < 20


@pytest.mark.parametrize(("given", "expected"), [("me", "me"), (None, f"{socket.gethostname()} {os.getpid()}")])
def test_a_record_contains_its_holder(url: str, given: str | None, expected: str) -> None:
    with polyflake.lease(url, "orders", holder=given) as lease:
        sno.Generator(lease=lease).generate()
        with closing(sqlite3.connect(path_of(url))) as store:
            holders = store.execute("SELECT holder FROM polyflake_leases WHERE first = ?", [lease.worker_id]).fetchall()
    assert holders == [(expected,)]


def test_a_lease_is_renewed_while_ids_are_made(url: str) -> None:
    with polyflake.lease(url, "orders", lease_seconds=1.0) as lease:
        ids = sno.Generator(lease=lease)
        deadline, made_ids = time.monotonic() + 3, []
        while time.monotonic() < deadline:
            made_ids.append(ids.generate())
            time.sleep(0.01)
        assert lease.status().renewals >= 4
        assert lease.status().grants == 1
    assert len(set(made_ids)) == len(made_ids)


def stop_outside_of_requests(process: subprocess.Popen[str], url: str) -> None:
    """Suspends a process between requests to its store, when the process does not hold the lock on the store's file."""
    with closing(sqlite3.connect(path_of(url), timeout=0, isolation_level=None)) as store:
        for _ in range(1000):
            process.send_signal(signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            try:
                store.execute("BEGIN IMMEDIATE")
                store.execute("ROLLBACK")
                return
            except sqlite3.OperationalError:
                process.send_signal(signal.SIGCONT)
                time.sleep(0.01)
    raise AssertionError("expected a moment without a request")


def test_a_worker_stopped_past_its_lease_makes_no_ids(url: str) -> None:
    """Simulates a worker whose interpreter is blocked for so long that another process leases its worker ID."""
    code = """
import sys, threading, polyflake
from polyflake import sno
lease = polyflake.lease(sys.argv[1], "orders", lease_seconds=1.0, worker_ids=(0, 1), wait=30)
ids = sno.Generator(lease=lease, max_wait=0)
print(ids.generate(), flush=True)
sys.setswitchinterval(1000)
sys.stdin.readline()
try:
    print(ids.generate(), flush=True)
except polyflake.PolyflakeError as error:
    print(error.code, error, flush=True)
"""
    command = [sys.executable, "-c", code, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            assert sno.Sno(process.stdout.readline().strip()).partition == 0
            stop_outside_of_requests(process, url)
            time.sleep(1.5)
            with polyflake.lease(url, "orders", lease_seconds=1.0, worker_ids=(0, 1), required_worker_id=0) as lease:
                assert sno.Generator(lease=lease).generate().partition == 0
                process.stdin.write("\n")
                process.stdin.flush()
                process.send_signal(signal.SIGCONT)
                said = process.stdout.readline()
                assert said.startswith("lease_unavailable ") or sno.Sno(said.strip()).partition == 1, said
            process.communicate()
        finally:
            # A suspended process never exits by itself.
            process.kill()


def test_the_status_after_the_end_of_a_lease_has_no_worker_id(url: str) -> None:
    lease = polyflake.lease(url, "orders", lease_seconds=1.0)
    ids = sno.Generator(lease=lease)
    assert ids.generate().partition == lease.worker_id == lease.status().worker_id == 0
    with closing(sqlite3.connect(path_of(url), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")  # so no renewal succeeds
        time.sleep(1.2)
        status = lease.status()
        assert (status.worker_id, status.end, status.remaining_ms, lease.worker_id) == (None, None, 0, None)
    lease.close()


def test_waiting_for_the_first_id_handles_signals(url: str) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    with polyflake.lease(url, "orders", worker_ids=(0, 0)) as holder:
        sno.Generator(lease=holder).generate()
        waiting_lease = polyflake.lease(url, "orders", worker_ids=(0, 0), wait=30)
        previous_handler = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(Interrupted):
                sno.Generator(lease=waiting_lease).generate()
        finally:
            signal.signal(signal.SIGALRM, previous_handler)
        waiting_lease.close()
        turns = []
        ticking_thread = threading.Thread(target=lambda: [turns.append(time.sleep(0.01)) for _ in range(20)])
        ticking_thread.start()
        short_lease = polyflake.lease(url, "orders", worker_ids=(0, 0), wait=0.5)
        start_time = time.monotonic()
        with raises_code("lease_unavailable") as error:
            sno.Generator(lease=short_lease).generate()
        assert 0.4 < time.monotonic() - start_time < 5
        assert len(turns) == 20, "other threads run meanwhile"
        assert "cannot lease a worker ID from sqlite:/" in str(error.value)
        assert re.search(r": the worker ID is leased to another process, the first until 20.*Z$", str(error.value))
        with raises_code("lease_unavailable"):
            asyncio.run(
                sno.Generator(lease=polyflake.lease(url, "orders", worker_ids=(0, 0), wait=0.2)).generate_async()
            )
        with raises_code("lease_unavailable"):
            sno.Generator(lease=polyflake.lease(url, "orders", worker_ids=(0, 0))).try_generate()


def test_a_process_waits_only_once_for_a_lease(url: str) -> None:
    with polyflake.lease(url, "orders", worker_ids=(0, 0)) as lease:
        assert sno.Generator(lease=lease).generate().partition == lease.ready() == 0
        waiting_lease = polyflake.lease(url, "orders", worker_ids=(0, 0), wait=3, lease_seconds=5)
        ids = sno.Generator(lease=waiting_lease)
        with raises_code("lease_unavailable"):
            ids.generate()
        start_time = time.monotonic()
        for call in (ids.generate, lambda: asyncio.run(ids.generate_async())):
            with raises_code("lease_unavailable"):
                call()
        assert time.monotonic() - start_time < 2.5, "neither waits again"
    deadline = time.monotonic() + 20
    while waiting_lease.worker_id is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ids.generate().partition == 0
    waiting_lease.close()


@pytest.mark.parametrize(
    ("store", "code", "reason"),
    [
        ("sqlite:/nowhere/ids.db", "lease_unavailable", "the folder does not exist"),
        ("sqlite:/proc/version", "store_not_durable|lease_unavailable", ".*"),
        ("sqlite:/dev/shm/ids.db", "store_not_durable", "the file is on tmpfs, which may lose what was written; .*"),
    ],
)
def test_permanent_errors_are_raised_immediately(store: str, code: str, reason: str) -> None:
    start_time = time.monotonic()
    for ids in [sno.Generator(lease=polyflake.lease(store, "orders"))] * 2:
        with raises_code("lease_unavailable") as error:
            ids.generate()
        assert re.fullmatch(f"cannot lease a worker ID from {store}: {reason}", str(error.value))
    with pytest.raises(PolyflakeError) as error:
        polyflake.lease.check(store, "orders")
    assert re.fullmatch(code, error.value.code)
    assert re.fullmatch(f"cannot lease a worker ID from {store}: {reason}", str(error.value))
    assert time.monotonic() - start_time < 5


def test_a_check_leases_nothing_and_creates_nothing(url: str) -> None:
    url_without_query = url.partition("?")[0]
    assert polyflake.lease.check(url, "orders") == url_without_query
    assert not Path(path_of(url)).exists()
    with polyflake.lease(url, "orders", worker_ids=(5, 5)) as lease:
        sno.Generator(lease=lease).generate()
        with raises_code("worker_ids_exhausted") as error:
            polyflake.lease.check(f"{url}&namespace=orders")
        assert str(error.value).startswith(
            f"cannot lease a worker ID from {url_without_query}: all 1 worker IDs of orders/sno are "
        )
        assert polyflake.lease.check(url, "others") == url_without_query
    assert polyflake.lease.check(url, "orders") == url_without_query


@pytest.mark.parametrize(
    ("terms", "environment", "reason"),
    [
        ("lease_seconds=0.1", {}, "expected a lease of at least two ticks"),
        ("lease_seconds=99999999", {}, "expected a lease of at least two ticks"),
        (
            "worker_ids=3-4",
            {"POLYFLAKE_WORKER_ID": "7"},
            "cannot use the worker ID in POLYFLAKE_WORKER_ID: .* from 3 to 4, found 7",
        ),
        ("worker_ids=3-4", {"POLYFLAKE_HOLDER": "x" * 201}, "200 bytes"),
        ("sigterm=yes", {}, "`sigterm` can only be"),
    ],
)
def test_a_check_rejects_the_terms_that_a_lease_rejects(
    url: str, terms: str, environment: dict[str, str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (environment | {"POLYFLAKE_LEASE": f"{url}&namespace=orders&{terms}"}).items():
        monkeypatch.setenv(name, value)
    with raises_code("out_of_range") as error:
        polyflake.lease.check()
    assert re.search(reason, str(error.value))


def test_a_connection_that_cannot_be_released_is_ignored() -> None:
    class Connection:
        def remove_log_listener(self, _: object) -> None:
            pass

    async def release_connection(_: object) -> None:
        raise OSError("the pool is closed")

    driver = _lease_stores.Asyncpg(lambda: None, release_connection, True)
    driver.connection = Connection()
    assert asyncio.run(driver.execute({"do": "close"})) is None
    assert driver.connection is None


def test_each_reason_is_logged_once(url: str, caplog: pytest.LogCaptureFixture) -> None:
    folder = Path(path_of(url)).parent / "late"
    late_url = f"sqlite:{folder}/ids.db?allow=overlayfs"
    with caplog.at_level(logging.INFO, "polyflake.lease"), polyflake.lease(late_url, "orders") as lease:
        ids = sno.Generator(lease=lease)
        with raises_code("lease_unavailable"):
            ids.generate()
        while lease.status().failures < 4:
            time.sleep(0.01)
        folder.mkdir()
        deadline = time.monotonic() + 20
        while lease.worker_id is None and time.monotonic() < deadline:
            time.sleep(0.01)
        ids.generate()
    log_messages = [record.getMessage() for record in caplog.records]
    assert len([line for line in log_messages if "rejected" in line]) == 1, log_messages
    url_without_query = late_url.partition("?")[0]
    assert (
        log_messages[0]
        == f"orders: rejected: cannot lease a worker ID from {url_without_query}: the folder does not exist"
    )


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("namespace", 7, "invalid_type"),
        ("schema", b"ids", "invalid_type"),
        ("holder", 7, "invalid_type"),
        ("preferred_worker_id", "1", "invalid_type"),
        ("preferred_worker_id", True, "invalid_type"),
        ("preferred_worker_id", -1, "out_of_range"),
        ("required_worker_id", 1.5, "invalid_type"),
        ("required_worker_id", 1 << 64, "out_of_range"),
        ("worker_ids", 7, "invalid_type"),
        ("worker_ids", (1,), "invalid_type"),
        ("worker_ids", (1, "2"), "invalid_type"),
        ("worker_ids", (2, 1), "out_of_range"),
        ("lease_seconds", "60", "invalid_type"),
        ("lease_seconds", float("nan"), "out_of_range"),
        ("lease_seconds", float("inf"), "out_of_range"),
        ("wait", None, ""),
        ("wait", "1", "invalid_type"),
        ("wait", -1, "out_of_range"),
        ("wait", 1e300, "out_of_range"),
        ("watch", 5, "invalid_type"),
        ("sigterm", "x", "invalid_type"),
        ("strict", 1, "invalid_type"),
        ("renew_seconds", "10", "invalid_type"),
        ("renew_seconds", -1, "out_of_range"),
        ("renew_seconds", 0.9, "out_of_range"),
        ("holder", "a" * 201, "out_of_range"),
        ("holder", "é" * 101, "out_of_range"),
    ],
)
def test_invalid_arguments_are_rejected_by_name(field: str, value: Any, code: str) -> None:
    given = {"store": "sqlite:/ids.db", "namespace": "orders", field: value}
    if not code:
        polyflake.lease(**given)
        return
    with raises_code(code, field=field):
        polyflake.lease(**given)


def test_the_generator_rejects_lease_arguments_outside_its_format(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for given in (
        {"preferred_worker_id": 65_536},
        {"worker_ids": (0, 65_536)},
        {"lease_seconds": 0.1},
    ):
        with raises_code("out_of_range"):
            sno.Generator(lease=polyflake.lease(url, "orders", **given))
    monkeypatch.setenv("POLYFLAKE_LEASE", f"{url}&namespace=orders")
    monkeypatch.setenv("POLYFLAKE_WORKER_ID", "70000")
    with raises_code("out_of_range") as error:
        sno.Generator(lease=polyflake.lease())
    assert str(error.value).startswith("cannot use the worker ID in POLYFLAKE_WORKER_ID: ")


def test_the_variable_sets_the_holder(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYFLAKE_HOLDER", "pod-7")
    with polyflake.lease(url, "orders") as lease:
        sno.Generator(lease=lease).generate()
        with closing(sqlite3.connect(path_of(url))) as store:
            holders = store.execute("SELECT holder FROM polyflake_leases WHERE first = ?", [lease.worker_id]).fetchall()
    assert holders == [("pod-7",)]


def test_waiting_for_the_first_id_does_not_block_the_event_loop(url: str) -> None:
    async def main(lease: Lease) -> tuple[int, int]:
        ids, turns = sno.Generator(lease=lease), 0
        made = asyncio.ensure_future(ids.generate_async())
        while not made.done():
            await asyncio.sleep(0)
            turns += 1
        return turns, made.result().partition

    with polyflake.lease(url, "orders") as lease:
        turns, partition = asyncio.run(main(lease))
        assert turns > 3
        assert granted_ids(url) == [partition]


def ids_after_exit(url: str, end: str, *, options: str = "") -> list[int]:
    """Returns the worker IDs that are still granted after a program has ended."""
    code = f"""
import os, signal, sys, polyflake
from polyflake import sno
lease = polyflake.lease({url!r}, "orders"{options})
ids = sno.Generator(lease=lease)
ids.generate()
{end}
"""
    subprocess.run([sys.executable, "-c", code], timeout=60)
    return granted_ids(url)


@pytest.mark.parametrize("end", ["", "raise ValueError", "sys.exit(3)", "os.kill(os.getpid(), signal.SIGINT)"])
def test_a_worker_id_is_released_at_exit(url: str, end: str) -> None:
    assert ids_after_exit(url, end) == []


def test_sigterm_releases_the_worker_id_on_request(url: str) -> None:
    terminate_code = "os.kill(os.getpid(), signal.SIGTERM)"
    assert ids_after_exit(url, terminate_code, options=", sigterm=True") == []
    assert ids_after_exit(url, f"signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); {terminate_code}") == []
    assert ids_after_exit(url, terminate_code) == [0], "a signal without a handler ends the process at once"


def test_sigterm_with_a_custom_handler_keeps_the_lease(url: str) -> None:
    ignore_code = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    handle_code = "signal.signal(signal.SIGTERM, lambda *_: done.append(ids.generate()))"
    for setting in (ignore_code, handle_code):
        code = f"""
import os, signal, polyflake
from polyflake import sno
done = []
{setting}
ids = sno.Generator(lease=polyflake.lease({url!r}, "orders", sigterm=True))
ids.generate()
os.kill(os.getpid(), signal.SIGTERM)
print(ids.generate().partition + len(done))
"""
        assert (run_program(code), granted_ids(url)) == (int(setting is handle_code), [])


def test_only_the_main_thread_installs_the_sigterm_handler(url: str) -> None:
    previous_handler = signal.getsignal(signal.SIGTERM)
    url = f"{url}&sigterm=true"
    try:
        polyflake.lease.check(url, "orders")
        assert signal.getsignal(signal.SIGTERM) is previous_handler
        with ThreadPoolExecutor() as pool, polyflake.lease(url, "orders") as lease:
            ids = pool.submit(lambda: sno.Generator(lease=lease)).result()
            with raises_code("lease_unavailable") as error:
                pool.submit(ids.generate).result()
            assert "main thread" in str(error.value)
        with ThreadPoolExecutor() as pool, polyflake.lease(url, "orders") as lease:
            ids = sno.Generator(lease=lease)
            assert signal.getsignal(signal.SIGTERM) is not previous_handler
            assert pool.submit(ids.generate).result().partition == 0
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


def test_one_worker_id_is_reused_by_consecutive_processes(url: str) -> None:
    for _ in range(5):
        assert ids_after_exit(url, "") == []
    assert records(url) == [(0, False)]


def test_a_closed_lease_makes_no_ids(url: str) -> None:
    unused_lease = polyflake.lease(url, "orders")
    unused_lease.close()
    assert_closed(sno.Generator(lease=unused_lease))
    with polyflake.lease(url, "orders", worker_ids=(0, 0)) as holder:
        sno.Generator(lease=holder).generate()
        waiting_lease = polyflake.lease(url, "orders", worker_ids=(0, 0), wait=30)
        ids = sno.Generator(lease=waiting_lease)
        threading.Timer(0.5, waiting_lease.close).start()
        start_time = time.monotonic()
        with raises_code("generator_closed"):
            ids.generate()
        assert time.monotonic() - start_time < 10
        assert_closed(ids)


def test_an_unknown_client_exception_does_not_end_the_lease(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = polyflake.lease(url, "orders", lease_seconds=3)
    ids = sno.Generator(lease=lease)
    ids.generate()
    run, has_raised = lease._upkeep.driver.run, threading.Event()

    def fail_once(*arguments: Any) -> Any:
        if has_raised.is_set():
            return run(*arguments)
        has_raised.set()
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(lease._upkeep.driver, "run", fail_once)
    assert has_raised.wait(5)
    deadline = time.monotonic() + 5
    while not lease.status().renewals and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (lease.status().renewals, ids.generate().partition) == (1, 0)
    lease.close()
    assert granted_ids(url) == []


@pytest.mark.parametrize(("strict", "is_away"), [(True, True), (True, False), (False, False)])
def test_a_strict_lease_withholds_ids_after_a_gap(
    url: str, strict: bool, is_away: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stops the lease's thread and its monotonic clock, as if the process were restored from an image some seconds
    later."""
    stops, resumes, events, lost = threading.Event(), threading.Event(), [], 0
    original_elapsed_ms = _lease._elapsed_ms

    def elapsed_ms() -> int:
        nonlocal lost
        begun = original_elapsed_ms()
        if stops.is_set():
            assert resumes.wait(30)
            stops.clear()
            lost += original_elapsed_ms() - begun
        return original_elapsed_ms() - lost

    def is_held() -> bool:
        try:
            ids.try_generate()
        except PolyflakeError as error:
            assert error.code == "lease_unavailable", error
            return True
        return False

    monkeypatch.setattr(_lease, "_elapsed_ms", elapsed_ms)
    with polyflake.lease(url, "orders", strict=strict, watch=lambda event: events.append(event["name"])) as lease:
        ids = sno.Generator(lease=lease)
        ids.generate()
        original_execute = lease._upkeep.driver.execute
        if is_away:
            driver = lease._upkeep.driver
            monkeypatch.setattr(
                driver, "execute", lambda it: {"silent": True} if it["do"] == "run" else original_execute(it)
            )
        stops.set()
        time.sleep(4)
        assert is_held() is strict
        resumes.set()
        resume_time = time.monotonic()
        while is_held():
            assert time.monotonic() - resume_time < 10
            time.sleep(0.01)
        held_seconds = time.monotonic() - resume_time
        if strict:
            assert events[:2] == ["acquired", "gap"] and events[-1] == ("unconfirmed" if is_away else "renewed"), events
        if is_away:
            assert held_seconds > 0.9, held_seconds


def test_closing_takes_effect_while_the_store_is_blocked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = polyflake.lease(url, "orders", lease_seconds=2)
    ids = sno.Generator(lease=lease)
    ids.generate()
    is_held, original_execute = threading.Event(), lease._upkeep.driver.execute

    def hold_lease(command: dict[str, Any]) -> Any:
        is_held.set()
        time.sleep(1.5)
        return original_execute(command)

    monkeypatch.setattr(lease._upkeep.driver, "execute", hold_lease)
    assert is_held.wait(10), "a renewal waits for the store"
    closing_thread = threading.Thread(target=lease.close)
    closing_thread.start()
    time.sleep(0.1)
    assert_closed(ids)
    closing_thread.join()
    assert granted_ids(url) == []


def test_a_dropped_lease_closes_itself(url: str) -> None:
    def handle_request() -> int:
        return sno.Generator(lease=polyflake.lease(url, "orders")).generate().partition

    thread_count = threading.active_count()
    for _ in range(3):
        with pytest.warns(ResourceWarning, match=r"^unclosed <Lease of worker ID 0 of orders>: call its `close\(\)`$"):
            assert handle_request() == 0
            gc.collect()
        deadline = time.monotonic() + 10
        while threading.active_count() > thread_count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (threading.active_count(), granted_ids(url)) == (thread_count, [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        polyflake.lease(url, "orders")
        with polyflake.lease(url, "orders") as lease:
            sno.Generator(lease=lease).generate()
        del lease
        gc.collect()


def test_a_generator_keeps_its_lease(url: str) -> None:
    ids = sno.Generator(lease=polyflake.lease(url, "orders"))
    made_ids = [ids.generate()]
    gc.collect()
    made_ids.append(ids.generate())
    assert (len(set(made_ids)), granted_ids(url)) == (2, [0])


def test_the_log_states_the_code_of_a_rejection(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with polyflake.lease(url, "orders", worker_ids=(0, 0)) as holder:
        sno.Generator(lease=holder).generate()
        with polyflake.lease(url, "orders", worker_ids=(0, 0), wait=0.5) as lease, raises_code("lease_unavailable"):
            sno.Generator(lease=lease).generate()
    log_messages = [record.getMessage() for record in caplog.records]
    assert any(" rejected: " in line and line.endswith("Z (worker_ids_exhausted)") for line in log_messages), (
        log_messages
    )


@ignore_fork_warnings
def test_a_forked_child_leases_its_own_worker_id(url: str) -> None:
    lease = polyflake.lease(url, "orders", worker_ids=(0, 7))
    ids = sno.Generator(lease=lease)
    parent_ids = [ids.generate() for _ in range(100)]
    children = []
    for _ in range(3):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                assert lease.worker_id is None
                made_ids = [ids.generate() for _ in range(100)]
                assert lease.worker_id == made_ids[0].partition
                os.write(write, json.dumps([str(id) for id in made_ids]).encode())
                lease.close()
            finally:
                os._exit(0)
        os.close(write)
        children.append((child, read))
    parent_ids += [ids.generate() for _ in range(100)]
    child_ids = []
    for child, read in children:
        with os.fdopen(read, "rb") as pipe:
            child_ids += [sno.Sno(text) for text in json.loads(pipe.read())]
        os.waitpid(child, 0)
    assert {id.partition for id in parent_ids} == {0}
    assert 0 not in {id.partition for id in child_ids}
    assert len({*parent_ids, *child_ids}) == len(parent_ids) + len(child_ids) == 500
    assert granted_ids(url) == [0], "the children's worker IDs came back, the parent's stays"
    lease.close()
    assert granted_ids(url) == []


@ignore_fork_warnings
@pytest.mark.parametrize("seconds", [0.5, 4.0])
def test_a_fork_waits_until_no_file_is_open(url: str, seconds: float) -> None:
    path = path_of(url)
    open_store = _lease_stores.SQLite(path)
    open_store.open()
    close_timer = threading.Timer(seconds, open_store.close)
    start_time = time.monotonic()
    close_timer.start()
    child = os.fork()
    if child == 0:
        code = 2
        try:
            _lease_stores.SQLite(path).open()
            code = 0
        except OSError as error:
            code = 1 if "found an open one" in str(error) else 3
        finally:
            os._exit(code)
    wait_seconds = time.monotonic() - start_time
    # A child that was forked while the file was open must not open it, because SQLite would mistake the parent's locks
    # for the child's.
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (0 if seconds < 2 else 1)
    assert min(seconds, 2) <= wait_seconds < min(seconds, 2) + 1.5
    close_timer.join()
    other_store = _lease_stores.SQLite(path)
    other_store.open()
    other_store.close()


@ignore_fork_warnings
def test_a_child_forked_before_the_lease_gets_its_own(url: str) -> None:
    lease = polyflake.lease(url, "orders")
    ids = sno.Generator(lease=lease)
    child = os.fork()
    if child == 0:
        try:
            ids.generate()
            lease.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert records(url) == [(0, False)]
    assert ids.generate().partition == 0
    lease.close()


LEASE: Lease | None = None
GENERATOR: Any = None


def begin_lease(url: str) -> None:
    global LEASE, GENERATOR
    LEASE = polyflake.lease(url, "orders", worker_ids=(0, 3))
    GENERATOR = sno.Generator(lease=LEASE)


def make_ids(_: int) -> list[str]:
    return [str(GENERATOR.generate()) for _ in range(50)]


@ignore_fork_warnings
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_workers_release_their_worker_ids(url: str, method: str) -> None:
    """Four worker IDs suffice for twenty workers that each exit after two tasks."""
    context = multiprocessing.get_context(method)
    tasks, workers = (40, 2) if method == "fork" else (8, 2)
    with context.Pool(workers, begin_lease, [url], maxtasksperchild=2) as pool:
        made_ids = [id for ids in pool.map(make_ids, range(tasks), chunksize=1) for id in ids]
        pool.close()
        pool.join()
    assert len(set(made_ids)) == len(made_ids) == 50 * tasks
    assert granted_ids(url) == []
    assert len(records(url)) <= 4


#: A program that uses its own generator and the module functions. An environment variable sets their worker ID.
APPLICATION = """
import json
import os

import polyflake
from polyflake import sno

lease = polyflake.lease(os.environ["STORE"], "workers", worker_ids=(0, 5))
ids = sno.Generator(lease=lease)


def application(environ, start_response):
    made = [str(ids.generate()) for _ in range(20)]
    default = [str(sno.generate()) for _ in range(20)]
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps({"pid": os.getpid(), "ids": made, "default": default}).encode()]
"""


@pytest.mark.parametrize("options", [(), ("--preload",), ("--worker-class", "gthread", "--threads", "2")])
def test_gunicorn_workers_release_their_worker_ids(
    url: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six worker IDs suffice for two workers that are replaced after a few requests."""
    import test_servers

    monkeypatch.setattr(test_servers, "APPLICATION", APPLICATION)
    monkeypatch.setenv("STORE", url)
    monkeypatch.setenv("POLYFLAKE_LEASE", f"{url}&namespace=orders")
    with tempfile.TemporaryDirectory() as folder:
        with test_servers.server(Path(folder), "--workers", "2", "--max-requests", "3", *options) as address:
            answers = [test_servers.http_get(address) for _ in range(30)]
            assert len(granted_ids(url)) <= 4
        log = (Path(folder) / "log").read_text()
    assert len({answer["pid"] for answer in answers}) >= 6, "workers were replaced"
    for key in ("ids", "default"):
        made_ids = [id for answer in answers for id in answer[key]]
        assert len(set(made_ids)) == len(made_ids) == 600
    assert granted_ids(url) == granted_ids(url, "workers/sno") == [], log
    assert len(records(url)) <= 6, "worker IDs were leased again"


def test_a_service_that_stalls_within_its_last_response_is_cut_off() -> None:
    finished_event = threading.Event()

    def serve(server: socket.socket) -> None:
        with server.accept()[0] as client:
            client.recv(1 << 16)
            client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\n")
            finished_event.wait(10)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=[server])
        thread.start()
        server_settings = {"hosts": [["127.0.0.1", server.getsockname()[1]]], "encrypts": False, "password": "sesame"}
        driver = _lease_stores.Http(server_settings, 5)
        driver.open()
        start_time = time.monotonic()
        assert driver.run([["{}", [0, "1"]]], 0.2) == _lease_stores.NO_OUTPUT
        assert time.monotonic() - start_time < 3
        finished_event.set()
        thread.join()
        driver.end()
