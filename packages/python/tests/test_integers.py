"""Tests which values every integer parameter accepts, and the errors for other values."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from catalogue import HUGE_INTEGERS, NON_INDICES, NON_INTEGERS, Colour, MyInt, RaisingIndex, ValidIndex
from polyflake import hotguid, layout, randflake, sno, uuid7
from support import NOW_MS, raises_code


class Parameter(NamedTuple):
    """An integer parameter: its name in errors, a call that passes a value for it, and its limits."""

    name: str
    call: Callable[[Any], object]
    most: int
    least: int = 0
    code: str = "out_of_range"
    usual: int = 7


ID = sno.Sno("93bm44ab22flxhjb")
SNO_GENERATOR = sno.Generator(30_001)
SNO_PARTS = {"tick": 0, "partition": 0, "sequence": 0}

fresh_nodes = itertools.count(100_000)


def next_grant() -> randflake.Grant:
    return randflake.Grant(next(fresh_nodes), 1_730_000_000, 2_803_741_824)


CODEC = randflake.Codec(bytes(16))
NOW_SECONDS = 1_763_650_000

HOTGUID_GENERATOR = hotguid.Generator()
HOTGUID_PARTS = {"timestamp": NOW_SECONDS, "machine": b"12345", "counter": 0, "shard_key": 0}


def make_hot_guid(**changes: Any) -> object:
    return hotguid.from_parts(**{**HOTGUID_PARTS, **changes})


def make_uuid7(**changes: Any) -> object:
    return uuid7.from_parts(**{"unix_ms": NOW_MS, "sequence": 0, "random": 0, **changes})


SNOWFLAKE_LAYOUT = layout.Layout.preset("twitter", datacenter=1)
LAYOUT_GENERATOR = layout.Generator(SNOWFLAKE_LAYOUT, bindables={"worker": 1})


def make_snowflake(**changes: Any) -> object:
    return SNOWFLAKE_LAYOUT.pack(**{"timestamp": NOW_MS, "sequence": 0, "bindables": {"worker": 1}, **changes})


PARAMETERS = [
    Parameter("metabyte", ID.with_metabyte, 255),
    Parameter("metabyte", SNO_GENERATOR.generate, 255),
    Parameter("metabyte", lambda m: SNO_GENERATOR.generate_many(1, m), 255),
    Parameter("metabyte", lambda m: SNO_GENERATOR.generate_at(NOW_MS, m), 255),
    Parameter("metabyte", lambda m: sno.Generator(metabyte=m), 255),
    Parameter("metabyte", lambda m: sno.Sno.from_parts(**{**SNO_PARTS, "metabyte": m}), 255),
    Parameter("partition", sno.Generator, 65535),
    Parameter("partition", ID.with_partition, 65535),
    Parameter("partition", lambda p: sno.Sno.from_parts(**{**SNO_PARTS, "partition": p}), 65535),
    Parameter("sequence", ID.with_sequence, 65535),
    Parameter("sequence", lambda s: sno.Sno.from_parts(**{**SNO_PARTS, "sequence": s}), 65535),
    # The bounds must span at least 4 sequence numbers.
    Parameter("sequence_min", lambda s: sno.Generator(sequence_min=s, sequence_max=65535), 65532),
    Parameter("sequence_max", lambda s: sno.Generator(sequence_max=s), 65535, 3),
    Parameter("tick", lambda t: sno.Sno.from_parts(**{**SNO_PARTS, "tick": t}), 2**39 - 1),
    Parameter("max_wait", lambda w: sno.Generator(max_wait=w), 2**32 - 1),
    Parameter("n", SNO_GENERATOR.generate_many, 2**24),
    Parameter("id", randflake.encode_text, 2**63 - 1, -(2**63)),
    Parameter("id", CODEC.inspect, 2**63 - 1, -(2**63)),
    Parameter("value", randflake.from_unsigned, 2**64 - 1),
    Parameter(
        "timestamp",
        lambda t: CODEC.encrypt(t, 0, 0),
        2_803_741_823,
        1_730_000_000,
        "time_out_of_range",
        usual=NOW_SECONDS,
    ),
    Parameter("node", lambda n: CODEC.encrypt(NOW_SECONDS, n, 0), 131071),
    Parameter("sequence", lambda s: CODEC.encrypt(NOW_SECONDS, 0, s), 131071),
    Parameter("nodes", lambda n: randflake.Grant((n, 131071), NOW_SECONDS, NOW_SECONDS + 1), 131071),
    Parameter("nodes", lambda n: randflake.Grant([5, n], NOW_SECONDS, NOW_SECONDS + 1), 131071, 5),
    Parameter(
        "start",
        lambda s: randflake.Grant(0, s, 2_803_741_824),
        2_803_741_823,
        1_730_000_000,
        usual=NOW_SECONDS,
    ),
    Parameter(
        "end",
        lambda e: randflake.Grant(0, 1_730_000_000, e),
        2_803_741_824,
        1_730_000_001,
        usual=NOW_SECONDS,
    ),
    Parameter(
        "resume_after",
        lambda s: randflake.Generator(next_grant(), bytes(16), resume_after=s),
        2_803_741_823,
        1_730_000_000,
        usual=NOW_SECONDS,
    ),
    Parameter("shard_key", HOTGUID_GENERATOR.generate, 2**32 - 1),
    Parameter("shard_key", lambda k: HOTGUID_GENERATOR.generate_many(1, k), 2**32 - 1),
    Parameter("shard_key", lambda k: make_hot_guid(shard_key=k), 2**32 - 1),
    Parameter("counter", lambda c: make_hot_guid(counter=c), 2**24 - 1),
    Parameter("timestamp", lambda t: make_hot_guid(timestamp=t), 2**32 - 1, code="time_out_of_range"),
    Parameter("worker_id", uuid7.Generator, 65535),
    Parameter("resume_after", lambda ms: uuid7.Generator(resume_after=ms), 9_223_372_036_854),
    Parameter("unix_ms", lambda ms: make_uuid7(unix_ms=ms), 2**48 - 1, code="time_out_of_range"),
    Parameter("sequence", lambda s: make_uuid7(sequence=s), 2**18 - 1),
    Parameter("random", lambda r: make_uuid7(random=r), 2**56 - 1),
    Parameter("id", SNOWFLAKE_LAYOUT.parse, 2**63 - 1, -(2**63)),
    Parameter("sequence", lambda s: make_snowflake(sequence=s), 4095),
    Parameter("worker", lambda w: make_snowflake(bindables={"worker": w}), 31),
    Parameter("datacenter", lambda d: make_snowflake(constants={"datacenter": d}), 31),
    Parameter("worker", lambda w: layout.Layout.preset("twitter", worker=w), 31),
    Parameter("worker", lambda w: layout.Generator(SNOWFLAKE_LAYOUT, bindables={"worker": w}), 31),
    Parameter("worker", lambda w: LAYOUT_GENERATOR.generate({"worker": w}), 31),
    Parameter("size", lambda s: layout.LayoutArray(b"", s), 128, 1),
]

each_parameter = pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)


@each_parameter
def test_integers_outside_their_range_are_rejected(parameter: Parameter) -> None:
    values_below = [parameter.least - 1, -(2**63) - 1, -(2**200), -(10**10_000)]
    values_above = [parameter.most + 1, *(value for value in HUGE_INTEGERS if value > parameter.most)]
    for value in values_below + values_above:
        with raises_code(parameter.code) as caught:
            parameter.call(value)
        assert isinstance(caught.value, OverflowError)
        assert caught.value.field in (parameter.name, "sequence_max")


@pytest.mark.parametrize(
    "parameter", [each for each in PARAMETERS if each.name != "n"], ids=lambda parameter: parameter.name
)
def test_integer_like_values_are_accepted(parameter: Parameter) -> None:
    usual_value = parameter.usual
    for value in [
        usual_value,
        parameter.least,
        parameter.most,
        MyInt(usual_value),
        ValidIndex(usual_value),
        np.int64(usual_value),
        np.array(usual_value),
    ]:
        parameter.call(value)
    if usual_value == 7:
        parameter.call(Colour.RED)
        parameter.call(np.uint8(7))


@each_parameter
def test_non_integers_are_rejected(parameter: Parameter) -> None:
    # A layout also parses decimal strings, because services' APIs return integers as strings.
    reads_strings = parameter.call == SNOWFLAKE_LAYOUT.parse
    for value in (value for value in NON_INTEGERS if not (reads_strings and isinstance(value, str))):
        with raises_code("invalid_type") as caught:
            parameter.call(value)
        assert isinstance(caught.value, TypeError)
        assert caught.value.field == parameter.name
        assert parameter.name in str(caught.value)


@pytest.mark.parametrize(
    "call", [ID.with_metabyte, ID.with_partition, randflake.encode_text, SNO_GENERATOR.generate_many]
)
def test_none_is_rejected_as_an_integer(call: Callable[[Any], object]) -> None:
    with raises_code("invalid_type"):
        call(None)


@each_parameter
def test_exceptions_of_index_propagate(parameter: Parameter) -> None:
    # In particular, an OverflowError from `__index__` must not be reported as an out-of-range integer.
    for kind in (ZeroDivisionError, OverflowError, TypeError, MemoryError, KeyboardInterrupt, SystemExit):
        raised = kind("no")
        with pytest.raises(kind) as caught:
            parameter.call(RaisingIndex(raised))
        assert caught.value is raised
    for value in NON_INDICES:
        with pytest.raises(TypeError) as caught:
            parameter.call(value)
        assert type(caught.value) is TypeError
