"""Fixtures for PostgreSQL, MariaDB and Redis servers that run during the session, and for test databases. Each server
has its own folder and socket.
"""

from __future__ import annotations

import importlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import django
import psycopg
import pymysql
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.test.utils import setup_test_environment, teardown_test_environment
from sqlalchemy import Engine, create_engine

database_numbers = count()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()


class Server:
    """A PostgreSQL server, with the folder of its socket and the folder of its programs."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None

    def run(self, program: str, *arguments: str) -> None:
        # The folder of another PostgreSQL version may contain no client programs, so fall back to the programs on the
        # `PATH`.
        program_path = shutil.which(program, path=self.programs) or program
        subprocess.run(
            [program_path, *arguments],
            user=self.user,
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def start(self, setting: str) -> None:
        self.run("initdb", "--auth=trust", "--username=test", "--pgdata", f"{self.folder}/data", "--no-sync")
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=16MB -c {setting}"
        log = ("--log", f"{self.folder}/log")
        self.run("pg_ctl", "--pgdata", f"{self.folder}/data", "--wait", "--silent", *log, "--options", options, "start")

    def stop(self) -> None:
        self.run("pg_ctl", "--pgdata", f"{self.folder}/data", "--mode=immediate", "--silent", "stop")

    def database(self) -> str:
        """Creates an empty database and returns its name."""
        name = f"test_{next(database_numbers)}"
        with psycopg.connect(host=str(self.folder), user="test", dbname="postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def url(self, scheme: str = "postgresql") -> str:
        return f"{scheme}://test@/{self.database()}?host={self.folder}"


def skip_without(found: object, name: str) -> None:
    """Skips a test on a machine without a program that it needs. In continuous integration on Linux, where the task
    runner installs all of them, the test fails instead.
    """
    if not found:
        is_ci = os.environ.get("CI", "false") not in ("", "false")
        assert not (is_ci and sys.platform == "linux"), f"expected {name} on this machine"
        pytest.skip(f"no {name} on this machine")


def import_or_skip(name: str) -> Any:
    """Imports a library, which only the environment with the pinned versions is certain to contain."""
    return importlib.import_module(name) if "POLYFLAKE_PINNED" in os.environ else pytest.importorskip(name)


@contextmanager
def running_server(setting: str = "fsync=off") -> Iterator[Server]:
    """Runs a server while the context is active. Skips the test on a machine without PostgreSQL."""
    initdb_paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda program: int(program.parts[-3]))
    if "POLYFLAKE_POSTGRESQL" in os.environ:  # the folder of another version's programs
        initdb_paths = [Path(os.environ["POLYFLAKE_POSTGRESQL"]) / "initdb"]
    skip_without(initdb_paths, "PostgreSQL")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), initdb_paths[-1].parent)
        if server.user:
            os.chown(folder, pwd.getpwnam(server.user).pw_uid, -1)
        server.start(setting)
        yield server
        server.stop()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


class MariaDb:
    """A MariaDB or MySQL server without accounts. Without accounts, MariaDB needs no system tables."""

    def __init__(self, folder: Path, program: str) -> None:
        self.socket, self.log = folder / "socket", folder / "log"
        self.is_mysql = Path(program).name == "mysqld"
        user = "root" if self.is_mysql else "nobody"
        options = {
            "datadir": folder / "data",
            "user": user if os.geteuid() == 0 else None,
            "mysqlx": "OFF" if self.is_mysql else None,
            "secure-file-priv": "NULL" if self.is_mysql else None,
            "socket": self.socket,
            "pid-file": folder / "pid",
            "log-error": self.log,
            "innodb-buffer-pool-size": "8M",
        }
        stated = [f"--{name}={value}" for name, value in options.items() if value]
        # On startup, a server deletes the temporary tables of all servers that use the same folder for temporary files,
        # so give each server a separate folder.
        environment = os.environ | {"TMPDIR": str(folder)}
        if self.is_mysql:
            initialize_command = [program, "--no-defaults", "--initialize-insecure", *stated]
            subprocess.run(initialize_command, check=True, env=environment, stderr=subprocess.DEVNULL)
        switches = ["--no-defaults", "--skip-networking", "--skip-grant-tables"]
        self.process = subprocess.Popen([program, *switches, *stated], env=environment, stderr=subprocess.DEVNULL)

    def connect(self, **options: Any) -> pymysql.Connection[Any]:
        return pymysql.connect(unix_socket=str(self.socket), user="root", **options)

    def wait(self) -> None:
        """Waits until the server's socket accepts connections. The server sends its greeting once it is ready."""
        for _ in range(1200):
            with socket.socket(socket.AF_UNIX) as client, suppress(OSError):
                return client.connect(str(self.socket))
            assert self.process.poll() is None, self.output()
            time.sleep(0.1)
        raise TimeoutError(self.output())

    def output(self) -> str:
        return self.log.read_text() if self.log.exists() else "the server wrote no log"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def database(self) -> str:
        """Creates an empty database and returns its name."""
        name = f"test_{next(database_numbers)}"
        with closing(self.connect()) as connection:
            connection.cursor().execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        return name

    def url(self) -> str:
        scheme = "mysql" if self.is_mysql else "mariadb"
        return f"{scheme}+pymysql://root@/{self.database()}?unix_socket={self.socket}"


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDb]:
    path = f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"
    program = os.environ.get("POLYFLAKE_MYSQL_SERVER") or shutil.which("mariadbd", path=path)
    skip_without(program, "MariaDB")
    with tempfile.TemporaryDirectory() as folder:
        (data := Path(folder) / "data").mkdir()
        if os.geteuid() == 0:
            for path in (folder, data):
                os.chown(path, pwd.getpwnam("nobody").pw_uid, -1)
        server = MariaDb(Path(folder), program)
        try:
            server.wait()
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Path]:
    """Runs a Redis server without persistence, and yields the path of its socket."""
    program = os.environ.get("POLYFLAKE_REDIS_SERVER") or shutil.which("redis-server")
    skip_without(program, "Redis")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "socket"
        command = [program, "--port", "0", "--save", "", "--dir", folder, "--unixsocket", str(path)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                while not path.exists():
                    assert process.poll() is None, "the server ended"
                    time.sleep(0.05)
                yield path
            finally:
                process.kill()


@pytest.fixture(scope="session")
def _django() -> Iterator[None]:
    setup_test_environment()
    yield
    teardown_test_environment()


@pytest.fixture(scope="session")
def migrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the migrations that Django generates for the shop."""
    package = tmp_path_factory.mktemp("migrations") / "written"
    package.mkdir()
    (package / "__init__.py").touch()
    sys.path.insert(0, str(package.parent))
    settings.MIGRATION_MODULES = {"shop": "written"}
    call_command("makemigrations", "shop", verbosity=0)
    importlib.invalidate_caches()
    return package


@pytest.fixture(scope="session", params=["sqlite3", "postgresql", "mysql"])
def database(request: pytest.FixtureRequest, migrations: Path, _django: None) -> Iterator[str]:
    """Selects a Django database, and creates its tables by running the migrations."""
    database_settings = {"ENGINE": f"django.db.backends.{request.param}", "NAME": ":memory:"}
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("server")
        database_settings |= {"NAME": server.database(), "HOST": str(server.folder), "USER": "test"}
    elif request.param == "mysql":
        mariadb: MariaDb = request.getfixturevalue("mariadb")
        database_settings |= {"NAME": mariadb.database(), "HOST": str(mariadb.socket), "USER": "root"}
    connections.settings.update(connections.configure_settings({"default": database_settings}))
    del connections["default"]
    call_command("migrate", verbosity=0)
    yield request.param
    connection.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "mariadb"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Yields a SQLAlchemy engine for an empty database."""
    if request.param == "sqlite":
        engine = create_engine("sqlite://")
    elif request.param == "mariadb":
        mariadb: MariaDb = request.getfixturevalue("mariadb")
        engine = create_engine(mariadb.url())
    else:
        server: Server = request.getfixturevalue("server")
        engine = create_engine(server.url("postgresql+psycopg"))
    yield engine
    engine.dispose()
