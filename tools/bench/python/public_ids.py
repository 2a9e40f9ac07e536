"""Benchmarks public IDs, one at a time and in batches, and compares them with Sqids, which does not hide the
numbers.
"""

from __future__ import annotations

from sqids import Sqids

from contest import Entry, Goal
from polyflake import public

#: Number of IDs per batch.
BATCH_SIZE = 1024
SQIDS = "Sqids"


def encode_entries() -> list[Entry]:
    orders, numbers = public.Keyring(bytes(32)).of("order"), [row * 1_000_003 for row in range(BATCH_SIZE)]
    encode_objects = {"encode": orders.encode, "number": numbers[-1]}
    encode_many_objects = {"encode": orders.encode_many, "numbers": numbers}
    return [
        Entry("polyflake", "encode(number)", encode_objects, ours=True),
        Entry("polyflake, 1024 at once", "encode(numbers)", encode_many_objects, ours=True, items=BATCH_SIZE),
        Entry(SQIDS, "encode([number])", {"encode": Sqids(min_length=15).encode, "number": numbers[-1]}),
    ]


def decode_entries() -> list[Entry]:
    orders, sqids = public.Keyring(bytes(32)).of("order"), Sqids(min_length=15)
    texts = orders.encode_many(row * 1_000_003 for row in range(BATCH_SIZE))
    decode_many_objects = {"decode": orders.decode_many, "texts": texts}
    sqids_objects = {"decode": sqids.decode, "text": sqids.encode([(BATCH_SIZE - 1) * 1_000_003])}
    return [
        Entry("polyflake", "decode(text)", {"decode": orders.decode, "text": texts[-1]}, ours=True),
        Entry("polyflake, 1024 at once", "decode(texts)", decode_many_objects, ours=True, items=BATCH_SIZE),
        Entry(SQIDS, "decode(text)", sqids_objects),
    ]


def goals(verb: str) -> list[Goal]:
    """Returns goals that limit the time of this library to 5% of the time that Sqids takes."""
    one = Goal(f"python: public ID {verb}", ("polyflake", None), (SQIDS, None), 0.05)
    return [one, Goal(f"python: public ID {verb}, many", ("polyflake, 1024 at once", None), (SQIDS, None), 0.05)]
