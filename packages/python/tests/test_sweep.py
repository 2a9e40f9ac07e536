"""Every public call, with every value of the catalogue in every place: a typed error or an answer, then as before."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import fractions
import gc
import inspect
import re
import uuid
from array import array
from collections import OrderedDict, UserDict, UserString
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import polyflake
from catalogue import BAD_CHARACTERS, HUGE, NO_INTEGERS, Colour, Indexed, MyInt, Raising
from polyflake import PolyflakeError, hotguid, layout, randflake, sno, sparx64
from test_api import API

GRANT = randflake.Grant((1, 2), 1_730_000_000, 2_803_741_824)
SECRET = bytes(16)
SHARDED = layout.Layout.preset("instagram")
NOW = dt.datetime.now(dt.timezone.utc)
SNO_SNAPSHOT, LAYOUT_SNAPSHOT = sno.Generator(3).close(), layout.Generator(SHARDED, bindables={"shard": 1}).close()
GUID = hotguid.generate()
OPTIONS: dict[str, Any] = {"clock": None, "on_exhausted": "error", "max_wait": 5, "on_stall": None}
WINDOW = (0, 4_000_000_000_000)
SNO_WINDOW = (1_262_304_000_000, 3_461_327_255_548)


def sno_generator() -> sno.Generator:
    return sno.Generator(7, window=(SNO_WINDOW[0], SNO_WINDOW[1] - 1_000_000))


def randflake_generator() -> randflake.Generator:
    return randflake.Generator(GRANT, SECRET)


def hotguid_generator() -> hotguid.Generator:
    return hotguid.Generator(window=WINDOW)


def layout_generator() -> layout.Generator:
    return layout.Generator(SHARDED, window=(1_400_000_000_000, 1_900_000_000_000))


def shard_generator() -> layout.Generator:
    return layout.Generator(SHARDED, bindables={"shard": 1})


class Call(NamedTuple):
    """A call: the maker of its object, and valid arguments."""

    of: Callable[[], Any]
    args: list[Any]
    kwargs: dict[str, Any]

    def function(self, name: str) -> Callable[..., Any]:
        """The function of a fresh object, so that no call can hide the effects of another."""
        owner = self.of()
        function = owner if name == "__call__" else getattr(owner, name)
        return finished(function) if name.endswith("_async") else function  # type: ignore[no-any-return]


def finished(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turns a method that returns a coroutine into one that returns its result."""

    @wraps(function)
    def finish(*args: Any, **kwargs: Any) -> Any:
        return asyncio.run(function(*args, **kwargs))

    return finish


def call(of: Callable[[], Any], *args: Any, **kwargs: Any) -> Call:
    return Call(of, list(args), kwargs)


def always(value: Any) -> Callable[[], Any]:
    return lambda: value


ID = sno.Sno("93bm44ab22flxhjb")

CALLS: dict[str, Call] = {
    "sno.Generator": call(always(sno), 1, sequence_min=0, sequence_max=100, metabyte=1, window=SNO_WINDOW, **OPTIONS),
    "sno.Generator.restore": call(always(sno.Generator), SNO_SNAPSHOT, metabyte=1, window=SNO_WINDOW, **OPTIONS),
    "sno.Generator.import_original": call(
        always(sno.Generator), SNO_SNAPSHOT, metabyte=1, window=SNO_WINDOW, **OPTIONS
    ),
    "sno.Generator.generate": call(sno_generator, 5),
    "sno.Generator.try_generate": call(sno_generator, 5),
    "sno.Generator.generate_text": call(sno_generator, 5),
    "sno.Generator.try_generate_text": call(sno_generator, 5),
    "sno.Generator.generate_at": call(sno_generator, NOW, 5),
    "sno.Generator.generate_many": call(sno_generator, 3, 5),
    "sno.Generator.try_generate_many": call(sno_generator, 3, 5),
    "sno.Generator.fill": call(sno_generator, bytearray(30), 5),
    "sno.Generator.try_fill": call(sno_generator, bytearray(30), 5),
    "sno.Generator.extend_window": call(sno_generator, SNO_WINDOW[1]),
    "sno.Generator.stats": call(sno_generator),
    "sno.Generator.close": call(sno_generator),
    "sno.Snapshot.from_dict": call(always(sno.Snapshot), SNO_SNAPSHOT.to_dict()),
    "sno.Snapshot.to_dict": call(always(SNO_SNAPSHOT)),
    "sno.Snapshot.from_json": call(always(sno.Snapshot), SNO_SNAPSHOT.to_json()),
    "sno.Snapshot.to_json": call(always(SNO_SNAPSHOT)),
    "sno.Sno": call(always(sno), str(ID)),
    "sno.Sno.parse": call(always(sno.Sno), str(ID)),
    "sno.Sno.from_bytes": call(always(sno.Sno), bytes(ID)),
    "sno.Sno.from_parts": call(always(sno.Sno), tick=1, partition=2, sequence=3, metabyte=4, tick_tock=True),
    "sno.Sno.from_uuid": call(always(sno.Sno), ID.uuid),
    "sno.Sno.from_uuid8": call(always(sno.Sno), ID.uuid8),
    "sno.Sno.with_metabyte": call(always(ID), 1),
    "sno.Sno.with_partition": call(always(ID), 1),
    "sno.Sno.with_sequence": call(always(ID), 1),
    "sno.SnoArray": call(always(sno), bytes(20)),
    "sno.SnoArray.from_texts": call(always(sno.SnoArray), [str(ID)]),
    "sno.SnoArray.text_column": call(lambda: sno.SnoArray(bytes(20))),
    "sno.SnoArray.texts": call(lambda: sno.SnoArray(bytes(20))),
    "sno.SnoArray.unix_ms": call(lambda: sno.SnoArray(bytes(20))),
    "sno.SnoArray.metabytes": call(lambda: sno.SnoArray(bytes(20))),
    "sno.SnoArray.partitions": call(lambda: sno.SnoArray(bytes(20))),
    "sno.SnoArray.sequences": call(lambda: sno.SnoArray(bytes(20))),
    "sno.by_metabyte": call(always(sno), {1: dict}, name="id"),
    "sno.describe": call(always(sno)),
    "sno.from_json_value": call(always(sno), str(ID), null_is_zero=True),
    "sno.generate": call(always(sno), 5),
    "sno.generate_text": call(always(sno), 5),
    "sno.generate_many": call(always(sno), 3, 5),
    "sno.set_default_generator": call(always(sno), None),
    "sno.metabyte": call(always(sno), str(ID)),
    "sno.time_range": call(always(sno), NOW, NOW + dt.timedelta(1)),
    "sno.to_json_value": call(always(sno), ID, null_is_zero=True),
    "randflake.Codec": call(always(randflake), SECRET),
    "randflake.Codec.inspect": call(always(randflake.Codec(SECRET)), 5),
    "randflake.Codec.inspect_columns": call(always(randflake.Codec(SECRET)), randflake.RandflakeArray(array("q", [5]))),
    "randflake.Codec.encrypt": call(always(randflake.Codec(SECRET)), 1_730_000_000, 1, 2),
    "randflake.Generator": call(always(randflake), GRANT, SECRET, resume_after=1_730_000_000, **OPTIONS),
    "randflake.Generator.generate": call(randflake_generator),
    "randflake.Generator.try_generate": call(randflake_generator),
    "randflake.Generator.generate_text": call(randflake_generator),
    "randflake.Generator.try_generate_text": call(randflake_generator),
    "randflake.Generator.generate_many": call(randflake_generator, 3),
    "randflake.Generator.try_generate_many": call(randflake_generator, 3),
    "randflake.Generator.fill": call(randflake_generator, np.zeros(3, np.int64)),
    "randflake.Generator.try_fill": call(randflake_generator, np.zeros(3, np.int64)),
    "randflake.Generator.inspect": call(randflake_generator, 5),
    "randflake.Generator.extend_grant": call(randflake_generator, GRANT),
    "randflake.Generator.stats": call(randflake_generator),
    "randflake.Generator.close": call(randflake_generator),
    "randflake.Grant": call(always(randflake), (1, 2), 1_730_000_000, 1_730_000_001),
    "randflake.RandflakeArray": call(always(randflake), np.array([1, 2])),
    "randflake.RandflakeArray.from_texts": call(always(randflake.RandflakeArray), ["v"]),
    "randflake.RandflakeArray.text_column": call(lambda: randflake.RandflakeArray(np.array([1, 2]))),
    "randflake.RandflakeArray.texts": call(lambda: randflake.RandflakeArray(np.array([1, 2]))),
    "randflake.decode_text": call(always(randflake), "v"),
    "randflake.describe": call(always(randflake)),
    "randflake.encode_text": call(always(randflake), 5),
    "randflake.from_unsigned": call(always(randflake), 5),
    "randflake.to_unsigned": call(always(randflake), 5),
    "hotguid.Generator": call(always(hotguid), uuid8=False, window=WINDOW, **OPTIONS),
    "hotguid.Generator.generate": call(hotguid_generator, 5),
    "hotguid.Generator.try_generate": call(hotguid_generator, 5),
    "hotguid.Generator.generate_text": call(hotguid_generator, 5),
    "hotguid.Generator.try_generate_text": call(hotguid_generator, 5),
    "hotguid.Generator.generate_many": call(hotguid_generator, 3, 5),
    "hotguid.Generator.try_generate_many": call(hotguid_generator, 3, 5),
    "hotguid.Generator.fill": call(hotguid_generator, bytearray(48), 5),
    "hotguid.Generator.try_fill": call(hotguid_generator, bytearray(48), 5),
    "hotguid.Generator.extend_window": call(hotguid_generator, WINDOW[1]),
    "hotguid.Generator.stats": call(hotguid_generator),
    "hotguid.Generator.close": call(hotguid_generator),
    "hotguid.HotGuidArray": call(always(hotguid), bytes(32)),
    "hotguid.HotGuidArray.from_texts": call(always(hotguid.HotGuidArray), [str(GUID)]),
    **{
        f"hotguid.HotGuidArray.{name}": call(lambda: hotguid.HotGuidArray(bytes(32)))
        for name in ("texts", "text_column", "timestamps", "machines", "counters", "shard_keys")
    },
    "hotguid.describe": call(always(hotguid)),
    "hotguid.from_dotnet_bytes": call(always(hotguid), bytes(16)),
    "hotguid.from_parts": call(always(hotguid), timestamp=1, machine=bytes(5), counter=2, shard_key=3, uuid8=False),
    "hotguid.from_sql": call(always(hotguid), GUID),
    "hotguid.generate": call(always(hotguid), 5),
    "hotguid.generate_text": call(always(hotguid), 5),
    "hotguid.generate_many": call(always(hotguid), 3, 5),
    "hotguid.set_default_generator": call(always(hotguid), None),
    "hotguid.parse": call(always(hotguid), str(GUID)),
    "hotguid.parts": call(always(hotguid), GUID, uuid8=False),
    "hotguid.shard_key": call(always(hotguid), GUID),
    "hotguid.time_range": call(always(hotguid), NOW, NOW + dt.timedelta(1), sql=True),
    "hotguid.timestamp": call(always(hotguid), GUID),
    "hotguid.to_dotnet_bytes": call(always(hotguid), GUID),
    "hotguid.to_sql": call(always(hotguid), GUID),
    "layout.Generator": call(
        always(layout),
        SHARDED,
        range=("shard", 1, 2),
        sequence_only=False,
        window=(1_400_000_000_000, 1_900_000_000_000),
        **OPTIONS,
    ),
    "layout.Generator.restore": call(
        always(layout.Generator),
        SHARDED,
        LAYOUT_SNAPSHOT,
        range=("shard", 1, 2),
        sequence_only=False,
        window=(1_400_000_000_000, 1_900_000_000_000),
        **OPTIONS,
    ),
    "layout.Generator.generate": call(layout_generator, {"shard": 1}),
    "layout.Generator.try_generate": call(layout_generator, {"shard": 1}),
    "layout.Generator.generate_many": call(layout_generator, 3, {"shard": 1}),
    "layout.Generator.try_generate_many": call(layout_generator, 3, {"shard": 1}),
    "layout.Generator.fill": call(layout_generator, np.zeros(3, np.int64), {"shard": 1}),
    "layout.Generator.try_fill": call(layout_generator, np.zeros(3, np.int64), {"shard": 1}),
    "layout.Generator.extend_window": call(layout_generator, 1_900_000_000_001),
    "layout.Generator.stats": call(layout_generator),
    "layout.Generator.close": call(layout_generator),
    "layout.presets": call(always(layout)),
    "layout.Layout": call(always(layout), {"id": "bytes", "bits": 8, "fields": [{"kind": "unused", "bits": 8}]}),
    "layout.Layout.from_json": call(always(layout.Layout), SHARDED.to_json()),
    "layout.Layout.preset": call(always(layout.Layout), "twitter", worker=1, datacenter=2),
    "layout.Layout.to_json": call(always(SHARDED)),
    "layout.Layout.pack": call(always(SHARDED), timestamp=NOW, sequence=1, bindables={"shard": 2}, constants={}),
    "layout.Layout.pack_columns": call(
        always(SHARDED),
        timestamp=array("q", [1_500_000_000_000]),
        sequence=array("q", [1]),
        bindables={"shard": 2},
        constants={},
    ),
    "layout.Layout.parse_columns": call(always(SHARDED), np.array([5])),
    "layout.Layout.parse": call(always(SHARDED), 5),
    "layout.Layout.time_range": call(always(SHARDED), NOW, NOW + dt.timedelta(1), {"shard": 1}),
    "layout.Layout.describe": call(always(SHARDED)),
    "layout.LayoutArray": call(always(layout), bytes(16), 8),
    "layout.Snapshot.from_dict": call(always(layout.Snapshot), LAYOUT_SNAPSHOT.to_dict()),
    "layout.Snapshot.to_dict": call(always(LAYOUT_SNAPSHOT)),
    "sparx64.Sparx64": call(always(sparx64), SECRET),
    **{
        f"sparx64.Sparx64.{name}": call(always(sparx64.Sparx64(SECRET)), bytes(8))
        for name in ("encrypt", "decrypt", "encrypt_many", "decrypt_many")
    },
}

#: Classes without constructors, and the errors, which are plain Python.
NOT_CALLED = {
    "FieldColumn",
    "Snapshot",
    "Stats",
    "Parts",
    "Uuid8Parts",
    "Parsed",
    "ParsedColumns",
    "PartsColumns",
    "TextColumn",
    "Stall",
    "Description",
    "FieldDescription",
}


def names() -> Iterator[str]:
    """All public callables."""
    for family in ("sno", "randflake", "hotguid", "layout", "sparx64"):
        module = getattr(polyflake, family)
        for name in module.__all__:
            value = getattr(module, name)
            if name not in NOT_CALLED:
                yield f"{family}.{name}"
            if inspect.isclass(value):
                yield from (f"{family}.{name}.{member}" for member in vars(value) if is_method(value, member))


def is_method(cls: type, member: str) -> bool:
    return not member.startswith("_") and callable(getattr(cls, member))


def test_every_public_call_is_here() -> None:
    assert set(CALLS) == set(names())


def test_classes_that_nobody_makes_cannot_be_made() -> None:
    for cls in (
        getattr(module, name) for module in map(CALLS_OF.get, CALLS_OF) for name in NOT_CALLED if hasattr(module, name)
    ):
        for make in (cls, lambda cls=cls: cls.__new__(cls), lambda cls=cls: object.__new__(cls)):
            with pytest.raises(TypeError):
                make()


CALLS_OF = {name: getattr(polyflake, name) for name in ("sno", "randflake", "hotguid", "layout")} | {"": polyflake}


class Resizing:
    """An integer, and a buffer that changes its size when it is asked for it."""

    def __init__(self) -> None:
        self.data = bytearray(16)

    def __index__(self) -> int:
        self.data.extend(b"x" * 1000)
        return 1


class RaisingBuffer(bytes):
    def __buffer__(self, flags: int) -> memoryview:
        raise ZeroDivisionError

    def __len__(self) -> int:
        raise ZeroDivisionError


class RaisingEverything:
    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __iter__(self) -> Any:
        raise ZeroDivisionError

    def __len__(self) -> int:
        raise ZeroDivisionError

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    def __hash__(self) -> int:
        raise ZeroDivisionError

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


class Lying:
    """A value whose ``__class__`` is another type."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return str


class Zone(dt.tzinfo):
    def utcoffset(self, _: dt.datetime | None) -> dt.timedelta | None:
        raise ZeroDivisionError


class MyStr(str):
    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = str.__hash__


def released() -> memoryview:
    view = memoryview(bytes(16))
    view.release()
    return view


def raising_items() -> Iterator[Any]:
    yield "93bm44ab22flxhjb"
    raise ZeroDivisionError


#: Each makes its value anew, since some are used up.
VALUES: list[Callable[[], Any]] = [
    *map(always, [*NO_INTEGERS, *HUGE, *(-value for value in HUGE), *BAD_CHARACTERS]),
    *map(
        always, [-1, 0, -0.0, 1, 63, 64, 255, 256, 65_535, 65_536, 2**17, 2**30, 2**31, 2**32 - 1, 2**32, -(2**63) - 1]
    ),
    *map(always, [None, Ellipsis, NotImplemented, type, len, object, float("inf"), decimal.Decimal("NaN")]),
    *map(
        always,
        [fractions.Fraction(1, 3), complex("nan"), Colour.RED, Indexed(5), Indexed(-1), Indexed(2**70), MyInt(5)],
    ),
    *map(
        always,
        [Raising(ValueError("no")), Raising(RecursionError()), Raising(MemoryError()), RaisingEverything(), Lying()],
    ),
    *map(
        always,
        [
            "",
            "x",
            "93bm44ab22flxhjb",
            "9" * 17,
            "9" * (1 << 16),
            "é" * 16,
            "\ud800" * 16,
            UserString("x"),
            MyStr("wait"),
        ],
    ),
    *map(
        always, [b"", bytes(1), bytes(8), bytes(10), bytes(15), bytes(16), bytes(17), bytes(1 << 16), RaisingBuffer(16)]
    ),
    *map(
        always,
        [[], [1], [1, 2], [1, 2, 3], (), (1,), (1, 2), (2, 1), ("a", "b"), ((), ()), {}, {"a": 1}, {1: 2}, set(), {1}],
    ),
    *map(always, [OrderedDict(), UserDict(), MappingProxyType({}), SimpleNamespace(), range(3), slice(1), iter(())]),
    *map(always, [NOW, NOW.replace(tzinfo=None), NOW.replace(tzinfo=Zone()), NOW.date(), NOW.time(), dt.timedelta(1)]),
    *map(always, [dt.datetime.min.replace(tzinfo=dt.timezone.utc), dt.datetime.max.replace(tzinfo=dt.timezone.utc)]),
    *map(always, [uuid.UUID(int=0), GUID, GUID.int, str(GUID), ID, GRANT, SHARDED, SNO_SNAPSHOT, LAYOUT_SNAPSHOT]),
    *map(
        always, [np.int64(5), np.uint64(2**63), np.float32(1), np.array(5), np.array([]), np.datetime64("2026-01-01")]
    ),
    *map(
        always,
        [np.zeros((2, 2)), np.zeros(16, np.uint8)[::2], np.array([object()]), np.array(["x"]), np.zeros(2, ">i8")],
    ),
    *map(always, [sno.SnoArray(bytes(20)), lambda: 5, lambda *_: 5, print, sno, sno.Sno, Exception(), NOW.tzinfo]),
    bytearray,
    lambda: bytearray(16),
    lambda: memoryview(bytes(32))[::2],
    lambda: memoryview(bytes(16)).cast("d"),
    lambda: memoryview(bytes(16)).cast("B", (4, 4)),
    lambda: memoryview(bytearray(16)),
    released,
    Resizing,
    lambda: iter([1, 2]),
    raising_items,
]

CODES = set(API["errors"])

WAITING = re.compile(r"\w+\.(Generator\.)?(generate|generate_text|generate_many|fill)")
CALLS |= {f"{name}_async": made for name, made in CALLS.items() if WAITING.fullmatch(name)}

#: What values of the catalogue raise themselves: their own code, views that are released, and NumPy's arrays.
THEIR_OWN = re.compile(
    "no|operation forbidden on released memoryview object|cannot include dtype 'M' in a buffer"
    "|iteration over a 0-d array|multi-dimensional sub-views are not implemented"
    "|only (integer scalar arrays|0-dimensional arrays) can be converted to .*|__index__ returned non-int .*"
)


def try_call(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
    """The call answers, or refuses with a typed error; other exceptions come from the values themselves."""
    try:
        function(*args, **kwargs)
    except PolyflakeError as error:
        assert error.code in CODES
        str(error), repr(error), error.args
    except (ZeroDivisionError, RecursionError, MemoryError):
        pass
    except (ValueError, TypeError, NotImplementedError) as error:
        assert THEIR_OWN.fullmatch(str(error)), error


@pytest.mark.parametrize("name", CALLS)
def test_every_value_in_every_place(name: str) -> None:
    call = CALLS[name]
    member = name.split(".")[-1]
    call.function(member)(*call.args, **call.kwargs)
    for make in VALUES:
        function = call.function(member)
        for place in range(len(call.args)):
            try_call(function, [*call.args[:place], make(), *call.args[place + 1 :]], call.kwargs)
        for place in call.kwargs:
            try_call(function, call.args, {**call.kwargs, place: make()})
        # The same object and a fresh one answer as before, whatever the other calls did.
        if member not in ("close", "extend_window", "extend_grant"):
            function(*call.args, **call.kwargs)
    gc.collect()


@pytest.mark.parametrize("name", CALLS)
def test_a_value_of_another_type_is_refused_by_its_parameters_name(name: str) -> None:
    call = CALLS[name]
    member = name.split(".")[-1]
    names = list(inspect.signature(call.function(member)).parameters)
    for place, parameter in enumerate(names[: len(call.args)]):
        with pytest.raises(polyflake.InvalidTypeError) as caught:
            call.function(member)(*call.args[:place], object(), *call.args[place + 1 :], **call.kwargs)
        assert (caught.value.field, parameter in str(caught.value)) == (parameter, True), caught.value
    for parameter in call.kwargs:
        with pytest.raises(polyflake.InvalidTypeError) as caught:
            call.function(member)(*call.args, **{**call.kwargs, parameter: object()})
        assert (caught.value.field, parameter in str(caught.value)) == (parameter, True), caught.value


@pytest.mark.parametrize("name", CALLS)
def test_other_numbers_of_arguments_and_other_names_are_type_errors(name: str) -> None:
    call = CALLS[name]
    function = call.function(name.split(".")[-1])
    with pytest.raises(TypeError):
        function(*call.args, *[None] * 12, **call.kwargs)
    with pytest.raises((TypeError, PolyflakeError)):  # a preset takes any names
        function(*call.args, **call.kwargs, **{"no such name": 1})
    with pytest.raises(TypeError):
        function(*call.args, **call.kwargs, **{1: 1})  # type: ignore[misc]


ARRAYS = [
    sno.SnoArray(bytes(30)),
    randflake.RandflakeArray(np.array([1, 2, 3])),
    hotguid.HotGuidArray(bytes(48)),
    layout.LayoutArray(bytes(24), 8),
    layout.LayoutArray(np.array([1, 2, 3])),
]


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_every_value_as_an_index(array: Any) -> None:
    for make in VALUES:
        value = make()
        with suppress(IndexError):
            try_call(array.__getitem__, [value], {})
        array.__arrow_c_array__(value)
        assert len(array) == 3


OBJECTS = [
    *ARRAYS,
    ID,
    GRANT,
    SHARDED,
    SHARDED.parse(5),
    SHARDED.parse_columns(np.array([5])),
    SHARDED.describe(),
    SHARDED.describe().fields[0],
    SNO_SNAPSHOT,
    LAYOUT_SNAPSHOT,
    sno_generator().stats(),
    randflake_generator().stats(),
    hotguid_generator().stats(),
    layout_generator().stats(),
    randflake.Codec(SECRET).inspect(5),
    hotguid.parts(GUID),
    sno.SnoArray(bytes(20)).text_column(),
    randflake.RandflakeArray(np.array([1, 2])).text_column(),
    sno.SnoArray(bytes(20)).metabytes(),
    sno_generator(),
    randflake_generator(),
    hotguid_generator(),
    layout_generator(),
    randflake.Codec(SECRET),
    sparx64.Sparx64(SECRET),
]


@pytest.mark.parametrize("object", OBJECTS, ids=lambda object: f"{type(object).__module__}.{type(object).__name__}")
def test_objects_are_compared_with_anything_and_never_changed(object: Any) -> None:
    for make in VALUES:
        value = make()
        equal = type(object).__eq__(object, value)
        assert equal is NotImplemented or equal is (type(value) is type(object) and repr(value) == repr(object))
        for name in ("bits", "unix_ms", "no_such_name", "generate", "__dict__"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(object, name, value)
    for name in [name for name in dir(object) if not name.startswith("_")]:
        with pytest.raises((AttributeError, TypeError)):
            delattr(object, name)
    assert repr(object)


def test_a_buffer_that_changes_its_size_during_a_call_was_copied() -> None:
    machine = bytearray(b"abcde")

    class Grows:
        def __index__(self) -> int:
            machine[:] = b"y" * 4096
            return 1

    made = hotguid.from_parts(timestamp=1, machine=machine, counter=Grows())
    assert hotguid.parts(made).machine == b"abcde"
    assert len(machine) == 4096
    key = bytearray(16)
    cipher = sparx64.Sparx64(key)
    before = cipher.encrypt(bytes(8))
    key[:] = b"z" * 4096
    assert cipher.encrypt(bytes(8)) == before


def test_a_buffer_that_is_read_cannot_change_its_size() -> None:
    column = bytearray(16 * 4)

    class Reader:
        def __arrow_c_array__(self) -> None:
            column.extend(b"x" * 4096)

    with pytest.raises(PolyflakeError):
        sno.SnoArray.from_texts(Reader())
    with pytest.raises(PolyflakeError):
        sno.SnoArray.from_texts(column)
    column.clear()
    assert len(sno.SnoArray.from_texts(column)) == 0
