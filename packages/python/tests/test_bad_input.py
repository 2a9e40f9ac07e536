"""Bad input: a typed error, nothing changed, usable afterwards."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from catalogue import BAD_CHARACTERS, anything
from polyflake import InvalidTypeError, PolyflakeError, hotguid, layout, sno
from support import NOW_MS, NOW_NS, refused

ID = sno.Sno("93bm44ab22flxhjb")
SHARED = sno.Generator(1)


TWITTER = layout.Layout.preset("twitter")
FIELDS: dict[str, Any] = {"sequence": 1, "bindables": {"datacenter": 1, "worker": 2}}
TIMESTAMP = {"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": 0}
TEXT = "93bm44ab22flxhjb"
NO_TEXTS = [
    "",
    "9",
    *(TEXT[:n] for n in range(12, 16)),
    TEXT + "b",
    "9" * (1 << 20),
    "é" * (1 << 20),
]
READERS = [sno.Sno, sno.metabyte]


@pytest.mark.parametrize("read", READERS)
def test_texts_of_another_length_are_refused(read: Callable[[str], object]) -> None:
    for text in [*NO_TEXTS, "\ufeff" + TEXT, TEXT + "\n", "\0" + TEXT, TEXT + "\ud800", "\ud800" * (1 << 16)]:
        with refused("invalid_length", position=None) as caught:
            read(text)
        assert isinstance(caught.value, ValueError)
        assert str(caught.value) == f"expected length 16, found {len(text)}"


@pytest.mark.parametrize("bad", BAD_CHARACTERS, ids=ascii)
def test_a_bad_character_is_refused_at_its_position(bad: str) -> None:
    for position in range(16):
        text = TEXT[:position] + bad + TEXT[position + 1 :]
        with refused("invalid_character", position=position):
            sno.Sno(text)
        if position in (8, 9):
            with refused("invalid_character", position=position):
                sno.metabyte(text)
        # A later bad one does not hide the first.
        with refused("invalid_character", position=position):
            sno.Sno(text[:-1] + "\ud800" if position < 15 else text)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("value", [None, 7, TEXT.encode(), bytearray(TEXT.encode()), [TEXT], ID, 1.5, True])
def test_what_is_no_text_is_refused(read: Callable[[Any], object], value: object) -> None:
    with refused("invalid_type"):
        read(value)


def test_subclasses_of_str_are_texts() -> None:
    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise AssertionError

        def encode(self, *_: Any) -> bytes:
            raise AssertionError

    assert sno.Sno(Text(TEXT)) == sno.Sno(np.str_(TEXT)) == ID
    with refused("invalid_character", position=0):
        sno.Sno(Text("\ud800" + TEXT[1:]))


def test_bytes_are_anything_with_a_buffer() -> None:
    data = bytes(ID)
    spread = memoryview(bytes(b for byte in data for b in (byte, 0)))
    for good in (data, bytearray(data), memoryview(data), spread[::2], np.frombuffer(data, np.uint8), np.void(data)):
        assert sno.Sno.from_bytes(good) == ID
    assert sno.Sno.from_bytes(memoryview(data)[::-1]) == sno.Sno.from_bytes(data[::-1])
    for length in (0, 1, 9, 11, 20, 1 << 20):
        for kind in (bytes, bytearray, lambda n: memoryview(bytes(n))):
            with refused("invalid_length"):
                sno.Sno.from_bytes(kind(length))
    for bad in (None, "0123456789", 10, True, list(data), ID, object()):
        with refused("invalid_type"):
            sno.Sno.from_bytes(bad)  # type: ignore[arg-type]


def test_a_released_view_is_refused() -> None:
    view = memoryview(bytes(ID))
    view.release()
    for call in (sno.Sno.from_bytes, sno.SnoArray, sno.Generator):
        with pytest.raises(ValueError, match="released"):
            call(view)


def test_bytes_are_copied() -> None:
    data = bytearray(bytes(ID))
    id, array = sno.Sno.from_bytes(data), sno.SnoArray(data)
    data[:] = bytes(10)
    data.clear()
    assert id == array[0] == ID


@pytest.mark.parametrize("bad", [b"", b"a", b"abc", memoryview(b"abc"), bytearray(65536)])
def test_a_partition_of_bytes_has_two(bad: Any) -> None:
    for call in (sno.Generator, ID.with_partition):
        with refused("invalid_length"):
            call(bad)


NAIVE = dt.datetime(2026, 1, 1)
AWARE = NAIVE.replace(tzinfo=dt.timezone.utc)


class NoOffset(dt.tzinfo):
    def utcoffset(self, _: dt.datetime | None) -> None:
        return None


class RaisingZone(dt.tzinfo):
    def utcoffset(self, _: dt.datetime | None) -> dt.timedelta:
        raise ZeroDivisionError


TIMES = [
    pytest.param(lambda time: SHARED.generate_at(time), "time", id="generate_at"),
    pytest.param(lambda time: sno.time_range(time, NOW_MS), "start", id="start"),
    pytest.param(lambda time: sno.time_range(NOW_MS, time), "end", id="end"),
    pytest.param(lambda time: sno.Generator(window=(time, NOW_MS)), "window", id="window start"),
    pytest.param(lambda time: sno.Generator(window=[NOW_MS, time]), "window", id="window end"),
    pytest.param(lambda time: SHARED.extend_window(time), "end", id="extend_window"),
]


@pytest.mark.parametrize(("call", "field"), TIMES)
def test_times_are_integers_or_aware_datetimes(call: Callable[[Any], object], field: str) -> None:
    naive = [NAIVE, AWARE.replace(tzinfo=NoOffset())]
    for time in naive:
        with refused("invalid_type") as caught:
            call(time)
        assert str(caught.value) == f"expected int or aware datetime for `{field}`, found naive datetime"
    others = [dt.date(2026, 1, 1), 1.5e12, float("nan"), "2026-01-01", None, True, np.datetime64("2026-01-01")]
    for time in others:
        with refused("invalid_type", field=field):
            call(time)
    with pytest.raises(ZeroDivisionError):
        call(AWARE.replace(tzinfo=RaisingZone()))


@pytest.mark.parametrize(("call", "field"), TIMES)
def test_times_outside_the_formats_are_refused(call: Callable[[Any], object], field: str) -> None:
    early = [0, -1, 1_262_303_999_999, dt.datetime.min.replace(tzinfo=dt.timezone.utc)]
    late = [3_461_327_255_556, 2**53, 2**63 - 1, AWARE.replace(year=2080), AWARE.replace(year=9999)]
    beyond = [2**63, -(2**63) - 1, 2**64, 2**200, -(2**200)]
    for time in early + late + beyond:
        with pytest.raises(PolyflakeError) as caught:
            call(time)
        # A range that is reversed is told so first.
        assert caught.value.code in ("time_out_of_range", "out_of_range"), caught.value
        if time in beyond:
            assert caught.value.code == "time_out_of_range"
        # The end of a range may be what is wrong with its start.
        assert caught.value.field in (field, "end" if field == "start" else field)


@pytest.mark.parametrize(
    ("call", "limits"),
    [
        (lambda time: sno.time_range(time, NOW_MS), "2010-01-01 00:00:00+00:00 to 2079-09-07 15:47:35.551000+00:00"),
        (sno.Generator(1).generate_at, "2010-01-01 00:00:00+00:00 to 2079-09-07 15:47:35.551000+00:00"),
        (lambda time: sno.Generator(1, window=(time, NOW_MS)), "2010-01-01 00:00:00+00:00 to 2079-09-07 15:47:35.551"),
        (
            lambda time: hotguid.time_range(time, NOW_MS),
            "1970-01-01 00:00:00+00:00 to 2106-02-07 06:28:15.999000+00:00",
        ),
        (lambda time: hotguid.Generator(window=(time, NOW_MS)), "1970-01-01 00:00:00+00:00 to 2106-02-07 06:28:15.999"),
        (lambda time: TWITTER.time_range(time, NOW_MS), "2010-11-04 01:42:54.657000+00:00 to 2080-07-10 17:30:30.208"),
        (
            lambda time: TWITTER.pack(timestamp=time, **FIELDS),
            "2010-11-04 01:42:54.657000+00:00 to 2080-07-10 17:30:30",
        ),
    ],
)
def test_messages_tell_times_as_they_were_given(call: Callable[[Any], object], limits: str) -> None:
    for early in (
        dt.datetime(1969, 5, 6, 7, 8, 9, tzinfo=dt.timezone.utc),
        dt.datetime.min.replace(tzinfo=dt.timezone.utc),
    ):
        with pytest.raises(PolyflakeError, match=f" from {re.escape(limits)}.*, found {re.escape(str(early))}$"):
            call(early)
        milliseconds = (early - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(milliseconds=1)
        with pytest.raises(PolyflakeError, match=rf" from \d+ to \d+, found {milliseconds}$"):
            call(milliseconds)


def test_a_limit_that_no_datetime_has_stays_a_number() -> None:
    wide = layout.Layout({"id": "integer", "bits": 64, "fields": [TIMESTAMP]})
    with refused("out_of_range", field="end") as caught:
        wide.time_range(AWARE, AWARE)
    assert str(caught.value).endswith(f" to {2**63 - 1}, found {AWARE.astimezone(dt.timezone.utc)}")


def test_messages_tell_the_families_of_classes() -> None:
    for call, message in {
        lambda: sno.set_default_generator(hotguid.Generator()): (  # type: ignore[arg-type]
            "expected sno.Generator or None for `generator`, found hotguid.Generator"
        ),
        lambda: layout.Generator.restore(TWITTER, sno.Generator(5).close()): (  # type: ignore[arg-type]
            "expected layout.Snapshot for `snapshot`, found sno.Snapshot"
        ),
    }.items():
        with refused("invalid_type") as caught:
            call()
        assert str(caught.value) == message


def test_an_unknown_preset_names_the_parameter() -> None:
    with refused("invalid_layout", field="name"):
        layout.Layout.preset("x")


@pytest.mark.parametrize("window", [(), (NOW_MS,), (NOW_MS, NOW_MS + 8, 1), [NOW_MS]])
def test_a_window_has_two_times(window: Any) -> None:
    with refused("invalid_length"):
        sno.Generator(window=window)


@pytest.mark.parametrize("window", [NOW_MS, "ab", {NOW_MS, 1}, b"ab", iter((NOW_MS, NOW_MS + 8)), {}])
def test_a_window_is_a_tuple_or_a_list(window: Any) -> None:
    with refused("invalid_type"):
        sno.Generator(window=window)


@pytest.mark.parametrize("end", [NOW_MS, NOW_MS - 1, NOW_MS - 1000])
def test_an_empty_window_is_refused(end: int) -> None:
    with refused("out_of_range"):
        sno.Generator(window=(NOW_MS, end))


def test_options_are_checked() -> None:
    for text in ("", "WAIT", "wait ", "raise", "\ud800"):
        with refused("out_of_range", field="on_exhausted"):
            sno.Generator(on_exhausted=text)  # type: ignore[arg-type]
    for value in (None, True, 0, b"wait"):
        with refused("invalid_type"):
            sno.Generator(on_exhausted=value)  # type: ignore[arg-type]
    for clock in (0, "time", NOW_NS, object()):
        with refused("invalid_type"):
            sno.Generator(clock=clock)  # type: ignore[arg-type]
    for flag in (0, 1, None, "", np.bool_(True)):
        with refused("invalid_type"):
            sno.Sno.from_parts(tick=0, partition=0, sequence=0, tick_tock=flag)  # type: ignore[arg-type]


def test_what_is_no_uuid_is_refused() -> None:
    for value in (str(ID.uuid), ID.uuid.bytes, ID.uuid.int, None, ID, uuid):
        with refused("invalid_type"):
            sno.Sno.from_uuid(value)  # type: ignore[arg-type]


def test_counts_from_none_to_too_many() -> None:
    assert len(SHARED.generate_many(0)) == 0
    assert len(SHARED.generate_many(1)) == 1
    assert len(SHARED.generate_many(70_000)) == 70_000
    for n in (2**24 + 1, 2**31, 2**53, 2**63, 2**64):
        with refused("out_of_range", field="n"):
            SHARED.generate_many(n)


def test_calls_with_other_arguments_are_type_errors() -> None:
    calls: list[Callable[[], object]] = [
        lambda: sno.Sno(),  # type: ignore[call-arg]
        lambda: sno.Sno.__new__(sno.Sno),  # type: ignore[call-arg]
        lambda: sno.Sno(text=TEXT),  # type: ignore[call-arg]
        lambda: sno.Generator(1, 2),  # type: ignore[call-arg, misc]
        lambda: sno.Generator(unknown=1),  # type: ignore[call-arg]
        lambda: sno.generate(0, 0),  # type: ignore[call-arg]
        lambda: sno.Snapshot(),
        lambda: sno.Stats(),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


def test_a_refusal_changes_nothing() -> None:
    generator = sno.Generator(1, clock=lambda: NOW_NS)
    generator.generate()
    before = generator.stats()
    for refuse in (
        lambda: generator.generate(256),
        lambda: generator.generate("7"),  # type: ignore[arg-type]
        lambda: generator.generate_many(-1),
        lambda: generator.generate_at(-1),
        lambda: generator.extend_window(0),
    ):
        with pytest.raises(PolyflakeError):
            refuse()
    assert generator.stats() == before
    assert generator.generate().sequence == 1


def test_an_argument_may_use_the_generator() -> None:
    class Reentrant:
        def __index__(self) -> int:
            return SHARED.generate(5).metabyte

    assert SHARED.generate(Reentrant()).metabyte == 5


@given(anything)
def test_anything_else_is_refused_with_a_typed_error_or_taken(value: Any) -> None:
    for call in (
        sno.Sno,
        sno.metabyte,
        sno.generate,
        sno.Sno.from_bytes,
        sno.Sno.from_uuid,
        sno.SnoArray,
        sno.Generator,
        sno.Generator.restore,
        sno.Snapshot.from_dict,
        sno.Snapshot.from_json,
        ID.with_metabyte,
        ID.with_partition,
        ID.with_sequence,
        SHARED.generate_at,
        SHARED.extend_window,
        lambda v: sno.Generator(window=v),
        lambda v: sno.Generator(clock=v),
        lambda v: sno.time_range(v, v),
    ):
        try:
            call(value)
        except PolyflakeError as error:
            assert error.code
    assert SHARED.generate().partition == 1


def test_the_note_names_the_parameter() -> None:
    with pytest.raises(InvalidTypeError) as caught:
        SHARED.generate("1")  # type: ignore[arg-type]
    assert any("metabyte" in note for note in getattr(caught.value, "__notes__", ["metabyte"]))


SPANS = [
    pytest.param(sno.time_range, id="sno"),
    pytest.param(hotguid.time_range, id="hotguid"),
    pytest.param(layout.Layout.preset("sonyflake").time_range, id="layout"),
]


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize(("start", "end"), [(-5, -9), (2**60, 2**59), (NOW_MS, NOW_MS), (NOW_MS, -1)])
def test_the_message_of_a_reversed_span_names_the_field(span: Any, start: int, end: int) -> None:
    with pytest.raises(OverflowError) as caught:
        span(start, end)
    error: Any = caught.value
    assert error.field in ("start", "end") and str(error).startswith(f"expected {error.field} "), str(error)
    assert str(error).endswith(f"found {start if error.field == 'start' else end}"), str(error)
