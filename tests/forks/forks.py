"""Forks thousands of times and compares the IDs that parents, children and grandchildren make with shared generators.

    python tests/forks/forks.py [--forks N] [--ids N]

Half of a process's IDs are sno's and half are Hot Guids. Half come from the default generator and half from one that
the parent created. A parent's explicit settings (a partition, window, grant or layout bindables) must fail with
``forked``.
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

from polyflake import PolyflakeError, hotguid, layout, randflake, sno

#: Number of children that make IDs at the same time.
AT_ONCE = 8
#: One in this many forked children forks a child of its own.
FAMILY = 10

SNO, GUID = sno.Generator(), hotguid.Generator()
GRANT = randflake.Grant(7, 1_730_000_000, 2_803_741_824)
GIVEN: list[Any] = [
    sno.Generator(7),
    hotguid.Generator(window=(0, 2**32 * 1000)),
    randflake.Generator(GRANT, bytes(16)),
    layout.Generator(layout.Layout.preset("instagram", shard=1)),
]


def make(count: int) -> tuple[bytes, bytes]:
    """Returns the bytes of IDs from this process. Half of them are sno's and half are Hot Guids."""
    quarter = count // 4
    return (
        b"".join([bytes(sno.generate()) for _ in range(quarter)]) + bytes(SNO.generate_many(quarter)),
        b"".join([hotguid.generate().bytes for _ in range(quarter)]) + bytes(GUID.generate_many(quarter)),
    )


def refusal(generator: Any) -> str:
    try:
        generator.generate()
    except PolyflakeError as error:
        return error.code
    return "an ID"


class Child:
    """A forked process that makes IDs and sends them to its parent."""

    def __init__(self, child_work: Callable[[], bytes]) -> None:
        self.reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                with os.fdopen(writing, "wb") as pipe:
                    pipe.write(child_work())
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


def child_work(count: int, has_child: bool) -> Callable[[], bytes]:
    """Returns a child's work: it makes `count` IDs, and with ``has_child`` forks a child that makes as many."""

    def child() -> bytes:
        codes = [refusal(generator) for generator in GIVEN]
        if codes != ["forked"] * len(GIVEN):
            raise AssertionError(codes)
        grandchild = Child(child_work(count, False)) if has_child else None
        made = b"".join(make(count))
        return made + grandchild.join() if grandchild else made

    return child


def are_distinct(ids: bytes, width: int) -> bool:
    """Returns whether all IDs, each of `width` bytes, are distinct."""
    rows = np.zeros((len(ids) // width, 16), np.uint8)
    rows[:, :width] = np.frombuffer(ids, np.uint8).reshape(-1, width)
    high, low = rows.view(np.uint64).T
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    return not ((high[1:] == high[:-1]) & (low[1:] == low[:-1])).any()


def split(made: bytes, count: int, snos: bytearray, guids: bytearray) -> None:
    """Sorts the IDs of a process and its child by format."""
    half = count // 4 * 2
    for start in range(0, len(made), half * 26):
        snos += made[start : start + half * 10]
        guids += made[start + half * 10 : start + half * 26]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forks", type=int, default=10_000)
    parser.add_argument("--ids", type=int, default=1000, help="IDs of each process")
    options = parser.parse_args()
    begin = time.monotonic()
    assert not are_distinct(b"0123456789" * 2, 10), "the comparison finds what is there"
    snos, guids = bytearray(), bytearray()
    children: deque[Child] = deque()
    processes = 1
    split(b"".join(make(options.ids)), options.ids, snos, guids)
    for index in range(options.forks):
        has_child = index % FAMILY == 0
        children.append(Child(child_work(options.ids, has_child)))
        processes += 1 + has_child
        if len(children) == AT_ONCE:
            split(children.popleft().join(), options.ids, snos, guids)
    while children:
        split(children.popleft().join(), options.ids, snos, guids)
    split(b"".join(make(options.ids)), options.ids, snos, guids)
    count = len(snos) // 10 + len(guids) // 16
    if count != (processes + 1) * (options.ids // 4 * 4):
        sys.exit(f"expected the IDs of {processes} processes, found {count}")
    well = are_distinct(bytes(snos), 10) and are_distinct(bytes(guids), 16)
    seconds = time.monotonic() - begin
    print(f"{processes} processes, {count} IDs: {'none twice' if well else 'SOME TWICE'}, {seconds:.0f} s")
    if not well:
        sys.exit(1)


main()
