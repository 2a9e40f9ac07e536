"""A PostgreSQL server for the session, in a folder of its own with a socket there; and databases on it."""

from __future__ import annotations

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

numbers = count()


class Server:
    """The server's socket folder and programs."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        # The server refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None

    def run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, *arguments],
            user=self.user,
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def start(self) -> None:
        self.run("initdb", "--auth=trust", "--username=test", "--pgdata", f"{self.folder}/data", "--no-sync")
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=16MB -c fsync=off"
        log = ("--log", f"{self.folder}/log")
        self.run("pg_ctl", "--pgdata", f"{self.folder}/data", "--wait", "--silent", *log, "--options", options, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "--pgdata", f"{self.folder}/data", "--mode=immediate", "--silent", "stop")

    def database(self) -> str:
        """The name of a new, empty database."""
        name = f"test_{next(numbers)}"
        self.run("createdb", "--host", str(self.folder), "--username=test", name)
        return name

    def url(self, scheme: str = "postgresql") -> str:
        return f"{scheme}://test@/{self.database()}?host={self.folder}"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda program: int(program.parts[-3]))
    if not versions:
        assert "CI" not in os.environ, "expected PostgreSQL on this machine"
        pytest.skip("no PostgreSQL on this machine")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), versions[-1].parent)
        if server.user:
            os.chown(folder, pwd.getpwnam(server.user).pw_uid, -1)
        server.start()
        yield server
        server.stop()
