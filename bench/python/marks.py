"""What a library's texts keep, by trying, as the Rust program's `marks` does.

Whether each is greater than the one before, whether a forked child makes its parent's IDs, and whether the time in
them is a reading of the clock.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from itertools import pairwise

import c_uuid_v7
import fastuuidv7
import nanoid  # type: ignore[import-untyped]
import sparkid
import ulid
import ulid_transform
import uuid_utils
from snowflake import SnowflakeGenerator  # type: ignore[import-untyped]
from uuid_extensions import uuid7str  # type: ignore[import-untyped]

from polyflake import hotguid, sno

Make = Callable[[], str]


def peers() -> list[tuple[str, int | None, Make]]:
    """Each library's IDs as texts in their order, and the number of first letters that hold the time, if any do."""
    snowflakes = SnowflakeGenerator(42)
    return [
        ("sno", 8, sno.generate_text),
        ("Hot Guid", None, hotguid.generate_text),
        ("uuid.uuid4", None, lambda: str(uuid.uuid4())),
        ("uuid_utils.uuid4", None, lambda: str(uuid_utils.uuid4())),
        ("uuid_utils.uuid7", 13, lambda: str(uuid_utils.uuid7())),
        ("uuid7", 13, uuid7str),
        ("fastuuidv7", 13, fastuuidv7.uuid7_str),
        ("fastuuidv7, a generator of its own", 13, fastuuidv7.SequentialGenerator().next_id_str),
        ("c_uuid_v7", 13, lambda: str(c_uuid_v7.uuid7())),
        ("sparkid", 8, sparkid.generate_id),
        ("snowflake-id", 13, lambda: f"{next(snowflakes) or 0:020}"),
        ("python-ulid", 10, lambda: str(ulid.ULID())),
        ("ulid-transform", 10, ulid_transform.ulid_now),
        ("nanoid", None, nanoid.generate),
    ]


def show() -> None:
    for name, first, make in peers():
        ids = [make() for _ in range(100_000)]
        keeps_order = all(one < other for one, other in pairwise(ids))
        repeats = any(_is_repeated(make) for _ in range(20))
        reads = "-" if first is None else _word(_reads_the_clock(make, first))
        print(f"| Python: {name} | {_word(keeps_order)} | {_word(not repeats)} | {reads} |")


def _word(is_so: bool) -> str:
    return "yes" if is_so else "**no**"


def _is_repeated(make: Make) -> bool:
    """Whether a forked child makes an ID that its parent makes at the same time."""
    make()
    theirs, ours = _beside(make, lambda: _for_a_while(make))
    return not set(theirs).isdisjoint(ours)


def _reads_the_clock(make: Make, first: int) -> bool:
    """Whether an ID that is made a while after another holds a later time, in a child without its parent's threads."""

    def pause() -> list[str]:
        before = make()
        time.sleep(0.2)
        return [str(make()[:first] > before[:first])]

    make()
    return _beside(make, pause)[0] == ["True"]


def _for_a_while(make: Make) -> list[str]:
    """IDs for so long that parent and child make some in one millisecond."""
    end, ids = time.monotonic() + 0.03, [make()]
    while time.monotonic() < end:
        ids.append(make())
    return ids


def _beside(make: Make, work: Callable[[], list[str]]) -> tuple[list[str], list[str]]:
    """What a child makes, and what its parent makes meanwhile."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with open(write, "w") as out:
            out.write("\n".join(work()))
        os._exit(0)
    os.close(write)
    ours = _for_a_while(make)
    with open(read) as into:
        theirs = into.read().splitlines()
    os.waitpid(child, 0)
    return theirs, ours
