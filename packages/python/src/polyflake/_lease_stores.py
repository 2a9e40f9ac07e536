"""The databases that store leases. Each driver uses one of the program's database clients to execute the commands of
the lease rules, and contains no rules itself.

A driver has the attributes ``kind``, ``is_async`` and ``is_of_loop`` (whether the driver works only in the program's
event loop), and the methods ``execute(command)``, which returns the answer, and ``close()``.

Each step of the rules is a list of statements, and no statement depends on the rows of another statement. Therefore, a
driver needs only one operation, and a client with pipelines sends the whole step, with BEGIN and COMMIT, in one round
trip. A driver never interprets an error: it reports the message and the database's code, and the rules decide what it
means. The one case that a driver must recognize is a server that does not answer (``NO_OUTPUT``), because the
statements may have been executed.

No call to a database may block forever. A frozen server still acknowledges the data that it receives, so no TCP timeout
ends the wait, and the frozen server does not enforce its own time limits. The drivers therefore measure the time
themselves, and shut down the socket, because libpq, for example, does not return when another thread closes the
connection.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from polyflake._errors import PolyflakeError, build
from polyflake._forks import sqlite_gate
from polyflake._polyflake import name_file

# The answer that a driver returns if the server does not reply to a command in time. The server may still have executed
# the command's statements.
NO_OUTPUT = {"silent": True}

_MAX_RESPONSE_BYTES = 1 << 20


def _failure(message: object, code: str | None = None) -> dict[str, Any]:
    return {"code": code, "message": str(message) or type(message).__name__}


def _store_error(code: str, reason: str) -> PolyflakeError:
    return build(code, reason, None, "store", None, None, None)


def _connected_server(connection: object) -> str:
    return f"expected a PostgreSQL connection, found {type(connection).__module__}.{type(connection).__name__}"


def _to_plain(value: Any) -> Any:
    """Returns a column's value if it is an integer or a string, which are the only types that the rules read."""
    return value if type(value) in (int, str) else None


class Driver:
    """A driver with one connection, which it opens, uses and closes."""

    kind = "postgresql"
    is_async = is_of_loop = False
    connection: Any = None

    def execute(self, command: dict[str, Any]) -> Any:
        match command["do"]:
            case "open":
                try:
                    return {"opened": self.open()}
                except PolyflakeError as error:
                    return {"rejected": {"code": error.code, "message": str(error)}}
                except Exception as error:
                    self.close()
                    return {"failure": self.to_failure(error)}
            case "close":
                self.close()
                return None
            case _:
                try:
                    return self.run(command["statements"], command["within_ms"] / 1000)
                except Exception as error:  # for example, no thread is available because the system has too many
                    self.close()
                    return {"failure": _failure(error)}

    def open(self) -> str | None:
        raise NotImplementedError

    def to_failure(self, error: Exception) -> dict[str, Any]:
        """Converts an error that occurred during an attempt to connect. Returns the failure that is reported to the
        lease's rules.
        """
        return _failure(error)

    def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        raise NotImplementedError

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):  # the connection may be broken
                connection.close()

    def end(self) -> None:
        """Shuts down the driver, after which it executes no more commands."""
        self.close()


class SQLite(Driver):
    """A driver for an SQLite file, which is opened for each request because a forked child must not inherit it."""

    kind = "sqlite"

    def __init__(self, path: str, allows_overlayfs: bool = False) -> None:
        self.path, self.allows_overlayfs = path, allows_overlayfs

    def open(self) -> str:
        # If another process keeps the file locked for longer than this timeout, the rules retry.
        def connect(path: object) -> sqlite3.Connection:
            return sqlite3.connect(str(path), timeout=1, isolation_level=None, check_same_thread=False)

        sqlite_gate.enter()
        try:
            self.connection, name = name_file(self.path, self.allows_overlayfs, connect)
        except BaseException:
            sqlite_gate.lock.release()
            raise
        return name

    def close(self) -> None:
        if self.connection is not None:
            super().close()
            sqlite_gate.lock.release()

    def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        rows: list[Any] = []
        try:
            for text, values in statements:
                # Python 3.12.0 to 3.12.3 warn about a list, because they mistake `?1` for a named parameter.
                named_values = {str(number): value for number, value in enumerate(values, 1)}
                rows.append(
                    [[_to_plain(value) for value in row] for row in self.connection.execute(text, named_values)]
                )
        except sqlite3.Error as error:
            return {"rows": rows, "failure": _failure(error)}
        return {"rows": rows, "failure": None}


class _Watchdog:
    """Ends a call that takes too long.

    The watchdog's thread runs until the driver ends, because no new thread can be started while a process is exiting,
    or when the system has too many threads.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.until: float | None = None
        self.late: Callable[[], object] | None = None
        self.is_over = False

    def expect(self, seconds: float | None, late: Callable[[], object] | None = None) -> None:
        """Starts the timeout of a call, in seconds, or cancels the timeout if ``seconds`` is ``None``."""
        with self.changed:
            self.until, self.late = (None, None) if seconds is None else (time.monotonic() + seconds, late)
            if self.thread is None and seconds is not None:
                thread = threading.Thread(target=self._watch, name="polyflake.lease.watchdog", daemon=True)
                thread.start()
                self.thread = thread
            self.changed.notify()

    def end(self) -> None:
        with self.changed:
            self.is_over = True
            self.changed.notify()

    def _watch(self) -> None:
        with self.changed:
            while not self.is_over:
                seconds_left = None if self.until is None else self.until - time.monotonic()
                if seconds_left is None or seconds_left > 0:
                    self.changed.wait(seconds_left)
                    continue
                late, self.until, self.late = self.late, None, None
                if late is not None:
                    with suppress(Exception):  # the connection may have broken already
                        late()


class Psycopg(Driver):
    """A driver for PostgreSQL that uses psycopg 3, which sends the statements of a step together."""

    def __init__(self, connect: Callable[[], Any], give_back: Callable[[Any], object] | None = None) -> None:
        self.connect, self.give_back, self.client = connect, give_back, import_module("psycopg")
        self.notices: list[dict[str, Any]] = []
        self.watchdog = _Watchdog()
        status = import_module("psycopg.pq").ExecStatus
        self.done = (status.COMMAND_OK, status.TUPLES_OK)

    def open(self) -> None:
        connection = self.connect()
        if not isinstance(connection, self.client.Connection):
            if self.give_back is not None:
                self.give_back(connection)
            raise _store_error("invalid_type", f"{_connected_server(connection)}: use `psycopg.connect`, of psycopg 3")
        self.connection = connection
        # A step's statements include BEGIN and COMMIT, so psycopg must not begin transactions of its own.
        self.connection.autocommit = True
        self.connection.add_notice_handler(self._record_notice)

    def _record_notice(self, notice: Any) -> None:
        self.notices.append(_failure(notice.message_primary, notice.sqlstate))

    def close(self) -> None:
        if self.give_back is None or self.connection is None or self.connection.closed:
            return super().close()
        connection, self.connection = self.connection, None
        with suppress(Exception):  # the pool may be closed by now, or its callback may fail
            connection.remove_notice_handler(self._record_notice)
            connection.autocommit = False
            self.give_back(connection)

    def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        cursors: list[Any] = []
        silent = threading.Event()
        failure, rows = None, []
        self.watchdog.expect(seconds, lambda: self._abort_call(silent))
        self.notices.clear()
        try:
            with self.connection.pipeline():
                for text, values in statements:
                    # The rules use PostgreSQL's numbered parameters. psycopg uses named parameters, and treats `%` as a
                    # special character.
                    text = re.sub(r"\$([0-9]+)", r"%(\1)s", text.replace("%", "%%"))
                    named_values = {str(place): value for place, value in enumerate(values, 1)}
                    # The cursor and row types are explicit, because the connection's defaults may differ. For example,
                    # rows may be dictionaries, or cursors may not support parameters.
                    cursors.append(self.client.Cursor(self.connection, row_factory=self.client.rows.tuple_row))
                    try:
                        cursors[-1].execute(text, named_values, prepare=False)
                    except self.client.Error as error:  # psycopg logs a warning if the error leaves the pipeline
                        failure = _failure(error, error.sqlstate)
                        break
        except self.client.Error as error:
            failure = failure or _failure(error, error.sqlstate)
        finally:
            self.watchdog.expect(None)
        if silent.is_set():
            super().close()
            return NO_OUTPUT
        for cursor in cursors:
            result = cursor.pgresult
            if result is None or result.status not in self.done:
                break
            rows.append([[_to_plain(value) for value in row] for row in cursor] if cursor.description else [])
        return {"rows": rows, "failure": failure, "notices": list(self.notices)}

    def end(self) -> None:
        super().end()
        self.watchdog.end()

    def _abort_call(self, silent: threading.Event) -> None:
        """Aborts a call to a server that does not reply. Shutting down the socket wakes the thread that reads
        from it.
        """
        silent.set()
        with socket.socket(fileno=os.dup(self.connection.fileno())) as there:
            there.shutdown(socket.SHUT_RDWR)


class PyMySQL(Driver):
    """A driver for MySQL and MariaDB that uses PyMySQL. A step takes one round trip per statement."""

    kind = "mysql"

    def __init__(self, connect: Callable[[], Any]) -> None:
        self.connect, self.client = connect, import_module("pymysql")
        self.watchdog = _Watchdog()

    def open(self) -> None:
        self.connection = self.connect()
        # A step's statements begin and end transactions themselves.
        self.connection.autocommit(True)

    def to_failure(self, error: Exception) -> dict[str, Any]:
        number, message = (*error.args, "", "")[:2] if isinstance(error, self.client.MySQLError) else ("", "")
        # PyMySQL itself reports errors 2000 to 2999, which mean that the server did not answer.
        if isinstance(number, int) and number and not 2000 <= number < 3000:
            return _failure(message, str(number))
        return _failure(message or error)

    def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        rows: list[Any] = []
        silent = threading.Event()
        self.watchdog.expect(seconds, lambda: self._abort_call(silent))
        try:
            with self.client.cursors.Cursor(self.connection) as cursor:
                for text, values in statements:
                    # PyMySQL treats `%` as a special character if a statement has values.
                    cursor.execute(text.replace("%", "%%").replace("?", "%s") if values else text, values or None)
                    rows.append([[_to_plain(value) for value in row] for row in cursor.fetchall()])
        except Exception as error:
            if silent.is_set():
                self.close()
                return NO_OUTPUT
            return {"rows": rows, "failure": self.to_failure(error)}
        finally:
            self.watchdog.expect(None)
        return {"rows": rows, "failure": None}

    def end(self) -> None:
        super().end()
        self.watchdog.end()

    def _abort_call(self, silent: threading.Event) -> None:
        silent.set()
        self.connection._sock.shutdown(socket.SHUT_RDWR)


class Http(Driver):
    """A driver for ``polyflake lease serve`` that uses the standard library. Each statement is sent as the body of a
    request, and the response becomes the statement's only row.
    """

    kind = "http"

    def __init__(self, server: dict[str, Any], seconds: float) -> None:
        self.server, self.seconds, self.kept = server, seconds, ""
        self.watchdog = _Watchdog()

    def open(self) -> None:
        client = import_module("http.client")
        [[host, port]] = self.server["hosts"]
        if context := _tls_context(self.server):
            connection = client.HTTPSConnection(host, port, timeout=self.seconds, context=context)
        else:
            connection = client.HTTPConnection(host, port, timeout=self.seconds)
        connection.connect()
        connection.auto_open = 0  # reconnecting could silently reach a different server
        # If the service announces that it will close the connection, `connection` drops its socket while the response
        # is still being read. Therefore, keep a reference to the socket.
        self.connection, self.socket, self.kept = connection, connection.sock, ""

    def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        rows: list[Any] = []
        silent = threading.Event()
        self.watchdog.expect(seconds, lambda: self._abort_call(silent))
        try:
            rows.extend([self._send(text, *values)] for text, values in statements)
        except Exception as error:
            self.close()
            return NO_OUTPUT if silent.is_set() else {"rows": rows, "failure": _failure(error)}
        finally:
            self.watchdog.expect(None)
        return {"rows": rows, "failure": None}

    def _send(self, body: str, keeps: int, value: str) -> list[Any]:
        headers = {
            "Authorization": f"Bearer {self.server['password']}",
            "Content-Type": "application/json",
            "Polyflake-Request": value,
            **({"Polyflake-Connection": self.kept} if self.kept else {}),
        }
        self.kept = ""
        self.connection.request("POST", "/v1/request", body.encode(), headers)
        response = self.connection.getresponse()
        text = response.read(_MAX_RESPONSE_BYTES + 1)
        if len(text) > _MAX_RESPONSE_BYTES:
            raise OSError("expected a response of at most 1 MiB")
        if response.length:
            raise OSError(f"expected {response.length} more bytes of the response, found its end")
        if keeps:
            self.kept = response.headers.get("Polyflake-Connection", "")
        return [response.status, text.decode(), response.headers.get("Polyflake-Request")]

    def end(self) -> None:
        super().end()
        self.watchdog.end()

    def _abort_call(self, silent: threading.Event) -> None:
        silent.set()
        self.socket.shutdown(socket.SHUT_RDWR)


class RedisPy(Driver):
    """A driver for Redis and Valkey that uses redis-py. Each statement is a script with its keys and arguments, and the
    reply becomes the statement's only row.

    The driver uses a redis-py connection instead of a client, because a client would resend a command whose reply was
    lost.
    """

    kind = "redis"

    def __init__(self, connect: Callable[[], Any]) -> None:
        self.connect, self.errors = connect, import_module("redis.exceptions")
        self.watchdog = _Watchdog()

    def open(self) -> None:
        self.connection = self.connect()
        self.connection.connect()

    def to_failure(self, error: Exception) -> dict[str, Any]:
        # redis-py maps the error codes that it recognizes to classes, some of which derive from the classes for lost
        # connections.
        if code := _REDIS_CODES.get(type(error).__name__):
            return _failure(f"{code} {error}", code)
        if not isinstance(error, self.errors.ResponseError):
            return _failure(error)
        found = re.match("[A-Z]{3,}(?= )", str(error))
        return _failure(error, found[0]) if found else _failure(f"ERR {error}", "ERR")

    def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        rows: list[Any] = []
        silent = threading.Event()
        self.watchdog.expect(seconds, lambda: self._abort_call(silent))
        try:
            rows.extend([self._evaluate(text, values)] for text, values in statements)
        except Exception as error:
            if not isinstance(error, self.errors.ResponseError):
                self.close()  # the next command would connect again, perhaps to another server
            return NO_OUTPUT if silent.is_set() else {"rows": rows, "failure": self.to_failure(error)}
        finally:
            self.watchdog.expect(None)
        return {"rows": rows, "failure": None}

    def _evaluate(self, script: str, values: list[str]) -> list[Any]:
        self.connection.send_command("EVAL", script, *values)
        return [_to_plain(value) for value in self.connection.read_response()]

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.disconnect()

    def end(self) -> None:
        super().end()
        self.watchdog.end()

    def _abort_call(self, silent: threading.Event) -> None:
        silent.set()
        self.connection._sock.shutdown(socket.SHUT_RDWR)


_REDIS_CODES = {
    "AuthenticationError": "WRONGPASS",
    "BusyLoadingError": "LOADING",
    "NoPermissionError": "NOPERM",
    "OutOfMemoryError": "OOM",
    "ReadOnlyError": "READONLY",
}


class Asyncpg:
    """A driver for PostgreSQL that uses asyncpg. Because asyncpg has no pipelines, a step takes one round trip per
    statement.
    """

    kind, is_async = "postgresql", True

    def __init__(self, connect: Callable[[], Any], give_back: Callable[[Any], Any] | None, is_of_loop: bool) -> None:
        self.connect, self.give_back, self.is_of_loop = connect, give_back, is_of_loop
        self.connection: Any = None
        self.notices: list[dict[str, Any]] = []

    def _record_notice(self, connection: object, notice: Any) -> None:
        self.notices.append(_failure(notice.message, notice.sqlstate))

    async def execute(self, command: dict[str, Any]) -> Any:
        match command["do"]:
            case "open":
                try:
                    connection = await self.connect()
                    if not hasattr(connection, "fetch"):
                        raise _store_error("invalid_type", f"{_connected_server(connection)}: connect by asyncpg")
                    self.connection = connection
                    self.connection.add_log_listener(self._record_notice)
                    return {"opened": None}
                except PolyflakeError as error:
                    return {"rejected": {"code": error.code, "message": str(error)}}
                except Exception as error:
                    return {"failure": _failure(error)}
            case "close":
                await self.close()
                return None
            case _:
                return await self.run(command["statements"], command["within_ms"] / 1000)

    async def run(self, statements: list[list[Any]], seconds: float) -> dict[str, Any]:
        rows: list[Any] = []
        self.notices.clear()

        async def run() -> None:
            for text, values in statements:
                found = await self.connection.fetch(text, *values)
                rows.append([[_to_plain(value) for value in row] for row in found])

        try:
            await asyncio.wait_for(run(), seconds)
        except asyncio.TimeoutError:
            self.connection.terminate()
            return NO_OUTPUT
        except Exception as error:
            return {"rows": rows, "failure": _failure(error, getattr(error, "sqlstate", None))}
        return {"rows": rows, "failure": None, "notices": list(self.notices)}

    async def end(self) -> None:
        await self.close()

    async def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):  # the pool has already taken back a terminated connection
                connection.remove_log_listener(self._record_notice)
            with suppress(Exception):  # the pool may be closed by now, or its callback may fail
                await (connection.close() if self.give_back is None else self.give_back(connection))


def sqlite_file(store: Any) -> str | None:
    """Returns the path of the SQLite file that an SQLAlchemy engine uses, or ``None``."""
    if _package(store) != "sqlalchemy" or not hasattr(store, "dialect") or _dialect_name(store) != "sqlite+pysqlite":
        return None
    return store.url.database or ":memory:"


def is_of_loop(kind: str | None, store: Any) -> bool:
    """Returns whether a store works only in the program's event loop: an asyncpg pool or a coroutine function."""
    return kind is None and (_package(store) == "asyncpg" or asyncio.iscoroutinefunction(store))


def _package(store: Any) -> str:
    return type(store).__module__.partition(".")[0]


def absolute_path(path: str) -> str:
    """Returns an absolute path, because the working directory may change before the first ID is generated.

    An empty path and an in-memory database remain unchanged; the rules reject them.
    """
    return os.path.abspath(path) if path and ":memory:" not in path else path


def new_driver(kind: str | None, store: Any, pid: int, seconds: float, allows_overlayfs: bool = False) -> Any:
    """Returns the driver for a file or server that a URL specifies, or for the program's pool, engine or function.

    The driver waits at most the given number of seconds for a connection. A pool can be used only in the process that
    created the lease. The ID of that process is ``pid``.
    """
    if kind == "sqlite":
        return SQLite(store, allows_overlayfs)
    if kind == "mysql":
        return _mysql_driver(store, seconds)
    if kind == "redis":
        return _redis_driver(store, seconds)
    if kind == "http":
        return Http(store, min(seconds, store["connect_timeout"] or seconds))
    if kind is not None:
        return _postgresql_driver(store, seconds)
    module = _package(store)
    if module == "sqlalchemy":
        return _engine_driver(store)
    if hasattr(store, "connection_pool"):
        return _redis_pool_driver(store.connection_pool)
    if hasattr(store, "connection_kwargs"):
        return _redis_pool_driver(store)
    if module in ("psycopg_pool", "asyncpg"):
        if pid != os.getpid():
            raise _store_error(
                "forked", "expected a pool of this process, found its parent's: lease with a URL or a function"
            )
        if type(store).__name__ == "AsyncConnectionPool":
            reason = "expected a pool that does not wait in a loop, found AsyncConnectionPool: use ConnectionPool"
            raise _store_error("invalid_type", reason)
        if module == "asyncpg":
            return Asyncpg(lambda: store.acquire(timeout=seconds), store.release, True)
        return Psycopg(lambda: store.getconn(seconds), store.putconn)
    if is_of_loop(kind, store):
        return Asyncpg(store, None, True)
    if callable(store):
        return Psycopg(store)
    found_type = type(store).__name__
    raise _store_error(
        "invalid_type", f"expected a URL, a pool, an engine or a function that connects, found {found_type}"
    )


def _postgresql_driver(server: dict[str, Any], seconds: float) -> Any:
    seconds = min(seconds, server["connect_timeout"] or seconds)
    if find_spec("psycopg"):
        connect, arguments = import_module("psycopg").connect, psycopg_arguments(server)
        arguments |= {"connect_timeout": max(2, round(seconds)), "prepare_threshold": None}

        def connect_checked() -> Any:
            if server["roots"]:
                _tls_context(server)  # libpq reads the file only after a server has replied
            return connect(**arguments)

        return Psycopg(connect_checked)
    if find_spec("asyncpg"):
        connect = import_module("asyncpg").connect
        return Asyncpg(
            lambda: connect(**asyncpg_arguments(server), timeout=seconds, statement_cache_size=0), None, False
        )
    reason = 'PostgreSQL needs a client, and neither psycopg nor asyncpg is installed: pip install "psycopg[binary]"'
    raise _store_error("lease_unavailable", reason)


def _mysql_driver(server: dict[str, Any], seconds: float) -> PyMySQL:
    if not find_spec("pymysql"):
        reason = "MySQL and MariaDB need a client, and PyMySQL is not installed: pip install pymysql"
        raise _store_error("lease_unavailable", reason)
    connect = _encrypted_pymysql_class() if server["encrypts"] else import_module("pymysql").connect
    seconds = max(1, round(min(seconds, server["connect_timeout"] or seconds)))
    # The connection timeout covers only the TCP connection. The server may accept it, and never send its greeting.
    limits = {"connect_timeout": seconds, "read_timeout": seconds, "write_timeout": seconds}
    return PyMySQL(lambda: connect(**pymysql_arguments(server), **limits))


def _encrypted_pymysql_class() -> Any:
    """Returns a connection class that never authenticates without encryption.

    Versions of PyMySQL before 1.2 continue in plain text if the server does not support TLS, even if a TLS context is
    passed.
    """
    pymysql = import_module("pymysql")

    class EncryptedConnection(pymysql.connections.Connection):  # type: ignore[misc, name-defined]
        def _request_authentication(self) -> Any:
            if not self.server_capabilities & pymysql.constants.CLIENT.SSL:
                raise pymysql.err.OperationalError(2026, "the server does not support SSL")
            return super()._request_authentication()

    return EncryptedConnection


def _redis_driver(server: dict[str, Any], seconds: float) -> RedisPy:
    if not find_spec("redis"):
        reason = "Redis and Valkey need a client, and redis-py is not installed: pip install redis"
        raise _store_error("lease_unavailable", reason)
    seconds = min(seconds, server["connect_timeout"] or seconds)
    timeouts = {"socket_connect_timeout": seconds, "socket_timeout": seconds}
    arguments = redis_arguments(server) | timeouts | _REDIS_OPTIONS
    module = import_module("redis.connection")
    if server["encrypts"]:
        return RedisPy(lambda: _encrypted_redis_class(server)(**arguments))
    is_local = server["hosts"][0][0].startswith("/")
    connection = module.UnixDomainSocketConnection if is_local else module.Connection
    return RedisPy(lambda: connection(**arguments))


def _encrypted_redis_class(server: dict[str, Any]) -> Any:
    """Returns a class for encrypted connections. Unlike the encrypted connections of redis-py, these connections trust
    the system's certificates only if the URL does not specify other certificates.
    """
    module = import_module("redis.connection")

    class EncryptedConnection(module.Connection):  # type: ignore[misc, name-defined]
        def _connect(self) -> Any:
            return _tls_context(server).wrap_socket(super()._connect(), server_hostname=self.host)

    return EncryptedConnection


# The connection settings that a lease requires. A command must not be resent if its reply is lost.
_REDIS_OPTIONS: dict[str, Any] = {
    "decode_responses": True,
    "retry": None,
    "retry_on_error": [],
    "retry_on_timeout": False,
}


def _redis_pool_driver(pool: Any) -> RedisPy:
    """Returns a driver that connects in the same way as a pool of redis-py, or as the client of the pool. It does not
    use the pool's connections, because they may belong to a parent process.
    """
    if "asyncio" in type(pool).__module__:
        reason = "expected a client that does not wait in a loop, found one of redis.asyncio: use redis.Redis or a URL"
        raise _store_error("invalid_type", reason)
    return RedisPy(lambda: pool.connection_class(**pool.connection_kwargs | _REDIS_OPTIONS))


def redis_arguments(server: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a redis-py connection for the server settings that the lease rules parsed from a URL."""
    [[host, port]] = server["hosts"]
    arguments = {
        **({"path": host} if host.startswith("/") else {"host": host, "port": port}),
        "username": server["user"],
        "password": server["password"],
        "db": server["database"],
    }
    return {name: value for name, value in arguments.items() if value is not None}


def pymysql_arguments(server: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of ``pymysql.connect`` for the server settings that the lease rules parsed from a URL."""
    [[host, port]] = server["hosts"]
    context = _tls_context(server)
    arguments = {
        **({"unix_socket": host} if host.startswith("/") else {"host": host, "port": port}),
        "user": server["user"],
        "password": server["password"],
        "database": server["database"],
        "ssl": context or None,
        "ssl_disabled": not context,
        "charset": "utf8mb4",
    }
    return {name: value for name, value in arguments.items() if value is not None}


def psycopg_arguments(server: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of ``psycopg.connect`` for the server settings that the lease rules parsed from a URL."""
    hosts, ports = zip(*server["hosts"], strict=True)
    arguments = {
        "host": ",".join(hosts),
        "port": ",".join(map(str, ports)),
        "user": server["user"],
        "password": server["password"],
        "dbname": server["database"],
        "sslmode": "verify-full" if server["encrypts"] else "disable",
        "sslrootcert": (server["roots"] or _root_certificates()) if server["encrypts"] else None,
        "application_name": server["application_name"],
        "options": server["options"],
        "target_session_attrs": "read-write" if server["read_write"] else None,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _tls_context(server: dict[str, Any]) -> Any:
    """Returns the TLS context for a server, or ``False`` for an unencrypted connection.

    :raises PolyflakeError: ``out_of_range`` if the file of root certificates does not exist or contains no
        certificates. Waiting does not help in these cases.
    """
    if not server["encrypts"]:
        return False
    import ssl

    try:
        return ssl.create_default_context(cafile=server["roots"])
    except OSError as error:  # includes ssl.SSLError
        reason = f"cannot read the root certificates in {server['roots']} (`sslrootcert`): {error.strerror or error}"
        raise _store_error("out_of_range", reason) from error


def _root_certificates() -> str:
    """Returns the path of the system's root certificates, or ``system`` if no file is found. By default, libpq reads
    the user's root certificates, and only version 16 and later support ``system``.
    """
    import ssl

    paths = ssl.get_default_verify_paths()
    usual_paths = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
    return next((path for path in (paths.cafile, *usual_paths) if path and os.path.exists(path)), "system")


def asyncpg_arguments(server: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of ``asyncpg.connect`` for the server settings that the lease rules parsed from a URL."""
    hosts, ports = zip(*server["hosts"], strict=True)
    settings = {"application_name": server["application_name"], "options": server["options"]}
    arguments = {
        "host": list(hosts),
        "port": list(ports),
        "user": server["user"],
        "password": server["password"],
        "database": server["database"],
        "ssl": _tls_context(server),
        "server_settings": {name: value for name, value in settings.items() if value is not None},
        "target_session_attrs": "read-write" if server["read_write"] else None,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def _dialect_name(engine: Any) -> str:
    return f"{engine.dialect.name}+{engine.dialect.driver}"


def _engine_driver(engine: Any) -> Any:
    if type(engine).__name__ == "AsyncEngine":
        reason = "expected an engine that does not wait in a loop, found AsyncEngine: use create_engine or a URL"
        raise _store_error("invalid_type", reason)
    name = _dialect_name(engine)
    drivers: dict[str, type[Psycopg | PyMySQL]] = {
        "postgresql+psycopg": Psycopg,
        "mysql+pymysql": PyMySQL,
        "mariadb+pymysql": PyMySQL,
    }
    if name not in drivers:
        expected = "an engine of postgresql+psycopg, mysql+pymysql or sqlite"
        raise _store_error("out_of_range", f"expected {expected}, found {name}: lease with a URL")

    def connect() -> Any:
        # Connect in the same way as the engine, but not through its pool, which may contain connections inherited from
        # a parent process.
        pool_connection = engine.pool.recreate().connect()
        connection = pool_connection.driver_connection
        pool_connection.detach()
        return connection

    return drivers[name](connect)
