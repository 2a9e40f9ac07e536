"""Tests calls that never wait. They return the requested IDs, or fewer if fewer are available, or raise an error."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from families import FAMILIES, Family, each_family
from polyflake import Stall, hotguid, layout, randflake, sno
from support import NOW_MS, NOW_NS, raises_code

SHARDED_LAYOUT = layout.Layout.preset("instagram")


def fail_on_wait(stall: Stall) -> None:
    """A stall callback that fails the test, because these calls must never wait."""
    raise AssertionError(stall)


def waiting_generator(family: Family, clock: Callable[[], int] = lambda: NOW_NS) -> Any:
    """Returns a generator with a frozen clock. Its blocking calls would wait for an hour."""
    return family.make(test_clock=clock, on_exhausted="wait", max_wait=3_600_000, on_stall=fail_on_wait)


def to_bytes(ids: Any) -> bytes:
    return memoryview(ids).tobytes()


@each_family
def test_try_calls_return_available_ids_and_report_the_retry_time(family: Family) -> None:
    generator = waiting_generator(family)
    made_ids = family.use_up(generator, except_for=4)
    some_ids = generator.try_generate_many(2)
    assert (type(some_ids), len(some_ids)) == (type(made_ids), 2)
    generator.try_generate()
    buffer = family.make_buffer(7000)
    assert generator.try_fill(buffer) == 1
    id_size = len(to_bytes(some_ids)) // 2
    last_id = to_bytes(buffer)[:id_size]
    assert any(last_id) and not any(to_bytes(buffer)[id_size:]), "nothing was written past the IDs"
    assert last_id not in {to_bytes(some_ids)[:id_size], to_bytes(some_ids)[id_size:]}
    assert not {*some_ids} & {*made_ids[-3:]}
    for name in ("try_generate", "try_generate_text"):
        if hasattr(generator, name):
            with raises_code("sequence_exhausted", retry_at=NOW_MS - NOW_MS % family.tick_ms + family.tick_ms):
                getattr(generator, name)()
    assert (
        len(generator.try_generate_many(5))
        == len(generator.try_generate_many(0))
        == generator.try_fill(family.make_buffer(5))
        == 0
    )


@each_family
def test_errors_other_than_exhaustion_are_raised(family: Family) -> None:
    def broken_clock() -> int:
        raise ZeroDivisionError

    closed, failing = waiting_generator(family), waiting_generator(family, clock=broken_clock)
    closed.close()
    for generator, code in ((closed, "generator_closed"), (failing, "clock_failed")):
        for call in (generator.try_generate, lambda generator=generator: generator.try_generate_many(2)):
            with raises_code(code):
                call()
        with raises_code(code):
            generator.try_fill(family.make_buffer(2))
    with raises_code("out_of_range", field="n"):
        failing.try_generate_many(1 << 25)
    with raises_code("invalid_type", field="buffer"):
        failing.try_fill(b"")


def test_try_calls_accept_the_arguments_of_other_calls() -> None:
    generator = sno.Generator(1, metabyte=9)
    generator.generate()  # waits for the first tick
    assert [generator.try_generate().metabyte, generator.try_generate(7).metabyte] == [9, 7]
    assert [sno.metabyte(generator.try_generate_text()), sno.metabyte(generator.try_generate_text(metabyte=7))] == [
        9,
        7,
    ]
    assert {id.metabyte for id in generator.try_generate_many(3)} | {
        id.metabyte for id in generator.try_generate_many(3, 5)
    } == {
        9,
        5,
    }
    hotguid_generator = hotguid.Generator()
    assert hotguid.shard_key(hotguid_generator.try_generate(7)) == 7
    assert hotguid.shard_key(uuid.UUID(hotguid_generator.try_generate_text(shard_key=8))) == 8
    assert {hotguid.shard_key(id) for id in hotguid_generator.try_generate_many(3, 9)} == {9}
    assert hotguid_generator.try_fill(bytearray(32), 1) == 2
    open_, column = layout.Generator(SHARDED_LAYOUT), np.zeros(1, np.int64)
    open_.generate({"shard": 5})  # waits for the first tick
    assert open_.try_fill(column, {"shard": 5}) == 1
    made = [open_.try_generate({"shard": 3}), *open_.try_generate_many(1, {"shard": 4}), *column]
    assert [SHARDED_LAYOUT.parse(id).bindables["shard"] for id in made] == [3, 4, 5]
    with raises_code("missing_field", field="shard"):
        open_.try_generate()
    randflake_generator = FAMILIES["randflake"].make()
    randflake_generator.generate()  # waits for the first second
    assert (
        randflake_generator.inspect(randflake.decode_text(randflake_generator.try_generate_text())).node
        == randflake_generator.grant.nodes[0]
    )
