"""Custom layouts: descriptions, values of all types, times, ranges, figures; and generators over them."""

from __future__ import annotations

import array
import copy
import datetime as dt
import json
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import Indexed, MyInt, Raising, anything
from polyflake import PolyflakeError, layout
from polyflake.layout import Generator, Layout, LayoutArray, Snapshot, presets
from support import NOW_MS, NOW_NS, refused, script

UTC = dt.timezone.utc
MS_NS = 1_000_000

SNOWFLAKE: dict[str, Any] = {
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
WIDE: dict[str, Any] = {
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
ONE = Layout(SNOWFLAKE)
MANY = Layout(WIDE)
BINDABLES: dict[str, Any] = {"n": 2**72 - 1, "hash": b"abc", "text": "Grüße"}


def only(field: dict[str, Any], **more: Any) -> Layout:
    """A layout of one field of 16 bits."""
    return Layout({"id": "bytes", "bits": 16, "fields": [{"bits": 16, **field, **more}]})


# Layouts.


def test_a_layout_is_a_value() -> None:
    for of, description in ((ONE, SNOWFLAKE), (MANY, WIDE)):
        assert of == Layout(description) == copy.deepcopy(of) == pickle.loads(pickle.dumps(of))
        assert of == eval(repr(of), {"Layout": Layout})
        assert of == Layout.from_json(of.to_json()) == Layout(json.loads(of.to_json()))
    assert ONE != MANY
    assert (ONE.bits, ONE.is_integer, MANY.bits, MANY.is_integer) == (64, True, 256, False)
    with pytest.raises(TypeError):
        hash(ONE)


def test_a_layout_of_any_names_is_what_its_repr_says() -> None:
    for name in ("", "'", '"', "\\", "\u200b", "Grüße", "\0", "\n", "\U0001f600"):
        of = only({"kind": "bindable", "name": name})
        assert eval(repr(of), {"Layout": Layout}) == of == Layout.from_json(of.to_json())
        assert of.parse(of.pack(bindables={name: 7})).bindables == {name: 7}


def test_values_are_copied() -> None:
    value = bytearray(b"abc")
    ids = Generator(MANY, bindables={**BINDABLES, "hash": value}, clock=lambda: NOW_NS)
    description = json.loads(ONE.to_json())
    of = Layout(description)
    value[:] = b"xyz"
    value.clear()
    description["fields"].clear()
    assert MANY.parse(ids.generate()).bindables == BINDABLES
    assert of == ONE


def test_the_json_is_what_all_languages_write() -> None:
    assert ONE.to_json() == (
        '{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":1},'
        '{"kind":"timestamp","bits":41,"tick":"1ms","epoch_ms":1483228800000},'
        '{"kind":"constant","bits":5,"name":"region","value":1},{"kind":"bindable","bits":5,"name":"worker"},'
        '{"kind":"sequence","bits":12,"start":0}]}'
    )


def test_whatever_stands_for_json_is_taken() -> None:
    fields = ({"kind": "unused", "bits": np.int64(60)}, OrderedDict(kind="sequence", bits=MyInt(4), start=Indexed(3)))
    assert Layout({"id": "integer", "bits": 64, "fields": fields}).to_json() == (
        '{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":60},{"kind":"sequence","bits":4,"start":3}]}'
    )
    large = {"kind": "bindable", "bits": 64, "name": "n"}, {"kind": "constant", "bits": 64, "value": str(2**63)}
    assert str(2**63) in Layout({"id": "bytes", "bits": 128, "fields": [*large]}).to_json()


def test_the_presets_have_names() -> None:
    assert presets() == ["twitter", "discord", "instagram", "sonyflake", "mastodon", "baidu"]


@pytest.mark.parametrize("name", presets())
def test_a_copy_of_a_preset_is_the_same_layout(name: str) -> None:
    preset = Layout.preset(name)
    for copied in (copy.copy(preset), pickle.loads(pickle.dumps(preset)), Layout.from_json(preset.to_json())):
        assert copied == preset
        assert copied.to_json() == preset.to_json()
        if name in ("mastodon", "baidu"):
            with refused("invalid_layout"):
                Generator(copied)


def changed(**changes: Any) -> dict[str, Any]:
    return {**SNOWFLAKE, **changes}


def with_field(**changes: Any) -> dict[str, Any]:
    first, *others = SNOWFLAKE["fields"]
    return changed(fields=[{**first, **changes}, *others])


LOOP: list[Any] = []
LOOP.append(LOOP)
DEEP: Any = {}
for _ in range(100_000):
    DEEP = {"fields": DEEP}

BAD_DESCRIPTIONS: list[tuple[str, Any]] = [
    ("empty", {}),
    ("no fields", {"id": "integer", "bits": 64}),
    ("another member", changed(size=64)),
    ("another id", changed(id="text")),
    ("an id of another type", changed(id=64)),
    ("bits of a text", changed(bits="sixty-four")),
    ("bits of a flag", changed(bits=True)),
    ("bits of a float", changed(bits=64.0)),
    ("bits past 2^53", changed(bits=2**60)),
    ("bits past 64 bits", changed(bits=2**200)),
    ("63 bits", changed(bits=63)),
    ("fields of a dict", changed(fields={})),
    ("fields of a text", changed(fields="none")),
    ("fields of a set", changed(fields={1})),
    ("a field of None", changed(fields=[None])),
    ("no field", changed(fields=[])),
    ("a negative width", with_field(bits=-1)),
    ("a width too many", with_field(bits=2)),
    ("another kind", with_field(kind="node")),
    ("another member of a field", with_field(name="x")),
    ("invert of a number", with_field(invert=1)),
    ("only_read of a number", changed(only_read=1)),
    ("only_read of None", changed(only_read=None)),
    ("a name of a number", changed(fields=[{"kind": "bindable", "bits": 64, "name": 7}])),
    ("a name that is a member's", {1: 2}),
    ("a name of a lone surrogate", changed(fields=[{"kind": "bindable", "bits": 64, "name": "\ud800"}])),
    ("a member of a lone surrogate", {"\ud800": 1}),
    ("an object", changed(bits=object())),
    ("bytes", changed(id=b"integer")),
    ("a value past 2^53 as a number", changed(fields=[{"kind": "constant", "bits": 64, "value": 2**53 + 1}])),
    ("a loop", changed(fields=LOOP)),
    ("depth", DEEP),
]


@pytest.mark.parametrize("bad", [bad for _, bad in BAD_DESCRIPTIONS], ids=[name for name, _ in BAD_DESCRIPTIONS])
def test_what_is_wrong_with_a_description_is_told(bad: Any) -> None:
    with refused("invalid_layout") as caught:
        Layout(bad)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "bad", [None, "{}", 7, [], [("id", "integer")], object(), MappingProxyType(SNOWFLAKE)], ids=repr
)
def test_a_description_is_a_dict(bad: Any) -> None:
    with refused("invalid_type"):
        Layout(bad)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", '{"id": "integer"}', "[" * 100_000, '"\ud800"', "{} {}"])
def test_what_is_wrong_with_a_text_is_told(text: str) -> None:
    with refused("invalid_layout"):
        Layout.from_json(text)


def test_a_json_text_is_a_text_and_has_no_member_twice() -> None:
    for bad in (None, SNOWFLAKE, b"{}", 7):
        with refused("invalid_type"):
            Layout.from_json(bad)  # type: ignore[arg-type]
    with refused("invalid_layout"):
        Layout.from_json(ONE.to_json().replace('"bits":64', '"bits":64,"bits":64', 1))


def test_what_a_members_own_code_raises_goes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        Layout(changed(bits=Raising(ZeroDivisionError())))
    with pytest.raises(KeyboardInterrupt):
        Layout(changed(bits=Raising(KeyboardInterrupt())))


def test_a_description_that_changes_while_it_is_read_is_read_as_it_was() -> None:
    class Meddling:
        def __index__(self) -> int:
            description["another"] = 1
            return 64

    description: dict[str, Any] = {"bits": Meddling(), "id": "integer", "fields": SNOWFLAKE["fields"]}
    assert Layout(description) == ONE


@pytest.mark.parametrize(
    ("name", "code"), [("x", "invalid_layout"), ("", "invalid_layout"), ("\ud800", "invalid_layout")]
)
def test_other_presets_are_refused(name: str, code: str) -> None:
    with refused(code):
        Layout.preset(name)


def test_fields_of_presets_are_checked() -> None:
    assert Layout.preset("twitter", datacenter=1, worker=2).parse(0).constants == {"datacenter": 0, "worker": 0}
    with refused("unknown_field", field="shard"):
        Layout.preset("twitter", shard=1)
    with refused("out_of_range", field="worker"):
        Layout.preset("twitter", worker=32)
    for wrong in ("1", b"1", 1.0, True, None):
        with refused("invalid_type"):
            Layout.preset("twitter", worker=wrong)  # type: ignore[arg-type]
    for wrong in (None, 7, b"twitter"):
        with refused("invalid_type"):
            Layout.preset(wrong)  # type: ignore[arg-type]


# Values.


def test_values_of_all_types_go_there_and_back() -> None:
    id = MANY.pack(timestamp=NOW_MS, sequence=2**32 - 1, bindables=BINDABLES)
    assert (type(id), len(id)) == (bytes, 32)
    parsed = MANY.parse(id)
    assert (parsed.unix_ms, parsed.sequence, parsed.bindables) == (NOW_MS, 2**32 - 1, BINDABLES)
    assert parsed.constants == {"tag": "hi"}
    assert parsed.datetime == dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=NOW_MS)
    assert parsed == MANY.parse(bytearray(id)) == MANY.parse(memoryview(id))
    assert parsed != MANY.parse(id[:-1] + b"0")
    for said in ("Grüße", "abc", str(NOW_MS), str(2**72 - 1)):
        assert said in repr(parsed)
    parsed.bindables["n"] = 0  # a copy
    assert parsed.bindables == BINDABLES
    over = MANY.pack(timestamp=NOW_MS, sequence=0, bindables=BINDABLES, constants={"tag": "no"})
    assert MANY.parse(over).constants == {"tag": "no"}


@given(st.integers(-(2**260), 2**260), st.integers(0, 128))
def test_integers_of_any_width_fit_or_are_refused(n: int, bits: int) -> None:
    width = max(1, -(-bits // 8)) * 8
    fields = [{"kind": "unused", "bits": width - bits}, {"kind": "bindable", "bits": bits, "name": "n"}]
    of = Layout({"id": "bytes", "bits": width, "fields": fields})
    fits = 0 <= n < 2**bits or (bits >= 64 and -(2**63) <= n < 0)
    if not fits:
        with refused("out_of_range", field="n"):
            of.pack(bindables={"n": n})
        return
    id = of.pack(bindables={"n": n})
    assert int.from_bytes(id, "big") == (n % 2**64 if n < 0 else n)
    expected = n - 2**64 if bits >= 64 and 2**63 <= n < 2**64 else n
    assert of.parse(id).bindables == {"n": expected}


@pytest.mark.parametrize("bits", [120, 127, 128])
def test_integers_of_nearly_128_bits(bits: int) -> None:
    fields = [{"kind": "unused", "bits": 128 - bits}, {"kind": "bindable", "bits": bits, "name": "n"}]
    of = Layout({"id": "bytes", "bits": 128, "fields": fields})
    for n in (2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) + 1, 2**64, -1, -(2**63)):
        assert of.parse(of.pack(bindables={"n": n})).bindables == {"n": n}
    for n in (2**bits, -(2**63) - 1, -(2**bits) + 1, -(2 ** (bits - 1)), -(2**200)):
        with refused("out_of_range", field="n"):
            of.pack(bindables={"n": n})

    class Lying(int):
        def __abs__(self) -> int:
            raise AssertionError

        bit_length = to_bytes = __neg__ = __lt__ = __abs__  # type: ignore[assignment]

    assert of.pack(bindables={"n": Lying(2 ** (bits - 1))}) == of.pack(bindables={"n": 2 ** (bits - 1)})


def test_bounds() -> None:
    def of(bits: int, **field: Any) -> Layout:
        return Layout({"id": "bytes", "bits": bits, "fields": [{"bits": bits, **field}]})

    for bits, field in ((1032, {"kind": "unused"}), (136, {"kind": "bindable"})):
        with refused("invalid_layout"):
            of(bits, **field)
    text = of(1024, kind="bindable", type="text", name="text")
    assert text.parse(text.pack(bindables={"text": "x" * 128})).bindables == {"text": "x" * 128}


def test_huge_integers_are_refused_at_once() -> None:
    for huge in (2**127, -(2**127), 2**128, 10**10_000, -(10**10_000), 1 << 30_000_000):
        with refused("out_of_range", field="n") as caught:
            MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "n": huge})
        assert len(str(caught.value)) < 120
    with refused("out_of_range", field="hash"):
        MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "hash": bytes([1]) * (1 << 24)})
    with refused("out_of_range", field="text") as caught:
        MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "text": "é" * (1 << 20)})
    assert "a text of 2097152 bytes" in str(caught.value)


@given(st.binary(max_size=4), st.text(max_size=4))
def test_bytes_and_texts_are_numbers(data: bytes, text: str) -> None:
    for of, value in (
        (only({"kind": "bindable", "type": "bytes"}), data),
        (only({"kind": "bindable", "type": "text"}), text),
    ):
        raw = value if isinstance(value, bytes) else value.encode()
        name = "bindable-0-16"
        if int.from_bytes(raw, "big") < 2**16:
            id = of.pack(bindables={name: value})
            assert id == raw.lstrip(b"\0").rjust(2, b"\0")
            bare = raw.lstrip(b"\0")
            assert of.parse(id).bindables == {name: bare if isinstance(value, bytes) else bare.decode()}
        else:
            with refused("out_of_range", field=name):
                of.pack(bindables={name: value})


NO_VALUES: list[Any] = [None, True, False, 1.0, float("nan"), 1j, [], {}, object(), int, dt.datetime.now(UTC)]


def test_a_value_is_of_its_fields_type() -> None:
    for name, wrong in (("n", ["7", b"7"]), ("hash", [7, "abc"]), ("text", [7, b"abc"])):
        for value in [*wrong, *NO_VALUES]:
            with refused("invalid_type"):
                MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, name: value})
            with refused("invalid_type"):
                Generator(MANY, bindables={**BINDABLES, name: value})
    for value in ["7", b"7", *NO_VALUES[1:]]:
        with refused("invalid_type"):
            ONE.pack(timestamp=NOW_MS, sequence=value, bindables={"worker": 1})
    for same in (7, np.int64(7), MyInt(7), Indexed(7)):
        assert MANY.pack(timestamp=0, sequence=same, bindables={**BINDABLES, "n": same}) == MANY.pack(
            timestamp=0, sequence=7, bindables={**BINDABLES, "n": 7}
        )
    for same in (b"abc", bytearray(b"abc"), memoryview(b"abc"), memoryview(b"a.b.c.")[::2]):
        assert MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "hash": same}) == MANY.pack(
            timestamp=0, sequence=0, bindables=BINDABLES
        )


def test_a_text_is_unicode() -> None:
    with refused("invalid_character", field="text"):
        MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "text": "a\ud800"})
    with refused("invalid_character", field="text"):
        Generator(MANY, bindables={**BINDABLES, "text": "\udfff"})
    with refused("unknown_field"):  # and not the field "?", which could be one
        only({"kind": "bindable", "name": "?"}).pack(bindables={"\ud800": 1})
    id = MANY.pack(timestamp=0, sequence=0, bindables=BINDABLES)
    broken = bytearray(id)
    broken[26] ^= 0xFF
    with refused("invalid_character", field="text"):
        MANY.parse(broken)


def test_a_released_view_is_refused() -> None:
    view = memoryview(b"abc")
    view.release()
    with pytest.raises(ValueError, match="released"):
        MANY.pack(timestamp=0, sequence=0, bindables={**BINDABLES, "hash": view})
    with pytest.raises(ValueError, match="released"):
        MANY.parse(view)


def test_values_are_given_by_name() -> None:
    pack = ONE.pack
    wanted = pack(timestamp=NOW_MS, sequence=1, bindables={"worker": 2})
    for same in (MappingProxyType({"worker": 2}), OrderedDict(worker=2)):
        assert pack(timestamp=NOW_MS, sequence=1, bindables=same) == wanted
    with refused("missing_field", field="worker"):
        pack(timestamp=NOW_MS, sequence=1)
    with refused("missing_field", field="timestamp"):
        pack(sequence=1, bindables={"worker": 2})
    with refused("missing_field", field="sequence"):
        pack(timestamp=NOW_MS, bindables={"worker": 2})
    with refused("unknown_field", field="node"):  # first of all
        pack(bindables={"worker": True, "node": object()})
    with refused("unknown_field", field="worker"):
        pack(timestamp=NOW_MS, sequence=1, bindables={"worker": 2}, constants={"worker": 2})
    with refused("unknown_field", field="timestamp"):
        only({"kind": "sequence"}).pack(timestamp=1, sequence=1)
    with refused("unknown_field", field="sequence"):
        only({"kind": "timestamp", "tick": "1ms", "epoch_ms": 0}).pack(timestamp=1, sequence=1)
    for wrong in (7, "worker", [("worker", 2)], {"worker"}, b"", object()):
        with refused("invalid_type"):
            pack(timestamp=NOW_MS, sequence=1, bindables=wrong)  # type: ignore[arg-type]
    for name in (1, None, b"worker"):
        with refused("invalid_type"):
            pack(timestamp=NOW_MS, sequence=1, bindables={name: 2})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        pack(NOW_MS, 1)  # type: ignore[misc]


def test_what_a_mapping_raises_goes_through() -> None:
    class Broken(dict[str, int]):
        def items(self) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ONE.pack(bindables=Broken(worker=1))
    with pytest.raises(ZeroDivisionError):
        ONE.pack(bindables={"worker": Raising(ZeroDivisionError())})


def test_an_id_is_of_its_layouts_kind() -> None:
    for wrong in (b"12345678", "1", None, 1.0, True):
        with refused("invalid_type"):
            ONE.parse(wrong)  # type: ignore[arg-type]
    for wrong in (7, "x" * 32, None):
        with refused("invalid_type"):
            MANY.parse(wrong)  # type: ignore[arg-type]
    for length in (0, 31, 33):
        with refused("invalid_length"):
            MANY.parse(bytes(length))


# Times.


def test_a_time_is_milliseconds_or_an_aware_datetime() -> None:
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678_901, dt.timezone(dt.timedelta(hours=-7)))
    unix_ms = (moment - dt.datetime(1970, 1, 1, tzinfo=UTC)) // dt.timedelta(milliseconds=1)
    values: dict[str, Any] = {"sequence": 0, "bindables": {"worker": 0}}
    assert ONE.pack(timestamp=moment, **values) == ONE.pack(timestamp=unix_ms, **values)
    with refused("invalid_type") as caught:
        ONE.pack(timestamp=moment.replace(tzinfo=None), **values)
    assert str(caught.value) == "expected int or aware datetime for `timestamp`, found naive datetime"
    for wrong in ("2026", 1.5, True, b"1", dt.date(2026, 1, 1)):
        with refused("invalid_type"):
            ONE.pack(timestamp=wrong, **values)
    with refused("unknown_field"):
        ONE.pack(timestamp="2026", sequence=0, bindables={"nobody": 0})  # type: ignore[arg-type]
    for outside in (1_483_228_799_999, -1, 2**63, 2**200, -(2**200), moment.replace(year=1), moment.replace(year=9999)):
        with refused("time_out_of_range", field="timestamp"):
            ONE.pack(timestamp=outside, **values)


def test_ticks_shorter_than_a_millisecond_take_microseconds() -> None:
    fields = [{"kind": "timestamp", "bits": 64, "tick": "50us", "epoch_ms": 0}]
    of = Layout({"id": "bytes", "bits": 64, "fields": fields})
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678_949, UTC)
    parsed = of.parse(of.pack(timestamp=moment))
    assert parsed.datetime == moment.replace(microsecond=678_900)
    assert parsed.unix_ms == moment.timestamp() // 0.001 == of.parse(of.pack(timestamp=parsed.unix_ms)).unix_ms


@pytest.mark.parametrize("unix_ms", [-(2**63), -62_135_596_800_001, 253_402_300_800_000, 2**63 - 1])
def test_a_time_outside_of_datetimes_is_still_a_number(unix_ms: int) -> None:
    of = Layout(
        {"id": "integer", "bits": 64, "fields": [{"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": 0}]}
    )
    parsed = of.parse(of.pack(timestamp=unix_ms))
    assert (parsed.unix_ms, parsed.datetime) == (unix_ms, None)


@pytest.mark.parametrize("unix_ms", [-62_135_596_800_000, -1, 0, 253_402_300_799_999])
def test_the_ends_of_datetimes(unix_ms: int) -> None:
    of = Layout(
        {"id": "integer", "bits": 64, "fields": [{"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": 0}]}
    )
    found = of.parse(of.pack(timestamp=unix_ms)).datetime
    assert found is not None
    assert found - dt.datetime(1970, 1, 1, tzinfo=UTC) == dt.timedelta(milliseconds=unix_ms)


def test_a_range_takes_datetimes_and_what_precedes_the_time() -> None:
    start = dt.datetime(2026, 1, 1, tzinfo=UTC)
    lowest, highest = ONE.time_range(start, start + dt.timedelta(days=1))
    inside = ONE.pack(timestamp=start, sequence=4095, bindables={"worker": 31})
    assert lowest < inside < highest
    assert lowest == ONE.pack(timestamp=start, sequence=0, bindables={"worker": 0})
    last = start + dt.timedelta(days=1, milliseconds=-1)
    assert highest == ONE.pack(timestamp=last, sequence=4095, bindables={"worker": 31})
    tenant = {"kind": "bindable", "bits": 16, "name": "tenant"}
    first = Layout(
        {"id": "bytes", "bits": 64, "fields": [tenant, {"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0}]}
    )
    assert first.time_range(1, 3, {"tenant": 5}) == (bytes([0, 5, 0, 0, 0, 0, 0, 1]), bytes([0, 5, 0, 0, 0, 0, 0, 2]))
    with refused("missing_field", field="tenant"):
        first.time_range(1, 3)
    with refused("unknown_field", field="other"):
        first.time_range(1, 3, {"other": 5})
    with refused("out_of_range"):
        first.time_range(3, 1, {"tenant": 5})
    for wrong in (None, "1", 1.5, start.replace(tzinfo=None)):
        with refused("invalid_type"):
            first.time_range(wrong, 3, {"tenant": 5})  # type: ignore[arg-type]


def test_figures() -> None:
    figures = Layout.preset("sonyflake").describe()
    assert (figures.per_second, figures.per_second_in_all) == (25_600, 25_600 * 65_536)
    assert (figures.last_ms, figures.sorts_by_time) == (6_907_087_738_870, True)
    assert (figures.below_2_53, figures.below_2_63) == (False, True)
    assert [(field.name, field.kind, field.bits) for field in figures.fields][2:] == [
        ("sequence", "sequence", 8),
        ("machine", "bindable", 16),
    ]
    assert only({"kind": "bindable"}).describe().per_second is None
    assert MANY.describe().per_second_in_all is None
    assert repr(figures.fields[1]) == "<FieldDescription: timestamp timestamp, 39 bits at 1>"
    assert figures.fields[1] == Layout.preset("sonyflake").describe().fields[1]


# Generators.


def generator(clock: Callable[[], Any] = lambda: NOW_NS, of: Layout = ONE, **options: Any) -> Generator:
    return Generator(of, **{"bindables": {"worker": 3} if of is ONE else BINDABLES, "clock": clock, **options})


def test_ids_are_new_and_in_order() -> None:
    for of in (ONE, MANY):
        ids = generator(of=of, clock=None)
        made = [ids.generate() for _ in range(10_000)]
        assert made == sorted(set(made))
        assert ids.layout == of
        assert of.parse(made[0]).bindables == ids.layout.parse(made[-1]).bindables


def test_a_sequence_begins_with_its_start_in_each_tick() -> None:
    readings = [NOW_NS, NOW_NS, NOW_NS + MS_NS, NOW_NS + MS_NS]
    ids = generator(script(readings), MANY)
    assert [MANY.parse(ids.generate()).sequence for _ in readings] == [7, 8, 7, 8]


def test_bindables_are_fixed_or_given_for_each_id() -> None:
    ids = generator(bindables=None)
    with refused("missing_field", field="worker"):
        ids.generate()
    with refused("missing_field", field="worker"):
        ids.generate_many(1)
    made = [ids.generate({"worker": worker}) for worker in (1, 2, 1)]
    assert [ONE.parse(id).bindables["worker"] for id in made] == [1, 2, 1]
    assert [ONE.parse(id).sequence for id in made] == [0, 1, 2]
    assert [ONE.parse(id).bindables for id in ids.generate_many(2, {"worker": 9})] == [{"worker": 9}] * 2
    fixed = generator()
    assert ONE.parse(fixed.generate()).bindables == {"worker": 3}
    assert ONE.parse(fixed.generate({"worker": 4})).bindables == {"worker": 4}
    for wrong, code in (
        ({"node": 1}, "unknown_field"),
        ({"worker": 32}, "out_of_range"),
        ({"worker": "1"}, "invalid_type"),
    ):
        with refused(code):
            fixed.generate(wrong)
        with refused(code):
            fixed.generate_many(1, wrong)
        with refused(code):
            generator(bindables=wrong)
    assert fixed.stats().len == 2


def test_a_range_of_numbers_makes_a_generator_as_fast() -> None:
    ids = generator(bindables=None, range=("worker", 8, 10), on_exhausted="error")
    made = list(ids.generate_many(3 * 4096))
    assert made == sorted(made)
    workers = [ONE.parse(id).bindables["worker"] for id in made]
    assert workers == [8] * 4096 + [9] * 4096 + [10] * 4096
    with refused("sequence_exhausted", retry_at=NOW_MS + 1):
        ids.generate()
    assert ids.stats().len == 3 * 4096
    snapshot = ids.close()
    again = Generator.restore(ONE, snapshot, range=["worker", 9, 12], clock=script([NOW_NS, NOW_NS + MS_NS]))
    assert ONE.parse(again.generate()).unix_ms == NOW_MS + 1


def test_ranges_are_checked() -> None:
    for wrong in (7, "worker", {"worker": 1}, (1, 2, 3), ("worker", "1", 2), ("worker", 1.0, 2)):
        with refused("invalid_type", field="range"):
            generator(bindables=None, range=wrong)
    with refused("invalid_length", field="range"):
        generator(bindables=None, range=("worker", 1))
    for first, last, field in ((-1, 2, "range"), (0, 2**64, "range"), (0, 32, "worker"), (3, 2, "worker")):
        with refused("out_of_range", field=field):
            generator(bindables=None, range=("worker", first, last))
    with refused("unknown_field", field="node"):
        generator(bindables=None, range=("node", 0, 1))
    with refused("invalid_layout", field="worker"):
        generator(range=("worker", 0, 1))
    with refused("invalid_type", field="hash"):
        Generator(MANY, bindables={"n": 1, "text": "a"}, range=("hash", 0, 1))


def test_a_full_tick_waits_or_is_an_error() -> None:
    ids = generator(on_exhausted="error")
    ids.generate_many(4096)
    with refused("sequence_exhausted", retry_at=NOW_MS + 1, written=None):
        ids.generate()
    with refused("sequence_exhausted", written=4096):
        generator(on_exhausted="error").generate_many(4097)
    waiting = generator(script([NOW_NS, NOW_NS, NOW_NS + MS_NS]))
    waiting.generate_many(4096)
    assert ONE.parse(waiting.generate()).unix_ms == NOW_MS + 1


def test_a_clock_behind_the_last_tick_is_an_error_at_once() -> None:
    ids = generator(script([NOW_NS, NOW_NS - MS_NS, NOW_NS]))
    ids.generate()
    with refused("clock_behind", retry_at=NOW_MS):
        ids.generate()
    assert ONE.parse(ids.generate()).sequence == 1


def test_a_sequence_alone_is_given_out_once() -> None:
    of = Layout(changed(fields=[{"kind": "unused", "bits": 62}, {"kind": "sequence", "bits": 2, "start": 1}]))
    with refused("invalid_layout"):
        Generator(of)
    ids = Generator(of, sequence_only=True)
    assert list(ids.generate_many(3)) == [1, 2, 3]
    with refused("sequence_exhausted", retry_at=None):
        ids.generate()
    stats = ids.stats()
    assert (stats.last_ms, stats.len) == (None, 3)
    with refused("unknown_field", field="timestamp"):
        ids.extend_window(NOW_MS)
    with refused("unknown_field", field="timestamp"):
        Generator(of, sequence_only=True, window=(0, 1))
    with refused("invalid_layout"):
        Generator(ONE, sequence_only=True)


def test_layouts_that_repeat_are_not_generated_from() -> None:
    without = Layout(changed(fields=[{"kind": "timestamp", "bits": 64, "tick": "1ms", "epoch_ms": 0}]))
    for of in (without, Layout.preset("mastodon"), Layout.preset("baidu")):
        for sequence_only in (False, True):
            with refused("invalid_layout"):
                Generator(of, sequence_only=sequence_only)


def test_a_window_is_half_open_and_can_be_extended() -> None:
    time = [NOW_NS - 1]
    start = dt.datetime.fromtimestamp(NOW_MS / 1000, UTC)
    ids = generator(lambda: time[0], window=(start, NOW_MS + 2))
    with refused("lease_not_started", retry_at=NOW_MS):
        ids.generate()
    time[0] = NOW_NS + 2 * MS_NS
    with refused("lease_expired"):
        ids.generate()
    ids.extend_window(NOW_MS + 1)  # earlier: changes nothing
    with refused("lease_expired"):
        ids.generate()
    ids.extend_window(start + dt.timedelta(milliseconds=3))
    assert ONE.parse(ids.generate()).unix_ms == NOW_MS + 2
    with refused("out_of_range"):
        ids.extend_window(NOW_MS - 1)
    with refused("time_out_of_range"):
        ids.extend_window(0)
    with refused("out_of_range"):
        generator(window=(NOW_MS, NOW_MS))
    with refused("time_out_of_range"):
        generator(window=(0, NOW_MS))


def test_a_restored_generator_goes_on() -> None:
    first = generator()
    made = first.generate_many(10)
    snapshot = first.close()
    assert (snapshot.tick, snapshot.next_sequence) == (NOW_MS - 1_483_228_800_000, 10)
    for use in (first.generate, first.close, lambda: first.generate_many(1)):
        with refused("generator_closed"):
            use()
    assert first.stats().closed
    same = Snapshot.from_dict(json.loads(json.dumps(snapshot.to_dict())))
    assert same == snapshot == eval(repr(snapshot), {"Snapshot": Snapshot})
    assert hash(same) == hash(snapshot)
    second = Generator.restore(ONE, same, bindables={"worker": 3}, clock=lambda: NOW_NS)
    assert second.generate() == made[-1] + 1
    for wrong in ({"tick": 2**41, "next_sequence": 0}, {"tick": 0, "next_sequence": 4097}):
        with refused("out_of_range"):
            Generator.restore(ONE, Snapshot.from_dict(wrong))
    for other in (None, snapshot.to_dict(), (1, 2)):
        with refused("invalid_type"):
            Generator.restore(ONE, other)  # type: ignore[arg-type]


def test_a_snapshot_is_what_json_has() -> None:
    members = {"tick": 2**53, "next_sequence": str(2**64)}
    snapshot = Snapshot.from_dict(members)
    assert (snapshot.tick, snapshot.next_sequence, snapshot.to_dict()) == (2**53, 2**64, {"format": 1, **members})
    for change in (
        {"tick": -1},
        {"tick": str(2**64)},
        {"tick": 2**53 + 1},
        {"tick": 1.0},
        {"tick": True},
        {"tick": None},
        {"next_sequence": "seven"},
        {"another": 1},
        {"format": 2},
    ):
        with refused("invalid_layout"):
            Snapshot.from_dict({**members, **change})
    for name in members:
        with refused("invalid_layout"):
            Snapshot.from_dict({key: value for key, value in members.items() if key != name})
    for wrong in (None, [], "{}", 7):
        with refused("invalid_type"):
            Snapshot.from_dict(wrong)  # type: ignore[arg-type]


def test_stats_tell_of_the_last_tick() -> None:
    ids = generator()
    before = ids.stats()
    assert (before.last_ms, before.len, before.closed) == (None, 0, False)
    ids.generate_many(5)
    stats = ids.stats()
    assert (stats.last_ms, stats.len) == (NOW_MS, 5)
    assert stats == ids.stats() != before
    assert f"5 IDs in the tick of {NOW_MS} ms" in repr(stats)
    assert "64 bits" in repr(ids)


def test_options_are_checked() -> None:
    for of in (None, SNOWFLAKE, ONE.to_json(), Layout):
        with refused("invalid_type"):
            Generator(of)  # type: ignore[arg-type]
    for flag in (0, 1, None, np.bool_(True)):
        with refused("invalid_type"):
            Generator(ONE, sequence_only=flag)  # type: ignore[arg-type]
    for bindables in (7, "worker", [("worker", 1)]):
        with refused("invalid_type"):
            Generator(ONE, bindables=bindables)  # type: ignore[arg-type]


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_generator_cannot_be_copied(copying: Callable[[object], object]) -> None:
    with refused("invalid_type") as caught:
        copying(generator())
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("cls", [getattr(layout, name) for name in layout.__all__], ids=lambda cls: cls.__name__)
def test_classes_cannot_be_extended_or_made_by_the_back_door(cls: type) -> None:
    with pytest.raises(TypeError):
        type("Mine", (cls,), {})
    with pytest.raises(TypeError):
        object.__new__(cls)


def test_threads_share_a_generator() -> None:
    for of in (ONE, MANY):
        ids, made = generator(of=of, clock=None), []
        start = threading.Barrier(8)

        def work(ids: Generator = ids, made: list[Any] = made, start: threading.Barrier = start) -> None:
            mine = []
            start.wait()
            for _ in range(300):
                mine.append(ids.generate())
                mine.extend(ids.generate_many(20))
            made.extend(mine)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == len(set(made)) == 8 * 300 * 21


# Arrays.


def test_arrays_of_integers_and_of_bytes() -> None:
    integers, rows = generator().generate_many(1000), generator(of=MANY).generate_many(1000)
    plain = [ONE.pack(timestamp=NOW_MS, sequence=k, bindables={"worker": 3}) for k in range(1000)]
    assert list(integers) == plain == np.asarray(integers).tolist()
    assert np.asarray(integers).dtype == np.int64
    table = np.asarray(rows)
    assert (table.shape, table.dtype, table.flags.writeable) == ((1000, 32), np.uint8, False)
    assert [bytes(row) for row in table] == list(rows)
    assert (len(rows), rows[-1], rows[999]) == (1000, list(rows)[-1], rows[-1])
    for packed in (integers, rows):
        assert list(packed[10:900:7]) == list(packed)[10:900:7]
        assert packed == copy.deepcopy(packed) == pickle.loads(pickle.dumps(packed))
        assert packed[:3] == pickle.loads(pickle.dumps(packed[:3])) != packed
        assert hash(packed) == hash(copy.copy(packed))
        assert len(packed[:0]) == 0
        assert "1000" in repr(packed)
        for index in (1000, -1001, 2**70):
            with pytest.raises(IndexError):
                packed[index]
        for wrong in (True, 1.0, None):
            with refused("invalid_type"):
                packed[wrong]  # type: ignore[index]
    assert integers != rows
    assert LayoutArray(array.array("q", plain)) == integers == LayoutArray(integers) == LayoutArray(integers, None)
    assert LayoutArray(bytes(rows), 32) == rows == LayoutArray(rows, size=32)


def test_arrays_are_made_of_whole_ids() -> None:
    with refused("invalid_length"):
        LayoutArray(bytes(33), 32)
    for size in (0, -1, 129):
        with refused("out_of_range", field="size"):
            LayoutArray(b"", size)
    for wrong in (None, 7, [1.5], "12345678", bytes(8), np.zeros(1)):
        with refused("invalid_type"):
            LayoutArray(wrong)  # type: ignore[call-overload]
    with refused("invalid_type"):
        LayoutArray(b"", 1.0)  # type: ignore[call-overload]


def test_a_call_makes_so_many_bytes_at_most() -> None:
    fields = [
        {"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0},
        {"kind": "unused", "bits": 128 * 8 - 80},
        {"kind": "sequence", "bits": 32},
    ]
    ids = Generator(Layout({"id": "bytes", "bits": 128 * 8, "fields": fields}))
    assert len(ids.generate_many(3)[0]) == 128
    with refused("out_of_range", field="n"):
        ids.generate_many(2**24)
    with refused("out_of_range", field="n") as caught:
        ids.generate_many(2**21 + 1)
    assert str(caught.value) == "expected n from 0 to 2097152, found 2097153"


@given(anything)
def test_anything_else_is_refused_with_a_typed_error_or_taken(value: Any) -> None:
    for call in (
        Layout,
        Layout.from_json,
        Layout.preset,
        ONE.parse,
        MANY.parse,
        LayoutArray,
        lambda v: Layout(changed(bits=v)),
        lambda v: Layout(changed(fields=v)),
        lambda v: with_field(bits=v),
        lambda v: Layout.preset("twitter", worker=v),
        lambda v: LayoutArray(v, v),
        lambda v: ONE.pack(timestamp=v, sequence=v, bindables={"worker": v}, constants={"region": v}),
        lambda v: MANY.pack(timestamp=0, sequence=0, bindables=dict.fromkeys(BINDABLES, v)),
        lambda v: ONE.pack(timestamp=0, bindables=v),
        lambda v: ONE.time_range(v, v),
        lambda v: ONE.time_range(0, 1, v),
        lambda v: generator(bindables=v),
        lambda v: generator(window=v),
        lambda v: generator(v),
        Snapshot.from_dict,
        lambda v: Snapshot.from_dict({"tick": v, "next_sequence": v}),
        generator().generate,
        generator().extend_window,
    ):
        try:
            call(value)
        except PolyflakeError as error:
            assert error.code
