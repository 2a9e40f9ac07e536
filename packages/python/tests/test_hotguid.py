"""Hot Guid: IDs, their three orders of bytes, and generators, against the original's outputs."""

from __future__ import annotations

import copy
import datetime as dt
import itertools
import pickle
import threading
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import BAD_CHARACTERS, Raising, anything
from polyflake import PolyflakeError, hotguid
from polyflake.hotguid import Generator, HotGuidArray
from support import NOW_MS, NOW_NS, if_built, refused, script, vectors

pl = if_built("polars")

UTC = dt.timezone.utc
SECOND_NS = 10**9
SECOND = NOW_NS // SECOND_NS
VECTORS = vectors("hotguid.json")
ID = uuid.UUID("691f29d0-bbaa-ddcc-ee01-0203ffffff7f")


def sql_server_order(guid: uuid.UUID) -> bytes:
    """The bytes in the order in which SQL Server compares them."""
    data = guid.bytes_le
    return bytes(data[at] for at in (10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["text"])
def test_ids_are_the_originals(case: dict[str, Any]) -> None:
    id = hotguid.parse(case["text"])
    assert (type(id), str(id)) == (uuid.UUID, case["text"])
    parts = hotguid.parts(id)
    fields = {
        "timestamp": case["timestamp"],
        "machine": bytes.fromhex(case["machine_pid"]),
        "counter": case["counter"],
        "shard_key": case["shard_key"],
    }
    assert {name: getattr(parts, name) for name in fields} == fields
    assert hotguid.from_parts(**fields) == id
    assert (hotguid.timestamp(id), hotguid.shard_key(id)) == (case["timestamp"], case["shard_key"])
    assert parts.datetime == dt.datetime.fromtimestamp(case["timestamp"], UTC)
    assert hotguid.to_dotnet_bytes(id).hex() == case["bytes_hex"] == id.bytes_le.hex()
    assert hotguid.from_dotnet_bytes(bytes.fromhex(case["bytes_hex"])) == id
    assert id.bytes.hex() == case["text_order_bytes_hex"]
    sql = hotguid.to_sql(id)
    assert (str(sql), sql.bytes_le.hex()) == (case["sql_text"], case["sql_bytes_hex"])
    assert hotguid.from_sql(sql) == id


@pytest.mark.parametrize("case", VECTORS["conversions"], ids=lambda case: case["guid"])
def test_conversions_are_the_originals(case: dict[str, str]) -> None:
    guid, sql = uuid.UUID(case["guid"]), uuid.UUID(case["sql"])
    assert (hotguid.to_sql(guid), hotguid.from_sql(sql)) == (sql, guid)


@given(st.lists(st.uuids(), min_size=2, max_size=20))
def test_converted_ids_sort_in_sql_server_as_ids_do(ids: list[uuid.UUID]) -> None:
    converted = sorted(map(hotguid.to_sql, ids), key=sql_server_order)
    assert [hotguid.from_sql(guid) for guid in converted] == sorted(ids)


@given(st.uuids())
def test_every_uuid_goes_there_and_back(id: uuid.UUID) -> None:
    parts = hotguid.parts(id)
    fields = {name: getattr(parts, name) for name in ("timestamp", "machine", "counter", "shard_key")}
    assert hotguid.from_parts(**fields) == id
    assert parts == hotguid.parts(id)
    assert hash(parts) == hash(hotguid.parts(id))
    assert parts.machine.hex() in repr(parts)
    assert hotguid.parse(str(id).upper()) == id
    assert hotguid.from_dotnet_bytes(hotguid.to_dotnet_bytes(id)) == id


@pytest.mark.parametrize("case", [case for case in vectors("ranges.json")["cases"] if case["family"] == "hotguid"])
def test_ranges_span_whole_seconds(case: dict[str, Any]) -> None:
    start, end = int(case["from_ms"]), int(case["to_ms"])
    if "error" in case:
        with refused(case["error"]):
            hotguid.time_range(start, end)
        return
    ends = (case["lowest"], case["highest"])
    assert list(map(str, hotguid.time_range(start, end))) == [end["text"] for end in ends]
    assert list(map(str, hotguid.time_range(start, end, sql=True))) == [end["sql_text"] for end in ends]


def test_a_range_takes_datetimes_and_finds_what_was_made() -> None:
    start = dt.datetime.fromtimestamp(SECOND, UTC)
    id = Generator(clock=lambda: NOW_NS).generate(2**32 - 1)
    lowest, highest = hotguid.time_range(start, start + dt.timedelta(seconds=1))
    assert lowest <= id <= highest
    ends = hotguid.time_range(start, start + dt.timedelta(seconds=1), sql=True)
    assert sql_server_order(ends[0]) <= sql_server_order(hotguid.to_sql(id)) <= sql_server_order(ends[1])
    for flag in (0, 1, None, "yes", np.bool_(True)):
        with refused("invalid_type"):
            hotguid.time_range(0, 1000, sql=flag)  # type: ignore[arg-type]


TEXT = str(ID)
CASES_OF_LENGTH = [
    "",
    "6",
    TEXT[:-1],
    TEXT + "7",
    TEXT.replace("-", ""),
    "{" + TEXT + "}",
    "urn:uuid:" + TEXT,
    "6" * 99_999,
]


@pytest.mark.parametrize("text", CASES_OF_LENGTH, ids=lambda text: text[:40])
def test_texts_of_another_length_are_refused(text: str) -> None:
    with refused("invalid_length", position=None):
        hotguid.parse(text)


@pytest.mark.parametrize("bad", [*BAD_CHARACTERS, "g"], ids=ascii)
def test_a_bad_character_is_refused_at_its_position(bad: str) -> None:
    for position, good in enumerate(TEXT):
        if bad.lower() in "0123456789abcdef" and good != "-":
            continue
        if bad == "-" == good:
            continue
        with refused("invalid_character", position=position):
            hotguid.parse(TEXT[:position] + bad + TEXT[position + 1 :])


@pytest.mark.parametrize(
    "use",
    [hotguid.parts, hotguid.shard_key, hotguid.timestamp, hotguid.to_sql, hotguid.from_sql, hotguid.to_dotnet_bytes],
)
def test_an_id_is_a_uuid(use: Callable[[Any], object]) -> None:
    class Mine(uuid.UUID):
        pass

    assert use(Mine(TEXT)) == use(ID)
    for value in (None, TEXT, ID.bytes, ID.int, ID.hex, uuid, uuid.UUID):
        with refused("invalid_type"):
            use(value)


def test_a_uuid_that_lies_is_refused() -> None:
    class Short(uuid.UUID):
        @property
        def bytes(self) -> bytes:  # type: ignore[override]
            return b"short"

    with refused("invalid_length"):
        hotguid.shard_key(Short(TEXT))


def test_bytes_are_checked() -> None:
    fields: dict[str, Any] = {"timestamp": SECOND, "counter": 0}
    for machine in (b"", b"1234", b"123456", bytearray(1 << 16)):
        with refused("invalid_length"):
            hotguid.from_parts(machine=machine, **fields)
    spread = memoryview(b"a.b.c.d.e.")[::2]
    assert hotguid.from_parts(machine=spread, **fields) == hotguid.from_parts(machine=b"abcde", **fields)
    for length in (0, 15, 17, 32):
        with refused("invalid_length"):
            hotguid.from_dotnet_bytes(bytes(length))
    for bad in (None, "12345", 5, [1, 2, 3, 4, 5], ID):
        with refused("invalid_type"):
            hotguid.from_parts(machine=bad, **fields)
        with refused("invalid_type"):
            hotguid.from_dotnet_bytes(bad)  # type: ignore[arg-type]


# UUIDs of version 8.


@pytest.mark.parametrize("case", vectors("uuid8.json")["hotguid"], ids=lambda case: case["uuid8"])
def test_uuids_of_version_8_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    fields: dict[str, Any] = {name: case[name] for name in ("timestamp", "counter", "shard_key")}
    fields["machine"] = int(case["machine"])
    id = hotguid.from_parts(**fields, uuid8=True)
    assert (str(id), id.version, id.variant) == (case["uuid8"], 8, uuid.RFC_4122)
    parts = hotguid.parts(id, uuid8=True)
    assert {name: getattr(parts, name) for name in fields} == fields
    assert parts.datetime == dt.datetime.fromtimestamp(case["timestamp"], UTC)
    assert case["machine"] in repr(parts)


@given(st.uuids())
def test_a_uuid_of_another_version_or_variant_is_refused(other: uuid.UUID) -> None:
    if (other.version, other.variant) != (8, uuid.RFC_4122):
        with refused("not_canonical", field="id"):
            hotguid.parts(other, uuid8=True)
    id = uuid.UUID(int=other.int & ~(15 << 76 | 3 << 62) | 8 << 76 | 2 << 62)
    parts = hotguid.parts(id, uuid8=True)
    fields: dict[str, Any] = {name: getattr(parts, name) for name in ("timestamp", "machine", "counter", "shard_key")}
    assert hotguid.from_parts(**fields, uuid8=True) == id
    assert (parts == hotguid.parts(id, uuid8=True)) and hash(parts) == hash(hotguid.parts(id, uuid8=True))
    assert parts != hotguid.parts(id)


def test_the_machine_is_bytes_in_one_form_and_34_bits_in_the_other() -> None:
    fields: dict[str, Any] = {"timestamp": SECOND, "counter": 0}
    for machine in (-1, 2**34, 2**200):
        with refused("out_of_range", field="machine"):
            hotguid.from_parts(machine=machine, **fields, uuid8=True)
    for machine in (b"12345", "1", 1.0, True, None):
        with refused("invalid_type", field="machine"):
            hotguid.from_parts(machine=machine, **fields, uuid8=True)
    with refused("invalid_type", field="machine"):
        hotguid.from_parts(machine=1, **fields)
    for flag in (0, 1, None, "yes"):
        with refused("invalid_type", field="uuid8"):
            hotguid.parts(ID, uuid8=flag)  # type: ignore[call-overload]
        with refused("invalid_type", field="uuid8"):
            Generator(uuid8=flag)  # type: ignore[arg-type]


def test_a_generator_makes_uuids_of_version_8_where_it_is_asked_to() -> None:
    ids = Generator(uuid8=True, clock=lambda: NOW_NS)
    made = [ids.generate(0x01020304), hotguid.parse(ids.generate_text(0x01020304)), *ids.generate_many(100, 0x01020304)]
    parts = [hotguid.parts(id, uuid8=True) for id in made]
    assert len(set(made)) == 102
    assert {(one.timestamp, one.machine, one.shard_key) for one in parts} == {(SECOND, parts[0].machine, 0x01020304)}
    assert all((b.counter - a.counter) % 2**24 == 1 for a, b in itertools.pairwise(parts))
    assert all((id.version, id.variant, id.bytes[12:]) == (8, uuid.RFC_4122, b"\1\2\3\4") for id in made)
    lowest, highest = hotguid.time_range(NOW_MS, NOW_MS + 1000)
    assert all(lowest <= id <= highest for id in made)
    for _ in range(200):
        with refused("not_canonical"):
            hotguid.parts(Generator().generate(), uuid8=True)


def test_figures_are_those_of_the_format() -> None:
    figures = hotguid.describe()
    assert (figures.bits, figures.per_second, figures.last_ms) == (128, 2**24, (2**32 - 1) * 1000)
    assert figures.per_second_in_all == 2**64
    assert [field.name for field in figures.fields] == ["timestamp", "machine", "counter", "shard_key"]
    assert figures.sorts_by_time


# Generators.


def test_ids_are_new_and_in_order() -> None:
    ids = Generator()
    made = [ids.generate() for _ in range(10_000)]
    assert len(set(made)) == 10_000
    assert len({hotguid.parts(id).machine for id in made}) == 1
    seconds = [hotguid.timestamp(id) for id in made]
    assert seconds == sorted(seconds)
    assert abs(seconds[0] - dt.datetime.now(UTC).timestamp()) < 60


def test_the_counter_goes_on_by_one_within_a_second() -> None:
    ids = Generator(clock=lambda: NOW_NS)
    counters = [hotguid.parts(id).counter for id in [ids.generate(), *ids.generate_many(1000), ids.generate()]]
    assert all((b - a) % 2**24 == 1 for a, b in itertools.pairwise(counters))


def test_ids_are_of_their_shard() -> None:
    ids = Generator()
    assert hotguid.shard_key(ids.generate()) == hotguid.shard_key(hotguid.generate()) == 0
    assert hotguid.shard_key(ids.generate(7)) == 7
    assert hotguid.shard_key(hotguid.parse(ids.generate_text(shard_key=2**32 - 1))) == 2**32 - 1
    assert {hotguid.shard_key(id) for id in ids.generate_many(3, shard_key=9)} == {9}
    assert hotguid.shard_key(hotguid.generate(shard_key=5)) == 5


def test_generators_differ() -> None:
    machines = {hotguid.parts(Generator().generate()).machine for _ in range(50)}
    assert len(machines) == 50
    assert hotguid.parts(hotguid.generate()).machine not in machines


def test_a_second_holds_every_counter_once() -> None:
    ids = Generator(clock=lambda: NOW_NS, on_exhausted="error")
    made = np.asarray(ids.generate_many(2**24))
    seen = np.zeros(2**24, np.bool_)
    seen[made[:, 9].astype(np.uint32) << 16 | made[:, 10].astype(np.uint32) << 8 | made[:, 11]] = True
    assert seen.all()
    with refused("sequence_exhausted", retry_at=NOW_MS + 1000, written=None):
        ids.generate()
    with refused("sequence_exhausted", written=0):
        ids.generate_many(1)


def test_the_highest_second_is_kept_when_the_clock_goes_back() -> None:
    ids = Generator(clock=script([NOW_NS, NOW_NS - 5 * SECOND_NS, NOW_NS + SECOND_NS]))
    assert [hotguid.timestamp(ids.generate()) for _ in range(3)] == [SECOND, SECOND, SECOND + 1]


def test_a_window_is_half_open_and_can_be_extended() -> None:
    time = [NOW_NS - 1]
    start = dt.datetime.fromtimestamp(SECOND, UTC)
    ids = Generator(window=(start, NOW_MS + 2000), clock=lambda: time[0])
    with refused("lease_not_started", retry_at=NOW_MS):
        ids.generate()
    time[0] = NOW_NS + 2 * SECOND_NS
    with refused("lease_expired"):
        ids.generate()
    ids.extend_window(NOW_MS + 1000)  # earlier: changes nothing
    with refused("lease_expired"):
        ids.generate()
    ids.extend_window(start + dt.timedelta(seconds=3))
    assert hotguid.timestamp(ids.generate()) == SECOND + 2
    with refused("out_of_range"):
        ids.extend_window(0)
    with refused("out_of_range"):
        Generator(window=(NOW_MS, NOW_MS))
    for window in ((-1, NOW_MS), (NOW_MS, 2**32 * 1000 + 1000), (NOW_MS, 2**63)):
        with refused("time_out_of_range"):
            Generator(window=window)


@pytest.mark.parametrize("reading", [-1, -(2**63), 2**32 * SECOND_NS])
def test_a_reading_outside_the_formats_time_is_refused(reading: int) -> None:
    with refused("time_out_of_range"):
        Generator(clock=lambda: reading).generate()


def test_the_first_and_the_last_second() -> None:
    for second in (0, 2**32 - 1):
        id = Generator(clock=lambda second=second: second * SECOND_NS + SECOND_NS - 1).generate()
        assert hotguid.timestamp(id) == second


def test_a_closed_generator_makes_nothing_more() -> None:
    ids = Generator()
    ids.generate()
    ids.close()
    for use in (ids.generate, ids.generate_text, ids.close, lambda: ids.generate_many(1)):
        with refused("generator_closed"):
            use()
    assert ids.stats().closed


def test_stats_tell_of_the_highest_second() -> None:
    ids = Generator(clock=lambda: NOW_NS)
    before = ids.stats()
    assert (before.machine, before.last_second, before.len, before.closed) == (None, None, 0, False)
    assert "without a machine" in repr(ids)
    made = ids.generate_many(5)
    stats = ids.stats()
    assert (stats.machine, stats.last_second, stats.len) == (hotguid.parts(made[0]).machine, SECOND, 5)
    assert stats == ids.stats() != before
    assert f"5 IDs in second {SECOND}" in repr(stats)
    assert stats.machine is not None
    assert stats.machine.hex() in repr(ids)


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_generator_cannot_be_copied(copying: Callable[[object], object]) -> None:
    with refused("invalid_type") as caught:
        copying(Generator())
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "cls", [Generator, HotGuidArray, hotguid.Parts, hotguid.Uuid8Parts, hotguid.Stats], ids=lambda cls: cls.__name__
)
def test_classes_cannot_be_extended_or_made_by_the_back_door(cls: type) -> None:
    with pytest.raises(TypeError):
        type("Mine", (cls,), {})
    with pytest.raises(TypeError):
        object.__new__(cls)


def test_threads_share_a_generator() -> None:
    ids, made = Generator(), []
    start = threading.Barrier(8)

    def work() -> None:
        mine: list[uuid.UUID] = []
        start.wait()
        for _ in range(300):
            mine.append(ids.generate())
            mine.extend(ids.generate_many(20))
            mine.append(hotguid.parse(ids.generate_text()))
        made.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == len(set(made)) == 8 * 300 * 22


# Arrays.


@given(st.lists(st.uuids(), max_size=40), st.data())
def test_an_array_is_a_list_of_uuids(plain: list[uuid.UUID], data: st.DataObject) -> None:
    packed = HotGuidArray(b"".join(id.bytes for id in plain))
    assert list(packed) == plain
    assert packed.texts() == list(map(str, plain))
    part = data.draw(st.slices(len(plain)))
    assert list(packed[part]) == plain[part]
    assert packed == HotGuidArray(packed) == copy.deepcopy(packed) == pickle.loads(pickle.dumps(packed))
    assert hash(packed) == hash(HotGuidArray(packed))
    assert bytes(packed) == b"".join(id.bytes for id in plain)
    with pytest.raises(IndexError):
        packed[len(plain)]


def test_numpy_sees_rows_without_a_copy() -> None:
    packed = Generator().generate_many(1000, 7)
    rows = np.asarray(packed)
    assert (rows.shape, rows.dtype, rows.flags.writeable) == ((1000, 16), np.uint8, False)
    assert (rows[:, 12] == 7).all()
    assert np.shares_memory(rows, np.asarray(packed))


def test_a_last_id_that_is_not_whole_is_refused() -> None:
    for length in (1, 15, 17):
        with refused("invalid_length"):
            HotGuidArray(bytes(length))


@given(anything)
def test_anything_else_is_refused_with_a_typed_error_or_taken(value: Any) -> None:
    for call in (
        hotguid.parse,
        hotguid.parts,
        hotguid.shard_key,
        hotguid.timestamp,
        hotguid.to_sql,
        hotguid.from_sql,
        hotguid.to_dotnet_bytes,
        hotguid.from_dotnet_bytes,
        hotguid.generate,
        HotGuidArray,
        lambda v: hotguid.from_parts(timestamp=v, machine=v, counter=v),
        lambda v: hotguid.time_range(v, v),
        lambda v: Generator(window=v),
        lambda v: Generator(clock=v),
        lambda v: Generator(on_stall=v),
        Generator().extend_window,
    ):
        try:
            call(value)
        except PolyflakeError as error:
            assert error.code


def test_what_a_value_raises_goes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        hotguid.generate(Raising(ZeroDivisionError()))


def test_polars_reads_fields() -> None:
    ids = hotguid.Generator().generate_many(50)
    assert pl.Series(ids.counters()).to_list() == [hotguid.parts(id).counter for id in ids]


@given(st.lists(st.binary(min_size=16, max_size=16), max_size=50))
def test_fields_of_many_are_those_of_each(packed: list[bytes]) -> None:
    ids = hotguid.HotGuidArray(b"".join(packed))
    parts = [hotguid.parts(id) for id in ids]
    for name, dtype in (("timestamps", np.int64), ("counters", np.uint32), ("shard_keys", np.uint32)):
        column, expected = getattr(ids, name)(), [getattr(part, name[:-1]) for part in parts]
        assert (np.asarray(column).dtype, list(column)) == (dtype, expected)
        assert pa.array(column).to_pylist() == expected
    machines = ids.machines()
    assert list(machines) == pa.array(machines).to_pylist() == [part.machine for part in parts]
    assert (np.asarray(machines).shape, repr(machines)) == ((len(ids), 5), f"<FieldColumn of {len(ids)} values>")
    assert list(machines[::-2]) == [part.machine for part in parts[::-2]]
