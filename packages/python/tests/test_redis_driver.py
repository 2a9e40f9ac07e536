"""Tests the Redis driver with stand-ins for redis-py's connections. The tests in ``tests/integrations`` use real
servers.
"""

from __future__ import annotations

import json
import os
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from polyflake import _lease_stores
from polyflake._polyflake import parse_lease_url

REQUEST = {"do": "run", "statements": [["return {}", ["0"]]], "within_ms": 5000}


class ResponseError(Exception):
    """An error that the server returned."""


class NoPermissionError(ResponseError):
    """An exception that redis-py raises for the error code ``NOPERM``. Its message does not contain the code."""


class Connection:
    """A mock connection that records its settings and commands. ``reply`` is the next reply, or an exception to raise.
    If ``reply`` is ``None``, no reply arrives, and the read fails once the connection is shut down.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings, self.commands, self.is_open = settings, [], False
        self.reply: Any = []
        self.cut = threading.Event()
        self._sock = SimpleNamespace(shutdown=lambda _: self.cut.set())
        made.append(self)

    def connect(self) -> None:
        self.is_open = True

    def disconnect(self) -> None:
        self.is_open = False

    def send_command(self, *words: str) -> None:
        assert self.is_open
        self.commands.append(words)

    def read_response(self) -> Any:
        if self.reply is None:
            self.cut.wait(20)
            raise OSError("the connection was shut down")
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class UnixDomainSocketConnection(Connection):
    """A mock connection to a Unix domain socket."""


made: list[Connection] = []


@pytest.fixture(autouse=True)
def _install_fake_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = {"Connection": Connection, "UnixDomainSocketConnection": UnixDomainSocketConnection}
    errors = {"ResponseError": ResponseError}
    modules = {"redis.connection": SimpleNamespace(**classes), "redis.exceptions": SimpleNamespace(**errors)}
    monkeypatch.setattr(_lease_stores, "import_module", modules.__getitem__)
    monkeypatch.setattr(_lease_stores, "find_spec", lambda _: True)
    made.clear()


def open_connection(url: str = "redis://127.0.0.1:7000/3") -> tuple[Any, Connection]:
    server = json.loads(parse_lease_url(url, "orders"))["server"]
    driver = _lease_stores.new_driver("redis", server, os.getpid(), 5.0)
    assert driver.execute({"do": "open"}) == {"opened": None}
    return driver, made[-1]


def test_a_command_is_never_sent_twice() -> None:
    pool = SimpleNamespace(
        connection_class=Connection, connection_kwargs={"db": 3, "retry": 4, "retry_on_timeout": True}
    )
    for store in (SimpleNamespace(connection_pool=pool), pool):
        _lease_stores.new_driver(None, store, os.getpid(), 5.0).execute({"do": "open"})
    _, of_url = open_connection("redis://lease:secret@127.0.0.1:7000/3")
    for connection in made:
        settings = connection.settings
        assert (settings["retry"], settings["retry_on_error"], settings["retry_on_timeout"]) == (None, [], False)
        assert settings["decode_responses"] is True
        assert int(settings["db"]) == 3
    expected = {"host": "127.0.0.1", "port": 7000, "username": "lease", "password": "secret"}
    assert {name: of_url.settings[name] for name in expected} == expected
    assert (of_url.settings["socket_connect_timeout"], of_url.settings["socket_timeout"]) == (5.0, 5.0)
    _, local = open_connection("redis:///0?host=/run/redis.sock")
    assert isinstance(local, UnixDomainSocketConnection)
    assert local.settings["path"] == "/run/redis.sock"


def test_a_script_is_one_command_whose_reply_is_a_row() -> None:
    driver, connection = open_connection()
    connection.reply = ["done", "1", None]
    assert driver.execute(REQUEST) == {"rows": [[["done", "1", None]]], "failure": None}
    assert connection.commands == [("EVAL", "return {}", "0")]
    driver.end()


def test_a_lost_reply_has_no_code_and_ends_the_connection() -> None:
    driver, connection = open_connection()
    connection.reply = OSError("Connection closed by server.")
    answer = driver.execute(REQUEST)
    assert answer["failure"]["code"] is None
    assert not connection.is_open
    driver.end()


def test_a_request_to_a_silent_server_times_out() -> None:
    driver, connection = open_connection()
    connection.reply = None
    assert driver.execute(REQUEST | {"within_ms": 20}) == _lease_stores.NO_OUTPUT
    assert connection.cut.is_set()
    assert not connection.is_open
    driver.end()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ResponseError("OOM command not allowed"), "OOM"),
        (ResponseError("unknown command 'EVAL'"), "ERR"),
        (NoPermissionError("this user has no permissions"), "NOPERM"),
    ],
)
def test_a_server_error_has_a_code_and_keeps_the_connection(error: Exception, code: str) -> None:
    driver, connection = open_connection()
    connection.reply = error
    failure = driver.execute(REQUEST)["failure"]
    assert failure["code"] == code
    assert failure["message"].endswith(str(error))
    assert connection.is_open
    driver.end()
