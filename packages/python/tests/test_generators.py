"""Tests generators: call parameters, options, errors that report how many IDs were generated, snapshots and threads."""

from __future__ import annotations

import datetime as dt
import gc
import json
import threading
import weakref
from typing import Any

import pytest

from families import FAMILIES, Family, each_family
from polyflake import hotguid, sno
from support import NOW_MS, NOW_NS, TICK_NS, raises_code, scripted_clock

SNAPSHOT: dict[str, Any] = {
    "partition": [1, 7],
    "sequenceMin": 20,
    "sequenceMax": 65535,
    "sequence": 22,
    "now": 40,
    "wallHi": 50,
    "wallSafe": 60,
    "drifts": 3,
}


def test_the_metabyte_defaults_to_the_generators() -> None:
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


def test_sequences_stay_within_their_bounds() -> None:
    clock = scripted_clock([NOW_NS + tick * TICK_NS for tick in range(100)])
    generator = sno.Generator(1, sequence_min=10, sequence_max=13, test_clock=clock)
    assert [id.sequence for id in generator.generate_many(9)] == [10, 11, 12, 13, 10, 11, 12, 13, 10]


def test_on_exhausted_error_raises_in_a_full_tick() -> None:
    generator = sno.Generator(1, sequence_max=3, test_clock=lambda: NOW_NS, on_exhausted="error")
    with raises_code("sequence_exhausted", retry_at=NOW_MS + 4, written=4):
        generator.generate_many(5)
    with raises_code("sequence_exhausted", retry_at=NOW_MS + 4, written=None):
        generator.generate()


def test_a_window_accepts_datetimes_or_milliseconds() -> None:
    clock_reading = [NOW_NS - 1]
    start = dt.datetime.fromtimestamp(NOW_MS / 1000, dt.timezone.utc)
    generator = sno.Generator(1, window=(start, NOW_MS + 8), test_clock=lambda: clock_reading[0])
    with raises_code("lease_not_started", retry_at=NOW_MS):
        generator.generate()
    clock_reading[0] = NOW_NS + 2 * TICK_NS - 1
    assert generator.generate().unix_ms == NOW_MS + 4
    clock_reading[0] += 1
    with raises_code("lease_expired"):
        generator.generate()
    generator.extend_window(start + dt.timedelta(milliseconds=12))
    assert generator.generate().unix_ms == NOW_MS + 8


def test_a_restored_generator_continues() -> None:
    first_generator = sno.Generator(b"xy", sequence_min=5, sequence_max=99, test_clock=lambda: NOW_NS)
    last_id = first_generator.generate_many(10)[9]
    snapshot = sno.Snapshot.from_json(first_generator.close().to_json())
    next_id = sno.Generator.restore(snapshot, test_clock=lambda: NOW_NS, metabyte=8).generate()
    assert (next_id.partition, next_id.sequence, next_id.metabyte) == (0x7879, last_id.sequence + 1, 8)


def test_snapshots_match_the_original_librarys_json() -> None:
    snapshot = sno.Snapshot.from_dict(SNAPSHOT)
    assert snapshot.to_dict() == {"format": 1, **SNAPSHOT} == json.loads(snapshot.to_json())
    assert sno.Snapshot.from_json(json.dumps(SNAPSHOT)) == snapshot
    assert (snapshot.partition, snapshot.sequence_min, snapshot.sequence_max, snapshot.sequence) == (263, 20, 65535, 22)
    assert (snapshot.now, snapshot.wall_hi, snapshot.wall_safe, snapshot.drifts) == (40, 50, 60, 3)
    assert eval(repr(snapshot), {"Snapshot": sno.Snapshot}) == snapshot


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"drifts": None}, "invalid_type", "drifts"),
        ({"drifts": True}, "invalid_type", "drifts"),
        ({"drifts": 1.0}, "invalid_type", "drifts"),
        ({"drifts": 2**32}, "out_of_range", "drifts"),
        ({"now": 2**64}, "out_of_range", "now"),
        ({"partition": 7}, "invalid_type", "partition"),
        ({"partition": [0]}, "invalid_length", "partition"),
        ({"partition": [0, 256]}, "out_of_range", "partition"),
        ({"extra": 1}, "unknown_field", "extra"),
        ({"format": 2}, "out_of_range", "format"),
    ],
)
def test_dicts_that_are_not_snapshots_are_rejected(change: dict[str, Any], code: str, field: str) -> None:
    for read, members in ((sno.Snapshot.from_dict, dict), (sno.Snapshot.from_json, json.dumps)):
        with raises_code(code, field=field):
            read(members({**SNAPSHOT, **change}))


def test_strings_and_values_that_are_not_snapshots_are_rejected() -> None:
    with raises_code("invalid_character", position=1) as caught:
        sno.Snapshot.from_json("{")
    assert isinstance(caught.value.__cause__, json.JSONDecodeError)
    for text in ("[]", "null", "[" * 100_000):
        with raises_code("invalid_type"):
            sno.Snapshot.from_json(text)
    for value in ({1: 2}, []):
        with raises_code("invalid_type"):
            sno.Snapshot.from_dict(value)  # type: ignore[arg-type]
    for name in SNAPSHOT:
        with raises_code("missing_field", field=name):
            sno.Snapshot.from_dict({key: value for key, value in SNAPSHOT.items() if key != name})


def test_a_generator_in_a_cycle_with_its_clock_is_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.generator = sno.Generator(1, test_clock=self.time)

        def time(self) -> int:
            return NOW_NS

    owner = Owner()
    owner.generator.generate()
    owner_ref = weakref.ref(owner)
    del owner
    gc.collect()
    assert owner_ref() is None


@each_family
def test_threads_share_a_generator(family: Family) -> None:
    generator, made = family.make(), []
    start = threading.Barrier(8)

    def generate_in_thread() -> None:
        thread_ids = []
        start.wait()
        for _ in range(300):
            thread_ids.append(generator.generate())
            thread_ids.extend(generator.generate_many(20))
        made.extend(thread_ids)

    threads = [threading.Thread(target=generate_in_thread) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == len(set(made)) == 8 * 300 * 21


def test_repr_shows_the_identity_and_stats_the_count() -> None:
    ids, guids = sno.Generator(), hotguid.Generator(test_clock=lambda: NOW_NS)
    assert "without a partition" in repr(ids) and "without a machine" in repr(guids)
    ids.generate()
    guids.generate_many(5)
    flakes, snowflakes = (
        FAMILIES["randflake"].make(test_clock=lambda: NOW_NS),
        FAMILIES["layout"].make(test_clock=lambda: NOW_NS),
    )
    flakes.generate_many(5)
    snowflakes.generate_many(5)
    assert str(ids.partition) in repr(ids) and f"sequence {ids.stats().sequence}" in repr(ids.stats())
    assert (guids.stats().machine or b"").hex() in repr(guids)
    assert "64 bits" in repr(snowflakes)
    for stats in (guids.stats(), flakes.stats()):
        assert f"5 IDs in second {NOW_MS // 1000}" in repr(stats)
    assert f"5 IDs in the tick of {NOW_MS} ms" in repr(snowflakes.stats())
