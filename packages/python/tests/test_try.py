"""Tests calls that never wait. They return the requested IDs, or fewer if fewer are available, or raise an error."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from families import FAMILIES, Family, each_family
from polyflake import Stall, hotguid, layout, randflake, sno
from support import NOW_MS, NOW_NS, raises_code

SHARDED = layout.Layout.preset("instagram")


def fail_on_wait(stall: Stall) -> None:
    """A stall callback that fails the test, because these calls must never wait."""
    raise AssertionError(stall)


def waiting_generator(family: Family, clock: Callable[[], int] = lambda: NOW_NS) -> Any:
    """Returns a generator with a frozen clock. Its blocking calls would wait for an hour."""
    return family.make(clock=clock, on_exhausted="wait", max_wait=3_600_000, on_stall=fail_on_wait)


def to_bytes(ids: Any) -> bytes:
    return memoryview(ids).tobytes()


@each_family
def test_try_calls_return_available_ids_and_report_the_retry_time(family: Family) -> None:
    ids = waiting_generator(family)
    made = family.use_up(ids, except_for=4)
    some = ids.try_generate_many(2)
    assert (type(some), len(some)) == (type(made), 2)
    ids.try_generate()
    buffer = family.room(7000)
    assert ids.try_fill(buffer) == 1
    size = len(to_bytes(some)) // 2
    last = to_bytes(buffer)[:size]
    assert any(last) and not any(to_bytes(buffer)[size:]), "nothing was written past the IDs"
    assert last not in {to_bytes(some)[:size], to_bytes(some)[size:]}
    assert not {*some} & {*made[-3:]}
    for name in ("try_generate", "try_generate_text"):
        if hasattr(ids, name):
            with raises_code("sequence_exhausted", retry_at=NOW_MS - NOW_MS % family.tick_ms + family.tick_ms):
                getattr(ids, name)()
    assert len(ids.try_generate_many(5)) == len(ids.try_generate_many(0)) == ids.try_fill(family.room(5)) == 0


@each_family
def test_all_other_errors_are_raised(family: Family) -> None:
    def broken_clock() -> int:
        raise ZeroDivisionError

    closed, failing = waiting_generator(family), waiting_generator(family, clock=broken_clock)
    closed.close()
    for ids, code in ((closed, "generator_closed"), (failing, "clock_failed")):
        for call in (ids.try_generate, lambda ids=ids: ids.try_generate_many(2)):
            with raises_code(code):
                call()
        with raises_code(code):
            ids.try_fill(family.room(2))
    with raises_code("out_of_range", field="n"):
        failing.try_generate_many(1 << 25)
    with raises_code("invalid_type", field="buffer"):
        failing.try_fill(b"")


def test_try_calls_accept_the_arguments_of_other_calls() -> None:
    ids = sno.Generator(1, metabyte=9)
    ids.generate()  # waits for the first tick
    assert [ids.try_generate().metabyte, ids.try_generate(7).metabyte] == [9, 7]
    assert [sno.metabyte(ids.try_generate_text()), sno.metabyte(ids.try_generate_text(metabyte=7))] == [9, 7]
    assert {id.metabyte for id in ids.try_generate_many(3)} | {id.metabyte for id in ids.try_generate_many(3, 5)} == {
        9,
        5,
    }
    guids = hotguid.Generator()
    assert hotguid.shard_key(guids.try_generate(7)) == 7
    assert hotguid.shard_key(uuid.UUID(guids.try_generate_text(shard_key=8))) == 8
    assert {hotguid.shard_key(id) for id in guids.try_generate_many(3, 9)} == {9}
    assert guids.try_fill(bytearray(32), 1) == 2
    open_, column = layout.Generator(SHARDED), np.zeros(1, np.int64)
    open_.generate({"shard": 5})  # waits for the first tick
    assert open_.try_fill(column, {"shard": 5}) == 1
    made = [open_.try_generate({"shard": 3}), *open_.try_generate_many(1, {"shard": 4}), *column]
    assert [SHARDED.parse(id).bindables["shard"] for id in made] == [3, 4, 5]
    with raises_code("missing_field", field="shard"):
        open_.try_generate()
    flakes = FAMILIES["randflake"].make()
    flakes.generate()  # waits for the first second
    assert flakes.inspect(randflake.decode_text(flakes.try_generate_text())).node == 1
