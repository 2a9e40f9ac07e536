"""Tests that columns of layout fields give the same results as packing and parsing IDs one at a time."""

from __future__ import annotations

import ctypes
import gc
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polyflake import layout, sno
from polyflake.layout import Layout, LayoutArray
from support import import_or_skip, raises_code

pl = import_or_skip("polars")

TIMESTAMP_FIELD = {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1_483_228_800_000}
SEQUENCE_FIELD = {"kind": "sequence", "bits": 12}


def integer_layout(*fields: dict[str, Any]) -> Layout:
    return Layout({"id": "integer", "bits": 64, "fields": list(fields)})


def bytes_layout(bits: int, *fields: dict[str, Any]) -> Layout:
    return Layout({"id": "bytes", "bits": bits, "fields": list(fields)})


def bindable_field(name: str, bits: int, **more: Any) -> dict[str, Any]:
    return {"kind": "bindable", "bits": bits, "name": name, **more}


def constant_field(name: str, bits: int, value: Any, **more: Any) -> dict[str, Any]:
    return {"kind": "constant", "bits": bits, "name": name, "value": value, **more}


INTEGER_LAYOUT = integer_layout(
    {"kind": "unused", "bits": 1},
    TIMESTAMP_FIELD,
    constant_field("dc", 5, 3),
    bindable_field("worker", 5),
    SEQUENCE_FIELD,
)
ODD_WIDTH_LAYOUT = bytes_layout(
    72,
    TIMESTAMP_FIELD | {"bits": 43},
    constant_field("dc", 7, 3),
    bindable_field("worker", 9),
    SEQUENCE_FIELD | {"bits": 13},
)
TIMES = np.arange(1_500_000_000_000, 1_500_000_000_005)


@pytest.mark.parametrize("id_layout", [INTEGER_LAYOUT, ODD_WIDTH_LAYOUT], ids=["integers", "bytes"])
def test_columns_match_packing_and_parsing_each_id(id_layout: Layout) -> None:
    five_values = np.arange(5)
    for timestamp, sequence, worker, dc in (
        (TIMES, five_values, 3, 1),
        (1_500_000_000_000, 7, five_values, five_values[::-1]),
    ):
        packed_ids = id_layout.pack_columns(
            timestamp=timestamp, sequence=sequence, bindables={"worker": worker}, constants={"dc": dc}
        )
        rows = zip(*np.broadcast_arrays(timestamp, sequence, worker, dc), strict=True)
        assert list(packed_ids) == [
            id_layout.pack(timestamp=time, sequence=number, bindables={"worker": worker_id}, constants={"dc": value})
            for time, number, worker_id, value in rows
        ]
        parsed, parsed_columns = [id_layout.parse(id) for id in packed_ids], id_layout.parse_columns(packed_ids)
        assert (len(parsed_columns), list(parsed_columns)) == (5, parsed)
        assert list(parsed_columns.unix_ms or []) == [id.unix_ms for id in parsed]
        assert list(parsed_columns.sequence or []) == [id.sequence for id in parsed]
        assert list(parsed_columns.bindables["worker"]) == [id.bindables["worker"] for id in parsed]
        assert list(parsed_columns.constants["dc"]) == [id.constants["dc"] for id in parsed]


def unaligned_array(values: list[int]) -> Any:
    data = bytearray(1 + 8 * len(values))
    data[1:] = np.array(values, np.int64).tobytes()
    return np.frombuffer(data, np.uint8)[1:].view(np.int64)


COLUMNS: dict[str, Callable[[list[int]], Any]] = {
    "int64": lambda values: np.array(values, np.int64),
    "every second": lambda values: np.array([half for value in values for half in (value, -1)], np.int64)[::2],
    "backwards": lambda values: np.array(values[::-1], np.int64)[::-1],
    "array": lambda values: array("q", values),
    "ctypes": lambda values: (ctypes.c_int64 * len(values))(*values),
    "memoryview": lambda values: memoryview(array("q", values)),
    "bytes, cast": lambda values: memoryview(np.array(values, np.int64).tobytes()).cast("q"),
    "not aligned": unaligned_array,
    "read-only": lambda values: np.broadcast_to(np.array(values, np.int64), (len(values),)),
    "arrow": lambda values: pa.array(values, pa.int64()),
    "a dictionary of arrow's": lambda values: pa.array(values, pa.int64()).dictionary_encode(),
    "a part of arrow's": lambda values: pa.array([None, -1, *values, -1], pa.int64())[2:-1],
    "arrow, chunked": lambda values: pa.chunked_array([values[:1], [], values[1:]], pa.int64()),
    "polars": lambda values: pl.Series(values, dtype=pl.Int64),
    "array of IDs": lambda values: LayoutArray(np.array(values, np.int64)),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("count", [0, 1, 1001])
def test_all_types_of_columns_are_read(kind: str, count: int) -> None:
    values = [k % 4096 for k in range(count)]
    packed_ids = INTEGER_LAYOUT.pack_columns(
        timestamp=1_500_000_000_000, sequence=COLUMNS[kind](values), bindables={"worker": 3}
    )
    assert list(INTEGER_LAYOUT.parse_columns(packed_ids).sequence or []) == values
    assert INTEGER_LAYOUT.parse_columns(COLUMNS[kind]([int(id) for id in packed_ids])) == INTEGER_LAYOUT.parse_columns(
        packed_ids
    )


def test_columns_outlive_the_ids() -> None:
    id_layout = ODD_WIDTH_LAYOUT
    ids = layout.Generator(id_layout, bindables={"worker": 4}).generate_many(50_000)
    parsed_columns = id_layout.parse_columns(ids)
    assert repr(parsed_columns) == "<ParsedColumns of 50000 IDs>"
    expected = [id_layout.parse(id).sequence for id in ids]
    del ids
    gc.collect()
    other_arrays = [layout.Generator(id_layout, bindables={"worker": k}).generate_many(50_000) for k in range(3)]
    assert np.asarray(parsed_columns.sequence).tolist() == expected
    assert len(other_arrays) == 3


def test_parsed_columns_are_independent_of_their_inputs() -> None:
    id_layout, ids = INTEGER_LAYOUT, np.arange(5)
    parsed_columns = id_layout.parse_columns(ids)
    ids[:] = -1
    assert np.asarray(parsed_columns.sequence).tolist() == [0, 1, 2, 3, 4]
    packed_ids = bytearray(18)
    odd_width_columns = ODD_WIDTH_LAYOUT.parse_columns(packed_ids)
    packed_ids.clear()
    assert np.asarray(odd_width_columns.sequence).tolist() == [0, 0]


MIXED_LAYOUT = bytes_layout(
    304,
    TIMESTAMP_FIELD | {"bits": 48},
    bindable_field("number", 16),
    bindable_field("text", 32, type="text"),
    bindable_field("data", 16, type="bytes"),
    bindable_field("huge", 96),
    constant_field("label", 32, "ab", type="text"),
    constant_field("version", 8, 7),
    SEQUENCE_FIELD | {"bits": 56},
)


@pytest.mark.parametrize("data", [b"ab", bytearray(b"ab"), memoryview(b"a.b.")[::2]])
def test_byte_string_and_wide_fields_have_no_column(data: Any) -> None:
    values: dict[str, Any] = {"number": np.arange(3), "text": "hé", "data": data, "huge": 2**90}
    packed_ids = MIXED_LAYOUT.pack_columns(timestamp=1_500_000_000_000, sequence=1, bindables=values)
    assert [MIXED_LAYOUT.parse(id).bindables for id in packed_ids] == [
        {"number": k, "text": "hé", "data": b"ab", "huge": 2**90} for k in range(3)
    ]
    parsed_columns = MIXED_LAYOUT.parse_columns(packed_ids)
    assert list(parsed_columns.bindables) == ["number"]
    assert list(parsed_columns.constants) == ["version"]
    for name in ("text", "data", "huge"):
        with raises_code("invalid_type"):
            MIXED_LAYOUT.pack_columns(timestamp=1, sequence=1, bindables=values | {name: np.arange(3)})


def test_layouts_without_time_or_sequence_lack_those_columns() -> None:
    id_layout = integer_layout(bindable_field("a", 32), bindable_field("b", 32))
    parsed_columns = id_layout.parse_columns(id_layout.pack_columns(bindables={"a": np.arange(3), "b": 5}))
    assert (parsed_columns.unix_ms, parsed_columns.sequence, parsed_columns.constants) == (None, None, {})
    assert np.asarray(parsed_columns.bindables["a"]).tolist() == [0, 1, 2]
    for more in ({"timestamp": np.arange(3)}, {"sequence": np.arange(3)}, {"constants": {"x": np.arange(3)}}):
        with raises_code("unknown_field"):
            id_layout.pack_columns(bindables={"a": np.arange(3), "b": 5}, **more)  # type: ignore[arg-type]


def pack(**given: Any) -> LayoutArray:
    """Packs IDs from valid values. The arguments replace the values with the same names."""
    valid_arguments = {"timestamp": 1_500_000_000_000, "sequence": np.arange(3), "bindables": {"worker": 3}}
    return INTEGER_LAYOUT.pack_columns(**valid_arguments | given)


def test_a_null_integer_is_rejected() -> None:
    for column in (
        pa.array([0, None, 2], pa.int64()),
        pl.Series([0, None]),
        pa.chunked_array([[0], [None]], pa.int64()),
    ):
        for read in (LayoutArray, INTEGER_LAYOUT.parse_columns, lambda column: pack(sequence=column)):
            with raises_code("invalid_type", item=1) as caught:
                read(column)
            assert str(caught.value) == f"item 1: expected int for `{caught.value.field}`, found null"


def test_out_of_range_values_report_their_index() -> None:
    for code, field, item, values in (
        ("out_of_range", "sequence", 1, {"sequence": np.array([0, 4096, 5000])}),
        ("out_of_range", "worker", 2, {"bindables": {"worker": np.array([0, 31, -1])}}),
        ("out_of_range", "dc", 0, {"constants": {"dc": np.array([32, 0, 0])}}),
        ("time_out_of_range", "timestamp", 2, {"timestamp": np.array([1_483_228_800_000, 1_500_000_000_000, 0])}),
        ("out_of_range", "worker", None, {"bindables": {"worker": 32}}),
        ("time_out_of_range", "timestamp", None, {"timestamp": 2**70}),
        ("missing_field", "worker", None, {"bindables": None}),
        ("missing_field", "timestamp", None, {"timestamp": None}),
        ("unknown_field", "x", None, {"bindables": {"worker": 1, "x": np.arange(3)}}),
        ("unknown_field", "worker", None, {"constants": {"worker": np.arange(3)}}),
    ):
        with raises_code(code, field=field, item=item):
            pack(**values)


def test_columns_must_have_equal_lengths() -> None:
    for values in (np.arange(2), np.array([], np.int64)):
        with raises_code("invalid_length"):
            pack(bindables={"worker": values})
    assert list(pack(bindables={"worker": np.int64(3)})) == list(pack(bindables={"worker": np.array(3)}))
    with raises_code("invalid_type"):
        pack(sequence=5)
    with raises_code("invalid_type"):
        INTEGER_LAYOUT.pack_columns()


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(3),
        np.zeros(3, np.uint64),
        np.zeros(3, ">i8" if np.little_endian else "<i8"),
        np.zeros((3, 1), np.int64),
        np.zeros(3, object),
        memoryview(array("Q", [1, 2, 3])),
        [0, 1, 2],
        range(3),
        pa.array([0, 1, 2], pa.uint64()),
        pa.array([0, 1, 2], pa.timestamp("ms")),
        pa.array([0.0, 1.0, 2.0]).dictionary_encode(),
        bytes(24),
        sno.SnoArray(bytes(30)),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', '')} {getattr(column, 'shape', '')}",
)
def test_invalid_columns_are_rejected(column: Any) -> None:
    check_rejected(column)


def test_polars_floats_are_rejected() -> None:
    check_rejected(pl.Series([0.0, 1.0, 2.0]))


def check_rejected(column: Any) -> None:
    for wrong in (
        {"sequence": column},
        {"timestamp": column},
        {"bindables": {"worker": column}},
        {"constants": {"dc": column}},
    ):
        with raises_code("invalid_type"):
            pack(**{"sequence": np.arange(3)} | wrong)


def test_ids_must_have_the_type_of_the_layout() -> None:
    plain, odd = INTEGER_LAYOUT, ODD_WIDTH_LAYOUT
    for id_layout, ids, code in (
        (plain, bytes(16), "invalid_type"),
        (plain, LayoutArray(bytes(16), 8), "invalid_type"),
        (plain, np.zeros(2, np.uint64), "invalid_type"),
        (plain, [5.0], "invalid_type"),
        (odd, LayoutArray(np.arange(9)), "invalid_type"),
        (odd, "x" * 9, "invalid_type"),
        (odd, bytes(10), "invalid_length"),
        (odd, LayoutArray(bytes(18), 18), "invalid_length"),
    ):
        with raises_code(code):
            id_layout.parse_columns(ids)
    assert len(odd.parse_columns(np.zeros((2, 9), np.uint8))) == len(odd.parse_columns(LayoutArray(bytes(18), 9))) == 2


def test_a_time_past_64_bits_reports_its_index() -> None:
    id_layout = bytes_layout(72, {"kind": "timestamp", "bits": 64, "tick": "1s", "epoch_ms": 0}, bindable_field("x", 8))
    far_id = (2**62).to_bytes(8, "big") + b"\7"
    parsed_columns = id_layout.parse_columns(bytes(9) + far_id + bytes(9))
    with raises_code("time_out_of_range", item=1):
        _ = parsed_columns.unix_ms
    assert np.asarray(parsed_columns.bindables["x"]).tolist() == [0, 7, 0]


def test_the_memory_for_byte_ids_is_limited() -> None:
    id_layout = bytes_layout(1024, bindable_field("x", 64), {"kind": "unused", "bits": 960})
    with raises_code("out_of_range", field="n"):
        id_layout.pack_columns(bindables={"x": np.zeros(2**21 + 1, np.int64)})
    assert len(id_layout.pack_columns(bindables={"x": np.zeros(2, np.int64)})) == 2
