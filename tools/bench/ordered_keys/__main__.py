"""Inserts rows with each kind of key, and reports the time and the space that this takes. Arguments: the program that
generates keys, the number of rows, and the output file. `cargo xtask bench --ordered-keys` runs it.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

import in_postgresql
import in_sqlite
from tables import KEY_FORMATS, Fill, FilledTable, Key, KeyFormat

#: How many times each table is filled. The tables take turns, and the median time is reported.
ROUNDS = 3


def main(program: str, rows: str, into: str) -> None:
    keys = {kind: kind.keys(program, int(rows)) for kind in KEY_FORMATS}
    with ExitStack() as stack:
        fills: list[Fill] = [in_sqlite.fill]
        if program_folder := in_postgresql.find_program_folder():
            connection = stack.enter_context(in_postgresql.run_server(program_folder))
            fills.append(lambda kind, keys: in_postgresql.fill(connection, kind, keys))
        else:
            print("no PostgreSQL on this machine (initdb is not found): only SQLite is measured")
        tables = [median(filled) for fill in fills for filled in fill_alternately(fill, keys)]
    print_tables(tables)
    Path(into).write_text(json.dumps([asdict(table) for table in tables]))


def fill_alternately(fill: Fill, keys: dict[KeyFormat, list[Key]]) -> Iterable[tuple[FilledTable, ...]]:
    """Returns the results of all rounds for each kind of key. Each round fills one table for each kind of key."""
    rounds = [[fill(kind, keys[kind]) for kind in KEY_FORMATS] for _ in range(ROUNDS)]
    return zip(*rounds, strict=True)


def median(rounds: tuple[FilledTable, ...]) -> FilledTable:
    """Returns the result of the last round, with its time replaced by the median time of all rounds."""
    return replace(rounds[-1], seconds=statistics.median(filled.seconds for filled in rounds))


def print_tables(tables: list[FilledTable]) -> None:
    for database in dict.fromkeys(table.database for table in tables):
        print(f"\n{database}: rows of 100 bytes and a key")
        print(f"  {'key':<24} {'seconds':>8} {'key pages':>10} {'MB':>7} {'log MB':>7}")
        for table in tables:
            if table.database == database:
                log = "" if table.log_bytes is None else f"{table.log_bytes / 1e6:.0f}"
                size = f"{table.bytes / 1e6:.0f}"
                print(f"  {table.key:<24} {table.seconds:>8.2f} {table.pages:>10} {size:>7} {log:>7}")


main(*sys.argv[1:])
