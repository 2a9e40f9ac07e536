"""Generators: options, windows, batches, snapshots, threads."""

from __future__ import annotations

import copy
import datetime as dt
import gc
import json
import pickle
import threading
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import PolyflakeError, sno
from support import NOW_MS, NOW_NS, TICK_NS, refused, script, vectors

UTC = dt.timezone.utc


def test_ids_are_new_and_in_order() -> None:
    generator = sno.Generator(7)
    made = [generator.generate() for _ in range(10_000)]
    assert made == sorted(set(made))
    assert {id.partition for id in made} == {7}


def test_the_metabyte_is_the_calls_or_the_generators() -> None:
    generator = sno.Generator(7, metabyte=3)
    assert generator.generate().metabyte == 3
    assert generator.generate(0).metabyte == 0
    assert generator.generate(metabyte=255).metabyte == 255
    assert sno.metabyte(generator.generate_text()) == 3
    assert sno.metabyte(generator.generate_text(9)) == 9
    assert generator.generate_at(NOW_MS).metabyte == 3
    assert generator.generate_at(NOW_MS, metabyte=4).metabyte == 4
    assert {id.metabyte for id in generator.generate_many(3, metabyte=5)} == {5}
    assert sno.generate().metabyte == 0
    assert sno.generate(metabyte=200).metabyte == 200


def test_a_partition_is_an_integer_or_two_bytes() -> None:
    for partition in (0x6162, b"ab", bytearray(b"ab"), memoryview(b"ab"), memoryview(b"a.b.")[::2]):
        assert sno.Generator(partition).partition == 0x6162
        assert sno.Generator(partition=partition).generate().partition == 0x6162


def test_default_partitions_differ_and_are_drawn_at_the_first_id() -> None:
    generators = [sno.Generator() for _ in range(50)]
    assert {generator.partition for generator in generators} == {None}
    partitions = {generator.generate().partition for generator in generators} | {sno.generate().partition}
    assert len(partitions) == 51
    assert {generator.partition for generator in generators} < partitions


def test_sequences_stay_within_their_bounds() -> None:
    clock = script([NOW_NS + tick * TICK_NS for tick in range(100)])
    generator = sno.Generator(1, sequence_min=10, sequence_max=13, clock=clock)
    assert [id.sequence for id in generator.generate_many(9)] == [10, 11, 12, 13, 10, 11, 12, 13, 10]


@pytest.mark.parametrize(("least", "most"), [(0, 2), (5, 7), (9, 8), (65533, 65535), (65535, 0)])
def test_a_pool_below_four_is_refused(least: int, most: int) -> None:
    with refused("out_of_range", field="sequence_max"):
        sno.Generator(1, sequence_min=least, sequence_max=most)


def test_a_full_tick_is_an_error_where_that_is_asked_for() -> None:
    generator = sno.Generator(1, sequence_max=3, clock=lambda: NOW_NS, on_exhausted="error")
    assert [id.sequence for id in generator.generate_many(4)] == [0, 1, 2, 3]
    with refused("sequence_exhausted", retry_at=NOW_MS + 4, written=None):
        generator.generate()
    with refused("sequence_exhausted", retry_at=NOW_MS + 4, written=0):
        generator.generate_many(1)


def test_a_batch_says_how_many_were_made() -> None:
    generator = sno.Generator(1, sequence_max=9, clock=lambda: NOW_NS, on_exhausted="error")
    with refused("sequence_exhausted", written=10):
        generator.generate_many(11)


def test_a_batch_goes_on_over_ticks() -> None:
    generator = sno.Generator(1)
    made = generator.generate_many(200_000)  # a tick holds 65,536
    assert len(made) == len(set(made)) == 200_000
    assert list(made) == sorted(made)
    assert len({id.tick for id in made}) >= 4


def test_a_window_is_half_open_and_can_be_extended() -> None:
    time = [NOW_NS]
    start = dt.datetime.fromtimestamp(NOW_MS / 1000, UTC)
    generator = sno.Generator(1, window=(start, NOW_MS + 8), clock=lambda: time[0])
    time[0] = NOW_NS - 1
    with refused("lease_not_started", retry_at=NOW_MS):
        generator.generate()
    for inside in (NOW_NS, NOW_NS + 2 * TICK_NS - 1):
        time[0] = inside
        assert generator.generate().unix_ms == inside // TICK_NS * 4
    time[0] = NOW_NS + 2 * TICK_NS
    with refused("lease_expired"):
        generator.generate()
    generator.extend_window(start + dt.timedelta(milliseconds=4))  # earlier: changes nothing
    with refused("lease_expired"):
        generator.generate()
    generator.extend_window(start + dt.timedelta(milliseconds=12))
    assert generator.generate().unix_ms == NOW_MS + 8


def test_given_times_have_their_own_sequence() -> None:
    generator = sno.Generator(1, clock=lambda: NOW_NS)
    moment = dt.datetime(2020, 2, 29, 12, tzinfo=UTC)
    assert [generator.generate_at(moment).sequence for _ in range(3)] == [0, 1, 2]
    assert generator.generate().sequence == 0
    assert generator.generate_at(moment).datetime == moment


def test_a_closed_generator_makes_nothing_more() -> None:
    generator = sno.Generator(1)
    generator.generate()
    generator.close()
    for use in (
        generator.generate,
        generator.generate_text,
        generator.close,
        lambda: generator.generate_at(NOW_MS),
        lambda: generator.generate_many(1),
    ):
        with refused("generator_closed"):
            use()
    assert generator.stats().closed


def test_a_restored_generator_goes_on() -> None:
    first = sno.Generator(b"xy", sequence_min=5, sequence_max=99, clock=lambda: NOW_NS)
    made = list(first.generate_many(10))
    snapshot = sno.Snapshot.from_json(first.close().to_json())
    second = sno.Generator.restore(snapshot, clock=lambda: NOW_NS, metabyte=8)
    following = second.generate()
    assert (following.partition, following.sequence, following.metabyte) == (0x7879, made[-1].sequence + 1, 8)


def test_snapshots_have_the_originals_members() -> None:
    generator = sno.Generator(0x0107, clock=lambda: NOW_NS)
    generator.generate_many(3)
    snapshot = generator.close()
    tick = (NOW_MS - 1_262_304_000_000) // 4
    members = {
        "format": 1,
        "partition": [1, 7],
        "sequenceMin": 0,
        "sequenceMax": 65535,
        "sequence": 2,
        "now": tick,
        "wallHi": tick,
        "wallSafe": 0,
        "drifts": 0,
    }
    assert snapshot.to_dict() == members == json.loads(snapshot.to_json())
    assert (snapshot.partition, snapshot.sequence, snapshot.wall_hi) == (0x0107, 2, tick)
    assert sno.Snapshot.from_dict(members) == snapshot
    assert eval(repr(snapshot), {"Snapshot": sno.Snapshot}) == snapshot


@given(st.lists(st.integers(0, 65535), min_size=7, max_size=7), st.binary(min_size=2, max_size=2))
def test_every_member_is_kept(numbers: list[int], partition: bytes) -> None:
    members = dict(zip(SNAPSHOT, [list(partition), *numbers], strict=True))
    snapshot = sno.Snapshot.from_dict(members)
    assert snapshot.to_dict() == {"format": 1, **members}
    assert [
        snapshot.partition,
        snapshot.sequence_min,
        snapshot.sequence_max,
        snapshot.sequence,
        snapshot.now,
        snapshot.wall_hi,
        snapshot.wall_safe,
        snapshot.drifts,
    ] == [int.from_bytes(partition, "big"), *numbers]


CONFIGS = [s["config"] for s in vectors("sno_generator.json")["scenarios"] if s["config"]]


@pytest.mark.parametrize("config", CONFIGS, ids=json.dumps)
def test_the_originals_snapshots_read_and_write_back(config: dict[str, Any]) -> None:
    assert sno.Snapshot.from_dict(config).to_dict() == {"format": 1, **config}
    assert sno.Snapshot.from_json(json.dumps(config)).to_dict() == {"format": 1, **config}


SNAPSHOT: dict[str, Any] = {
    "partition": [0, 7],
    "sequenceMin": 0,
    "sequenceMax": 65535,
    "sequence": 0,
    "now": 0,
    "wallHi": 0,
    "wallSafe": 0,
    "drifts": 0,
}


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"drifts": None}, "invalid_type", "drifts"),
        ({"drifts": True}, "invalid_type", "drifts"),
        ({"drifts": 1.0}, "invalid_type", "drifts"),
        ({"drifts": -1}, "out_of_range", "drifts"),
        ({"drifts": 2**32}, "out_of_range", "drifts"),
        ({"now": 2**64}, "out_of_range", "now"),
        ({"sequenceMin": 65536}, "out_of_range", "sequenceMin"),
        ({"partition": 7}, "invalid_type", "partition"),
        ({"partition": [0]}, "invalid_length", "partition"),
        ({"partition": [0, 256]}, "out_of_range", "partition"),
        ({"extra": 1}, "unknown_field", "extra"),
        ({"format": 2}, "out_of_range", "format"),
        ({"format": "1"}, "invalid_type", "format"),
    ],
)
def test_dicts_that_are_no_snapshots_are_refused(change: dict[str, Any], code: str, field: str | None) -> None:
    with refused(code, field=field):
        sno.Snapshot.from_dict({**SNAPSHOT, **change})
    with refused(code, field=field):
        sno.Snapshot.from_json(json.dumps({**SNAPSHOT, **change}))


@pytest.mark.parametrize("name", SNAPSHOT)
def test_every_member_is_required(name: str) -> None:
    with refused("missing_field", field=name):
        sno.Snapshot.from_dict({key: value for key, value in SNAPSHOT.items() if key != name})


def test_texts_that_are_no_snapshots_are_refused() -> None:
    with refused("invalid_character", position=1) as caught:
        sno.Snapshot.from_json("{")
    assert isinstance(caught.value.__cause__, json.JSONDecodeError)
    for text in ("[]", "null", "7", '"text"'):
        with refused("invalid_type"):
            sno.Snapshot.from_json(text)
    with refused("invalid_type"):
        sno.Snapshot.from_json("[" * 100_000)
    with refused("invalid_type"):
        sno.Snapshot.from_dict({1: 2})  # type: ignore[dict-item]
    with refused("invalid_type"):
        sno.Snapshot.from_dict([])  # type: ignore[arg-type]


def test_a_snapshot_that_no_generator_left_is_refused() -> None:
    for change, field in (
        ({"sequenceMin": 9, "sequence": 8}, "sequence"),
        ({"sequenceMax": 2}, "sequence_max"),
        ({"wallHi": 2**39}, "wall_hi"),
    ):
        with refused("out_of_range", field=field):
            sno.Generator.restore(sno.Snapshot.from_dict({**SNAPSHOT, **change}))
    with refused("invalid_type"):
        sno.Generator.restore(SNAPSHOT)  # type: ignore[arg-type]


def test_an_import_has_the_originals_habits() -> None:
    swapped = sno.Snapshot.from_dict({**SNAPSHOT, "sequenceMin": 200, "sequenceMax": 100})
    with refused("out_of_range", field="sequence_max"):
        sno.Generator.restore(swapped)
    stats = sno.Generator.import_original(swapped).stats()
    assert (stats.sequence_min, stats.sequence_max) == (100, 200)


def test_stats_tell_of_now() -> None:
    time = [NOW_NS]
    generator = sno.Generator(9, sequence_min=100, clock=lambda: time[0])
    assert (generator.stats().len, generator.stats().sequence, generator.stats().closed) == (0, 100, False)
    generator.generate_many(5)
    stats = generator.stats()
    assert (stats.partition, stats.len, stats.sequence, stats.drifts) == (9, 5, 104, 0)
    assert stats == generator.stats()
    assert "sequence 104" in repr(stats)
    time[0] += TICK_NS
    assert (generator.stats().len, generator.stats().wall_hi) == (0, stats.now)


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps, lambda g: pickle.dumps(g.generate)])
def test_a_generator_cannot_be_copied(copying: Any) -> None:
    generator = sno.Generator(1)
    with refused("invalid_type") as caught:
        copying(generator)
    assert isinstance(caught.value, TypeError)
    assert generator.generate().partition == 1


@pytest.mark.parametrize("cls", [sno.Sno, sno.Generator, sno.SnoArray, sno.Snapshot, sno.Stats])
def test_classes_cannot_be_extended_or_made_by_the_back_door(cls: type) -> None:
    with pytest.raises(TypeError):
        type("Mine", (cls,), {})
    with pytest.raises(TypeError):
        object.__new__(cls)


def test_a_generator_in_a_cycle_with_its_clock_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.generator = sno.Generator(1, clock=self.time)

        def time(self) -> int:
            return NOW_NS

    owner = Owner()
    owner.generator.generate()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_threads_share_a_generator() -> None:
    generator, made, failed = sno.Generator(1), [], []
    start = threading.Barrier(8)

    def work() -> None:
        mine: list[sno.Sno] = []
        start.wait()
        try:
            for _ in range(500):
                mine.append(generator.generate())
                mine.extend(generator.generate_many(20))
                mine.append(sno.Sno(generator.generate_text()))
        except PolyflakeError as error:
            failed.append(error)
        made.append(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len({id for mine in made for id in mine}) == 8 * 500 * 22
    assert all(mine == sorted(mine) for mine in made)


def test_closing_ends_other_threads_too() -> None:
    generator, ended = sno.Generator(1), []
    running = threading.Barrier(5)

    def work() -> None:
        running.wait()
        try:
            while True:
                generator.generate()
        except PolyflakeError as error:
            ended.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    running.wait()
    generator.close()
    for thread in threads:
        thread.join(timeout=30)
    assert ended == ["generator_closed"] * 4


def test_a_repr_says_the_partition() -> None:
    generator = sno.Generator()
    assert "without a partition" in repr(generator)
    generator.generate()
    assert str(generator.partition) in repr(generator)


@pytest.mark.parametrize("keeps", [False, True])
def test_seventy_thousand_generators_in_a_row_are_never_refused(keeps: bool) -> None:
    living = [sno.Generator() for _ in range(100)]
    kept, made = [], {generator.generate() for generator in living}
    for k in range(70_000):
        generator = sno.Generator()
        made.update((generator.generate(), living[k % 100].generate()))
        if keeps:
            kept.append(generator)
    assert len(made) == 100 + 2 * 70_000
    assert len(kept) == (70_000 if keeps else 0)
