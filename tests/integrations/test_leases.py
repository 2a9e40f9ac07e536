"""Leases over the clients of PostgreSQL, and in the servers that users run."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import pwd
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
from sqlalchemy import create_engine

import polyflake
from conftest import Server
from polyflake import PolyflakeError, _lease, _lease_stores, sno

REPOSITORY = Path(__file__).resolve().parents[2]
STEPS = json.loads((REPOSITORY / "tests/leases/steps.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def durable() -> Iterator[Server]:
    """A server that keeps what it acknowledges: leases refuse any other."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parts[-2]))
    if not programs:
        assert "CI" not in os.environ, "expected PostgreSQL on this machine"
        pytest.skip("no PostgreSQL on this machine")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), programs[-1])
        if server.user:
            os.chown(folder, pwd.getpwnam(server.user).pw_uid, -1)
        server.start("fsync=on")
        yield server
        _lease._close_all()
        server.stop()


@pytest.fixture
def file() -> Iterator[Path]:
    """A file on a disk: the system's folder for temporary files may be in memory."""
    with tempfile.TemporaryDirectory(dir=REPOSITORY / "target") as folder:
        yield Path(folder) / "ids.db"
        _lease._close_all()


def granted(url: str) -> list[int]:
    asked = "SELECT first FROM polyflake_leases WHERE granted_until > %s ORDER BY first"
    with psycopg.connect(url) as connection:
        return [first for (first,) in connection.execute(asked, [time.time_ns() // 1_000_000]).fetchall()]


#: Ways to give a database that threads use.
STORES: dict[str, Callable[[ExitStack, str], Any]] = {
    "url": lambda _, url: url,
    "function": lambda _, url: lambda: psycopg.connect(url),
    "engine": lambda _, url: create_engine(url.replace("postgresql://", "postgresql+psycopg://")),
}


def pool_of(stack: ExitStack, url: str) -> Any:
    pool = pytest.importorskip("psycopg_pool").ConnectionPool(url, min_size=1, open=True)
    return stack.enter_context(pool)


STORES["pool"] = pool_of


@pytest.mark.parametrize("store", STORES)
def test_psycopg_leases_renews_and_returns(durable: Server, store: str) -> None:
    url = durable.url()
    with ExitStack() as stack:
        given = STORES[store](stack, url)
        with polyflake.lease(given, "orders", lease_seconds=1.5, numbers=(3, 3)) as lease:
            ids = sno.Generator(lease=lease)
            made, end = [], time.monotonic() + 2.5
            while time.monotonic() < end:
                made.append(ids.generate())
                time.sleep(0.01)
            assert granted(url) == [3]
            status = lease.status()
            assert (status.grants, status.failures) == (1, 0), status
            assert status.renewals >= 3
        assert granted(url) == []
        if store == "pool":
            with given.connection() as connection:
                assert not connection.autocommit, "a connection comes back as it was"
        if store == "engine":
            given.dispose()
    assert {id.partition for id in made} == {3}
    assert len(set(made)) == len(made)


def test_asyncpg_leases_in_the_programs_loop(durable: Server) -> None:
    url = durable.url()

    async def main() -> None:
        async with asyncpg.create_pool(url, min_size=1) as pool:
            lease = polyflake.lease(pool, "orders", lease_seconds=1.5, numbers=(3, 3))
            ids = sno.Generator(lease=lease)
            with pytest.raises(PolyflakeError, match=r"begins by `await lease.ready\(\)`"):
                ids.generate()
            await lease.ready()
            made, end = [ids.generate(), await ids.generate_async()], time.monotonic() + 2.5
            while time.monotonic() < end:
                made += [ids.generate(), *await ids.generate_many_async(10)]
                await asyncio.sleep(0.01)
            assert granted(url) == [3]
            assert (lease.status().grants, lease.status().failures) == (1, 0)
            assert lease.status().renewals >= 3
            assert len(set(made)) == len(made)
            await lease.aclose()
            assert granted(url) == []

    asyncio.run(main())


def test_a_loop_that_ends_returns_the_number(durable: Server) -> None:
    url = durable.url()

    async def main() -> polyflake.Lease:
        lease = polyflake.lease(lambda_connect(url), "orders")
        await sno.Generator(lease=lease).generate_async()
        assert granted(url) == [0]
        return lease

    def lambda_connect(url: str) -> Any:
        async def connect() -> Any:
            return await asyncpg.connect(url)

        return connect

    lease = asyncio.run(main())
    assert granted(url) == []
    assert lease.number is None


def test_asyncpg_serves_a_url_where_it_is_the_only_client(durable: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = durable.url()
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: name == "asyncpg")
    with polyflake.lease(url, "orders") as lease:
        assert sno.Generator(lease=lease).generate().partition == 0
        assert granted(url) == [0]
    assert granted(url) == []


def test_a_missing_client_is_named_at_the_first_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: None)
    ids = sno.Generator(lease=polyflake.lease("postgres://me:secret@db/app", "orders"))
    with pytest.raises(PolyflakeError, match=r'pip install "psycopg\[binary\]"') as error:
        ids.generate()
    assert error.value.code == "lease_unavailable"


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (7, "expected a URL, a pool, an engine or a function that connects, found int"),
        (create_engine("mariadb+pymysql://db"), r"found mysql\+pymysql|found mariadb\+pymysql"),
    ],
)
def test_other_stores_are_refused(store: Any, said: str) -> None:
    with pytest.raises(PolyflakeError, match=said):
        sno.Generator(lease=polyflake.lease(store, "orders")).generate()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_a_child_leases_over_a_connection_of_its_own(durable: Server) -> None:
    """The parent's connections and its pool stay its own: it goes on with both."""
    url = durable.url()
    with ExitStack() as stack:
        pool, engine = pool_of(stack, url), create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        leases = [polyflake.lease(given, "orders") for given in (url, engine, pool)]
        generators = [sno.Generator(lease=lease) for lease in leases]
        mine = [ids.generate().partition for ids in generators]
        assert granted(url) == sorted(mine)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            told: list[Any] = []
            try:
                told += [ids.generate().partition for ids in generators[:2]]
                try:
                    generators[2].generate()
                except PolyflakeError as error:
                    told += [error.code, str(error)]
                _lease._close_all()
            finally:
                os.write(write, json.dumps(told).encode())
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            told = json.load(pipe)
        os.waitpid(child, 0)
        assert len({*mine, *told[:2]}) == 5, "the child has numbers of its own"
        assert told[2] == "forked", told
        assert "lease with a URL" in told[3]
        assert granted(url) == sorted(mine), "the child's came back, the parent's are its own"
        assert [ids.generate().partition for ids in generators] == mine
        for lease in leases:
            lease.close()
        engine.dispose()
    assert granted(url) == []


def test_a_server_that_stops_answering_blocks_nobody(durable: Server) -> None:
    """A frozen server: the request is given up in its time, and the lease goes on once it answers again."""
    url = durable.url()
    pids = [int((durable.folder / "data/postmaster.pid").read_text().split()[0])]
    with polyflake.lease(url, "orders", lease_seconds=4.0) as lease:
        ids = sno.Generator(lease=lease)
        first = ids.generate()
        with psycopg.connect(url, autocommit=True) as connection:
            asked = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            pids += [pid for (pid,) in connection.execute(asked).fetchall()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(3.4)
            assert ids.generate() > first, "an ID does not wait for the store"
            assert lease.status().failures >= 1
        finally:
            for pid in reversed(pids):
                os.kill(pid, signal.SIGCONT)
        end = time.monotonic() + 20
        while lease.status().renewals < 1 and time.monotonic() < end:
            time.sleep(0.05)
        assert lease.status().renewals >= 1
        assert ids.generate() > first


# Recorded conversations.


class Conversation:
    """The recorded statements, run by a driver; what is of this server and this moment is compared by its kind."""

    def __init__(self, engine: str, run: Callable[[list[list[Any]]], Any], names: dict[str, str]) -> None:
        self.recorded, self.run, self.names = STEPS[engine], run, names

    def value(self, recorded: Any, found: Any) -> Any:
        if isinstance(recorded, str) and recorded.startswith(("postgresql:1:", "sqlite:1:")):
            return recorded if self.names.setdefault(recorded, found) == found else found
        now = time.time_ns() // 1_000_000
        return recorded if recorded == 1_763_650_000_000 and abs(found - now) < 60_000 else found

    def check(self, until: int | None = None) -> int:
        checked = 0
        for part in self.recorded["conversation"][:until]:
            if "by_hand" in part:
                self.run([[part["by_hand"], []]])
                continue
            for turn in part["turns"]:
                texts = self.recorded["texts"]
                statements = [
                    [texts[text], [self.names.get(value, value) for value in values]]
                    for text, values in turn["statements"]
                ]
                answer = self.run(statements)
                failure = turn.get("failure")
                if failure and failure["code"] is None and "rows" in answer and not answer["failure"]:
                    continue  # recorded as a connection that was cut after the commit
                code = answer["failure"] and answer["failure"]["code"]
                assert code == (failure and failure["code"]), (turn, answer)
                assert len(answer["rows"]) == len(turn["rows"]), (turn, answer)
                for recorded, found in zip(turn["rows"], answer["rows"], strict=True):
                    assert [len(row) for row in found] == [len(row) for row in recorded], (turn, answer)
                    pairs = [zip(*rows, strict=True) for rows in zip(recorded, found, strict=True)]
                    assert [[self.value(*pair) for pair in row] for row in pairs] == recorded
                checked += len(turn["statements"])
        return checked


def test_sqlite3_has_the_recorded_conversation(file: Path) -> None:
    driver = _lease_stores.SQLite(str(file))

    def run(statements: list[list[Any]]) -> Any:
        if driver.connection is None:
            assert driver.do({"do": "open"})["opened"].startswith("sqlite:")
        answer = driver.do({"do": "run", "statements": statements, "within_ms": 5000})
        if answer["failure"] or statements[-1][0].split()[0] in ("COMMIT", "ROLLBACK"):
            driver.do({"do": "close"})
        return answer

    # The statements hold the recorded name of the file.
    assert Conversation("sqlite", run, {"sqlite:1:2": "sqlite:1:2"}).check() > 50


def test_psycopg_has_the_recorded_conversation(durable: Server) -> None:
    driver = _lease_stores.driver_of("postgresql", durable.url(), os.getpid(), 10)
    assert driver.do({"do": "open"}) == {"opened": None}

    def run(statements: list[list[Any]]) -> Any:
        return driver.do({"do": "run", "statements": statements, "within_ms": 5000})

    assert Conversation("postgresql", run, {}).check() > 50
    driver.close()


def test_asyncpg_has_the_recorded_conversation(durable: Server) -> None:
    url = durable.url()
    with closing(asyncio.new_event_loop()) as loop:
        driver = _lease_stores.Asyncpg(lambda: asyncpg.connect(url), None, True)
        assert loop.run_until_complete(driver.do({"do": "open"})) == {"opened": None}

        def run(statements: list[list[Any]]) -> Any:
            return loop.run_until_complete(driver.do({"do": "run", "statements": statements, "within_ms": 5000}))

        assert Conversation("postgresql", run, {}).check() > 50
        loop.run_until_complete(driver.close())


HOLDER = 'it\'s "one" \\ %s %% ? $1 :name ; -- \u00e9\U0001f40d'
MOST = 2**53 - 1


def swap_together(engine: str, drivers: list[Any], names: dict[str, str]) -> None:
    """As the suite of the crate: of two swaps of one record at the same time one is done, and odd texts and the largest
    integers come back unchanged. The statements are the recorded ones of a swap, under other values."""
    texts = STEPS[engine]["texts"]
    *before, turn = STEPS[engine]["conversation"][6]["turns"]

    def swap(driver: Any, old: list[Any], new: list[Any]) -> Any:
        statements = [
            [texts[text], [names.get(value, value) for value in values]] for text, values in turn["statements"]
        ]
        place = next(place for place, (text, _) in enumerate(statements) if text.startswith("UPDATE"))
        values = statements[place][1]
        values[1:3], values[5:7], values[9:11] = new[2:], new[:2], [old[1], old[0]]
        if engine == "sqlite":
            driver.do({"do": "open"})
        for first in before:
            driver.do(
                {"do": "run", "statements": [[texts[text], []] for text, _ in first["statements"]], "within_ms": 5000}
            )
        answer = driver.do({"do": "run", "statements": statements, "within_ms": 15000})
        if engine == "sqlite":
            driver.do({"do": "close"})
        assert answer["failure"] is None, answer
        return answer["rows"][place], answer["rows"][place + 1]

    held = ["0" * 32, 1, 0, ""]
    order = ["token", "version", "granted_until", "holder"]
    with ThreadPoolExecutor(2) as threads:
        for number in range(40):
            wanted = [[f"{number:030x}{side:02x}", held[1] + 1, MOST, HOLDER] for side in (1, 2)]
            # A token is first in what a swap sets, and the version after it.
            tried = list(threads.map(swap, drivers, [held] * 2, wanted))
            done = [bool(rows) for rows, _ in tried]
            assert sorted(done) == [False, True], (number, tried)
            held = wanted[done.index(True)]
            ((_, _, _, until, holder, _, _, token, version),) = tried[done.index(False)][1]
            assert dict(zip(order, [token, version, until, holder], strict=True)) == dict(zip(order, held, strict=True))
    rows, _ = swap(drivers[0], [held[0], held[1] - 1], held)
    assert rows == [], "a stale swap is refused"


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_one_of_two_swaps_is_done(engine: str, durable: Server, file: Path) -> None:
    store = str(file) if engine == "sqlite" else durable.url()
    drivers = [_lease_stores.driver_of(engine, store, os.getpid(), 10) for _ in range(2)]
    names = {"sqlite:1:2": "sqlite:1:2"} if engine == "sqlite" else {}
    for driver in drivers:
        driver.do({"do": "open"})

    def run(statements: list[list[Any]]) -> Any:
        return drivers[0].do({"do": "run", "statements": statements, "within_ms": 5000})

    Conversation(engine, run, names).check(until=6)
    if engine == "sqlite":
        for driver in drivers:
            driver.do({"do": "close"})
    swap_together(engine, drivers, names)
    for driver in drivers:
        driver.close()


# Servers as users run them.


def records(file: Path) -> list[tuple[int, bool]]:
    """The numbers that were ever leased, and which are granted now."""
    with sqlite3.connect(file) as database:
        asked = "SELECT first, granted_until FROM polyflake_leases WHERE start > 0 ORDER BY first"
        return [(first, until > time.time() * 1000) for first, until in database.execute(asked).fetchall()]


CELERY = """
import os
from celery import Celery
import polyflake
from polyflake import sno

folder = os.environ["FOLDER"]
app = Celery("tasks")
app.conf.update(
    broker_url="filesystem://",
    broker_transport_options={name: folder + "/queue" for name in ("data_folder_in", "data_folder_out")},
    result_backend="file://" + folder + "/results",
)
lease = polyflake.lease(os.environ["STORE"], "orders", numbers=(0, 7))
ids = sno.Generator(lease=lease)


@app.task
def make(n):
    return [str(os.getpid()), *(str(ids.generate()) for _ in range(n))]
"""


def test_workers_of_celery_return_their_numbers(file: Path) -> None:
    """Two processes, each of which ends after one task: eight numbers are enough for thirty of them."""
    celery = pytest.importorskip("celery")
    del celery
    folder = file.parent
    for name in ("queue", "results"):
        (folder / name).mkdir()
    (folder / "tasks.py").write_text(CELERY)
    others = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment = {**others, "FOLDER": str(folder), "STORE": f"sqlite:{file}"}
    options = ["--pool", "prefork", "--concurrency", "2", "--max-tasks-per-child", "1", "--loglevel", "info"]
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", *options]
    ask = """
import json
from tasks import make
print(json.dumps([one.get(timeout=100) for one in [make.delay(20) for _ in range(30)]]))
"""
    with (
        (folder / "log").open("w+") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as worker,
    ):
        try:
            asked = [sys.executable, "-c", ask]
            done = subprocess.run(asked, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr + (folder / "log").read_text()
        finally:
            worker.terminate()
            worker.wait(30)
    answers = json.loads(done.stdout)
    made = [id for _, *ids in answers for id in ids]
    assert len(set(made)) == len(made) == 600
    assert len({pid for pid, *_ in answers}) == 30, "each task had a process of its own"
    assert len(records(file)) <= 4, "numbers were taken again"
    assert not any(is_granted for _, is_granted in records(file))


UVICORN = """
import json
import os

import polyflake
from polyflake import sno

lease = polyflake.lease()
sno.set_default_generator(sno.Generator(lease=lease))


async def application(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await lease.aclose()
        await send({"type": "lifespan.shutdown.complete"})
        return
    made = [str(await sno.generate_async()) for _ in range(20)]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps([os.getpid(), made]).encode()})
"""


def test_workers_of_uvicorn_return_their_numbers(file: Path) -> None:
    """Two workers that are replaced after a few requests, with one variable."""
    pytest.importorskip("uvicorn")
    folder = file.parent
    (folder / "served.py").write_text(UVICORN)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "POLYFLAKE_LEASE": f"sqlite:{file}?namespace=orders"}
    options = ["--port", str(port), "--workers", "2", "--limit-max-requests", "5", "--log-level", "warning"]
    command = [sys.executable, "-m", "uvicorn", *options, "served:application"]
    answers: list[Any] = []
    with (
        (folder / "log").open("w+") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as server,
    ):
        try:
            end = time.monotonic() + 60
            while len(answers) < 40 and time.monotonic() < end:
                try:
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                    connection.request("GET", "/")
                    answers.append(json.load(connection.getresponse()))
                    time.sleep(0.05)  # it looks at its limit ten times a second
                except (OSError, http.client.HTTPException):
                    time.sleep(0.05)  # between two workers
                finally:
                    connection.close()
        finally:
            server.terminate()
            server.wait(30)
    made = [id for _, ids in answers for id in ids]
    assert len(set(made)) == len(made) == 800, (folder / "log").read_text()
    assert len({pid for pid, _ in answers}) >= 5, "workers were replaced"
    assert len(records(file)) <= 4, "numbers were taken again"
    assert not any(is_granted for _, is_granted in records(file)), "SIGTERM, too, returned the numbers"
