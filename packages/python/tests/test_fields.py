"""Columns of fields of many sno IDs, and masks: as seen by NumPy, Arrow and polars, and as chosen by filters."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
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


@given(few, st.integers(0, 3), st.integers(0, 3))
def test_masks_choose_and_are_joined(metabytes: list[int], first: int, second: int) -> None:
    ids = ids_of(metabytes)
    one, other = ids.having_metabyte(first), ids.having_metabyte(second)
    is_one, is_other = [[metabyte == wanted for metabyte in metabytes] for wanted in (first, second)]
    for mask, expected in (
        (one, is_one),
        (~one, [not is_it for is_it in is_one]),
        (one & other, [a and b for a, b in zip(is_one, is_other, strict=True)]),
        (one | other, [a or b for a, b in zip(is_one, is_other, strict=True)]),
        (~(one | ~one), [False] * len(ids)),
    ):
        assert (len(mask), mask.count()) == (len(ids), sum(expected))
        assert np.asarray(mask).tolist() == pa.array(mask).to_pylist() == pl.Series(mask).to_list() == expected
        assert np.asarray(mask).dtype == np.bool_
        pa.array(mask).validate(full=True)
        assert list(ids[mask]) == [id for id, passes in zip(ids, expected, strict=True) if passes]
        assert mask == ~~mask
    assert (one == other) is (is_one == is_other)


def test_filters_choose_rows_of_other_columns() -> None:
    ids = ids_of([1, 2, 1, 3, 1, 1, 2, 2, 1])
    mask = ids.having_metabyte(1)
    names = [*"abcdefghi"]
    assert np.array(names)[mask].tolist() == [*"acefi"]
    assert pa.array(names).filter(pa.array(mask)).to_pylist() == [*"acefi"]
    assert pl.Series(names).filter(pl.Series(mask)).to_list() == [*"acefi"]


def test_a_time_range_is_half_open_and_by_ticks() -> None:
    start = 1_763_650_000_000
    generator = sno.Generator(1)
    ids = sno.SnoArray(b"".join(bytes(generator.generate_at(start + 4 * k)) for k in range(-3, 4)))
    assert np.asarray(ids.in_time_range(start, start + 4)).tolist() == [False] * 3 + [True] + [False] * 3
    assert ids.in_time_range(start - 12, start + 13).count() == 7
    moment = dt.datetime.fromtimestamp(start / 1000, dt.timezone.utc)
    assert ids[ids.in_time_range(moment, moment + dt.timedelta(milliseconds=8))][0].unix_ms == start
    for wrong in ((start, start), (start + 1, start)):
        with refused("out_of_range"):
            ids.in_time_range(*wrong)
    with refused("time_out_of_range"):
        ids.in_time_range(0, start)


def test_a_mask_is_of_as_many_ids() -> None:
    ids = ids_of([1, 2, 3])
    short = ids_of([1, 2]).having_metabyte(1)
    mask = ids.having_metabyte(1)
    for use in (lambda: ids[short], lambda: mask & short, lambda: mask | short, lambda: short | mask):
        with refused("invalid_length"):
            use()
    others: list[Any] = [True, 1, None, [True], np.array([True, False, True])]
    for other in others[:4]:
        with pytest.raises(TypeError):
            mask & other
        with pytest.raises(TypeError):
            other | mask
    assert ids[mask].unix_ms() is not None
    assert repr(mask) == "<Mask of 3 IDs, 1 of which pass>"
    assert repr(ids.unix_ms()) == "<FieldColumn of 3 numbers>"
    with pytest.raises(TypeError):
        hash(mask)
