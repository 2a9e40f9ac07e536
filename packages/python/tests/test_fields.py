"""Tests field columns, each of which contains one field of many IDs. NumPy, Arrow and polars can read these columns,
and IDs can be selected by conditions on the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import hotguid, randflake, sno, uuid7
from support import import_or_skip, raises_code

pl = import_or_skip("polars")

CODEC = randflake.Codec(bytes(range(16)))


def to_uuid7(data: bytes) -> UUID:
    return UUID(bytes=bytes([*data[:6], 0x70 | data[6] & 15, data[7], 0x80 | data[8] & 63, *data[9:]]))


#: For each field: a function that reads it from packed IDs, the type of the resulting column, and the field of a
# single ID.
FIELD_READERS: dict[str, tuple[Any, Any, Any]] = {
    "sno unix_ms": (lambda ids: ids.unix_ms(), np.int64, lambda id: id.unix_ms),
    "sno metabytes": (lambda ids: ids.metabytes(), np.uint8, lambda id: id.metabyte),
    "sno partitions": (lambda ids: ids.partitions(), np.uint16, lambda id: id.partition),
    "sno sequences": (lambda ids: ids.sequences(), np.uint16, lambda id: id.sequence),
    "hotguid timestamps": (lambda ids: ids.timestamps(), np.int64, hotguid.timestamp),
    "hotguid counters": (lambda ids: ids.counters(), np.uint32, lambda id: hotguid.parts(id).counter),
    "hotguid shard_keys": (lambda ids: ids.shard_keys(), np.uint32, hotguid.shard_key),
    "uuid7 unix_ms": (lambda ids: ids.unix_ms(), np.int64, uuid7.unix_ms),
    "uuid7 sequences": (lambda ids: ids.sequences(), np.uint32, lambda id: uuid7.parts(id).sequence),
    "uuid7 worker_ids": (lambda ids: ids.worker_ids(), np.uint16, uuid7.worker_id),
    "randflake timestamp": (lambda ids: CODEC.inspect_columns(ids).timestamp, np.int64, lambda id: id.timestamp),
    "randflake node": (lambda ids: CODEC.inspect_columns(ids).node, np.uint32, lambda id: id.node),
    "randflake sequence": (lambda ids: CODEC.inspect_columns(ids).sequence, np.uint32, lambda id: id.sequence),
}
PACKED_READERS: dict[str, tuple[int, Callable[[bytes], Any]]] = {
    "sno": (10, sno.SnoArray),
    "hotguid": (16, hotguid.HotGuidArray),
    "uuid7": (16, lambda data: uuid7.Uuid7Array([to_uuid7(data[at : at + 16]) for at in range(0, len(data), 16)])),
    "randflake": (8, lambda data: randflake.RandflakeArray(np.frombuffer(data, np.int64))),
}


@pytest.mark.parametrize("name", FIELD_READERS)
@given(st.data())
def test_a_field_column_contains_the_field_of_each_id(name: str, data: st.DataObject) -> None:
    family, (of, dtype, field) = name.split()[0], FIELD_READERS[name]
    size, array_of = PACKED_READERS[family]
    length = size * data.draw(st.integers(0, 40))
    ids = array_of(data.draw(st.binary(min_size=length, max_size=length)))
    expected = [field(CODEC.inspect(id) if family == "randflake" else id) for id in ids]
    column = of(ids)
    array, arrow = np.asarray(column), pa.array(column)
    arrow.validate(full=True)
    assert (array.dtype, array.tolist(), array.flags.writeable) == (dtype, expected, False)
    assert (arrow.type, arrow.to_pylist()) == (pa.from_numpy_dtype(dtype), expected)
    assert pl.Series(column).to_list() == memoryview(column).tolist() == expected
    if len(ids):
        assert arrow.buffers()[1].address == array.ctypes.data


def test_hot_guid_machines_are_rows_of_bytes() -> None:
    machines = hotguid.HotGuidArray(bytes(range(160))).machines()
    assert list(machines) == pa.array(machines).to_pylist()
    assert (np.asarray(machines).shape, repr(machines)) == ((10, 5), "<FieldColumn of 10 values>")


def test_randflakes_are_inspected_from_any_integer_column() -> None:
    ids = randflake.RandflakeArray(range(-500, 500))
    expected = [CODEC.inspect(id) for id in ids]
    for column in (ids, list(ids), np.asarray(ids), pa.array(ids), pl.Series(ids), pa.array(ids).dictionary_encode()):
        assert list(CODEC.inspect_columns(column)) == expected, type(column)
    assert repr(CODEC.inspect_columns(ids)) == "<PartsColumns of 1000 IDs>"
    for wrong in (7, [7.0], None, np.array([1.5]), np.array([7], np.uint64), pa.array(["v"]), ids.text_column()):
        with raises_code("invalid_type", field="ids"):
            CODEC.inspect_columns(wrong)


def ids_of(metabytes: list[int]) -> sno.SnoArray:
    single_id = sno.Generator(1).generate()
    return sno.SnoArray(b"".join(bytes(single_id.with_metabyte(metabyte)) for metabyte in metabytes))


def test_boolean_arrays_can_have_steps() -> None:
    ids = ids_of([*range(20)])
    mask = np.arange(40) % 3 == 0
    assert list(ids[mask[::2]].metabytes()) == [k for k in range(20) if 2 * k % 3 == 0]
    assert list(ids[mask[19::-1]].metabytes()) == [k for k in range(20) if (19 - k) % 3 == 0]


def test_a_boolean_index_must_have_one_item_per_id() -> None:
    ids = ids_of([1, 2, 3])
    for length in (0, 2, 4):
        with raises_code("invalid_length", field="index"):
            ids[np.ones(length, bool)]
    one = np.array([True])
    others: list[Any] = [ids.metabytes() == 1, [True, False, True], np.ones((3, 1), bool), np.ones(3, "u1"), one[0]]
    for other in others:
        with raises_code("invalid_type", field="index"):
            ids[other]
    assert repr(ids.unix_ms()) == "<FieldColumn of 3 values>"
