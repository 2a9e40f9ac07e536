"""Pools: several generators as one, which go on with the next where one's tick is used up."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import threading
import weakref
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from polyflake import PolyflakeError, Stall, hotguid, layout, randflake, sno
from support import NOW_MS, NOW_NS, TICK_NS, refused, script

SECRET = bytes(16)
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


def frozen() -> int:
    return NOW_NS


def partitions(*numbers: int, **options: Any) -> list[sno.Generator]:
    """With 4 sequences in a tick."""
    return [sno.Generator(number, sequence_max=3, **options) for number in numbers]


def node(number: int, secret: bytes = SECRET, **options: Any) -> randflake.Generator:
    return randflake.Generator(randflake.Grant(number, 1_730_000_000, 2_803_741_824), secret, **options)


def shard(number: int, **options: Any) -> layout.Generator:
    return layout.Generator(SMALL, bindables={"shard": number}, **options)


def test_a_tick_holds_as_many_ids_as_all_have() -> None:
    ids = sno.Pool(partitions(1, 2, 3, clock=frozen))
    assert [ids.generate().partition for _ in range(12)] == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    with refused("sequence_exhausted", retry_at=NOW_MS + 4):
        ids.generate()
    with refused("sequence_exhausted", retry_at=NOW_MS + 4, written=0):
        ids.generate_many(1)


def test_a_batch_spreads_over_all_and_says_how_many_were_made() -> None:
    ids = sno.Pool(partitions(1, 2, 3, clock=frozen))
    assert sorted(id.partition for id in ids.generate_many(10)) == [1] * 4 + [2] * 4 + [3] * 2
    with refused("sequence_exhausted", written=2):
        ids.generate_many(3)


def test_it_waits_only_where_all_are_used_up() -> None:
    stalls: list[Stall] = []
    clock = script([NOW_NS] * 4 + [NOW_NS + TICK_NS])
    ids = sno.Pool(partitions(1, 2, clock=lambda: NOW_NS, on_stall=stalls.append, max_wait=1))
    assert len(ids.generate_many(8)) == 8
    assert stalls == []
    with refused("sequence_exhausted"):
        ids.generate()
    assert stalls
    waited = sno.Pool(partitions(1, clock=clock))
    assert [id.sequence for id in waited.generate_many(6)] == [0, 1, 2, 3, 0, 1]


def test_the_metabyte_is_the_calls_or_that_of_all() -> None:
    ids = sno.Pool(partitions(1, 2, metabyte=7))
    assert (ids.generate().metabyte, ids.generate(3).metabyte) == (7, 3)
    assert (sno.metabyte(ids.generate_text()), sno.metabyte(ids.generate_text(metabyte=3))) == (7, 3)
    assert {id.metabyte for id in ids.generate_many(3)} == {7}
    assert {id.metabyte for id in ids.generate_many(3, 9)} == {9}
    with refused("out_of_range", field="metabyte", item=1):
        sno.Pool([*partitions(1, metabyte=7), *partitions(2, metabyte=8)])


def test_every_family_has_pools() -> None:
    numbers = randflake.Pool([node(7, clock=frozen), node(42, clock=frozen)])
    made = [*numbers.generate_many(131_073), numbers.generate()]
    assert len(set(made)) == 131_074
    assert [numbers.members[0].inspect(made[k]).node for k in (0, 131_071, 131_072)] == [7, 7, 42]
    assert randflake.decode_text(numbers.generate_text()) not in made
    guids = hotguid.Pool(hotguid.Generator() for _ in range(2))
    assert hotguid.shard_key(guids.generate(5)) == 5
    assert len({*guids.generate_many(100, 5), guids.generate(shard_key=5)}) == 101
    assert len(guids.generate_text()) == 36
    shards = layout.Pool([shard(1, clock=frozen), shard(2, clock=frozen)])
    many = [*shards.generate_many(7), shards.generate()]
    assert [SMALL.parse(id).bindables["shard"] for id in many] == [1] * 4 + [2] * 4
    with refused("sequence_exhausted"):
        shards.generate()


def test_buffers_of_the_callers_are_filled() -> None:
    packed = bytearray(100)
    with refused("sequence_exhausted", written=8):
        sno.Pool(partitions(1, 2, clock=frozen)).fill(packed, metabyte=7)
    made = sno.SnoArray(bytes(packed[:80]))
    assert [(id.partition, id.metabyte) for id in made] == [(1, 7)] * 4 + [(2, 7)] * 4
    assert packed[80:] == bytes(20)
    numbers = array("q", [0] * 8)
    layout.Pool([shard(1, clock=frozen), shard(2, clock=frozen)]).fill(numbers)
    assert len(set(numbers)) == 8
    ids = randflake.Pool([node(7), node(8)])
    ids.fill(numbers)
    assert {ids.members[0].inspect(id).node for id in numbers} == {7}
    guids = bytearray(32)
    hotguid.Pool([hotguid.Generator()]).fill(guids, 5)
    assert [hotguid.shard_key(guid) for guid in hotguid.HotGuidArray(bytes(guids))] == [5, 5]


def test_what_might_meet_is_refused() -> None:
    one, two, again = partitions(1, 2, 1)
    for members, item, found in (
        ([one, two, one], 2, "found one twice"),
        ([two, one, again], 2, "found the same twice"),
        ([one, sno.Generator()], 1, "found both"),
    ):
        with refused("out_of_range", item=item) as caught:
            sno.Pool(members)
        assert found in str(caught.value)
    sno.Pool([sno.Generator(), sno.Generator()])
    with refused("out_of_range", item=1):
        randflake.Pool([node(7), node(7)])
    with refused("invalid_secret", item=1):
        randflake.Pool([node(7), node(8, b"sixteen byte key")])
    with refused("out_of_range", item=1):
        layout.Pool([shard(1), shard(1)])
    with refused("missing_field", item=1, field="shard"):
        layout.Pool([shard(1), layout.Generator(SMALL)])
    other = layout.Generator(layout.Layout.preset("instagram"), bindables={"shard": 3})
    with refused("invalid_layout", item=1):
        layout.Pool([shard(1), other])
    guid = hotguid.Generator()
    with refused("out_of_range", item=1):
        hotguid.Pool([guid, guid])


MAKERS: list[tuple[Callable[[Any], Any], Callable[[], Any]]] = [
    (sno.Pool, sno.Generator),
    (randflake.Pool, lambda: node(7)),
    (hotguid.Pool, hotguid.Generator),
    (layout.Pool, lambda: shard(1)),
]


@pytest.mark.parametrize(("pool", "generator"), MAKERS)
def test_members_are_generators_of_the_family(pool: Callable[[Any], Any], generator: Callable[[], Any]) -> None:
    with refused("out_of_range", field="members"):
        pool([])
    with refused("invalid_type", item=1, field="members"):
        pool([generator(), 5])
    for no_iterable in (None, 5, generator()):
        with refused("invalid_type", item=None, field="members"):
            pool(no_iterable)
    strangers = [make() for other, make in MAKERS if other is not pool]
    for stranger in strangers:
        with refused("invalid_type", item=0):
            pool([stranger])

    def raising() -> Iterator[Any]:
        yield generator()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pool(raising())


def test_members_without_end_are_refused() -> None:
    with refused("out_of_range", field="members"):
        sno.Pool(itertools.repeat(sno.Generator(1)))


def test_members_stay_what_they_are() -> None:
    members = partitions(1, 2, clock=frozen)
    ids = sno.Pool(iter(members))
    assert ids.members == tuple(members)
    made = [ids.generate(), members[0].generate(), ids.generate(), members[0].generate(), ids.generate()]
    assert [(id.partition, id.sequence) for id in made] == [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0)]
    assert [member.close().partition for member in ids.members] == [1, 2]
    with refused("generator_closed"):
        ids.generate()


def test_a_clock_that_raises_is_the_cause() -> None:
    def clock() -> int:
        raise ZeroDivisionError

    ids = sno.Pool(partitions(1, 2, clock=clock))
    with refused("clock_failed") as caught:
        ids.generate()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_pools_are_not_copied() -> None:
    ids = sno.Pool(partitions(1))
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PolyflakeError):
            copied(ids)
    assert repr(ids) == "<sno.Pool of 1 generators>"


def test_a_pool_whose_clock_knows_it_is_collected() -> None:
    class Clock:
        ids: sno.Pool

        def __call__(self) -> int:
            return NOW_NS

    clock = Clock()
    clock.ids = sno.Pool(partitions(1, clock=clock))
    gone = weakref.ref(clock)
    del clock
    gc.collect()
    assert gone() is None


def test_threads_share_a_pool() -> None:
    ids = sno.Pool(sno.Generator(number, sequence_max=999, max_wait=60_000) for number in range(4))
    made: list[list[str]] = []

    def make() -> None:
        made.append(ids.generate_many(20_000).texts() + [ids.generate_text() for _ in range(2000)])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({text for texts in made for text in texts}) == 4 * 22_000
