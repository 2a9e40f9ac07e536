"""Tests properties of each library's strings, like `marks` in the Rust program.

The properties are whether each string is greater than the previous one, whether a forked child repeats its parent's
IDs, and whether the time in the strings comes from a clock reading.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import pairwise

from snowflake import SnowflakeGenerator  # type: ignore[import-untyped]

import peers
from contest import Entry
from polyflake import hotguid, sno

IdMaker = Callable[[], str]
#: Number of leading characters that encode the time, keyed by a word in the library's name. The IDs of all other
# libraries contain no time.
TIME_PREFIX_LENGTHS = {"snowflake-id": 13, "uuid7": 13, "uuidv7": 13, "uuid_v7": 13, "ulid": 10, "sparkid": 8, "sno": 8}


def marked_entries() -> list[Entry]:
    """Returns entries that generate each library's IDs as sortable strings. Randflakes are excluded, because they are
    encrypted.
    """
    return [
        Entry("sno", "make()", {"make": sno.generate_text}),
        Entry("Hot Guid", "make()", {"make": hotguid.generate_text}),
        *(entry for entry in peers.text_entries() if "randflake" not in entry.name),
        Entry("snowflake-id", "f'{next(ids) or 0:020}'", {"ids": SnowflakeGenerator(42)}),
    ]


def id_maker(entry: Entry) -> IdMaker:
    """Returns a function that runs the entry's statement."""
    code = compile(entry.statement, entry.name, "eval")
    return lambda: eval(code, entry.objects)


def print_rows() -> None:
    for entry in marked_entries():
        name, make = entry.name, id_maker(entry)
        time_length = next((length for word, length in TIME_PREFIX_LENGTHS.items() if word in name), None)
        ids = [make() for _ in range(100_000)]
        keeps_order = all(one < other for one, other in pairwise(ids))
        repeats = any(_forked_child_repeats_an_id(make) for _ in range(20))
        clock_answer = "-" if time_length is None else _yes_or_no(_reads_the_clock(make, time_length))
        print(f"| Python: {name} | {_yes_or_no(keeps_order)} | {_yes_or_no(not repeats)} | {clock_answer} |")


def _yes_or_no(is_so: bool) -> str:
    return "yes" if is_so else "**no**"


def _forked_child_repeats_an_id(make: IdMaker) -> bool:
    """Returns whether a forked child generates an ID that its parent also generates at the same time."""
    make()
    child_ids, parent_ids = _run_in_child_and_parent(make, lambda: _make_ids_for_a_while(make))
    return not set(child_ids).isdisjoint(parent_ids)


def _reads_the_clock(make: IdMaker, time_length: int) -> bool:
    """Returns whether an ID that is generated later contains a later time. The IDs are generated in a forked child,
    which does not have its parent's threads.
    """

    def pause() -> list[str]:
        earlier_id = make()
        time.sleep(0.2)
        return [str(make()[:time_length] > earlier_id[:time_length])]

    make()
    return _run_in_child_and_parent(make, pause)[0] == ["True"]


def _make_ids_for_a_while(make: IdMaker) -> list[str]:
    """Generates IDs for long enough that the parent and the child both generate IDs in the same millisecond."""
    end, ids = time.monotonic() + 0.03, [make()]
    while time.monotonic() < end:
        ids.append(make())
    return ids


def _run_in_child_and_parent(make: IdMaker, work: Callable[[], list[str]]) -> tuple[list[str], list[str]]:
    """Runs `work` in a forked child while the parent generates IDs. Returns the strings that `work` returned, and the
    parent's IDs.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with open(write, "w") as out:
            out.write("\n".join(work()))
        os._exit(0)
    os.close(write)
    parent_ids = _make_ids_for_a_while(make)
    with open(read) as into:
        child_ids = into.read().splitlines()
    os.waitpid(child, 0)
    return child_ids, parent_ids
