"""Tests version 7 UUIDs as Python UUIDs, their order, their fields, and worker IDs."""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from polyflake import uuid7
from polyflake.uuid7 import Generator, Uuid7Array
from support import NOW_MS, NOW_NS, ignore_fork_warnings, raises_code, scripted_clock

UTC = dt.timezone.utc
TEXT = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
ID = uuid.UUID(TEXT)
#: UUIDs of other versions and variants, including one with version 7 and a different variant.
OTHER_UUIDS = [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.uuid4(), uuid.UUID(TEXT.replace("-98", "-18"))]


def generator_at(unix_ms: int, **options: Any) -> tuple[Generator, list[int]]:
    """Returns a generator and a list. The first item of the list is the current time of the generator's clock, in Unix
    milliseconds.
    """
    now = [unix_ms]
    return Generator(test_clock=lambda: now[0] * 1_000_000, **options), now


def use_up(generator: Generator) -> uuid.UUID:
    """Generates all remaining IDs of a millisecond, and returns the last ID."""
    return generator.generate_many(2**18 - 1 - uuid7.parts(generator.generate()).sequence)[-1]


@pytest.mark.parametrize("use", [uuid7.parts, uuid7.unix_ms, uuid7.worker_id])
def test_an_id_must_be_a_version_7_uuid(use: Callable[[Any], object]) -> None:
    class UuidSubclass(uuid.UUID):
        pass

    assert use(UuidSubclass(TEXT)) == use(ID)
    for value in (None, TEXT, ID.bytes, ID.int, ID.hex, uuid, uuid.UUID):
        with raises_code("invalid_type", field="id"):
            use(value)
    for other in OTHER_UUIDS:
        with raises_code("not_canonical", field="id"):
            use(other)


def test_ids_for_given_times_have_these_times_and_differ() -> None:
    def time_of(row: int) -> int:
        return uuid7.describe().last_ms - max(row - 10_000, 0)

    ids = [uuid7.generate_at(time_of(row)) for row in range(100_000)]
    assert [uuid7.unix_ms(id) for id in ids] == [time_of(row) for row in range(100_000)]
    assert len(set(ids)) == len(ids)
    time = dt.datetime(2026, 1, 1, microsecond=1999, tzinfo=UTC)
    assert uuid7.unix_ms(uuid7.generate_at(time)) == 1_767_225_600_001
    for wrong in (-1, 2**48, dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)):
        with raises_code("time_out_of_range", field="time"):
            uuid7.generate_at(wrong)


@pytest.mark.parametrize("accept", [uuid7.time_range, lambda *times: Generator(window=times)])
def test_a_range_without_a_millisecond_shows_both_bounds(accept: Callable[..., object]) -> None:
    start, end = (dt.datetime(2026, 1, 1, microsecond=us, tzinfo=UTC) for us in (100, 900))
    with raises_code("out_of_range") as raised:
        accept(start, end)
    assert str(raised.value) == f"expected a time range in which a tick starts, found {start} to {end}"
    with raises_code("out_of_range") as raised:
        accept(start, start)
    assert str(raised.value).endswith(f" to 281474976710656 ms, found {start.replace(microsecond=1000)}")


def test_other_versions_are_rejected_in_strings_and_columns() -> None:
    for other in OTHER_UUIDS:
        with raises_code("not_canonical"):
            uuid7.parse(str(other))
        for read in (
            lambda: Uuid7Array([ID, other]),  # noqa: B023
            lambda: Uuid7Array([ID, str(other)]),  # noqa: B023
            lambda: Uuid7Array(ID.bytes + other.bytes),  # noqa: B023
            lambda: Uuid7Array.from_texts([TEXT, str(other)]),  # noqa: B023
        ):
            with raises_code("not_canonical", item=1):
                read()


def test_fields_are_read_and_written() -> None:
    parts = uuid7.parts(ID)
    assert (parts.unix_ms, parts.sequence, parts.random) == (1_645_557_742_000, 0x330D8, 0xC4DC0C0C07398F)
    assert (uuid7.unix_ms(ID), uuid7.worker_id(ID)) == (parts.unix_ms, 0xC4DC)
    assert parts.datetime == dt.datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC) and parts.datetime.tzinfo is UTC
    assert uuid7.from_parts(unix_ms=parts.datetime, sequence=parts.sequence, random=parts.random) == ID
    assert repr(parts) == "<Parts: 1645557742000 ms, sequence 209112, random c4dc0c0c07398f>"
    last_id = uuid7.from_parts(unix_ms=2**48 - 1, sequence=2**18 - 1, random=2**56 - 1)
    assert str(last_id) == "ffffffff-ffff-7fff-bfff-ffffffffffff"
    with pytest.raises(OverflowError):
        _ = uuid7.parts(last_id).datetime


def test_ids_are_standard_uuids_in_every_call() -> None:
    generator = Generator()
    made_ids = [
        generator.generate(),
        uuid.UUID(generator.generate_text()),
        *generator.generate_many(3),
        uuid7.generate(),
        uuid7.parse(TEXT),
    ]
    for id in made_ids:
        assert (type(id), id.version, id.variant) == (uuid.UUID, 7, uuid.RFC_4122)
        assert uuid7.parse(str(id)) == uuid.UUID(bytes=id.bytes) == uuid.UUID(int=id.int) == id
    buffer = bytearray(48)
    generator.fill(buffer)
    assert [*Uuid7Array(buffer)] == sorted(Uuid7Array(buffer)) and made_ids[4] < Uuid7Array(buffer)[0]


def test_time_ranges_contain_the_ids_of_their_milliseconds() -> None:
    start = dt.datetime.fromtimestamp(NOW_MS // 1000, UTC)
    lowest, highest = uuid7.time_range(start, start + dt.timedelta(milliseconds=1))
    assert (uuid7.unix_ms(lowest), uuid7.unix_ms(highest)) == (NOW_MS, NOW_MS)
    assert lowest <= generator_at(NOW_MS)[0].generate() <= highest < generator_at(NOW_MS + 1)[0].generate()
    with raises_code("out_of_range", field="end"):
        uuid7.time_range(NOW_MS, NOW_MS)
    with raises_code("time_out_of_range", field="start"):
        uuid7.time_range(-1, NOW_MS)


def test_ids_are_sorted_across_threads() -> None:
    """A call that begins after another call has returned must return a greater ID."""
    latest, wrong, made = [uuid7.generate()], [], []

    def generate() -> None:
        own_ids = []
        for k in range(3000):
            before = latest[0]
            id = uuid7.generate_many(2)[0] if k % 8 == 0 else uuid7.generate()
            if id <= before:
                wrong.append((before, id))
            latest[0] = id
            own_ids.append(id)
        made.extend(own_ids)

    threads = [threading.Thread(target=generate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(set(made)) == 12_000


def test_ids_stay_sorted_past_4096_per_millisecond() -> None:
    generator, _ = generator_at(NOW_MS)
    made = [generator.generate(), *generator.generate_many(50_000), *(generator.generate() for _ in range(5000))]
    assert made == sorted(set(made)) and {uuid7.unix_ms(id) for id in made} == {NOW_MS}


def test_no_id_is_later_than_the_clock() -> None:
    generator = Generator()
    for _ in range(200):
        assert uuid7.unix_ms(generator.generate()) <= time.time_ns() // 1_000_000
        assert max(generator.generate_many(1000).unix_ms()) <= time.time_ns() // 1_000_000


def test_ids_stay_sorted_after_a_rollback() -> None:
    generator, now = generator_at(NOW_MS, max_wait=0)
    id_before = generator.generate()
    now[0] -= 3_600_000
    held_id = generator.generate()
    assert id_before < held_id and uuid7.unix_ms(held_id) == NOW_MS
    use_up(generator)
    for call in (generator.generate, generator.try_generate, generator.generate_text):
        with raises_code("clock_behind", retry_at=NOW_MS + 1):
            call()
    assert len(generator.try_generate_many(5)) == 0
    now[0] = NOW_MS + 1
    assert generator.generate() > held_id and generator.stats().rollbacks == 0


def test_only_long_rollbacks_are_followed_on_request() -> None:
    generator, now = generator_at(NOW_MS, follow_rollbacks=True)
    id_before = generator.generate()
    now[0] = NOW_MS - 10_000
    assert generator.generate() > id_before and generator.stats().rollbacks == 0
    now[0] = NOW_MS - 10_001
    id_after = generator.generate()
    assert id_after < id_before and uuid7.unix_ms(id_after) == now[0]
    assert (generator.stats().rollbacks, generator.stats().last_ms) == (1, now[0])
    assert "1 rollbacks" in repr(generator.stats())
    for flag in (0, 1, None, "yes"):
        with raises_code("invalid_type", field="follow_rollbacks"):
            Generator(follow_rollbacks=flag)  # type: ignore[arg-type]
    with raises_code("out_of_range"):
        Generator(1, follow_rollbacks=True)


def test_a_worker_id_is_part_of_every_id() -> None:
    generator = Generator(0xC0DE, test_clock=lambda: NOW_NS)
    made = [
        generator.generate(),
        uuid.UUID(generator.generate_text()),
        *generator.generate_many(3),
        generator.try_generate(),
    ]
    assert {uuid7.worker_id(id) for id in made} == {0xC0DE} == {*Uuid7Array(made).worker_ids()}
    assert {str(id)[21:23] + str(id)[24:26] for id in made} == {"c0de"}
    assert (generator.stats().worker_id, repr(generator)) == (0xC0DE, "<uuid7.Generator of worker ID 49374>")
    assert repr(Generator()) == "<uuid7.Generator without a worker ID>"


def test_a_generator_resumes_after_the_last_millisecond_of_another() -> None:
    generator, _ = generator_at(NOW_MS)
    last = generator.generate()
    assert generator.close() == NOW_MS
    with raises_code("generator_closed"):
        generator.generate()
    with raises_code("generator_closed"):
        generator.close()
    assert generator.stats().closed
    again, now = generator_at(NOW_MS, resume_after=NOW_MS, max_wait=0)
    with raises_code("sequence_exhausted", retry_at=NOW_MS + 1):
        again.generate()
    now[0] += 1
    assert again.generate() > last
    assert Generator().close() is None


@ignore_fork_warnings
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forked_children_never_repeat_an_id() -> None:
    """All children continue in the same millisecond with the same sequence numbers, so their IDs differ only in the
    random bits.
    """
    generator, _ = generator_at(NOW_MS)
    generator.generate()
    made = []
    for _ in range(8):
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, bytes(generator.generate_many(200)))
            os._exit(0)
        os.wait()
        made += [*Uuid7Array(os.read(reader, 1 << 16))]
        os.close(reader)
        os.close(writer)
    assert len({id.int >> 56 for id in made}) == 200, "the children use the same sequences"
    made += generator.generate_many(400)
    assert len(set(made)) == len(made) == 2000


def test_a_wrong_clock_leaves_the_sequence_unchanged() -> None:
    generator = Generator(test_clock=scripted_clock([NOW_NS, -1_000_000, NOW_NS]))
    first_id = generator.generate()
    with raises_code("time_out_of_range"):
        generator.generate()
    assert uuid7.parts(generator.generate()).sequence == uuid7.parts(first_id).sequence + 1
