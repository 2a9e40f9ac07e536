"""Tests custom layouts: descriptions and values as Python objects, datetimes, copies, and generators."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from catalogue import MyInt, RaisingIndex, ValidIndex
from polyflake.layout import Generator, Layout, LayoutArray, Snapshot, presets
from support import NOW_MS, NOW_NS, raises_code

UTC = dt.timezone.utc

SNOWFLAKE_DESCRIPTION: dict[str, Any] = {
    "id": "integer",
    "bits": 64,
    "fields": [
        {"kind": "unused", "bits": 1},
        {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1_483_228_800_000},
        {"kind": "constant", "bits": 5, "name": "region", "value": 1},
        {"kind": "bindable", "bits": 5, "name": "worker"},
        {"kind": "sequence", "bits": 12},
    ],
}
WIDE_DESCRIPTION: dict[str, Any] = {
    "id": "bytes",
    "bits": 256,
    "fields": [
        {"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0},
        {"kind": "constant", "bits": 16, "name": "tag", "type": "text", "value": "hi"},
        {"kind": "bindable", "bits": 72, "name": "n"},
        {"kind": "bindable", "bits": 24, "name": "hash", "type": "bytes"},
        {"kind": "bindable", "bits": 64, "name": "text", "type": "text", "invert": True},
        {"kind": "sequence", "bits": 32, "start": 7},
    ],
}
SNOWFLAKE_LAYOUT = Layout(SNOWFLAKE_DESCRIPTION)
WIDE_LAYOUT = Layout(WIDE_DESCRIPTION)
BINDABLES: dict[str, Any] = {"n": 2**72 - 1, "hash": b"abc", "text": "Grüße"}


def layout_with_field(field: dict[str, Any], **more: Any) -> Layout:
    """Returns a layout with a single 16-bit field."""
    return Layout({"id": "bytes", "bits": 16, "fields": [{"bits": 16, **field, **more}]})


def test_layouts_compare_copy_and_pickle_by_value() -> None:
    for layout, description in ((SNOWFLAKE_LAYOUT, SNOWFLAKE_DESCRIPTION), (WIDE_LAYOUT, WIDE_DESCRIPTION)):
        assert layout == Layout(description) == copy.deepcopy(layout) == pickle.loads(pickle.dumps(layout))
        assert layout == eval(repr(layout), {"Layout": Layout})
        assert layout == Layout.from_json(layout.to_json()) == Layout(json.loads(layout.to_json()))
    assert SNOWFLAKE_LAYOUT != WIDE_LAYOUT
    assert (SNOWFLAKE_LAYOUT.bits, SNOWFLAKE_LAYOUT.is_integer, WIDE_LAYOUT.bits, WIDE_LAYOUT.is_integer) == (
        64,
        True,
        256,
        False,
    )
    with pytest.raises(TypeError):
        hash(SNOWFLAKE_LAYOUT)


def test_the_repr_of_a_layout_evaluates_to_it() -> None:
    for name in ("", "'", '"', "\\", "\u200b", "Grüße", "\0", "\n", "\U0001f600"):
        layout = layout_with_field({"kind": "bindable", "name": name})
        assert eval(repr(layout), {"Layout": Layout}) == layout == Layout.from_json(layout.to_json())
        assert layout.parse(layout.pack(bindables={name: 7})).bindables == {name: 7}


def test_mutable_values_are_copied() -> None:
    value = bytearray(b"abc")
    ids = Generator(WIDE_LAYOUT, bindables={**BINDABLES, "hash": value}, test_clock=lambda: NOW_NS)
    description = json.loads(SNOWFLAKE_LAYOUT.to_json())
    layout = Layout(description)
    value[:] = b"xyz"
    value.clear()
    description["fields"].clear()
    assert WIDE_LAYOUT.parse(ids.generate()).bindables == BINDABLES
    assert layout == SNOWFLAKE_LAYOUT


def test_preset_names_are_case_insensitive() -> None:
    for name in ("X", "x", "Twitter"):
        assert Layout.preset(name) == Layout.preset("twitter")
    with raises_code("invalid_layout", field="name") as caught:
        Layout.preset("Discrod")
    assert str(caught.value).endswith("found `Discrod`; did you mean `discord`?")


def test_a_lone_surrogate_is_not_a_decimal_id() -> None:
    with raises_code("invalid_character"):
        Layout.preset("discord").parse("\ud800")


def test_copies_of_presets_are_equal_layouts() -> None:
    assert presets() == ["twitter", "discord", "instagram", "sonyflake", "mastodon", "baidu"]
    for preset in map(Layout.preset, presets()):
        assert copy.copy(preset) == pickle.loads(pickle.dumps(preset)) == preset
    with raises_code("invalid_layout"):  # a preset that can only be parsed
        Generator(pickle.loads(pickle.dumps(Layout.preset("mastodon"))))
    for wrong in ("1", b"1", 1.0, True, None):
        with raises_code("invalid_type"):
            Layout.preset("twitter", worker=wrong)  # type: ignore[arg-type]


def test_json_like_values_are_accepted() -> None:
    fields = (
        {"kind": "unused", "bits": np.int64(60)},
        OrderedDict(kind="sequence", bits=MyInt(4), start=ValidIndex(3)),
    )
    assert Layout({"id": "integer", "bits": 64, "fields": fields}).to_json() == (
        '{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":60},{"kind":"sequence","bits":4,"start":3}]}'
    )
    large_fields = {"kind": "bindable", "bits": 64, "name": "n"}, {"kind": "constant", "bits": 64, "value": str(2**63)}
    assert str(2**63) in Layout({"id": "bytes", "bits": 128, "fields": [*large_fields]}).to_json()


def snowflake_with(**changes: Any) -> dict[str, Any]:
    return {**SNOWFLAKE_DESCRIPTION, **changes}


RECURSIVE_DICT: list[Any] = []
RECURSIVE_DICT.append(RECURSIVE_DICT)
DEEPLY_NESTED: Any = {}
for _ in range(100_000):
    DEEPLY_NESTED = {"fields": DEEPLY_NESTED}


@pytest.mark.parametrize(
    "bad",
    [
        snowflake_with(bits=True),
        snowflake_with(bits=64.0),
        snowflake_with(bits=2**200),
        snowflake_with(bits=object()),
        snowflake_with(id=b"integer"),
        snowflake_with(fields={1}),
        snowflake_with(only_read=None),
        snowflake_with(fields=[{"kind": "bindable", "bits": 64, "name": "\ud800"}]),
        snowflake_with(fields=[{"kind": "constant", "bits": 64, "value": 2**53 + 1}]),
        {1: 2},
        {"\ud800": 1},
        snowflake_with(fields=RECURSIVE_DICT),
        DEEPLY_NESTED,
    ],
    ids=lambda bad: str(bad)[:60] if bad is not DEEPLY_NESTED else "deep",
)
def test_non_json_values_are_rejected(bad: Any) -> None:
    with raises_code("invalid_layout"):
        Layout(bad)


def test_a_description_must_be_a_dict_and_json_a_string() -> None:
    for bad in (None, "{}", [], [("id", "integer")], MappingProxyType(SNOWFLAKE_DESCRIPTION)):
        with raises_code("invalid_type"):
            Layout(bad)  # type: ignore[arg-type]
    for bad in (None, SNOWFLAKE_DESCRIPTION, b"{}"):
        with raises_code("invalid_type"):
            Layout.from_json(bad)  # type: ignore[arg-type]
    for text in ("[" * 100_000, '"\ud800"'):
        with raises_code("invalid_layout"):
            Layout.from_json(text)


def test_exceptions_of_description_members_propagate() -> None:
    with pytest.raises(ZeroDivisionError):
        Layout(snowflake_with(bits=RaisingIndex(ZeroDivisionError())))
    with pytest.raises(KeyboardInterrupt):
        Layout(snowflake_with(bits=RaisingIndex(KeyboardInterrupt())))


def test_a_description_modified_during_the_call_is_read_unchanged() -> None:
    class ChangingDict:
        def __index__(self) -> int:
            description["another"] = 1
            return 64

    description: dict[str, Any] = {"bits": ChangingDict(), "id": "integer", "fields": SNOWFLAKE_DESCRIPTION["fields"]}
    assert Layout(description) == SNOWFLAKE_LAYOUT


def test_values_of_all_types_round_trip() -> None:
    id = WIDE_LAYOUT.pack(timestamp=NOW_MS, sequence=2**32 - 1, bindables=BINDABLES)
    assert (type(id), len(id)) == (bytes, 32)
    parsed = WIDE_LAYOUT.parse(id)
    assert (parsed.unix_ms, parsed.sequence, parsed.bindables) == (NOW_MS, 2**32 - 1, BINDABLES)
    assert parsed.constants == {"tag": "hi"}
    assert parsed.datetime == dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=NOW_MS)
    assert parsed == WIDE_LAYOUT.parse(bytearray(id)) == WIDE_LAYOUT.parse(memoryview(id))
    assert parsed != WIDE_LAYOUT.parse(id[:-1] + b"0")
    for said in ("Grüße", "abc", str(NOW_MS), str(2**72 - 1)):
        assert said in repr(parsed)
    parsed.bindables["n"] = 0  # `bindables` returns a copy
    assert parsed.bindables == BINDABLES
    overridden_id = WIDE_LAYOUT.pack(timestamp=NOW_MS, sequence=0, bindables=BINDABLES, constants={"tag": "no"})
    assert WIDE_LAYOUT.parse(overridden_id).constants == {"tag": "no"}


class MisleadingInt(int):
    def __abs__(self) -> int:
        raise AssertionError

    bit_length = to_bytes = __neg__ = __lt__ = __abs__  # type: ignore[assignment]


@pytest.mark.parametrize("bits", [63, 64, 120, 127, 128])
def test_integers_of_any_width_fit_or_are_rejected(bits: int) -> None:
    fields = [{"kind": "unused", "bits": 128 - bits}, {"kind": "bindable", "bits": bits, "name": "n"}]
    layout = Layout({"id": "bytes", "bits": 128, "fields": fields})
    is_wide = bits >= 64
    for n in (0, 2 ** (bits - 1), 2**bits - 1, *((-1, -(2**63)) if is_wide else ())):
        id = layout.pack(bindables={"n": n})
        assert id == layout.pack(bindables={"n": MisleadingInt(n)}) == (n % 2**64 if n < 0 else n).to_bytes(16, "big")
        assert layout.parse(id).bindables["n"] in (n, n - 2**64)
    for n in (2**bits, -(2**63) - 1, -(2**200), 10**10_000, -(10**10_000), 1 << 30_000_000):
        with raises_code("out_of_range", field="n") as caught:
            layout.pack(bindables={"n": n})
        assert len(str(caught.value)) < 180


NO_VALUES: list[Any] = [None, True, False, 1.0, float("nan"), 1j, [], {}, object(), int, dt.datetime.now(UTC)]


def test_a_value_must_have_the_type_of_its_field() -> None:
    for name, wrong in (("n", ["7", b"7"]), ("hash", [7, "abc"]), ("text", [7, b"abc"])):
        for value in [*wrong, *NO_VALUES]:
            with raises_code("invalid_type"):
                WIDE_LAYOUT.pack(timestamp=0, sequence=0, bindables={**BINDABLES, name: value})
            with raises_code("invalid_type"):
                Generator(WIDE_LAYOUT, bindables={**BINDABLES, name: value})
    for value in ["7", b"7", *NO_VALUES[1:]]:
        with raises_code("invalid_type"):
            SNOWFLAKE_LAYOUT.pack(timestamp=NOW_MS, sequence=value, bindables={"worker": 1})
    for same in (7, np.int64(7), MyInt(7), ValidIndex(7)):
        assert WIDE_LAYOUT.pack(timestamp=0, sequence=same, bindables={**BINDABLES, "n": same}) == WIDE_LAYOUT.pack(
            timestamp=0, sequence=7, bindables={**BINDABLES, "n": 7}
        )


def test_strings_must_be_valid_unicode() -> None:
    with raises_code("invalid_character", field="text"):
        WIDE_LAYOUT.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "text": "a\ud800"})
    with raises_code("invalid_character", field="text"):
        Generator(WIDE_LAYOUT, bindables={**BINDABLES, "text": "\udfff"})
    with raises_code("unknown_field"):  # the name is not mistaken for "?"
        layout_with_field({"kind": "bindable", "name": "?"}).pack(bindables={"\ud800": 1})
    id = WIDE_LAYOUT.pack(timestamp=0, sequence=0, bindables=BINDABLES)
    corrupted_id = bytearray(id)
    corrupted_id[26] ^= 0xFF
    with raises_code("invalid_character", field="text"):
        WIDE_LAYOUT.parse(corrupted_id)


def test_values_are_passed_by_name() -> None:
    expected_id = SNOWFLAKE_LAYOUT.pack(timestamp=NOW_MS, sequence=1, bindables={"worker": 2})
    for same in (MappingProxyType({"worker": 2}), OrderedDict(worker=2)):
        assert SNOWFLAKE_LAYOUT.pack(timestamp=NOW_MS, sequence=1, bindables=same) == expected_id
    for wrong in (7, "worker", [("worker", 2)], {"worker"}, {1: 2}, {None: 2}, {b"worker": 2}):
        with raises_code("invalid_type"):
            SNOWFLAKE_LAYOUT.pack(timestamp=NOW_MS, sequence=1, bindables=wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        SNOWFLAKE_LAYOUT.pack(NOW_MS, 1)  # type: ignore[misc]


def test_exceptions_of_a_mapping_propagate() -> None:
    class BrokenDict(dict[str, int]):
        def items(self) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        SNOWFLAKE_LAYOUT.pack(bindables=BrokenDict(worker=1))
    with pytest.raises(ZeroDivisionError):
        SNOWFLAKE_LAYOUT.pack(bindables={"worker": RaisingIndex(ZeroDivisionError())})


def test_an_id_must_have_the_type_of_its_layout() -> None:
    for layout, wrongs in ((SNOWFLAKE_LAYOUT, [b"12345678", None, 1.0, True]), (WIDE_LAYOUT, [7, "x" * 32, None])):
        for wrong in wrongs:
            with raises_code("invalid_type"):
                layout.parse(wrong)


def test_a_description_lists_its_fields() -> None:
    sonyflake_description = Layout.preset("sonyflake").describe()
    assert repr(sonyflake_description.fields[1]) == "<FieldDescription: timestamp timestamp, 39 bits at 1>"
    assert sonyflake_description.fields[1] == Layout.preset("sonyflake").describe().fields[1]
    assert layout_with_field({"kind": "bindable"}).describe().per_second is None
    assert "4 fields in 64 bits" in repr(sonyflake_description)


def test_a_time_must_be_milliseconds_or_an_aware_datetime() -> None:
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678_901, dt.timezone(dt.timedelta(hours=-7)))
    unix_ms = (moment - dt.datetime(1970, 1, 1, tzinfo=UTC)) // dt.timedelta(milliseconds=1)
    values: dict[str, Any] = {"sequence": 0, "bindables": {"worker": 0}}
    id = SNOWFLAKE_LAYOUT.pack(timestamp=moment, **values)
    assert id == SNOWFLAKE_LAYOUT.pack(timestamp=unix_ms, **values)
    # A time range uses the exact datetime. It excludes the millisecond that contains `moment`, because that millisecond
    # started earlier.
    assert SNOWFLAKE_LAYOUT.time_range(moment, moment + dt.timedelta(seconds=1)) == SNOWFLAKE_LAYOUT.time_range(
        unix_ms + 1, unix_ms + 1001
    )
    with raises_code("invalid_type") as caught:
        SNOWFLAKE_LAYOUT.pack(timestamp=moment.replace(tzinfo=None), **values)
    assert str(caught.value) == "expected int or aware datetime for `timestamp`, found naive datetime"
    for wrong in ("2026", 1.5, True, b"1", dt.date(2026, 1, 1)):
        with raises_code("invalid_type"):
            SNOWFLAKE_LAYOUT.pack(timestamp=wrong, **values)
    for outside in (2**63, 2**200, moment.replace(year=1), moment.replace(year=9999)):
        with raises_code("time_out_of_range", field="timestamp"):
            SNOWFLAKE_LAYOUT.pack(timestamp=outside, **values)


def test_submillisecond_ticks_keep_microseconds() -> None:
    fields = [{"kind": "timestamp", "bits": 64, "tick": "50us", "epoch_ms": 0}]
    layout = Layout({"id": "bytes", "bits": 64, "fields": fields})
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678_949, UTC)
    assert layout.parse(layout.pack(timestamp=moment)).datetime == moment.replace(microsecond=678_900)


@pytest.mark.parametrize(
    ("unix_ms", "is_datetime"),
    [
        (-(2**63), False),
        (-62_135_596_800_001, False),
        (-62_135_596_800_000, True),
        (-1, True),
        (253_402_300_799_999, True),
        (253_402_300_800_000, False),
    ],
)
def test_a_time_outside_the_datetime_range_has_only_a_number(unix_ms: int, is_datetime: bool) -> None:
    fields = [{"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": 0}]
    layout = Layout({"id": "integer", "bits": 64, "fields": fields})
    parsed = layout.parse(layout.pack(timestamp=unix_ms))
    expected = dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=unix_ms) if is_datetime else None
    assert (parsed.unix_ms, parsed.datetime) == (unix_ms, expected)


def test_bindables_are_bound_or_passed_with_each_call() -> None:
    fixed, free = Generator(SNOWFLAKE_LAYOUT, bindables={"worker": 3}), Generator(SNOWFLAKE_LAYOUT)
    worker_ids = [
        SNOWFLAKE_LAYOUT.parse(id).bindables["worker"] for id in (fixed.generate(), fixed.generate({"worker": 4}))
    ]
    assert worker_ids == [3, 4]
    assert [SNOWFLAKE_LAYOUT.parse(id).bindables["worker"] for id in free.generate_many(2, {"worker": 9})] == [9, 9]
    with raises_code("missing_field", field="worker"):
        free.generate()
    for wrong, code in (
        ({"node": 1}, "unknown_field"),
        ({"worker": 32}, "out_of_range"),
        ({"worker": "1"}, "invalid_type"),
    ):
        for call in (
            lambda values: fixed.generate(values),
            lambda values: fixed.generate_many(1, values),
            lambda values: Generator(SNOWFLAKE_LAYOUT, bindables=values),
        ):
            with raises_code(code):
                call(wrong)
    assert fixed.stats().len <= 2, "rejected calls generate no ID"


def test_a_range_must_be_a_name_and_two_integers() -> None:
    ids = Generator(SNOWFLAKE_LAYOUT, range=["worker", 8, np.int64(10)], test_clock=lambda: NOW_NS)
    assert [SNOWFLAKE_LAYOUT.parse(id).bindables["worker"] for id in ids.generate_many(3 * 4096)[::4096]] == [8, 9, 10]
    for wrong in (7, "worker", {"worker": 1}, (1, 2, 3), ("worker", "1", 2), ("worker", 1.0, 2)):
        with raises_code("invalid_type", field="range"):
            Generator(SNOWFLAKE_LAYOUT, range=wrong)
    with raises_code("invalid_length", field="range"):
        Generator(SNOWFLAKE_LAYOUT, range=("worker", 1))
    for first, last, field in ((-1, 2, "range"), (0, 2**64, "range"), (0, 32, "worker")):
        with raises_code("out_of_range", field=field):
            Generator(SNOWFLAKE_LAYOUT, range=("worker", first, last))
    with raises_code("invalid_type", field="hash"):
        Generator(WIDE_LAYOUT, bindables={"n": 1, "text": "a"}, range=("hash", 0, 1))


def test_a_layout_with_only_a_sequence_needs_no_clock() -> None:
    layout = Layout(
        snowflake_with(fields=[{"kind": "unused", "bits": 62}, {"kind": "sequence", "bits": 2, "start": 1}])
    )
    with raises_code("invalid_layout"):
        Generator(layout)
    ids = Generator(layout, sequence_only=True)
    assert list(ids.generate_many(3)) == [1, 2, 3]
    assert ids.stats().last_ms is None


def test_snapshots_round_trip_through_json() -> None:
    first_generator = Generator(SNOWFLAKE_LAYOUT, bindables={"worker": 3}, test_clock=lambda: NOW_NS)
    last_id = first_generator.generate_many(10)[9]
    snapshot = first_generator.close()
    snapshot_copy = Snapshot.from_dict(json.loads(json.dumps(snapshot.to_dict())))
    assert (snapshot_copy, hash(snapshot_copy)) == (snapshot, hash(snapshot))
    assert eval(repr(snapshot), {"Snapshot": Snapshot}) == snapshot
    assert (
        Generator.restore(
            SNOWFLAKE_LAYOUT, snapshot_copy, bindables={"worker": 3}, test_clock=lambda: NOW_NS
        ).generate()
        == last_id + 1
    )
    members = {"tick": 2**53, "next_sequence": str(2**64)}
    assert Snapshot.from_dict(members).to_dict() == {"format": 1, **members}
    assert (Snapshot.from_dict(members).tick, Snapshot.from_dict(members).next_sequence) == (2**53, 2**64)
    for wrong in (-1, str(2**64), 2**53 + 1, 1.0, True, None):
        with raises_code("invalid_layout"):
            Snapshot.from_dict({**members, "tick": wrong})
    for change in ({"another": 1}, {"format": 2}, {"next_sequence": "seven"}):
        with raises_code("invalid_layout"):
            Snapshot.from_dict({**members, **change})
    for name in members:
        with raises_code("invalid_layout"):
            Snapshot.from_dict({name: 1})
    for value in (None, [], "{}"):
        with raises_code("invalid_type"):
            Snapshot.from_dict(value)  # type: ignore[arg-type]


def test_arrays_must_contain_whole_ids() -> None:
    with raises_code("invalid_length"):
        LayoutArray(bytes(33), 32)
    for size in (0, -1, 129):
        with raises_code("out_of_range", field="size"):
            LayoutArray(b"", size)
    for wrong in (None, 7, [1.5], "12345678", bytes(8), np.zeros(1)):
        with raises_code("invalid_type"):
            LayoutArray(wrong)  # type: ignore[call-overload]
    with raises_code("invalid_type"):
        LayoutArray(b"", 1.0)  # type: ignore[call-overload]


def test_the_number_of_bytes_per_call_is_limited() -> None:
    fields = [
        {"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0},
        {"kind": "unused", "bits": 128 * 8 - 80},
        {"kind": "sequence", "bits": 32},
    ]
    ids = Generator(Layout({"id": "bytes", "bits": 128 * 8, "fields": fields}))
    assert len(ids.generate_many(3)[0]) == 128
    with raises_code("out_of_range", field="n") as caught:
        ids.generate_many(2**21 + 1)
    assert str(caught.value) == "expected n from 0 to 2097152, found 2097153"
