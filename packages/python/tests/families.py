"""Describes the generator of each format: its constructor, the number of IDs in a tick, and buffers for its IDs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from polyflake import hotguid, layout, randflake, sno, uuid7

GRANT = randflake.Grant(1, 1_730_000_000, 2_803_741_824)
SECRET = bytes(16)
TIMESTAMP_FIELD = {"kind": "timestamp", "bits": 47, "tick": "10ms", "epoch_ms": 0}
INTEGER_LAYOUT = layout.Layout(
    {"id": "integer", "bits": 64, "fields": [TIMESTAMP_FIELD, {"kind": "sequence", "bits": 17}]}
)
BYTES_LAYOUT = layout.Layout(
    {
        "id": "bytes",
        "bits": 72,
        "fields": [TIMESTAMP_FIELD, {"kind": "unused", "bits": 8}, {"kind": "sequence", "bits": 17}],
    }
)


class Family(NamedTuple):
    """The generators of one format. ``make`` creates a generator with options, ``per_tick`` is the number of sequence
    numbers per tick, and ``tick_ms`` is the duration of a tick. ``size`` is the number of bytes in an ID, unless IDs
    are Python integers. ``sequence`` returns an ID's sequence number in formats whose ticks start at a random sequence
    number, and 0 in all other formats.
    """

    make: Callable[..., Any]
    per_tick: int
    tick_ms: int
    size: int | None = None
    sequence: Callable[[Any], int] = lambda _: 0

    def make_buffer(self, n: int) -> Any:
        """Returns an empty buffer with space for ``n`` IDs."""
        return np.zeros(n, np.int64) if self.size is None else bytearray(n * self.size)

    def use_up(self, ids: Any, except_for: int = 0) -> Any:
        """Generates all IDs of a new tick except the last ``except_for`` IDs. Returns the generated IDs without the
        first ID.
        """
        first_sequence = self.sequence(ids.generate())
        return ids.generate_many(self.per_tick - first_sequence - 1 - except_for)

    def make_exhausted(self, **options: Any) -> Any:
        """Returns a generator whose current tick is exhausted."""
        ids = self.make(**options)
        self.use_up(ids)
        return ids


# The nodes of generators that read the system clock. An earlier test's generator may live until the collector runs.
fresh_nodes = itertools.count(1000)


def make_randflake_generator(**options: Any) -> randflake.Generator:
    """Returns a generator of one node, which is always the same with a clock for tests."""
    node = 1 if "test_clock" in options else next(fresh_nodes)
    return randflake.Generator(randflake.Grant(node, GRANT.start, GRANT.end), SECRET, **options)


FAMILIES: dict[str, Family] = {
    "sno": Family(lambda **options: sno.Generator(1, **options), 65_536, 4, 10),
    "randflake": Family(make_randflake_generator, 131_072, 1000),
    "hotguid": Family(
        lambda **options: hotguid.Generator(**options), 2**24, 1000, 16, lambda id: hotguid.parts(id).counter
    ),
    "uuid7": Family(lambda **options: uuid7.Generator(**options), 2**18, 1, 16, lambda id: uuid7.parts(id).sequence),
    "layout": Family(lambda **options: layout.Generator(INTEGER_LAYOUT, **options), 2**17, 10),
    "wide layout": Family(lambda **options: layout.Generator(BYTES_LAYOUT, **options), 2**17, 10, 9),
}


def is_unused(ids: Any) -> bool:
    """Returns whether a generator has not generated any IDs."""
    stats = ids.stats()
    return bool(stats.last_ms is None if isinstance(stats, uuid7.Stats) else stats.len == 0)


each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
