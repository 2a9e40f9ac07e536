"""Passes every value of the catalogue at every position of every public call. Each call must return or raise a typed
error."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import fractions
import gc
import inspect
import re
import time
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
from catalogue import BAD_CHARACTERS, HUGE_INTEGERS, NON_INTEGERS, Colour, MyInt, RaisingIndex, ValidIndex
from polyflake import PolyflakeError, hotguid, layout, public, randflake, sno, sparx64, uuid7
from test_api import API

FAMILIES = ("sno", "randflake", "hotguid", "uuid7", "layout", "public", "sparx64")
GRANT = randflake.Grant((1, 2), 1_730_000_000, 2_803_741_824)
SECRET = b"sweeping secrets"
SHARDED_LAYOUT = layout.Layout.preset("instagram")
NOW = dt.datetime.now(dt.timezone.utc)
SNO_SNAPSHOT, LAYOUT_SNAPSHOT = (
    sno.Generator(3).close(),
    layout.Generator(SHARDED_LAYOUT, bindables={"shard": 1}).close(),
)
GUID, UUID7 = hotguid.generate(), uuid7.generate()
OPTIONS: dict[str, Any] = {"clock": None, "test_clock": None, "on_exhausted": "error", "max_wait": 5, "on_stall": None}
WINDOW = (0, 4_000_000_000_000)
SNO_WINDOW = (1_262_304_000_000, 3_461_327_255_548)
LAYOUT_WINDOW = (1_400_000_000_000, 1_900_000_000_000)


# A generator with a custom clock generates its first ID immediately. A generator that uses the system clock would wait
# for the next tick.
def sno_generator() -> sno.Generator:
    return sno.Generator(7, window=(SNO_WINDOW[0], SNO_WINDOW[1] - 1_000_000), test_clock=time.time_ns)


def randflake_generator() -> randflake.Generator:
    return randflake.Generator(GRANT, SECRET, test_clock=time.time_ns)


def hotguid_generator() -> hotguid.Generator:
    return hotguid.Generator(window=WINDOW)


def uuid7_generator() -> uuid7.Generator:
    return uuid7.Generator(7, window=WINDOW, test_clock=time.time_ns)


def layout_generator() -> layout.Generator:
    return layout.Generator(SHARDED_LAYOUT, window=LAYOUT_WINDOW, test_clock=time.time_ns)


class Call(NamedTuple):
    """A call with valid arguments. ``of`` returns the object whose method is called."""

    of: Callable[[], Any]
    args: list[Any]
    kwargs: dict[str, Any]

    def function(self, name: str) -> Callable[..., Any]:
        """Returns a method of a new object, so that no call can hide another call's effects."""
        owner = self.of()
        function = owner if name == "__call__" else getattr(owner, name)
        return as_blocking(function) if name.endswith("_async") else function  # type: ignore[no-any-return]


def as_blocking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps an asynchronous method in a function that waits for the result and returns it."""

    @wraps(function)
    def finish(*args: Any, **kwargs: Any) -> Any:
        return asyncio.run(function(*args, **kwargs))

    return finish


def make_call(of: Callable[[], Any], *args: Any, **kwargs: Any) -> Call:
    return Call(of, list(args), kwargs)


def constant_function(value: Any) -> Callable[[], Any]:
    return lambda: value


def method_calls(owner: str, of: Callable[[], Any], names: str, *args: Any) -> dict[str, Call]:
    """Returns calls of several methods of an object with the same arguments, by name."""
    return {f"{owner}.{name}": make_call(of, *args) for name in names.split()}


def generator_method_calls(family: str, of: Callable[[], Any], buffer: Any, *about: Any) -> dict[str, Call]:
    """Returns calls of the methods that all generators have, by name. In each call, the arguments for the ID
    come last.
    """
    owner, texts = f"{family}.Generator", "" if family == "layout" else " generate_text try_generate_text"
    return {
        **method_calls(owner, of, "generate try_generate" + texts, *about),
        **method_calls(owner, of, "generate_many try_generate_many", 3, *about),
        **method_calls(owner, of, "fill try_fill", buffer, *about),
        **method_calls(owner, of, "stats close"),
    }


ID = sno.Sno("93bm44ab22flxhjb")
CODEC = randflake.Codec(SECRET)
BLOB: Any = {"id": "bytes", "bits": 8, "fields": [{"kind": "unused", "bits": 8}]}
LAYOUT_OPTIONS: Any = {"range": ("shard", 1, 2), "sequence_only": False, "window": LAYOUT_WINDOW, **OPTIONS}
KEYRING = public.Keyring(bytes(32))
ORDERS = KEYRING.of("order")
COLUMNS: Any = {"timestamp": array("q", [1_500_000_000_000]), "sequence": array("q", [1])}

CALLS: dict[str, Call] = {
    "sno.Generator": make_call(
        constant_function(sno), 30_003, sequence_min=0, sequence_max=100, metabyte=1, window=SNO_WINDOW, **OPTIONS
    ),
    "sno.Generator.restore": make_call(
        constant_function(sno.Generator), SNO_SNAPSHOT, metabyte=1, window=SNO_WINDOW, **OPTIONS
    ),
    "sno.Generator.import_original": make_call(
        constant_function(sno.Generator), SNO_SNAPSHOT, metabyte=1, window=SNO_WINDOW, **OPTIONS
    ),
    **generator_method_calls("sno", sno_generator, bytearray(30), 5),
    "sno.Generator.generate_at": make_call(sno_generator, NOW, 5),
    "sno.Generator.extend_window": make_call(sno_generator, SNO_WINDOW[1]),
    "sno.Snapshot.from_dict": make_call(constant_function(sno.Snapshot), SNO_SNAPSHOT.to_dict()),
    "sno.Snapshot.from_json": make_call(constant_function(sno.Snapshot), SNO_SNAPSHOT.to_json()),
    **method_calls("sno.Snapshot", constant_function(SNO_SNAPSHOT), "to_dict to_json"),
    "sno.Sno": make_call(constant_function(sno), str(ID)),
    "sno.Sno.parse": make_call(constant_function(sno.Sno), str(ID)),
    "sno.Sno.from_bytes": make_call(constant_function(sno.Sno), bytes(ID)),
    "sno.Sno.from_parts": make_call(
        constant_function(sno.Sno), tick=1, partition=2, sequence=3, metabyte=4, tick_tock=True
    ),
    "sno.Sno.from_uuid": make_call(constant_function(sno.Sno), ID.uuid),
    "sno.Sno.from_uuid8": make_call(constant_function(sno.Sno), ID.uuid8),
    **method_calls("sno.Sno", constant_function(ID), "with_metabyte with_partition with_sequence", 1),
    "sno.SnoArray": make_call(constant_function(sno), bytes(20)),
    "sno.SnoArray.from_texts": make_call(constant_function(sno.SnoArray), [str(ID)]),
    **method_calls(
        "sno.SnoArray",
        lambda: sno.SnoArray(bytes(20)),
        "text_column texts unix_ms metabytes partitions sequences uuid8_column",
    ),
    "sno.SnoArray.from_uuid8": make_call(constant_function(sno.SnoArray), [ID.uuid8]),
    "sno.by_metabyte": make_call(constant_function(sno), {1: dict}, name="id"),
    "sno.describe": make_call(constant_function(sno)),
    "sno.from_json_value": make_call(constant_function(sno), str(ID), null_is_zero=True),
    **method_calls("sno", constant_function(sno), "generate generate_text", 5),
    "sno.generate_many": make_call(constant_function(sno), 3, 5),
    "sno.set_default_generator": make_call(constant_function(sno), None),
    "sno.metabyte": make_call(constant_function(sno), str(ID)),
    "sno.time_range": make_call(constant_function(sno), NOW, NOW + dt.timedelta(1)),
    "sno.to_json_value": make_call(constant_function(sno), ID, null_is_zero=True),
    "randflake.Codec": make_call(constant_function(randflake), SECRET),
    "randflake.Codec.inspect": make_call(constant_function(CODEC), 5),
    "randflake.Codec.inspect_columns": make_call(constant_function(CODEC), randflake.RandflakeArray(array("q", [5]))),
    "randflake.Codec.encrypt": make_call(constant_function(CODEC), 1_730_000_000, 1, 2),
    "randflake.Generator": make_call(
        constant_function(randflake), GRANT, SECRET, resume_after=1_730_000_000, **OPTIONS
    ),
    **generator_method_calls("randflake", randflake_generator, np.zeros(3, np.int64)),
    "randflake.Generator.inspect": make_call(randflake_generator, 5),
    "randflake.Generator.extend_grant": make_call(randflake_generator, GRANT),
    "randflake.Grant": make_call(constant_function(randflake), (1, 2), 1_730_000_000, 1_730_000_001),
    "randflake.RandflakeArray": make_call(constant_function(randflake), np.array([1, 2])),
    "randflake.RandflakeArray.from_texts": make_call(constant_function(randflake.RandflakeArray), ["v"]),
    **method_calls("randflake.RandflakeArray", lambda: randflake.RandflakeArray([1, 2]), "text_column texts"),
    "randflake.decode_text": make_call(constant_function(randflake), "v"),
    "randflake.describe": make_call(constant_function(randflake)),
    **method_calls("randflake", constant_function(randflake), "encode_text from_unsigned to_unsigned", 5),
    "hotguid.Generator": make_call(constant_function(hotguid), uuid8=False, window=WINDOW, **OPTIONS),
    **generator_method_calls("hotguid", hotguid_generator, bytearray(48), 5),
    "hotguid.Generator.extend_window": make_call(hotguid_generator, WINDOW[1]),
    "hotguid.HotGuidArray": make_call(constant_function(hotguid), bytes(32)),
    "hotguid.HotGuidArray.from_texts": make_call(constant_function(hotguid.HotGuidArray), [str(GUID)]),
    **method_calls(
        "hotguid.HotGuidArray",
        lambda: hotguid.HotGuidArray(bytes(32)),
        "texts text_column timestamps machines counters shard_keys",
    ),
    "hotguid.describe": make_call(constant_function(hotguid)),
    "hotguid.from_dotnet_bytes": make_call(constant_function(hotguid), bytes(16)),
    "hotguid.from_parts": make_call(
        constant_function(hotguid), timestamp=1, machine=bytes(5), counter=2, shard_key=3, uuid8=False
    ),
    **method_calls("hotguid", constant_function(hotguid), "generate generate_text", 5),
    "hotguid.generate_many": make_call(constant_function(hotguid), 3, 5),
    "hotguid.set_default_generator": make_call(constant_function(hotguid), None),
    "hotguid.parse": make_call(constant_function(hotguid), str(GUID)),
    "hotguid.parts": make_call(constant_function(hotguid), GUID, uuid8=False),
    **method_calls("hotguid", constant_function(hotguid), "shard_key timestamp from_sql to_sql to_dotnet_bytes", GUID),
    "hotguid.time_range": make_call(constant_function(hotguid), NOW, NOW + dt.timedelta(1), sql=True),
    "uuid7.Generator": make_call(
        constant_function(uuid7), 7, resume_after=5, follow_rollbacks=False, window=WINDOW, **OPTIONS
    ),
    **generator_method_calls("uuid7", uuid7_generator, bytearray(48)),
    "uuid7.Generator.extend_window": make_call(uuid7_generator, WINDOW[1]),
    "uuid7.Uuid7Array": make_call(constant_function(uuid7), UUID7.bytes * 2),
    "uuid7.Uuid7Array.from_texts": make_call(constant_function(uuid7.Uuid7Array), [str(UUID7)]),
    **method_calls(
        "uuid7.Uuid7Array",
        lambda: uuid7.Uuid7Array([UUID7, UUID7]),
        "texts text_column unix_ms sequences worker_ids",
    ),
    "uuid7.describe": make_call(constant_function(uuid7)),
    "uuid7.from_parts": make_call(constant_function(uuid7), unix_ms=1, sequence=2, random=3),
    **method_calls("uuid7", constant_function(uuid7), "generate generate_text"),
    "uuid7.generate_at": make_call(constant_function(uuid7), NOW),
    "uuid7.generate_many": make_call(constant_function(uuid7), 3),
    "uuid7.set_default_generator": make_call(constant_function(uuid7), None),
    "uuid7.parse": make_call(constant_function(uuid7), str(UUID7)),
    **method_calls("uuid7", constant_function(uuid7), "parts unix_ms worker_id", UUID7),
    "uuid7.time_range": make_call(constant_function(uuid7), NOW, NOW + dt.timedelta(1)),
    "layout.Generator": make_call(constant_function(layout), SHARDED_LAYOUT, **LAYOUT_OPTIONS),
    "layout.Generator.restore": make_call(
        constant_function(layout.Generator), SHARDED_LAYOUT, LAYOUT_SNAPSHOT, **LAYOUT_OPTIONS
    ),
    **generator_method_calls("layout", layout_generator, np.zeros(3, np.int64), {"shard": 1}),
    "layout.Generator.extend_window": make_call(layout_generator, LAYOUT_WINDOW[1] + 1),
    "layout.presets": make_call(constant_function(layout)),
    "layout.Layout": make_call(constant_function(layout), BLOB),
    "layout.Layout.from_json": make_call(constant_function(layout.Layout), SHARDED_LAYOUT.to_json()),
    "layout.Layout.preset": make_call(constant_function(layout.Layout), "twitter", worker=1, datacenter=2),
    "layout.Layout.pack": make_call(
        constant_function(SHARDED_LAYOUT), timestamp=NOW, sequence=1, bindables={"shard": 2}, constants={}
    ),
    "layout.Layout.pack_columns": make_call(
        constant_function(SHARDED_LAYOUT), **COLUMNS, bindables={"shard": 2}, constants={}
    ),
    "layout.Layout.parse_columns": make_call(constant_function(SHARDED_LAYOUT), np.array([5])),
    "layout.Layout.parse": make_call(constant_function(SHARDED_LAYOUT), 5),
    "layout.Layout.time_range": make_call(constant_function(SHARDED_LAYOUT), NOW, NOW + dt.timedelta(1), {"shard": 1}),
    **method_calls("layout.Layout", constant_function(SHARDED_LAYOUT), "to_json describe"),
    "layout.LayoutArray": make_call(constant_function(layout), bytes(16), 8),
    "layout.Snapshot.from_dict": make_call(constant_function(layout.Snapshot), LAYOUT_SNAPSHOT.to_dict()),
    "layout.Snapshot.to_dict": make_call(constant_function(LAYOUT_SNAPSHOT)),
    "public.Keyring": make_call(constant_function(public), bytes(32)),
    "public.Keyring.of": make_call(constant_function(KEYRING), "order", 48),
    "public.IdType.encode": make_call(constant_function(ORDERS), 5),
    "public.IdType.encode_many": make_call(constant_function(ORDERS), np.array([5])),
    "public.IdType.decode": make_call(constant_function(ORDERS), ORDERS.encode(5)),
    "public.IdType.decode_many": make_call(constant_function(ORDERS), [ORDERS.encode(5)]),
    "sparx64.Sparx64": make_call(constant_function(sparx64), SECRET),
    **method_calls(
        "sparx64.Sparx64",
        constant_function(sparx64.Sparx64(SECRET)),
        "encrypt decrypt encrypt_many decrypt_many",
        bytes(8),
    ),
}

#: Classes without constructors, and the error classes, which are written in plain Python.
CLASSES_WITHOUT_CONSTRUCTOR = {
    "FieldColumn",
    "Snapshot",
    "Stats",
    "Parts",
    "Uuid8Parts",
    "Parsed",
    "ParsedColumns",
    "PartsColumns",
    "TextColumn",
    "IdType",
    "Stall",
    "Description",
    "FieldDescription",
}


def public_names() -> Iterator[str]:
    """Yields the names of all public callables."""
    for family in FAMILIES:
        module = getattr(polyflake, family)
        for name in module.__all__:
            value = getattr(module, name)
            if name not in CLASSES_WITHOUT_CONSTRUCTOR:
                yield f"{family}.{name}"
            if inspect.isclass(value):
                yield from (f"{family}.{name}.{member}" for member in vars(value) if is_method(value, member))


def is_method(cls: type, member: str) -> bool:
    return not member.startswith("_") and callable(getattr(cls, member))


def test_every_public_call_is_tested() -> None:
    assert set(CALLS) == set(public_names())


def test_classes_cannot_be_subclassed_or_made_without_their_constructor() -> None:
    modules = [polyflake, *(getattr(polyflake, name) for name in FAMILIES)]
    public_objects = [getattr(module, name) for module in modules for name in module.__all__]
    python_classes = (polyflake.Lease, polyflake.LeaseEvent, polyflake.LeaseStatus)
    public_classes = (cls for cls in public_objects if isinstance(cls, type) and not issubclass(cls, Exception))
    for cls in (cls for cls in public_classes if cls not in python_classes):
        made = (cls, lambda cls=cls: cls.__new__(cls)) if cls.__name__ in CLASSES_WITHOUT_CONSTRUCTOR else ()
        for make in (lambda cls=cls: type("Mine", (cls,), {}), lambda cls=cls: object.__new__(cls), *made):
            with pytest.raises(TypeError):
                make()


class ResizingIndex:
    """An integer that resizes a buffer when it is converted."""

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


class AlwaysRaising:
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


class MisleadingClass:
    """A value whose ``__class__`` is a different type."""

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


def released_memoryview() -> memoryview:
    view = memoryview(bytes(16))
    view.release()
    return view


def raising_items() -> Iterator[Any]:
    yield "93bm44ab22flxhjb"
    raise ZeroDivisionError


#: Functions that create a new value on each call, because some values can be used only once.
VALUES: list[Callable[[], Any]] = [
    *map(constant_function, [*NON_INTEGERS, *HUGE_INTEGERS, *(-value for value in HUGE_INTEGERS), *BAD_CHARACTERS]),
    *map(
        constant_function,
        [-1, 0, -0.0, 1, 63, 64, 255, 256, 65_535, 65_536, 2**17, 2**30, 2**31, 2**32 - 1, 2**32, -(2**63) - 1],
    ),
    *map(constant_function, [None, Ellipsis, NotImplemented, type, len, object, float("inf"), decimal.Decimal("NaN")]),
    *map(
        constant_function,
        [
            fractions.Fraction(1, 3),
            complex("nan"),
            Colour.RED,
            ValidIndex(5),
            ValidIndex(-1),
            ValidIndex(2**70),
            MyInt(5),
        ],
    ),
    *map(
        constant_function,
        [
            RaisingIndex(ValueError("no")),
            RaisingIndex(RecursionError()),
            RaisingIndex(MemoryError()),
            AlwaysRaising(),
            MisleadingClass(),
        ],
    ),
    *map(
        constant_function,
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
        constant_function,
        [b"", bytes(1), bytes(8), bytes(10), bytes(15), bytes(16), bytes(17), bytes(1 << 16), RaisingBuffer(16)],
    ),
    *map(
        constant_function,
        [[], [1], [1, 2], [1, 2, 3], (), (1,), (1, 2), (2, 1), ("a", "b"), ((), ()), {}, {"a": 1}, {1: 2}, set(), {1}],
    ),
    *map(
        constant_function,
        [OrderedDict(), UserDict(), MappingProxyType({}), SimpleNamespace(), range(3), slice(1), iter(())],
    ),
    *map(
        constant_function,
        [NOW, NOW.replace(tzinfo=None), NOW.replace(tzinfo=Zone()), NOW.date(), NOW.time(), dt.timedelta(1)],
    ),
    *map(
        constant_function,
        [dt.datetime.min.replace(tzinfo=dt.timezone.utc), dt.datetime.max.replace(tzinfo=dt.timezone.utc)],
    ),
    *map(
        constant_function,
        [uuid.UUID(int=0), GUID, GUID.int, str(GUID), ID, GRANT, SHARDED_LAYOUT, SNO_SNAPSHOT, LAYOUT_SNAPSHOT],
    ),
    *map(
        constant_function,
        [np.int64(5), np.uint64(2**63), np.float32(1), np.array(5), np.array([]), np.datetime64("2026-01-01")],
    ),
    *map(
        constant_function,
        [np.zeros((2, 2)), np.zeros(16, np.uint8)[::2], np.array([object()]), np.array(["x"]), np.zeros(2, ">i8")],
    ),
    *map(
        constant_function,
        [sno.SnoArray(bytes(20)), lambda: 5, lambda *_: 5, print, sno, sno.Sno, Exception(), NOW.tzinfo],
    ),
    bytearray,
    lambda: bytearray(16),
    lambda: memoryview(bytes(32))[::2],
    lambda: memoryview(bytes(16)).cast("d"),
    lambda: memoryview(bytes(16)).cast("B", (4, 4)),
    lambda: memoryview(bytearray(16)),
    released_memoryview,
    ResizingIndex,
    lambda: iter([1, 2]),
    raising_items,
]

CODES = set(API["errors"])

WAITING_METHODS = re.compile(r"\w+\.(Generator\.)?(generate|generate_text|generate_many|fill)")
CALLS |= {f"{name}_async": made for name, made in CALLS.items() if WAITING_METHODS.fullmatch(name)}

#: The messages of exceptions that the test values themselves raise, for example released memoryviews and NumPy arrays.
VALUE_MESSAGE_PATTERN = re.compile(
    "no|operation forbidden on released memoryview object|cannot include dtype 'M' in a buffer"
    "|iteration over a 0-d array|multi-dimensional sub-views are not implemented"
    "|only (integer scalar arrays|0-dimensional arrays) can be converted to .*|__index__ returned non-int .*"
)


def try_call(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
    """Asserts that the call returns or raises a typed error. Other exceptions must come from the values themselves."""
    try:
        function(*args, **kwargs)
    except PolyflakeError as error:
        assert error.code in CODES
        str(error), repr(error), error.args
    except (ZeroDivisionError, RecursionError, MemoryError):
        pass
    except (ValueError, TypeError, NotImplementedError) as error:
        assert VALUE_MESSAGE_PATTERN.fullmatch(str(error)), error


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_survives_every_value(name: str) -> None:
    call = CALLS[name]
    member = name.split(".")[-1]
    call.function(member)(*call.args, **call.kwargs)
    for make in VALUES:
        function = call.function(member)
        for place in range(len(call.args)):
            try_call(function, [*call.args[:place], make(), *call.args[place + 1 :]], call.kwargs)
        for place in call.kwargs:
            try_call(function, call.args, {**call.kwargs, place: make()})
        # After every call, both the same object and a new object must still work.
        if member not in ("close", "extend_window", "extend_grant"):
            function(*call.args, **call.kwargs)
    gc.collect()


@pytest.mark.parametrize("name", CALLS)
def test_a_value_of_another_type_is_rejected_by_parameter_name(name: str) -> None:
    call = CALLS[name]
    member = name.split(".")[-1]
    parameters = list(inspect.signature(call.function(member)).parameters)[: len(call.args)]
    for place, parameter in enumerate([*parameters, *call.kwargs]):
        args, kwargs = list(call.args), dict(call.kwargs)
        if place < len(args):
            args[place] = object()
        else:
            kwargs[parameter] = object()
        with pytest.raises(polyflake.InvalidTypeError) as caught:
            call.function(member)(*args, **kwargs)
        assert (caught.value.field, parameter in str(caught.value)) == (parameter, True), caught.value


@pytest.mark.parametrize("name", CALLS)
def test_wrong_argument_counts_and_names_are_type_errors(name: str) -> None:
    call = CALLS[name]
    function = call.function(name.split(".")[-1])
    with pytest.raises(TypeError):
        function(*call.args, *[None] * 12, **call.kwargs)
    with pytest.raises((TypeError, PolyflakeError)):  # `Layout.preset` reports unknown fields as a PolyflakeError
        function(*call.args, **call.kwargs, **{"no such name": 1})
    with pytest.raises(TypeError):
        function(*call.args, **call.kwargs, **{1: 1})  # type: ignore[misc]


ARRAYS = [
    sno.SnoArray(bytes(30)),
    randflake.RandflakeArray(np.array([1, 2, 3])),
    hotguid.HotGuidArray(bytes(48)),
    uuid7.Uuid7Array([UUID7] * 3),
    layout.LayoutArray(bytes(24), 8),
    layout.LayoutArray(np.array([1, 2, 3])),
]


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_indexing_survives_every_value(array: Any) -> None:
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
    SHARDED_LAYOUT,
    SHARDED_LAYOUT.parse(5),
    SHARDED_LAYOUT.parse_columns(np.array([5])),
    SHARDED_LAYOUT.describe(),
    SHARDED_LAYOUT.describe().fields[0],
    SNO_SNAPSHOT,
    LAYOUT_SNAPSHOT,
    sno_generator().stats(),
    randflake_generator().stats(),
    hotguid_generator().stats(),
    uuid7_generator().stats(),
    layout_generator().stats(),
    randflake.Codec(SECRET).inspect(5),
    hotguid.parts(GUID),
    uuid7.parts(UUID7),
    sno.SnoArray(bytes(20)).text_column(),
    randflake.RandflakeArray(np.array([1, 2])).text_column(),
    sno.SnoArray(bytes(20)).metabytes(),
    sno_generator(),
    randflake_generator(),
    hotguid_generator(),
    uuid7_generator(),
    layout_generator(),
    randflake.Codec(SECRET),
    sparx64.Sparx64(SECRET),
    KEYRING,
    ORDERS,
]


@pytest.mark.parametrize("object", OBJECTS, ids=lambda object: f"{type(object).__module__}.{type(object).__name__}")
def test_objects_compare_with_anything_and_are_immutable(object: Any) -> None:
    for make in VALUES:
        value = make()
        eq_result = type(object).__eq__(object, value)
        assert eq_result is NotImplemented or eq_result is (type(value) is type(object) and repr(value) == repr(object))
        for name in ("bits", "unix_ms", "no_such_name", "generate", "__dict__"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(object, name, value)
    for name in [name for name in dir(object) if not name.startswith("_")]:
        with pytest.raises((AttributeError, TypeError)):
            delattr(object, name)
    assert repr(object)


def test_resizing_a_buffer_during_a_call_does_not_change_the_result() -> None:
    machine = bytearray(b"abcde")

    class ResizingCounter:
        def __index__(self) -> int:
            machine[:] = b"y" * 4096
            return 1

    made_uuid = hotguid.from_parts(timestamp=1, machine=machine, counter=ResizingCounter())
    assert hotguid.parts(made_uuid).machine == b"abcde"
    assert len(machine) == 4096
    key = bytearray(16)
    cipher = sparx64.Sparx64(key)
    encrypted_before = cipher.encrypt(bytes(8))
    key[:] = b"z" * 4096
    assert cipher.encrypt(bytes(8)) == encrypted_before


def test_a_buffer_being_read_cannot_be_resized() -> None:
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
