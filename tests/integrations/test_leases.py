"""Tests leases with each database client, and in servers that users commonly run."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import os
import re
import select
import signal
import socket
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pymysql._auth
import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy import create_engine

import polyflake
from conftest import MariaDb, Server, import_or_skip, running_server
from polyflake import PolyflakeError, _lease, _lease_stores, sno
from polyflake._polyflake import parse_lease_url

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def durable_server() -> Iterator[Server]:
    """Yields a server with durable writes, because leases reject servers without them."""
    with running_server("fsync=on") as server:
        yield server
        _lease._close_all()


@pytest.fixture
def lease_file() -> Iterator[Path]:
    """Yields the path of a file on disk, because the system's temporary folder may be in memory."""
    with tempfile.TemporaryDirectory(dir=REPOSITORY / "target") as folder:
        yield Path(folder) / "ids.db"
        _lease._close_all()


def granted_ids(url: str) -> list[int]:
    query = "SELECT first FROM polyflake.polyflake_leases WHERE granted_until > %s ORDER BY first"
    with psycopg.connect(url) as connection:
        return [first for (first,) in connection.execute(query, [time.time_ns() // 1_000_000]).fetchall()]


#: Ways to specify a database in tests that use threads.
STORES: dict[str, Callable[[ExitStack, str], Any]] = {
    "url": lambda _, url: url,
    "function": lambda _, url: lambda: psycopg.connect(url),
    "engine": lambda _, url: create_engine(url.replace("postgresql://", "postgresql+psycopg://")),
    "pool": lambda stack, url: stack.enter_context(
        import_or_skip("psycopg_pool").ConnectionPool(url, min_size=1, open=True)
    ),
}


@pytest.mark.parametrize("store", STORES)
def test_psycopg_leases_renews_and_releases(durable_server: Server, store: str) -> None:
    url = durable_server.url()
    with ExitStack() as stack:
        lease_store = STORES[store](stack, url)
        with polyflake.lease(lease_store, "orders", lease_seconds=1.5, worker_ids=(3, 3)) as lease:
            ids = sno.Generator(lease=lease)
            generated_ids, deadline = [], time.monotonic() + 2.5
            while time.monotonic() < deadline:
                generated_ids.append(ids.generate())
                time.sleep(0.01)
            assert granted_ids(url) == [3]
            status = lease.status()
            assert (status.grants, status.failures) == (1, 0), status
            assert status.renewals >= 3
        assert granted_ids(url) == []
        if store == "pool":
            with lease_store.connection() as connection:
                assert not connection.autocommit, "a connection comes back as it was"
        if store == "engine":
            lease_store.dispose()
    assert {id.partition for id in generated_ids} == {3}
    assert len(set(generated_ids)) == len(generated_ids)


def test_a_connection_that_cannot_be_released_is_ignored(durable_server: Server) -> None:
    def release_connection(connection: psycopg.Connection) -> None:
        connection.close()
        raise OSError("the pool is closed")

    driver = _lease_stores.Psycopg(lambda: psycopg.connect(durable_server.url()), release_connection)
    assert driver.execute({"do": "open"}) == {"opened": None}
    assert driver.execute({"do": "close"}) is None
    assert driver.connection is None


@pytest.mark.parametrize("client", ["psycopg", "asyncpg"])
def test_an_unreadable_certificate_file_is_an_immediate_error(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: name == client)
    empty_file = tmp_path / "empty.pem"
    empty_file.write_text("")
    for file in (tmp_path / "none.pem", tmp_path, empty_file):
        # No server listens on this port. The test needs no server, because the file is read before connecting.
        url = f"postgres://localhost:1/db?namespace=orders&sslrootcert={str(file).replace('/', '%2F')}"
        reason = re.escape(f"cannot read the root certificates in {file} (`sslrootcert`): ")
        with pytest.raises(PolyflakeError, match=reason) as caught:
            polyflake.lease.check(url)
        assert caught.value.code == "out_of_range"
        started_at = time.monotonic()
        with polyflake.lease(url) as lease, pytest.raises(PolyflakeError, match=reason):
            sno.Generator(lease=lease).generate()
        assert time.monotonic() - started_at < 5


@pytest.mark.parametrize("client", ["psycopg", "asyncpg"])
def test_a_read_only_server_is_skipped_if_the_url_requests_it(
    client: str, durable_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: name == client)
    url = f"{durable_server.url()}&namespace=orders&options=-c%20default_transaction_read_only%3Don"
    with pytest.raises(PolyflakeError, match="no host of the URL accepts writes: ") as caught:
        polyflake.lease.check(f"{url}&target_session_attrs=read-write")
    assert caught.value.code == "lease_unavailable"
    with pytest.raises(PolyflakeError, match="read-only transaction"):
        polyflake.lease.check(f"{url}&target_session_attrs=any")


def create_roles(url: str, *roles: str) -> list[str]:
    """Creates roles that have their own schemas and may create schemas in the database. Returns a database URL for each
    role.
    """
    with psycopg.connect(url, autocommit=True) as owner:
        (database,) = owner.execute("SELECT current_database()").fetchone() or ("",)
        for role in roles:
            owner.execute(f"DROP ROLE IF EXISTS {role}".encode())
            owner.execute(f"CREATE ROLE {role} LOGIN".encode())
            owner.execute(f"CREATE SCHEMA AUTHORIZATION {role}".encode())
            owner.execute(f"GRANT CREATE ON DATABASE {database} TO {role}".encode())
    return [url.replace("//test@", f"//{role}@") for role in roles]


def wait_for_first_id(ids: sno.Generator) -> sno.Sno:
    """Returns the first ID, once the store has granted a worker ID. Until then, calls fail without waiting."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return ids.generate()
        except PolyflakeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def test_roles_of_one_database_share_one_store(durable_server: Server) -> None:
    url = durable_server.url()
    one, other = create_roles(url, "svc_a", "svc_b")
    with polyflake.lease(one, "orders") as first, polyflake.lease(other, "orders", wait=5) as second:
        ids = sno.Generator(lease=first)
        assert ids.generate().partition == 0
        others = sno.Generator(lease=second)
        with pytest.raises(PolyflakeError, match=r"GRANT USAGE ON SCHEMA .polyflake. TO ROLE"):
            others.generate()
        role_sql = (REPOSITORY / "lease/sql/postgresql-role.sql").read_text("utf-8")
        with psycopg.connect(one, autocommit=True) as owner:
            owner.execute(role_sql.replace(':"role"', "svc_b").encode())
        assert wait_for_first_id(others).partition == 1
    with psycopg.connect(url, autocommit=True) as owner:
        found = owner.execute("SELECT schemaname FROM pg_tables WHERE tablename = 'polyflake_leases'").fetchall()
        owner.execute("DROP OWNED BY svc_a, svc_b CASCADE")
    assert found == [("polyflake",)]


def test_the_url_or_an_argument_selects_the_schema(durable_server: Server) -> None:
    url = durable_server.url()
    with polyflake.lease(f"{url}&schema=ids", "orders") as lease:
        assert sno.Generator(lease=lease).generate().partition == 0
        with polyflake.lease(lambda: psycopg.connect(url), "orders", schema="ids") as other:
            assert sno.Generator(lease=other).generate().partition == 1
        reason = 'has a store in the schema "ids" and none in "polyflake"'
        with polyflake.lease(url, "orders", wait=0.5) as beside, pytest.raises(PolyflakeError, match=reason):
            sno.Generator(lease=beside).generate()
    with polyflake.lease(f"{url}&create=second-store", "orders") as second:
        assert sno.Generator(lease=second).generate().partition == 0


def test_asyncpg_leases_run_in_the_programs_event_loop(durable_server: Server) -> None:
    url = durable_server.url()

    async def main() -> None:
        async with asyncpg.create_pool(url, min_size=1) as pool:
            lease = polyflake.lease(pool, "orders", lease_seconds=1.5, worker_ids=(3, 3))
            ids = sno.Generator(lease=lease)
            with pytest.raises(PolyflakeError, match=r"begins by `await lease.aready\(\)`"):
                ids.generate()
            assert await lease.aready() == 3
            generated_ids, deadline = [ids.generate(), await ids.generate_async()], time.monotonic() + 2.5
            while time.monotonic() < deadline:
                generated_ids += [ids.generate(), *await ids.generate_many_async(10)]
                await asyncio.sleep(0.01)
            assert granted_ids(url) == [3]
            assert (lease.status().grants, lease.status().failures) == (1, 0)
            assert lease.status().renewals >= 3
            assert len(set(generated_ids)) == len(generated_ids)
            await lease.aclose()
            assert granted_ids(url) == []

    asyncio.run(main())


def test_closing_the_event_loop_releases_the_worker_id(durable_server: Server) -> None:
    url = durable_server.url()

    async def main() -> polyflake.Lease:
        lease = polyflake.lease(connect, "orders")
        await sno.Generator(lease=lease).generate_async()
        assert granted_ids(url) == [0]
        return lease

    async def connect() -> Any:
        return await asyncpg.connect(url)

    lease = asyncio.run(main())
    assert granted_ids(url) == []
    assert lease.worker_id is None


def test_asyncpg_serves_a_url_if_it_is_the_only_client(durable_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = durable_server.url()
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: name == "asyncpg")
    with polyflake.lease(url, "orders") as lease:
        assert sno.Generator(lease=lease).generate().partition == 0
        assert granted_ids(url) == [0]
    assert granted_ids(url) == []


def test_an_error_that_arrives_before_the_last_statement_is_not_logged(
    durable_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    def statements() -> Iterator[list[Any]]:
        yield ["SELECT 1", []]
        yield ["SELECT 1 / 0", []]
        for _ in range(3):
            time.sleep(0.2)  # let the previous response arrive first
            yield ["SELECT 2", []]

    driver = _lease_stores.Psycopg(lambda: psycopg.connect(durable_server.url()))
    driver.open()
    slow: Any = statements()
    answer = driver.run(slow, 10.0)
    assert (answer["rows"], answer["failure"]["code"]) == ([[[1]]], "22012")
    assert driver.run([["SELECT 3", []]], 10.0)["rows"] == [[[3]]]
    assert caplog.records == []
    driver.close()
    driver.end()


@contextmanager
def relay_over_tcp(server: Server) -> Iterator[int]:
    """Yields the port of a relay to the server, which listens only on a Unix socket."""

    class TcpRelay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.socket(socket.AF_UNIX) as there:
                there.connect(f"{server.folder}/.s.PGSQL.5432")
                peers = {self.request: there, there: self.request}
                while ready := select.select([*peers], [], [])[0]:
                    for end in ready:
                        if not (data := end.recv(65536)):
                            return
                        peers[end].sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), TcpRelay) as relay:
        relay.daemon_threads = True
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        yield relay.server_address[1]
        relay.shutdown()


@pytest.mark.parametrize("client", ["asyncpg", "psycopg"])
def test_a_worker_id_is_released_at_exit_over_tcp(durable_server: Server, client: str) -> None:
    """During interpreter shutdown, neither asyncio's resolver nor `threading.Timer` can start a thread."""
    url = durable_server.url()
    code = f"""
import sys, polyflake
from polyflake import _lease_stores, sno
_lease_stores.find_spec = lambda name: name == {client!r}
print(sno.Generator(lease=polyflake.lease(sys.argv[1], "orders")).generate().partition)
"""
    with relay_over_tcp(durable_server) as port:
        store = f"postgresql://test@localhost:{port}/{url.split('/')[3].split('?')[0]}"
        completed = subprocess.run([sys.executable, "-c", code, store], capture_output=True, text=True, timeout=60)
        assert (completed.stdout, completed.stderr) == ("0\n", "")
    assert granted_ids(url) == []


def test_a_missing_client_is_reported_at_the_first_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: None)
    generator = sno.Generator(lease=polyflake.lease("postgres://me:secret@db/app", "orders"))
    with pytest.raises(PolyflakeError, match=r'pip install "psycopg\[binary\]"') as error:
        generator.generate()
    assert error.value.code == "lease_unavailable"


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (7, "expected a URL, a pool, an engine or a function that connects, found int"),
        (create_engine("postgresql+asyncpg://db"), r"found postgresql\+asyncpg"),
    ],
)
def test_unsupported_stores_are_rejected(store: Any, said: str) -> None:
    with pytest.raises(PolyflakeError, match=said):
        sno.Generator(lease=polyflake.lease(store, "orders")).generate()


def test_mariadb_serves_leases_via_a_url_or_an_engine(mariadb: MariaDb) -> None:
    url = mariadb.url()
    name = url.split("/")[3].split("?")[0]
    stores = [f"mysql://root@/{name}?host={mariadb.socket}", create_engine(url)]
    leases = [polyflake.lease(store, "orders") for store in stores]
    partitions = [sno.Generator(lease=lease).generate().partition for lease in leases]
    assert partitions == [0, 1]
    for lease in leases:
        lease.close()
    with polyflake.lease(stores[0], "orders", required_worker_id=0) as again:
        assert sno.Generator(lease=again).generate().partition == 0
    assert polyflake.lease.check(stores[0], "orders") == f"mysql://root@{mariadb.socket}/{name}"


def test_a_broken_connection_is_reopened(mariadb: MariaDb) -> None:
    name = mariadb.database()
    store = f"mysql://root@/{name}?host={mariadb.socket}"
    driver = _lease_stores.new_driver("mysql", json.loads(parse_lease_url(store, "any"))["server"], os.getpid(), 5.0)
    assert driver.execute({"do": "open"}) == {"opened": None}
    run_request = {"do": "run", "statements": [["SELECT 1, ?", ["%s"]]], "within_ms": 5000}
    assert driver.execute(run_request) == {"rows": [[[1, "%s"]]], "failure": None}
    kill_answer = driver.execute({**run_request, "statements": [["KILL CONNECTION_ID()", []]]})
    assert driver.execute(run_request)["failure"]["code"] is None, kill_answer
    driver.execute({"do": "close"})
    driver.execute({"do": "open"})
    missing_table_answer = driver.execute({**run_request, "statements": [["SELECT * FROM missing", []]]})
    assert missing_table_answer["failure"]["code"] == "1146"
    assert driver.execute({**run_request, "statements": [["DO SLEEP(9)", []]], "within_ms": 200}) == {"silent": True}
    driver.end()


# If PyMySQL cannot connect to a Unix socket, it does not close the socket, but leaves it to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize(
    ("address", "code", "said"),
    [("root@/absent?host={}", "1049", "Unknown database"), ("root@/app?host={}.none", None, "Can't connect")],
)
def test_a_rejected_connection_reports_the_servers_error_code(
    mariadb: MariaDb, address: str, code: str | None, said: str
) -> None:
    server = json.loads(parse_lease_url("mysql://" + address.format(mariadb.socket), "any"))["server"]
    failure = _lease_stores.new_driver("mysql", server, os.getpid(), 5.0).execute({"do": "open"})["failure"]
    assert failure["code"] == code
    assert said in failure["message"]
    gc.collect()


def test_pymysql_names_the_package_that_a_password_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    # The core recognizes this error by its message, because PyMySQL raises the error without an error code.
    monkeypatch.setattr(pymysql._auth, "_have_cryptography", False)
    with pytest.raises(RuntimeError, match="'cryptography' package is required"):
        pymysql._auth.sha2_rsa_encrypt(b"sesame", b"salt", b"key")


def test_a_mysql_server_that_never_greets_blocks_no_lease() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"mysql://me@127.0.0.1:{listener.getsockname()[1]}/app"
        server = json.loads(parse_lease_url(url, "any"))["server"]
        started_at = time.monotonic()
        answer = _lease_stores.new_driver("mysql", server, os.getpid(), 1.5).execute({"do": "open"})
    assert answer["failure"]["code"] is None
    assert time.monotonic() - started_at < 8


def test_a_mysql_server_without_tls_gets_no_password() -> None:
    """The server's greeting does not offer TLS. An attacker on the network could modify a greeting in this way."""
    greeting = b"\x0a5.5.5\0" + bytes(4) + b"12345678\0\xff\xf7\x21\x02\0\xff\x81\x15" + bytes(10) + b"123456789012\0"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        heard: list[bytes] = []

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                client.sendall(len(greeting).to_bytes(3, "little") + b"\0" + greeting)
                client.settimeout(2)
                heard.append(client.recv(4096))

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"mysql://me:sesame@localhost:{listener.getsockname()[1]}/app?sslmode=require"
        server = json.loads(parse_lease_url(url, "any"))["server"]
        answer = _lease_stores.new_driver("mysql", server, os.getpid(), 5.0).execute({"do": "open"})
        thread.join()
    assert "does not support SSL" in answer["failure"]["message"]
    assert heard == [b""]


def redis_driver(url: str) -> Any:
    return _lease_stores.new_driver("redis", json.loads(parse_lease_url(url, "any"))["server"], os.getpid(), 5.0)


def test_redis_serves_leases_via_a_url_or_a_client(redis_server: Path) -> None:
    url = f"redis:///3?host={redis_server}"
    with redis.Redis(unix_socket_path=str(redis_server), db=3) as client:
        with polyflake.lease(url, "orders", wait=0.5) as early:
            with pytest.raises(PolyflakeError, match="may have lost") as error:
                sno.Generator(lease=early).generate()
            assert error.value.code == "lease_unavailable"
        # Ends the namespace's waiting period, as if six minutes had passed.
        key = "polyflake:namespace:orders/sno"
        record = str(client.hget(key, "record"), "utf-8")  # type: ignore[arg-type]
        client.hset(key, "record", re.sub('(?<="quiet_until":)[0-9]+', "0", record))
        leases = [polyflake.lease(store, "orders") for store in (url, client)]
        assert [sno.Generator(lease=lease).generate().partition for lease in leases] == [0, 1]
        assert 0 < leases[1].status().remaining_ms <= 300_000
        for lease in leases:
            lease.close()
        with polyflake.lease(url, "orders", required_worker_id=0) as again:
            assert sno.Generator(lease=again).generate().partition == 0
        assert polyflake.lease.check(url, "orders") == f"redis://{redis_server}/3"


# If redis-py 5.0 cannot connect to a Unix socket, it does not close the socket, but leaves it to the garbage collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("/99?host={}", "ERR", "DB index is out of range"),
        ("/0?host={}&user=absent&password=x", "WRONGPASS", "invalid username-password pair"),
        ("/0?host={}.none", None, "No such file or directory"),
    ],
)
def test_a_rejected_connection_to_redis_has_the_servers_code(
    redis_server: Path, address: str, code: str | None, said: str
) -> None:
    failure = redis_driver("redis://" + address.format(redis_server)).execute({"do": "open"})["failure"]
    assert failure["code"] == code
    assert said in failure["message"]
    gc.collect()


def test_a_script_timeout_closes_the_redis_connection(redis_server: Path) -> None:
    driver = redis_driver(f"redis:///0?host={redis_server}")
    assert driver.execute({"do": "open"}) == {"opened": None}
    endless_statement = ["while true do end", ["0"]]
    assert driver.execute({"do": "run", "statements": [endless_statement], "within_ms": 200}) == {"silent": True}
    with redis.Redis(unix_socket_path=str(redis_server)) as client:
        client.script_kill()
    driver.execute({"do": "open"})
    failure_answer = driver.execute(
        {"do": "run", "statements": [["return redis.error_reply('OOM full')", ["0"]]], "within_ms": 5000}
    )
    assert failure_answer == {"rows": [], "failure": {"code": "OOM", "message": "OOM full"}}
    script_answer = driver.execute(
        {"do": "run", "statements": [["return {KEYS[1], ARGV[1]}", ["1", "k", "é"]]], "within_ms": 5000}
    )
    assert script_answer == {"rows": [[["k", "é"]]], "failure": None}
    driver.execute({"do": "close"})
    driver.end()


def test_a_script_is_not_resent_after_its_reply_is_lost() -> None:
    """The server may have run the script before the reply was lost. This test's Redis client, which has three retries,
    would otherwise send the script four times.
    """
    scripts: list[bytes] = []

    class ReplyDroppingHandler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while (line := self.rfile.readline()) and line != b"EVAL\r\n":
                if line == b"HELLO\r\n":
                    self.wfile.write(b"%1\r\n$5\r\nproto\r\n:3\r\n")
                if line == b"CLIENT\r\n":
                    self.wfile.write(b"+OK\r\n")
            scripts.append(line)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), ReplyDroppingHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        client = redis.Redis(host="127.0.0.1", port=port, protocol=2, retry=Retry(NoBackoff(), 3))
        drivers = [redis_driver(f"redis://127.0.0.1:{port}"), _lease_stores.new_driver(None, client, os.getpid(), 5.0)]
        for driver in drivers:
            assert driver.execute({"do": "open"}) == {"opened": None}
            lost_answer = driver.execute({"do": "run", "statements": [["return {}", ["0"]]], "within_ms": 5000})
            assert (lost_answer["rows"], lost_answer["failure"]["code"]) == ([], None)
            driver.end()
        server.shutdown()
    assert scripts == [b"EVAL\r\n"] * 2


def test_redis_leases_reject_asyncio_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PolyflakeError, match=r"use redis\.Redis or a URL"):
        sno.Generator(lease=polyflake.lease(redis.asyncio.Redis(), "orders")).generate()
    monkeypatch.setattr(_lease_stores, "find_spec", lambda name: None)
    with pytest.raises(PolyflakeError, match="pip install redis"):
        sno.Generator(lease=polyflake.lease("redis://localhost", "orders")).generate()


class DerivedConnection(psycopg.Connection[Any]):
    """A subclass of psycopg's connection class. Programs derive such classes to set options, for example."""


def test_a_subclass_of_connection_serves_a_lease(durable_server: Server) -> None:
    url = durable_server.url()
    with polyflake.lease(lambda: DerivedConnection.connect(url), "orders") as lease:
        assert sno.Generator(lease=lease).generate().partition == 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")
def test_a_child_leases_over_its_own_connection(durable_server: Server) -> None:
    """The child must not affect the parent's connections and pool, which the parent continues to use."""
    url = durable_server.url()
    with ExitStack() as stack:
        pool, engine = STORES["pool"](stack, url), STORES["engine"](stack, url)
        leases = [polyflake.lease(given, "orders") for given in (url, engine, pool)]
        generators = [sno.Generator(lease=lease) for lease in leases]
        own_partitions = [ids.generate().partition for ids in generators]
        assert granted_ids(url) == sorted(own_partitions)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            child_report: list[Any] = []
            try:
                child_report += [ids.generate().partition for ids in generators[:2]]
                try:
                    generators[2].generate()
                except PolyflakeError as error:
                    child_report += [error.code, str(error)]
                _lease._close_all()
            finally:
                os.write(write, json.dumps(child_report).encode())
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            child_report = json.load(pipe)
        os.waitpid(child, 0)
        assert len({*own_partitions, *child_report[:2]}) == 5, "the child has worker IDs of its own"
        assert child_report[2] == "forked", child_report
        assert "lease with a URL" in child_report[3]
        assert granted_ids(url) == sorted(own_partitions), "the child's came back, the parent's are its own"
        assert [ids.generate().partition for ids in generators] == own_partitions
        for lease in leases:
            lease.close()
        engine.dispose()
    assert granted_ids(url) == []


def test_a_frozen_server_does_not_block_the_program(durable_server: Server) -> None:
    """If the server is frozen, the request times out, and the lease continues once the server responds again."""
    url = durable_server.url()
    pids = [int((durable_server.folder / "data/postmaster.pid").read_text().split()[0])]
    with polyflake.lease(url, "orders", lease_seconds=4.0) as lease:
        ids = sno.Generator(lease=lease)
        first_id = ids.generate()
        with psycopg.connect(url, autocommit=True) as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            pids += [pid for (pid,) in connection.execute(query).fetchall()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(3.4)
            assert ids.generate() > first_id, "an ID does not wait for the store"
            assert lease.status().failures >= 1
        finally:
            for pid in reversed(pids):
                os.kill(pid, signal.SIGCONT)
        deadline = time.monotonic() + 20
        while lease.status().renewals < 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert lease.status().renewals >= 1
        assert ids.generate() > first_id


# Servers that users commonly run.


@contextmanager
def run_in_background(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Runs a program in a folder while the `with` block runs, and then terminates the program with SIGTERM. The
    program's log is written to the same folder.
    """
    with (
        (folder / "log").open("w+") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def records(file: Path) -> list[tuple[int, bool]]:
    """Returns every worker ID that was ever leased, and whether it is currently granted."""
    with sqlite3.connect(file) as database:
        query = "SELECT first, granted_until FROM polyflake_leases WHERE start > 0 ORDER BY first"
        return [(first, until > time.time() * 1000) for first, until in database.execute(query).fetchall()]


CELERY_SCRIPT = """
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
lease = polyflake.lease(os.environ["STORE"], "orders", worker_ids=(0, 7))
ids = sno.Generator(lease=lease)


@app.task
def make(n):
    return [str(os.getpid()), *(str(ids.generate()) for _ in range(n))]
"""


def test_celery_workers_release_their_worker_ids(lease_file: Path) -> None:
    """Eight worker IDs suffice for thirty processes, because only two run at a time and each exits after one task."""
    import_or_skip("celery")
    folder = lease_file.parent
    for name in ("queue", "results"):
        (folder / name).mkdir()
    (folder / "tasks.py").write_text(CELERY_SCRIPT)
    other_variables = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    environment = {**other_variables, "FOLDER": str(folder), "STORE": f"sqlite:{lease_file}?allow=overlayfs"}
    options = ["--pool", "prefork", "--concurrency", "2", "--max-tasks-per-child", "1", "--loglevel", "info"]
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", *options]
    client_script = """
import json
from tasks import make
print(json.dumps([one.get(timeout=100) for one in [make.delay(20) for _ in range(30)]]))
"""
    with run_in_background(command, folder, environment):
        client_command = [sys.executable, "-c", client_script]
        completed = subprocess.run(
            client_command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        assert completed.returncode == 0, completed.stderr + (folder / "log").read_text()
    answers = json.loads(completed.stdout)
    generated_ids = [id for _, *ids in answers for id in ids]
    assert len(set(generated_ids)) == len(generated_ids) == 600
    assert len({pid for pid, *_ in answers}) == 30, "each task had a process of its own"
    assert len(records(lease_file)) <= 4, "worker IDs were leased again"
    assert not any(is_granted for _, is_granted in records(lease_file))


UVICORN_SCRIPT = """
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


def test_uvicorn_workers_release_their_worker_ids(lease_file: Path) -> None:
    """Runs two workers that are replaced after a few requests. An environment variable contains the settings of the
    workers' leases.
    """
    import_or_skip("uvicorn")
    folder = lease_file.parent
    (folder / "served.py").write_text(UVICORN_SCRIPT)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "POLYFLAKE_LEASE": f"sqlite:{lease_file}?allow=overlayfs&namespace=orders"}
    options = ["--port", str(port), "--workers", "2", "--limit-max-requests", "5", "--log-level", "warning"]
    command = [sys.executable, "-m", "uvicorn", *options, "served:application"]
    answers: list[Any] = []
    with run_in_background(command, folder, environment):
        deadline = time.monotonic() + 60
        while len(answers) < 40 and time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            # While a worker is being replaced, there may be no process that listens on the port.
            with closing(connection), suppress(OSError, http.client.HTTPException):
                connection.request("GET", "/")
                answers.append(json.load(connection.getresponse()))
            time.sleep(0.05)  # a worker checks its request limit ten times a second
    generated_ids = [id for _, ids in answers for id in ids]
    assert len(set(generated_ids)) == len(generated_ids) == 800, (folder / "log").read_text()
    assert len({pid for pid, _ in answers}) >= 5, "workers were replaced"
    assert len(records(lease_file)) <= 4, "worker IDs were leased again"
    assert not any(is_granted for _, is_granted in records(lease_file)), "SIGTERM, too, returned the worker IDs"
