"""Tests a real server that forks its workers after it has loaded the application."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such server here")

WORKERS = 3

#: An application that creates and uses the module's generators before the server forks.
APPLICATION = """
import json
import os

from polyflake import PolyflakeError, hotguid, sno

shared, guids, given = sno.Generator(), hotguid.Generator(), sno.Generator(partition=7)
LOADED = [str(sno.generate()), shared.generate_text(), given.generate_text(), guids.generate_text()]


def failure():
    try:
        return given.generate_text()
    except PolyflakeError as error:
        return error.code


def application(environ, start_response):
    ids = [str(sno.generate()) for _ in range(50)] + shared.generate_many(50).texts()
    ids += [str(hotguid.generate()) for _ in range(50)] + guids.generate_many(50).texts()
    start_response("200 OK", [("Content-Type", "application/json")])
    answer = {"pid": os.getpid(), "ids": ids, "given": failure(), "loaded": LOADED}
    return [json.dumps(answer).encode()]
"""


class Connection(http.client.HTTPConnection):
    """A connection to a server that listens on a Unix socket. The host is the path of the socket file."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.host)


def http_get(address: str) -> Any:
    connection = Connection(address)
    connection.request("GET", "/", headers={"Host": "localhost", "Connection": "close"})
    answer = json.load(connection.getresponse())
    connection.close()
    return answer


def accepts_connections(address: str) -> bool:
    """Returns whether a server accepts connections on a Unix socket. The server creates the socket file shortly before
    it accepts connections, so the existence of the file does not suffice.
    """
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(address) == 0


@contextmanager
def server(folder: Path, *options: str) -> Iterator[str]:
    """Runs a server for the duration of the ``with`` block."""
    (folder / "served.py").write_text(textwrap.dedent(APPLICATION))
    address = str(folder / "socket")
    command = [sys.executable, "-m", "gunicorn", "--bind", f"unix:{address}", *options, "served:application"]
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            for _ in range(600):
                if accepts_connections(address) or process.poll() is not None:
                    break
                time.sleep(0.05)
            assert process.poll() is None, (folder / "log").read_text()
            yield address
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.parametrize("options", [(), ("--worker-class", "gthread", "--threads", "2")], ids=["sync", "threads"])
def test_no_two_workers_make_the_same_id(options: tuple[str, ...]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        server(Path(folder), "--preload", "--workers", str(WORKERS), *options) as address,
    ):
        answers = [http_get(address) for _ in range(20)]
        deadline = time.monotonic() + 60
        while len({answer["pid"] for answer in answers}) < WORKERS and time.monotonic() < deadline:
            answers.append(http_get(address))
    assert len({answer["pid"] for answer in answers}) == WORKERS
    ids = [id for answer in answers for id in answer["ids"]] + answers[0]["loaded"]
    assert len(set(ids)) == len(ids) == 200 * len(answers) + 4
    assert {answer["given"] for answer in answers} == {"forked"}


def test_a_worker_without_preload_has_its_own_generator() -> None:
    """Without ``--preload``, each worker loads the application after the fork, so its generators with explicit
    partitions work. The application must ensure that the workers use different partitions.
    """
    with tempfile.TemporaryDirectory() as folder, server(Path(folder), "--workers", "1") as address:
        answers = [http_get(address) for _ in range(5)]
    ids = [id for answer in answers for id in [*answer["ids"], answer["given"]]]
    assert len(set(ids)) == len(ids) == 201 * 5
