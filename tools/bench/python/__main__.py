"""Compares the Python package with its peers, and prints each contest's times as a line of JSON.

`cargo xtask bench` runs it, pinned to one processor.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import kinds
import marks
import ours
import peers
import public_ids
from contest import Comparison, Entry, Goal

#: Number of strings in a column.
COLUMN_LENGTH = 10_000_000
SIZES = [1, 16, 256, 1024, 4096, 16_384, 65_536]


def comparisons() -> Iterator[Comparison]:
    original = "randflake 2.1.0"
    yield Comparison(
        "python: one ID",
        ours.id_entries() + peers.id_entries(),
        [
            Goal("python: Randflake generate", ("Randflake", None), (original, None), 1 / 250),
            Goal("python: sno generate, against c_uuid_v7", ("sno", None), ("c_uuid_v7", None), 1.1),
            Goal(
                "python: UUID v7 generate, against c_uuid_v7",
                ("UUID v7, a uuid.UUID", None),
                ("c_uuid_v7, a uuid.UUID", None),
                1.1,
            ),
        ],
        missing=peers.missing_peers(),
    )
    yield Comparison(
        "python: one ID as text",
        ours.text_entries() + peers.text_entries(),
        [
            Goal(
                "python: sno text, against fastuuidv7", ("sno", None), ("fastuuidv7, a generator of its own", None), 1.1
            ),
            Goal("python: sno text, against sparkid", ("sno", None), ("sparkid", None), 1.1),
            Goal("python: sno text, against uuid_utils", ("sno", None), ("uuid_utils.uuid7", None), 0.5),
        ],
        missing=peers.missing_peers(),
    )
    yield Comparison("python: one text read", ours.decode_entries() + peers.decode_entries())
    yield Comparison(
        "python: one object of several kinds read from JSON",
        kinds.parse_entries(),
        [Goal("python: JSON by metabyte", ("by metabyte", None), ("parsed twice", None), 0.9)],
    )
    yield Comparison("python: one public ID encoded", public_ids.encode_entries(), public_ids.goals("encode"))
    yield Comparison("python: one public ID decoded", public_ids.decode_entries(), public_ids.goals("decode"))
    memory = ("memory copied, as many bytes moved", None)
    yield Comparison(
        "python: a column of 10 million sno texts",
        ours.column_entries(COLUMN_LENGTH) + peers.memory_entries(COLUMN_LENGTH),
        [
            Goal("python: sno texts of a NumPy column", ("sno, from NumPy", None), memory, 2.0),
            Goal("python: sno texts of an Arrow column", ("sno, from Arrow", None), memory, 2.0),
        ],
    )
    yield Comparison(
        "python: a column of 10 million Randflake texts",
        ours.randflake_column_entries(COLUMN_LENGTH) + peers.memory_entries(COLUMN_LENGTH),
    )
    uuid_loop_key = ("uuid_utils.uuid7, in a loop", 1024)
    yield Comparison(
        "python: batches",
        [*ours.batch_entries(SIZES), Entry(uuid_loop_key[0], *_uuid_loop(), items=1024, x=1024)],
        [
            Goal("python: sno texts, a batch of 1024", ("sno, a list of texts", 1024), uuid_loop_key, 0.15),
            Goal("python: sno as NumPy, a batch of 1024", ("sno, as NumPy", 1024), uuid_loop_key, 0.01),
        ],
        axis="IDs in a call",
    )


def _uuid_loop() -> tuple[str, dict[str, object]]:
    import uuid_utils

    return "[make() for _ in range(1024)]", {"make": uuid_utils.uuid7}


def main(text: str = "") -> None:
    if text == "marks":
        return marks.print_rows()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for contest in comparisons():
        if contest.matches_filter(text):
            contest.time_repeatedly()


main(*sys.argv[1:])
