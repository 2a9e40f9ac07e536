"""Calls that never wait: the IDs that there are now, and an error or fewer of them where there are none."""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from polyflake import Stall, hotguid, layout, randflake, sno
from support import NOW_MS, NOW_NS, refused

SMALL = layout.Layout(
    {
        "id": "integer",
        "bits": 64,
        "fields": [
            {"kind": "timestamp", "bits": 54, "tick": "1ms", "epoch_ms": 0},
            {"kind": "bindable", "bits": 8, "name": "shard"},
            {"kind": "sequence", "bits": 2},
        ],
    }
)
WIDE = layout.Layout(
    {
        "id": "bytes",
        "bits": 80,
        "fields": [
            {"kind": "timestamp", "bits": 54, "tick": "1ms", "epoch_ms": 0},
            {"kind": "bindable", "bits": 24, "name": "shard"},
            {"kind": "sequence", "bits": 2},
        ],
    }
)


class Family(NamedTuple):
    """A family: its generator with a number, the number of IDs in a tick, and a buffer for some IDs."""

    make: Callable[..., Any]
    per_tick: int
    tick_ms: int
    room: Callable[[int], Any]
    array: type[Any]
    has_text: bool = True


def _node(number: int, **options: Any) -> randflake.Generator:
    return randflake.Generator(randflake.Grant(number, 1_730_000_000, 2_803_741_824), bytes(16), **options)


def _shard(of: layout.Layout) -> Callable[..., layout.Generator]:
    return lambda number, **options: layout.Generator(of, bindables={"shard": number}, **options)


FAMILIES = {
    "sno": Family(
        lambda number, **options: sno.Generator(number, sequence_max=3, **options),
        4,
        4,
        lambda n: bytearray(10 * n),
        sno.SnoArray,
    ),
    "randflake": Family(_node, 131_072, 1000, lambda n: array("q", [0] * n), randflake.RandflakeArray),
    "hotguid": Family(
        lambda _, **options: hotguid.Generator(**options),
        1 << 24,
        1000,
        lambda n: bytearray(16 * n),
        hotguid.HotGuidArray,
    ),
    "layout": Family(_shard(SMALL), 4, 1, lambda n: array("q", [0] * n), layout.LayoutArray, False),
    "wide layout": Family(_shard(WIDE), 4, 1, lambda n: bytearray(10 * n), layout.LayoutArray, False),
}


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


def unwilling(stall: Stall) -> None:
    """Fails, since it is called for a wait that must not happen."""
    raise AssertionError(stall)


def patient(family: Family, number: int = 1, clock: Callable[[], int] = lambda: NOW_NS) -> Any:
    """A generator whose other calls would wait for an hour under a clock that stands still."""
    return family.make(number, clock=clock, on_exhausted="wait", max_wait=3_600_000, on_stall=unwilling)


def raw(ids: Any) -> bytes:
    return memoryview(ids).tobytes()


def test_where_a_tick_is_used_up_they_say_when_to_retry(family: Family) -> None:
    ids = patient(family)
    assert len(ids.generate_many(family.per_tick - 1)) == family.per_tick - 1
    ids.try_generate()
    retry_at = NOW_MS - NOW_MS % family.tick_ms + family.tick_ms
    with refused("sequence_exhausted", retry_at=retry_at):
        ids.try_generate()
    if family.has_text:
        with refused("sequence_exhausted", retry_at=retry_at):
            ids.try_generate_text()
    assert len(ids.try_generate_many(5)) == 0
    assert ids.try_fill(family.room(5)) == 0


def test_batches_hold_what_there_is_now(family: Family) -> None:
    ids = patient(family)
    made = ids.generate_many(family.per_tick - 3)
    some = ids.try_generate_many(2)
    assert type(some) is family.array
    assert len(some) == 2
    buffer = family.room(7000)
    assert ids.try_fill(buffer) == 1
    size = len(raw(some)) // 2
    last = raw(buffer)[:size]
    assert any(last)
    assert not any(raw(buffer)[size:]), "nothing was written past the IDs"
    assert last not in {raw(some)[:size], raw(some)[size:]}
    assert not {*some} & {*made[-3:]}
    assert len(ids.try_generate_many(0)) == 0


def test_all_other_errors_are_raised(family: Family) -> None:
    ids = patient(family)
    ids.close()
    for call in (ids.try_generate, lambda: ids.try_generate_many(2), lambda: ids.try_fill(family.room(2))):
        with refused("generator_closed"):
            call()
    with refused("out_of_range", field="n"):
        ids.try_generate_many(1 << 25)
    with refused("invalid_type", field="buffer"):
        ids.try_fill(b"")

    def broken() -> int:
        raise ZeroDivisionError

    for call in (
        patient(family, clock=broken).try_generate,
        lambda: patient(family, clock=broken).try_generate_many(2),
    ):
        with refused("clock_failed") as caught:
            call()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_what_ids_are_about_is_taken_as_elsewhere() -> None:
    ids = sno.Generator(1, metabyte=9)
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
    open_ = layout.Generator(SMALL)
    assert SMALL.parse(open_.try_generate({"shard": 3})).bindables["shard"] == 3
    (one,) = open_.try_generate_many(1, {"shard": 4})
    assert SMALL.parse(one).bindables["shard"] == 4
    assert open_.try_fill(array("q", [0]), {"shard": 5}) == 1
    with refused("missing_field", field="shard"):
        open_.try_generate()
    flakes = _node(7)
    assert flakes.inspect(randflake.decode_text(flakes.try_generate_text())).node == 7
