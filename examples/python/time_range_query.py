"""A BETWEEN query over a time range: IDs sort by time, so the primary key is also the time index.

Run it: ``python examples/python/time_range_query.py``
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable
from contextlib import closing

from polyflake import sno

QUERY = "SELECT id, what FROM events WHERE id BETWEEN ? AND ? ORDER BY id"

Event = tuple[dt.datetime, str]


def store_events(events: Iterable[Event]) -> sqlite3.Connection:
    """Creates a table of events. Each event's ID contains the time at which the event happened."""
    ids = sno.Generator(partition=1)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE events (id BLOB PRIMARY KEY, what TEXT NOT NULL) WITHOUT ROWID")
    rows = [(bytes(ids.generate_at(when)), what) for when, what in events]
    database.executemany("INSERT INTO events VALUES (?, ?)", rows)
    return database


def records_between(database: sqlite3.Connection, start: dt.datetime, end: dt.datetime) -> list[Event]:
    """Returns the events from ``start`` up to but excluding ``end``."""
    lowest, highest = sno.time_range(start, end)
    rows = database.execute(QUERY, (bytes(lowest), bytes(highest)))
    return [(sno.Sno.from_bytes(id).datetime, what) for id, what in rows]


def main() -> None:
    start = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    events = [(start + dt.timedelta(hours=hour), f"hour {hour}") for hour in range(24 * 365)]
    with closing(store_events(events)) as database:
        matching_events = records_between(database, start + dt.timedelta(days=59), start + dt.timedelta(days=60))
        (*_, plan), *_ = database.execute("EXPLAIN QUERY PLAN " + QUERY, (b"", b""))
    for when, what in matching_events[:3]:
        print(f"{when:%Y-%m-%d %H:%M}  {what}")
    print(f"... {len(matching_events)} of {len(events)}: {plan}")
    assert [what for _, what in matching_events] == [f"hour {59 * 24 + hour}" for hour in range(24)]
    assert "SEARCH events USING PRIMARY KEY" in plan


if __name__ == "__main__":
    main()
