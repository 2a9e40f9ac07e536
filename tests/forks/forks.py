"""Forks thousands of times, and compares the IDs of parents, children and grandchildren that share generators.

    python tests/forks/forks.py [--forks N] [--ids N]

A third of a process's IDs are snos, a third are Hot Guids and a third are UUIDs of version 7. Half of the IDs come from
the default generators, and half come from generators that the parent created. In a child, the parent's generators with
explicit settings (a partition, window, grant, worker ID or layout bindables) must fail with ``forked``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from polyflake import PolyflakeError, hotguid, layout, randflake, sno, uuid7

#: The number of children that generate IDs at the same time.
CONCURRENT_CHILDREN = 8
#: One in every `GRANDCHILD_INTERVAL` children also forks a child.
GRANDCHILD_INTERVAL = 10

SNO, GUID, UUID7 = sno.Generator(), hotguid.Generator(), uuid7.Generator()
#: The size in bytes of each format's IDs, in the order of `make_ids`.
WIDTHS = (10, 16, 16)
GRANT = randflake.Grant(7, 1_730_000_000, 2_803_741_824)
EXPLICIT_GENERATORS: list[Any] = [
    sno.Generator(7),
    hotguid.Generator(window=(0, 2**32 * 1000)),
    randflake.Generator(GRANT, bytes(16)),
    uuid7.Generator(7),
    layout.Generator(layout.Layout.preset("instagram", shard=1)),
]


def make_ids(count: int) -> bytes:
    """Generates `count` IDs of each format in this process, and returns their bytes."""
    half = count // 2
    ids_by_format = [
        b"".join([bytes(sno.generate()) for _ in range(half)]) + bytes(SNO.generate_many(half)),
        b"".join([hotguid.generate().bytes for _ in range(half)]) + bytes(GUID.generate_many(half)),
        b"".join([uuid7.generate().bytes for _ in range(half)]) + bytes(UUID7.generate_many(half)),
    ]
    return b"".join(ids_by_format)


def error_code(generator: Any) -> str:
    try:
        generator.generate()
    except PolyflakeError as error:
        return error.code
    return "an ID"


class Child:
    """A forked process that generates IDs and sends them to its parent."""

    def __init__(self, run_child: Callable[[], bytes]) -> None:
        self.reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                with os.fdopen(writing, "wb") as pipe:
                    pipe.write(run_child())
                status = 0
            finally:
                os._exit(status)
        os.close(writing)

    def join(self) -> bytes:
        with os.fdopen(self.reading, "rb") as pipe:
            made = pipe.read()
        status = os.waitpid(self.pid, 0)[1]
        if status:
            sys.exit(f"a child ended with {status}")
        return made


def make_child_work(count: int, has_child: bool) -> Callable[[], bytes]:
    """Returns a function that generates `count` IDs and, if ``has_child`` is true, forks a child that generates the
    same number of IDs.
    """

    def run_child() -> bytes:
        codes = [error_code(generator) for generator in EXPLICIT_GENERATORS]
        if codes != ["forked"] * len(EXPLICIT_GENERATORS):
            raise AssertionError(codes)
        grandchild = Child(make_child_work(count, False)) if has_child else None
        made = make_ids(count)
        return made + grandchild.join() if grandchild else made

    return run_child


def are_distinct(ids: bytes, width: int) -> bool:
    """Returns whether all IDs, each of `width` bytes, are distinct."""
    rows = np.zeros((len(ids) // width, 16), np.uint8)
    rows[:, :width] = np.frombuffer(ids, np.uint8).reshape(-1, width)
    high, low = rows.view(np.uint64).T
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    return not ((high[1:] == high[:-1]) & (low[1:] == low[:-1])).any()


def split_by_format(made: bytes, count: int, formats: list[bytearray]) -> None:
    """Distributes the IDs of a process and its child among the lists in `formats`, one list per format."""
    start = 0
    while start < len(made):
        for ids, width in zip(formats, WIDTHS, strict=True):
            ids += made[start : start + count * width]
            start += count * width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forks", type=int, default=10_000)
    parser.add_argument("--ids", type=int, default=1000, help="IDs of each process")
    options = parser.parse_args()
    started_at = time.monotonic()
    assert not are_distinct(b"0123456789" * 2, 10), "the comparison finds what is there"
    formats = [bytearray() for _ in WIDTHS]
    ids_per_format = options.ids // 6 * 2
    children: deque[Child] = deque()
    process_count = 1
    split_by_format(make_ids(ids_per_format), ids_per_format, formats)
    for index in range(options.forks):
        has_child = index % GRANDCHILD_INTERVAL == 0
        children.append(Child(make_child_work(ids_per_format, has_child)))
        process_count += 1 + has_child
        if len(children) == CONCURRENT_CHILDREN:
            split_by_format(children.popleft().join(), ids_per_format, formats)
    while children:
        split_by_format(children.popleft().join(), ids_per_format, formats)
    split_by_format(make_ids(ids_per_format), ids_per_format, formats)
    count = sum(len(ids) // width for ids, width in zip(formats, WIDTHS, strict=True))
    if count != (process_count + 1) * ids_per_format * len(WIDTHS):
        sys.exit(f"expected the IDs of {process_count} processes, found {count}")
    all_distinct = all(are_distinct(bytes(ids), width) for ids, width in zip(formats, WIDTHS, strict=True))
    seconds = time.monotonic() - started_at
    print(f"{process_count} processes, {count} IDs: {'none twice' if all_distinct else 'SOME TWICE'}, {seconds:.0f} s")
    if not all_distinct:
        sys.exit(1)


main()
