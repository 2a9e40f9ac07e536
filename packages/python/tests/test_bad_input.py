"""Tests that invalid input raises a typed error, changes nothing, and leaves the object usable."""

from __future__ import annotations

import array
import datetime as dt
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from catalogue import BAD_CHARACTERS
from polyflake import PolyflakeError, _reading, hotguid, layout, randflake, sno, uuid7
from support import NOW_MS, NOW_NS, raises_code

ID = sno.Sno("93bm44ab22flxhjb")
SHARED_GENERATOR = sno.Generator(30_002)


TWITTER_LAYOUT = layout.Layout.preset("twitter")
TIMESTAMP_FIELD = {"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": 0}
TEXT = "93bm44ab22flxhjb"
INVALID_TEXTS = [
    "",
    "9",
    TEXT[:15],
    TEXT + "b",
    "9" * (1 << 20),
    "é" * (1 << 20),
    "\ufeff" + TEXT,
    "\ud800" * (1 << 16),
]
READERS = [sno.Sno, sno.metabyte]


@pytest.mark.parametrize("read", READERS)
def test_strings_of_another_length_are_rejected(read: Callable[[str], object]) -> None:
    for text in INVALID_TEXTS:
        with raises_code("invalid_length", position=None) as caught:
            read(text)
        assert isinstance(caught.value, ValueError)
        assert str(caught.value) == f"expected length 16, found {len(text)}"


@pytest.mark.parametrize("bad", BAD_CHARACTERS, ids=ascii)
def test_an_invalid_character_is_reported_at_its_position(bad: str) -> None:
    for position in range(16):
        text = TEXT[:position] + bad + TEXT[position + 1 :]
        with raises_code("invalid_character", position=position):
            sno.Sno(text)
        if position in (8, 9):
            with raises_code("invalid_character", position=position):
                sno.metabyte(text)
        # A later invalid character does not change the reported position.
        with raises_code("invalid_character", position=position):
            sno.Sno(text[:-1] + "\ud800" if position < 15 else text)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("value", [None, 7, TEXT.encode(), bytearray(TEXT.encode()), [TEXT], ID, 1.5, True])
def test_non_strings_are_rejected(read: Callable[[Any], object], value: object) -> None:
    with raises_code("invalid_type"):
        read(value)


def test_subclasses_of_str_are_accepted() -> None:
    class StrSubclass(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise AssertionError

        def encode(self, *_: Any) -> bytes:
            raise AssertionError

    assert sno.Sno(StrSubclass(TEXT)) == sno.Sno(np.str_(TEXT)) == ID
    with raises_code("invalid_character", position=0):
        sno.Sno(StrSubclass("\ud800" + TEXT[1:]))


NAIVE_DATETIME = dt.datetime(2026, 1, 1)
AWARE_DATETIME = NAIVE_DATETIME.replace(tzinfo=dt.timezone.utc)


class OffsetlessZone(dt.tzinfo):
    def utcoffset(self, _: dt.datetime | None) -> None:
        return None


class RaisingZone(dt.tzinfo):
    def utcoffset(self, _: dt.datetime | None) -> dt.timedelta:
        raise ZeroDivisionError


TIME_CALLS = [
    pytest.param(lambda time: SHARED_GENERATOR.generate_at(time), "time", id="generate_at"),
    pytest.param(lambda time: sno.time_range(time, NOW_MS), "start", id="start"),
    pytest.param(lambda time: sno.time_range(NOW_MS, time), "end", id="end"),
    pytest.param(lambda time: sno.Generator(window=(time, NOW_MS)), "window", id="window start"),
    pytest.param(lambda time: sno.Generator(window=[NOW_MS, time]), "window", id="window end"),
    pytest.param(lambda time: SHARED_GENERATOR.extend_window(time), "end", id="extend_window"),
]


@pytest.mark.parametrize(("call", "field"), TIME_CALLS)
def test_times_must_be_integers_or_aware_datetimes(call: Callable[[Any], object], field: str) -> None:
    naive_datetimes = [NAIVE_DATETIME, AWARE_DATETIME.replace(tzinfo=OffsetlessZone())]
    for wrong in naive_datetimes:
        with raises_code("invalid_type") as caught:
            call(wrong)
        assert str(caught.value) == f"expected int or aware datetime for `{field}`, found naive datetime"
    non_times = [dt.date(2026, 1, 1), 1.5e12, float("nan"), "2026-01-01", None, True, np.datetime64("2026-01-01")]
    for wrong in non_times:
        with raises_code("invalid_type", field=field):
            call(wrong)
    with pytest.raises(ZeroDivisionError):
        call(AWARE_DATETIME.replace(tzinfo=RaisingZone()))


def test_a_limit_outside_the_datetime_range_is_reported_as_a_number() -> None:
    wide_layout = layout.Layout({"id": "integer", "bits": 64, "fields": [TIMESTAMP_FIELD]})
    with raises_code("out_of_range", field="end") as caught:
        wide_layout.time_range(AWARE_DATETIME, AWARE_DATETIME)
    assert str(caught.value).endswith(f" to {2**63 - 1} ms, found {AWARE_DATETIME.astimezone(dt.timezone.utc)}")


def test_messages_include_the_module_of_a_class() -> None:
    for call, message in {
        lambda: sno.set_default_generator(hotguid.Generator()): (  # type: ignore[arg-type]
            "expected sno.Generator or None for `generator`, found hotguid.Generator"
        ),
        lambda: layout.Generator.restore(TWITTER_LAYOUT, sno.Generator(5).close()): (  # type: ignore[arg-type]
            "expected layout.Snapshot for `snapshot`, found sno.Snapshot"
        ),
    }.items():
        with raises_code("invalid_type") as caught:
            call()
        assert str(caught.value) == message


def test_messages_show_times_as_they_were_passed() -> None:
    earliest_datetime = dt.datetime.min.replace(tzinfo=dt.timezone.utc)
    for call in (
        lambda time: sno.time_range(time, NOW_MS),
        SHARED_GENERATOR.generate_at,
        lambda time: sno.Generator(1, window=(time, NOW_MS)),
        lambda time: hotguid.time_range(time, NOW_MS),
        lambda time: TWITTER_LAYOUT.time_range(time, NOW_MS),
        lambda time: TWITTER_LAYOUT.pack(timestamp=time, sequence=1, bindables={"datacenter": 1, "worker": 2}),
    ):
        with pytest.raises(
            PolyflakeError, match=rf" from \S+ \S+\+00:00 to \S+ \S+, found {re.escape(str(earliest_datetime))}$"
        ):
            call(earliest_datetime)
        for outside in (-1, 2**63):
            with pytest.raises(PolyflakeError, match=rf", found {outside}(\n|$)"):
                call(outside)


@pytest.mark.parametrize(
    ("window", "code"),
    [
        ((NOW_MS,), "invalid_length"),
        ([NOW_MS, NOW_MS + 8, 1], "invalid_length"),
        (NOW_MS, "invalid_type"),
        ("ab", "invalid_type"),
        ({NOW_MS, 1}, "invalid_type"),
        (iter((NOW_MS, NOW_MS + 8)), "invalid_type"),
    ],
)
def test_a_window_must_be_a_tuple_or_list_of_two_times(window: Any, code: str) -> None:
    with raises_code(code):
        sno.Generator(window=window)


def test_invalid_options_are_rejected() -> None:
    for text in ("", "WAIT", "wait ", "raise", "\ud800"):
        with raises_code("out_of_range", field="on_exhausted"):
            sno.Generator(on_exhausted=text)  # type: ignore[arg-type]
    for value in (None, True, 0, b"wait"):
        with raises_code("invalid_type"):
            sno.Generator(on_exhausted=value)  # type: ignore[arg-type]
    for clock in (0, "time", NOW_NS, object()):
        for name in ("clock", "test_clock"):
            with raises_code("invalid_type", field=name):
                sno.Generator(**{name: clock})  # type: ignore[arg-type]
    with raises_code("out_of_range", field="test_clock"):
        sno.Generator(clock=time.time_ns, test_clock=time.time_ns)
    for flag in (0, 1, None, "", np.bool_(True)):
        with raises_code("invalid_type"):
            sno.Sno.from_parts(tick=0, partition=0, sequence=0, tick_tock=flag)  # type: ignore[arg-type]


def test_a_rejected_call_changes_nothing() -> None:
    generator = sno.Generator(1, test_clock=lambda: NOW_NS)
    generator.generate()
    stats_before = generator.stats()
    for call in (
        lambda: generator.generate(256),
        lambda: generator.generate("7"),  # type: ignore[arg-type]
        lambda: generator.generate_many(-1),
        lambda: generator.generate_at(-1),
        lambda: generator.extend_window(0),
    ):
        with pytest.raises(PolyflakeError):
            call()
    assert generator.stats() == stats_before
    assert generator.generate().sequence == 1


def test_an_argument_can_call_the_generator() -> None:
    class ReentrantArgument:
        def __index__(self) -> int:
            return SHARED_GENERATOR.generate(5).metabyte

    assert SHARED_GENERATOR.generate(ReentrantArgument()).metabyte == 5


def invalid_buffers() -> dict[str, Any]:
    """Returns buffers that do not contain packed sno IDs, although most of them have a multiple of 10 bytes."""
    ids = sno.generate_many(5)
    return {
        "strings": np.array(ids.texts()),
        "a column of strings": ids.text_column(),
        "UUIDs": uuid7.generate_many(5),
        "UUIDs as bytes": np.asarray(uuid7.generate_many(5)),
        "floats": np.random.rand(5),
        "integers": np.arange(5),
        "16-bit integers": array.array("H", range(5)),
        "bytes of another width": np.zeros((10, 5), "u1"),
        "booleans": np.zeros(10, "?"),
    }


@pytest.mark.parametrize("name", list(invalid_buffers()))
def test_arrays_reject_buffers_that_do_not_contain_ids(name: str) -> None:
    value = invalid_buffers()[name]
    unused_bits = {"kind": "unused", "bits": 16}
    bytes_layout = layout.Layout({"id": "bytes", "bits": 80, "fields": [TIMESTAMP_FIELD, unused_bits]})
    for make in (sno.SnoArray, bytes_layout.parse_columns):
        with pytest.raises(PolyflakeError) as error:
            make(value)
        assert error.value.code in ("invalid_type", "invalid_length"), error.value
        assert error.value.field == "ids"
    if name.startswith("UUIDs"):
        return
    for make in (hotguid.HotGuidArray, uuid7.Uuid7Array):
        with pytest.raises(PolyflakeError) as error:
            make(value)
        assert error.value.field == "ids", error.value


def test_arrays_reject_arrays_of_other_formats() -> None:
    guids, uuids, ids = hotguid.generate_many(5), uuid7.generate_many(5), sno.generate_many(8)
    for make, value, message in (
        (hotguid.HotGuidArray, uuids, "expected hotguid.HotGuidArray for `ids`, found uuid7.Uuid7Array"),
        (uuid7.Uuid7Array, guids, "expected uuid7.Uuid7Array for `ids`, found hotguid.HotGuidArray"),
        (sno.SnoArray, guids, "expected sno.SnoArray for `ids`, found hotguid.HotGuidArray"),
        (hotguid.HotGuidArray, ids, "expected hotguid.HotGuidArray for `ids`, found sno.SnoArray"),
    ):
        with raises_code("invalid_type", field="ids") as error:
            make(value)
        assert str(error.value) == message
    assert sno.SnoArray(ids) == ids and hotguid.HotGuidArray(guids) == guids and uuid7.Uuid7Array(uuids) == uuids


@pytest.mark.parametrize("value", [array.array("H", range(5)), memoryview(bytes(10)).cast("B", (2, 5))])
def test_single_ids_reject_buffers_of_other_items(value: Any) -> None:
    for call in (sno.Sno.from_bytes, lambda data: sno.Sno.from_bytes(memoryview(data))):
        with raises_code("invalid_type", field="data") as error:
            call(value)
        assert "expected bytes for `data`, found one of format " in str(error.value)
    with raises_code("invalid_type", field="partition"):
        sno.Generator(memoryview(array.array("H", [1])))  # type: ignore[arg-type]
    with raises_code("invalid_type", field="data"):
        hotguid.from_dotnet_bytes(array.array("H", range(8)))
    assert sno.Sno.from_bytes(bytearray(10)) == sno.Sno.from_bytes(array.array("b", bytes(10)))


def test_messages_name_the_module_of_a_class() -> None:
    class UUID:
        pass

    UUID.__module__, UUID.__qualname__ = "uuid_utils", "UUID"
    with raises_code("invalid_type", field="id") as error:
        uuid7.unix_ms(UUID())  # type: ignore[arg-type]
    assert str(error.value) == "expected uuid.UUID for `id`, found uuid_utils.UUID"


@pytest.mark.parametrize(("value", "found"), [(5, "int"), (None, "NoneType"), (["9"], "list"), (True, "bool")])
def test_messages_for_clients_name_no_parameter(value: Any, found: str) -> None:
    for read in (_reading.read_sno, lambda it: _reading.read_text(randflake.decode_text, it)):
        with raises_code("invalid_type", field=None) as error:
            read(value)
        assert str(error.value) == f"expected a string, found {found}"
    if found != "int":
        with raises_code("invalid_type", field=None) as error:
            _reading.read_int64(value)
        assert str(error.value) == f"expected an integer of 64 bits or its decimal digits, found {found}"
