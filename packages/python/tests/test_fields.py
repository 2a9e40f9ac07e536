"""Columns of fields of many sno IDs: as seen by NumPy, Arrow and polars, and as conditions that choose IDs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import sno
from support import if_built, refused

pl = if_built("polars")

packed = st.integers(0, 300).flatmap(lambda n: st.binary(min_size=10 * n, max_size=10 * n))

FIELDS = {
    "unix_ms": (np.int64, pa.int64(), lambda id: id.unix_ms),
    "metabytes": (np.uint8, pa.uint8(), lambda id: id.metabyte),
    "partitions": (np.uint16, pa.uint16(), lambda id: id.partition),
    "sequences": (np.uint16, pa.uint16(), lambda id: id.sequence),
}


@pytest.mark.parametrize("name", FIELDS)
@given(packed)
def test_a_field_of_many_is_that_of_each(name: str, data: bytes) -> None:
    ids = sno.SnoArray(data)
    dtype, kind, field = FIELDS[name]
    expected = [field(id) for id in ids]
    column = getattr(ids, name)()
    array, arrow = np.asarray(column), pa.array(column)
    arrow.validate(full=True)
    assert (array.dtype, array.tolist(), array.flags.writeable) == (dtype, expected, False)
    assert (arrow.type, arrow.to_pylist()) == (kind, expected)
    assert pl.Series(column).to_list() == expected
    assert memoryview(column).tolist() == expected
    assert len(column) == len(ids)
    if len(ids):
        assert arrow.buffers()[1].address == array.ctypes.data


def ids_of(metabytes: list[int]) -> sno.SnoArray:
    one = sno.Generator(1).generate()
    return sno.SnoArray(b"".join(bytes(one.with_metabyte(metabyte)) for metabyte in metabytes))


few = st.lists(st.integers(0, 3), max_size=200)


@given(few, st.integers(0, 3))
def test_arrays_of_bool_choose(metabytes: list[int], wanted: int) -> None:
    ids = ids_of(metabytes)
    is_wanted = np.asarray(ids.metabytes()) == wanted
    assert is_wanted.tolist() == [metabyte == wanted for metabyte in metabytes]
    for column in (ids, ids.text_column(), ids.metabytes()):
        for passes in (is_wanted, ~is_wanted, memoryview(bytes(is_wanted)).cast("?")):
            chosen = column[passes]
            assert type(chosen) is type(column)
            assert list(chosen) == [item for item, passes in zip(column, passes, strict=True) if passes]


def test_arrays_of_bool_may_have_steps() -> None:
    ids = ids_of([*range(20)])
    passes = np.arange(40) % 3 == 0
    assert list(ids[passes[::2]].metabytes()) == [k for k in range(20) if 2 * k % 3 == 0]
    assert list(ids[passes[19::-1]].metabytes()) == [k for k in range(20) if (19 - k) % 3 == 0]


def test_fields_are_conditions_for_other_columns() -> None:
    ids = ids_of([1, 2, 1, 3, 1, 1, 2, 2, 1])
    names = [*"abcdefghi"]
    assert np.array(names)[np.asarray(ids.metabytes()) == 1].tolist() == [*"acefi"]
    assert pa.array(names).filter(pc.equal(pa.array(ids.metabytes()), 1)).to_pylist() == [*"acefi"]
    assert pl.Series(names).filter(pl.Series(ids.metabytes()) == 1).to_list() == [*"acefi"]


def test_a_time_range_is_two_comparisons() -> None:
    start = 1_763_650_000_000
    generator = sno.Generator(1)
    ids = sno.SnoArray([generator.generate_at(start + 4 * k) for k in range(-3, 4)])
    made = np.asarray(ids.unix_ms())
    assert list(ids[(start <= made) & (made < start + 8)].unix_ms()) == [start, start + 4]


def test_an_index_is_one_bool_for_each_id() -> None:
    ids = ids_of([1, 2, 3])
    for length in (0, 2, 4):
        with refused("invalid_length", field="index"):
            ids[np.ones(length, bool)]
    one = np.array([True])
    others: list[Any] = [ids.metabytes() == 1, [True, False, True], np.ones((3, 1), bool), np.ones(3, "u1"), one[0]]
    for other in others:
        with refused("invalid_type", field="index"):
            ids[other]
    assert repr(ids.unix_ms()) == "<FieldColumn of 3 values>"
