"""Tests IDs as Python values: equality, order, repr, UUIDs, datetimes and JSON."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import hotguid, layout, sno
from support import raises_code

UTC = dt.timezone.utc

ids = st.binary(min_size=10, max_size=10).map(sno.Sno.from_bytes)


@given(ids)
def test_every_form_of_an_id_round_trips(id: sno.Sno) -> None:
    assert sno.Sno(str(id)) == sno.Sno.parse(str(id)) == id
    assert {id: 1}[sno.Sno(str(id))] == 1
    assert sno.Sno.from_bytes(bytes(id)) == id
    assert sno.Sno.from_uuid(id.uuid) == id
    assert id.uuid.bytes == str(id).encode()
    assert sno.Sno.from_uuid8(id.uuid8) == id
    assert (id.uuid8.version, id.uuid8.variant) == (8, uuid.RFC_4122)
    assert eval(repr(id), {"Sno": sno.Sno}) == id
    parts = {name: getattr(id, name) for name in ("tick", "tick_tock", "metabyte", "partition", "sequence")}
    assert sno.Sno.from_parts(**parts) == id
    assert sno.Sno.from_parts(**{**parts, "partition": id.partition.to_bytes(2, "big")}) == id


@given(ids, ids)
def test_ids_compare_like_their_bytes_strings_and_uuids(a: sno.Sno, b: sno.Sno) -> None:
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


def test_an_id_is_only_equal_to_ids() -> None:
    id = sno.generate()
    assert id != str(id)
    assert id != bytes(id)
    assert id is not None
    with pytest.raises(TypeError):
        assert id < str(id)  # type: ignore[operator]


@given(ids)
def test_the_datetime_is_exact_aware_and_in_utc(id: sno.Sno) -> None:
    assert id.datetime.tzinfo is UTC
    assert id.datetime == dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=id.unix_ms)
    assert id.unix_ms == 1_262_304_000_000 + 4 * id.tick


@given(st.datetimes(dt.datetime(2010, 1, 1), dt.datetime(2079, 9, 7), timezones=st.timezones()))
def test_datetimes_of_any_zone_are_floored_to_milliseconds(moment: dt.datetime) -> None:
    generator = sno.Generator(1)
    since_epoch = moment - dt.datetime(1970, 1, 1, tzinfo=UTC)
    unix_ms = since_epoch // dt.timedelta(milliseconds=1)
    if unix_ms < 1_262_304_000_000:  # in time zones east of Greenwich, 2010 starts while UTC is in 2009
        with raises_code("time_out_of_range", field="time"):
            generator.generate_at(moment)
    else:
        assert generator.generate_at(moment).unix_ms == unix_ms // 4 * 4


def test_a_time_range_accepts_datetimes() -> None:
    start, day = dt.datetime(2026, 1, 1, tzinfo=UTC), dt.timedelta(days=1)
    lowest, highest = sno.time_range(start, start + day)
    generate_at = sno.Generator(1).generate_at
    assert (
        lowest
        <= generate_at(start)
        <= generate_at(start + day - dt.timedelta(milliseconds=1))
        <= highest
        < generate_at(start + day)
    )


def test_a_time_range_keeps_the_microseconds_of_datetimes() -> None:
    tick = dt.datetime(2026, 1, 1, tzinfo=UTC)
    microseconds = lambda count: dt.timedelta(microseconds=count)  # noqa: E731
    generate_at = sno.Generator(1).generate_at
    # A range contains the ticks that start in it. A range that starts just after a tick's start excludes that tick. A
    # range that ends just after a tick's start includes that tick.
    lowest, highest = sno.time_range(tick + microseconds(1), tick + microseconds(8001))
    assert (
        generate_at(tick)
        < lowest
        <= generate_at(tick + microseconds(4000))
        < generate_at(tick + microseconds(8000))
        <= highest
    )
    assert highest < generate_at(tick + microseconds(12000))
    discord = layout.Layout.preset("discord")
    lowest, highest = discord.time_range(tick, tick + microseconds(1001))
    assert [discord.parse(id).datetime for id in (lowest, highest)] == [tick, tick + microseconds(1000)]
    hotguid_range = hotguid.time_range(tick, tick + dt.timedelta(seconds=1, microseconds=1))
    assert [hotguid.timestamp(id) for id in hotguid_range] == [tick.timestamp(), tick.timestamp() + 1]
    with raises_code("out_of_range", field="end"):
        sno.time_range(tick + microseconds(500), tick + microseconds(500))
    window = (tick + microseconds(500), tick + microseconds(4500))
    ids = sno.Generator(1, window=window, test_clock=lambda: int(tick.timestamp()) * 10**9)
    with raises_code("lease_not_started"):
        ids.try_generate()


def test_null_is_read_as_the_zero_id_only_on_request() -> None:
    zero, other = sno.Sno("2222222222222222"), sno.Sno("93bm44ab22flxhjb")
    for id in (zero, other):
        assert sno.to_json_value(id) == str(id)
        assert sno.from_json_value(str(id)) == id == sno.from_json_value(str(id), null_is_zero=True)
    assert sno.to_json_value(zero, null_is_zero=True) is None
    assert sno.from_json_value(None, null_is_zero=True) == zero
    with raises_code("invalid_type"):
        sno.from_json_value(None)
    for wrong in (0, False, b"2222222222222222", [], zero):
        for null_is_zero in (False, True):
            with raises_code("invalid_type"):
                sno.from_json_value(wrong, null_is_zero=null_is_zero)  # type: ignore[arg-type]
    with raises_code("invalid_length"):
        sno.from_json_value("", null_is_zero=True)
    for flag in (0, 1, None, "yes"):
        with raises_code("invalid_type"):
            sno.from_json_value("2222222222222222", null_is_zero=flag)  # type: ignore[arg-type]
    for none in (str(zero), None, bytes(10)):
        with raises_code("invalid_type"):
            sno.to_json_value(none)  # type: ignore[arg-type]
