"""Fills tables in SQLite. They are created with WITHOUT ROWID, so that the rows are stored in the key's B-tree."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from pathlib import Path

from tables import FilledTable, Key, KeyFormat, split_into_transactions, total_size

#: Page cache size in KiB, about a tenth of the size of a million-row table, because key order matters only if the table
# is larger than memory.
CACHE_KIB = 16 * 1024


def name() -> str:
    return f"SQLite {sqlite3.sqlite_version}"


def fill(kind: KeyFormat, keys: list[Key]) -> FilledTable:
    """Inserts the rows, and measures the table's size once all rows have been written to the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.db"
        database = sqlite3.connect(file, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        column = "INTEGER" if kind.integer else "BLOB"
        database.execute(f"CREATE TABLE rows (id {column} PRIMARY KEY, payload BLOB) WITHOUT ROWID")
        start = time.perf_counter()
        for rows in split_into_transactions(keys):
            database.execute("BEGIN")
            database.executemany("INSERT INTO rows VALUES (?, ?)", rows)
            database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        seconds = time.perf_counter() - start
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.close()
        return FilledTable(name(), kind.name, seconds, pages, total_size(file), None)
