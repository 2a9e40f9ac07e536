"""IDs: text, bytes, fields, order, copies; against the original's outputs and a decoder in plain Python."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import PolyflakeError, sno
from support import refused, vectors

ALPHABET = "23456789abcdefghijklmnopqrstuvwx"
UTC = dt.timezone.utc

ids = st.binary(min_size=10, max_size=10).map(sno.Sno.from_bytes)
texts = st.text(ALPHABET, min_size=16, max_size=16)


def plain_decode(text: str) -> bytes:
    word = 0
    for character in text:
        word = word << 5 | ALPHABET.index(character)
    return word.to_bytes(10, "big")


@pytest.mark.parametrize("case", vectors("sno.json")["cases"], ids=lambda case: case["hex"])
def test_ids_have_the_originals_bytes_text_and_fields(case: dict[str, Any]) -> None:
    id = sno.Sno(case["encoded"])
    assert sno.Sno.parse(case["encoded"]) == id
    assert bytes(id).hex() == case["hex"]
    assert id == sno.Sno.from_bytes(bytes.fromhex(case["hex"]))
    assert str(id) == case["encoded"]
    assert id.tick == int(case["timestamp_units"])
    assert id.unix_ms == int(case["timestamp_unix_ms"])
    assert id.tick_tock is bool(case["tick"])
    assert (id.metabyte, id.partition, id.sequence) == (case["metabyte"], case["partition"], case["sequence"])
    assert sno.metabyte(case["encoded"]) == case["metabyte"]


@pytest.mark.parametrize("case", vectors("sno_invalid.json")["cases"], ids=lambda case: repr(case["input"][:20]))
def test_texts_that_are_no_ids_are_refused_with_code_and_position(case: dict[str, Any]) -> None:
    ours = case.get("ours", case)
    with refused(ours["error"], position=ours.get("position")):
        sno.Sno(case["input"])


@pytest.mark.parametrize("case", [case for case in vectors("ranges.json")["cases"] if case["family"] == "sno"])
def test_ranges_span_whole_ticks(case: dict[str, Any]) -> None:
    start, end = int(case["from_ms"]), int(case["to_ms"])
    if "error" in case:
        with refused(case["error"]):
            sno.time_range(start, end)
    else:
        lowest, highest = sno.time_range(start, end)
        assert (bytes(lowest).hex(), bytes(highest).hex()) == (case["lowest"]["hex"], case["highest"]["hex"])


@given(texts)
def test_texts_read_as_plain_python_reads_them(text: str) -> None:
    id = sno.Sno(text)
    assert bytes(id) == plain_decode(text)
    assert str(id) == text
    assert sno.metabyte(text) == id.metabyte == bytes(id)[5]


@given(st.one_of(st.text(), st.text(min_size=16, max_size=16), st.text(ALPHABET + "A0-", min_size=15, max_size=17)))
def test_any_other_text_is_refused_where_plain_python_says(text: str) -> None:
    bad = [index for index, character in enumerate(text) if character not in ALPHABET]
    if len(text) != 16:
        with refused("invalid_length", position=None):
            sno.Sno(text)
    elif bad:
        with refused("invalid_character", position=bad[0]):
            sno.Sno(text)
    else:
        assert str(sno.Sno(text)) == text


@given(ids)
def test_every_form_of_an_id_reads_back(id: sno.Sno) -> None:
    assert sno.Sno(str(id)) == id
    assert sno.Sno.from_bytes(bytes(id)) == id
    assert sno.Sno.from_uuid(id.uuid) == id
    assert id.uuid.bytes == str(id).encode()
    assert sno.Sno.from_uuid8(id.uuid8) == id
    assert (id.uuid8.version, id.uuid8.variant) == (8, uuid.RFC_4122)
    assert eval(repr(id), {"Sno": sno.Sno}) == id
    parts = {name: getattr(id, name) for name in ("tick", "tick_tock", "metabyte", "partition", "sequence")}
    assert sno.Sno.from_parts(**parts) == id
    assert sno.Sno.from_parts(**{**parts, "partition": id.partition.to_bytes(2, "big")}) == id


@given(ids, st.integers(0, 255), st.integers(0, 65535), st.integers(0, 65535))
def test_changing_a_field_changes_nothing_else(id: sno.Sno, metabyte: int, partition: int, sequence: int) -> None:
    changed = id.with_metabyte(metabyte).with_partition(partition).with_sequence(sequence)
    assert (changed.metabyte, changed.partition, changed.sequence) == (metabyte, partition, sequence)
    assert (changed.tick, changed.tick_tock) == (id.tick, id.tick_tock)
    assert changed.with_metabyte(id.metabyte).with_partition(id.partition).with_sequence(id.sequence) == id
    assert id.with_partition(partition.to_bytes(2, "big")) == id.with_partition(partition)


@given(ids, ids)
def test_ids_compare_as_their_bytes_texts_and_uuids_do(a: sno.Sno, b: sno.Sno) -> None:
    for left, right in ((bytes(a), bytes(b)), (str(a), str(b)), (a.uuid, b.uuid), (a.uuid8, b.uuid8)):
        assert (a < b, a <= b, a == b, a != b, a >= b, a > b) == (
            left < right,
            left <= right,
            left == right,
            left != right,
            left >= right,
            left > right,
        )
    assert (a == b) <= (hash(a) == hash(b))


@given(ids)
def test_an_id_is_a_value(id: sno.Sno) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(id, protocol)) == id
    assert copy.copy(id) == copy.deepcopy(id) == id
    assert {id: 1}[sno.Sno(str(id))] == 1


def test_an_id_is_only_equal_to_ids() -> None:
    id = sno.generate()
    assert id != str(id)
    assert id != bytes(id)
    assert id is not None
    with pytest.raises(TypeError):
        assert id < str(id)  # type: ignore[operator]


def test_an_id_cannot_be_changed() -> None:
    id = sno.generate()
    for name in ("metabyte", "tick", "anything"):
        with pytest.raises(AttributeError):
            setattr(id, name, 1)


@given(ids)
def test_the_datetime_is_exact_aware_and_in_utc(id: sno.Sno) -> None:
    assert id.datetime.tzinfo is UTC
    assert id.datetime == dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=id.unix_ms)
    assert id.unix_ms == 1_262_304_000_000 + 4 * id.tick


@given(st.datetimes(dt.datetime(2010, 1, 1), dt.datetime(2079, 9, 7), timezones=st.timezones()))
def test_datetimes_of_any_zone_are_floored_to_milliseconds(moment: dt.datetime) -> None:
    generator = sno.Generator(1)
    since = moment - dt.datetime(1970, 1, 1, tzinfo=UTC)
    unix_ms = since // dt.timedelta(milliseconds=1)
    if unix_ms < 1_262_304_000_000:  # east of Greenwich, 2010 begins in 2009
        with refused("time_out_of_range", field="time"):
            generator.generate_at(moment)
    else:
        assert generator.generate_at(moment).unix_ms == unix_ms // 4 * 4


@pytest.mark.parametrize("bit", [0, 41, 62, 63, 76, 79])
def test_a_uuid_of_another_version_variant_or_end_is_no_id(bit: int) -> None:
    near = uuid.UUID(int=sno.Sno("22222223nbcndcnc").uuid8.int ^ 1 << bit)
    with refused("not_canonical", field="uuid"):
        sno.Sno.from_uuid8(near)


def test_a_uuid_of_other_bytes_is_no_id() -> None:
    with refused("invalid_character", position=0):
        sno.Sno.from_uuid(uuid.UUID(int=0))


def test_time_ranges_are_half_open() -> None:
    start = dt.datetime(2026, 1, 1, tzinfo=UTC)
    lowest, highest = sno.time_range(start, start + dt.timedelta(days=1))
    at = sno.Generator(1).generate_at
    assert lowest <= at(start) <= highest
    assert lowest <= at(start + dt.timedelta(days=1, milliseconds=-1)) <= highest
    assert at(start + dt.timedelta(days=1)) > highest
    assert at(start - dt.timedelta(milliseconds=1)) < lowest


def test_the_metabyte_needs_no_more_than_its_two_characters() -> None:
    assert sno.metabyte("!!!!!!!!29!!!!!!") == 1
    with refused("invalid_character", position=8):
        sno.metabyte("22222222!9222222")
    with refused("invalid_character", position=9):
        sno.metabyte("222222222!222222")
    with refused("invalid_length"):
        sno.metabyte("22222222")


@given(st.binary(max_size=30))
def test_bytes_of_another_length_are_refused(data: bytes) -> None:
    try:
        assert bytes(sno.Sno.from_bytes(data)) == data
    except PolyflakeError as error:
        assert (error.code, len(data) == 10) == ("invalid_length", False)


def test_the_originals_null_is_read_and_written_only_when_asked_for() -> None:
    zero, other = sno.Sno("2222222222222222"), sno.Sno("93bm44ab22flxhjb")
    for id in (zero, other):
        assert sno.to_json_value(id) == str(id)
        assert sno.from_json_value(str(id)) == id == sno.from_json_value(str(id), null_is_zero=True)
    assert sno.to_json_value(zero, null_is_zero=True) is None
    assert sno.to_json_value(other, null_is_zero=True) == str(other)
    assert sno.from_json_value(None, null_is_zero=True) == zero
    with refused("invalid_type"):
        sno.from_json_value(None)
    for wrong in (0, False, b"2222222222222222", [], zero):
        for null_is_zero in (False, True):
            with refused("invalid_type"):
                sno.from_json_value(wrong, null_is_zero=null_is_zero)  # type: ignore[arg-type]
    with refused("invalid_length"):
        sno.from_json_value("", null_is_zero=True)
    for flag in (0, 1, None, "yes"):
        with refused("invalid_type"):
            sno.from_json_value("2222222222222222", null_is_zero=flag)  # type: ignore[arg-type]
    for none in (str(zero), None, bytes(10)):
        with refused("invalid_type"):
            sno.to_json_value(none)  # type: ignore[arg-type]


def test_figures_are_those_of_the_format() -> None:
    figures = sno.describe()
    assert (figures.bits, figures.per_second, figures.per_second_in_all) == (80, 16_384_000, 16_384_000 * 65_536)
    assert (figures.first_ms, figures.last_ms) == (1_262_304_000_000, 3_461_327_255_548)
    assert [(field.name, field.bits) for field in figures.fields] == [
        ("timestamp", 39),
        ("tick_tock", 1),
        ("metabyte", 8),
        ("partition", 16),
        ("sequence", 16),
    ]
    assert figures.sorts_by_time
