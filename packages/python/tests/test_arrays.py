"""SnoArray: a sequence of IDs, and a table of bytes."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import sno
from support import refused

packed = st.integers(0, 40).flatmap(lambda n: st.binary(min_size=10 * n, max_size=10 * n))
bounds = st.one_of(st.none(), st.integers(-50, 50))


@given(packed, st.builds(slice, bounds, bounds, bounds.filter(lambda step: step != 0)))
def test_it_is_indexed_and_sliced_as_a_list(data: bytes, part: slice) -> None:
    array = sno.SnoArray(data)
    plain = [sno.Sno.from_bytes(data[i : i + 10]) for i in range(0, len(data), 10)]
    assert len(array) == len(plain)
    assert list(array) == plain
    assert list(reversed(plain)) == list(array[::-1])
    assert list(array[part]) == plain[part]
    assert array.texts() == [str(id) for id in plain]
    for index in range(-len(plain), len(plain)):
        assert array[index] == plain[index]
        assert plain[index] in array


@given(packed)
def test_its_buffer_is_its_packed_bytes(data: bytes) -> None:
    array = sno.SnoArray(data)
    assert bytes(array) == data
    assert sno.SnoArray(array) == array
    view = memoryview(array)
    assert (view.shape, view.strides, view.format, view.readonly) == ((len(array), 10), (10, 1), "B", True)
    assert view.c_contiguous
    assert view.tobytes() == data


@given(packed)
def test_it_is_a_value(data: bytes) -> None:
    array = sno.SnoArray(data)
    assert array == sno.SnoArray(data) == copy.deepcopy(array) == pickle.loads(pickle.dumps(array))
    assert hash(array) == hash(sno.SnoArray(data))
    assert array != list(array)


def test_numpy_sees_rows_without_a_copy() -> None:
    array = sno.Generator(258).generate_many(1000)
    rows = np.asarray(array)
    assert (rows.shape, rows.dtype, rows.flags.writeable) == ((1000, 10), np.uint8, False)
    assert (rows[:, 6] == 1).all()
    assert (rows[:, 7] == 2).all()
    assert np.shares_memory(rows, np.asarray(array))
    records = np.frombuffer(array, "V10")
    assert [bytes(record) for record in records] == [bytes(id) for id in array]
    assert np.asarray(array[:0]).shape == (0, 10)


def test_the_buffer_outlives_the_array() -> None:
    view = memoryview(sno.Generator(1).generate_many(10_000))
    others = [sno.Generator(2).generate_many(10_000) for _ in range(5)]
    assert view[9_999, 7] == 1
    assert len(others) == 5


def test_it_cannot_be_written() -> None:
    array = sno.Generator(1).generate_many(2)
    before, view = bytes(array), memoryview(array)
    with pytest.raises(TypeError):
        view[0, 0] = 1
    with pytest.raises(TypeError):
        io.BytesIO(bytes(20)).readinto(array)
    with pytest.raises(TypeError):
        array[0] = array[1]  # type: ignore[index]
    assert bytes(array) == before


def test_indices_are_checked() -> None:
    array = sno.Generator(1).generate_many(2)
    for index in (2, -3, 2**62, 2**64, -(2**70), 2**200):
        with pytest.raises(IndexError):
            array[index]
    for wrong in (True, 1.0, "1", None):
        with refused("invalid_type"):
            array[wrong]  # type: ignore[index]
    assert array[np.int64(1)] == array[1]
    with pytest.raises(ValueError, match="zero"):
        array[::0]


def test_a_last_id_that_is_not_whole_is_refused() -> None:
    for length in (1, 9, 11, 19):
        with refused("invalid_length"):
            sno.SnoArray(bytes(length))


def test_iterators_end_and_stay_ended() -> None:
    iterator = iter(sno.Generator(1).generate_many(2))
    assert len(list(iterator)) == 2
    assert list(iterator) == []
