"""Fills tables in PostgreSQL. Each run starts a new server that listens only on a socket in a temporary folder. All
other settings have their default values, except for `shared_buffers`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tables import FilledTable, Key, KeyFormat, split_into_transactions

#: The size of the server's shared buffers. They are smaller than the table, like SQLite's page cache.
SHARED_BUFFERS = "32MB"


def find_program_folder() -> Path | None:
    """Returns the folder that contains the server's executables, which Debian does not add to `PATH`."""
    initdb_path = shutil.which("initdb")
    folders = [Path(initdb_path).parent] if initdb_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "initdb").exists() else None


def _server_user() -> str | None:
    """Returns the user that the server runs as, or `None` for the current user. If the current user is root, the server
    needs a different user, because PostgreSQL refuses to run as root.
    """
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


@contextmanager
def run_server(program_folder: Path) -> Iterator[psycopg.Connection]:
    """Yields a connection to a new server, which is deleted with all its data afterwards."""
    user = _server_user()
    with tempfile.TemporaryDirectory(prefix="keys") as folder:
        if user is not None:
            shutil.chown(folder, user)
        data = Path(folder) / "data"
        run_options = {"check": True, "stdout": subprocess.DEVNULL, "user": user, "cwd": folder}
        initdb = [program_folder / "initdb", "--auth=trust", "--username=bench", "--no-sync", data]
        subprocess.run(initdb, **run_options)  # type: ignore[call-overload]
        options = f"-k {folder} -c listen_addresses='' -c shared_buffers={SHARED_BUFFERS}"
        pg_ctl = [program_folder / "pg_ctl", "--pgdata", data, "--wait"]
        log = ["--log", Path(folder) / "log", "--options", options]
        subprocess.run([*pg_ctl, *log, "start"], **run_options)  # type: ignore[call-overload]
        try:
            with psycopg.connect(host=folder, user="bench", dbname="postgres", autocommit=True) as connection:
                yield connection
        finally:
            stop_command = [*pg_ctl, "--mode", "fast", "stop"]
            subprocess.run(stop_command, **run_options)  # type: ignore[call-overload]


def name(connection: psycopg.Connection) -> str:
    version = connection.info.server_version
    return f"PostgreSQL {version // 10_000}.{version % 10_000}"


def fill(connection: psycopg.Connection, kind: KeyFormat, keys: list[Key]) -> FilledTable:
    """Inserts the rows with COPY, in several transactions. Measures the time from the end of one checkpoint to the end
    of the next.
    """
    column = "bigint" if kind.integer else "bytea"
    connection.execute("DROP TABLE IF EXISTS rows")
    connection.execute(f"CREATE TABLE rows (id {column} PRIMARY KEY, payload bytea)")
    connection.execute("CHECKPOINT")
    log_start = _log_position(connection)
    start = time.perf_counter()
    for rows in split_into_transactions(keys):
        with connection.cursor().copy("COPY rows FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types([column.replace("bigint", "int8"), "bytea"])
            for row in rows:
                copy.write_row(row)
    connection.execute("CHECKPOINT")
    seconds = time.perf_counter() - start
    log_bytes = _log_position(connection) - log_start
    sizes_query = "SELECT pg_relation_size('rows_pkey') / 8192, pg_total_relation_size('rows')"
    pages, size = connection.execute(sizes_query).fetchone() or (0, 0)
    return FilledTable(name(connection), kind.name, seconds, pages, size, log_bytes)


def _log_position(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
    return int(row[0]) if row else 0
