"""Tests arrays: methods that all formats share, and SnoArray as a sequence of IDs and as a table of bytes."""

from __future__ import annotations

import io
import uuid
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyflake import PolyflakeError, hotguid, layout, randflake, sno, uuid7
from support import import_or_skip, raises_code

pl = import_or_skip("polars")

packed_ids = st.integers(0, 40).flatmap(lambda n: st.binary(min_size=10 * n, max_size=10 * n))
bounds = st.one_of(st.none(), st.integers(-50, 50))


@given(packed_ids, st.builds(slice, bounds, bounds, bounds.filter(lambda step: step != 0)))
def test_arrays_are_indexed_and_sliced_like_lists(data: bytes, part: slice) -> None:
    array = sno.SnoArray(data)
    plain_ids = [sno.Sno.from_bytes(data[i : i + 10]) for i in range(0, len(data), 10)]
    assert len(array) == len(plain_ids)
    assert list(array) == plain_ids
    assert list(reversed(plain_ids)) == list(array[::-1])
    assert list(array[part]) == plain_ids[part]
    assert array.texts() == [str(id) for id in plain_ids]
    for index in range(-len(plain_ids), len(plain_ids)):
        assert array[index] == plain_ids[index]
        assert plain_ids[index] in array


def test_count_and_index_work_like_those_of_lists() -> None:
    ids = sno.Generator(1).generate_many(3)
    guids = hotguid.Generator().generate_many(3)
    for array in (ids, guids, ids.text_column(), ids.unix_ms(), guids.machines(), ids[:0]):
        plain: list[Any] = list(array)
        for value in [*plain, None, "x", 7]:
            assert array.count(value) == plain.count(value)
            for span in [(), (1,), (-2,), (0, 2), (1, -1), (5,), (-9, 9)]:
                assert index_of(array, value, *span) == index_of(plain, value, *span)
    with pytest.raises(ValueError, match="found another value"):
        ids.index("x")


def index_of(values: Any, value: Any, *span: int) -> int | None:
    """Returns the index of a value, or ``None``."""
    try:
        return int(values.index(value, *span))
    except ValueError:
        return None


def test_a_uuid_column_contains_the_ids() -> None:
    ids = sno.Generator(1).generate_many(300)
    uuids = [id.uuid8 for id in ids]
    column = ids.uuid8_column()
    assert list(column) == [each.bytes for each in uuids]
    arrow_array = pa.array([each.bytes for each in uuids], pa.uuid())
    for source in (
        uuids,
        iter(uuids),
        column,
        bytes(column),
        np.asarray(column),
        arrow_array,
        pa.chunked_array([arrow_array]),
    ):
        assert sno.SnoArray.from_uuid8(source) == ids
    assert sno.SnoArray.from_uuid8(sno.SnoArray([]).uuid8_column()) == sno.SnoArray([])
    other_uuid = uuid.uuid4()
    for mixed in ([uuids[0], other_uuid], uuids[0].bytes + other_uuid.bytes):
        with raises_code("not_canonical", item=1):
            sno.SnoArray.from_uuid8(mixed)
    for wrong in ([uuids[0], str(uuids[1])], [uuids[0], None]):
        with raises_code("invalid_type", item=1, field="column"):
            sno.SnoArray.from_uuid8(wrong)  # type: ignore[arg-type]
    with raises_code("invalid_length", field="column"):
        sno.SnoArray.from_uuid8(bytes(17))
    with raises_code("invalid_type", field="column"):
        sno.SnoArray.from_uuid8(str(uuids[0]))  # type: ignore[arg-type]


def test_arrow_receives_uuids_on_request() -> None:
    guids, version7 = hotguid.Generator().generate_many(3), uuid7.generate_many(3)
    ids = sno.Generator(1).generate_many(3)
    for column, uuids in (
        (guids, list(guids)),
        (version7, list(version7)),
        (ids.uuid8_column(), [id.uuid8 for id in ids]),
    ):
        requested_capsules = column.__arrow_c_array__(pa.uuid().__arrow_c_schema__())
        assert pa.Array._import_from_c_capsule(*requested_capsules).type == pa.uuid()
        # `pyarrow.array` requests only the storage type.
        cast_array = pa.array(column).cast(pa.uuid())
        assert cast_array.type == pa.uuid()
        assert cast_array.to_pylist() == uuids
        assert pa.array(column).type == pa.binary(16)
        assert pa.array(column, pa.binary(16)).type == pa.binary(16)
    assert pa.array(ids, pa.binary(10)).type == pa.binary(10)


def test_the_buffer_outlives_the_array() -> None:
    view = memoryview(sno.Generator(1).generate_many(10_000))
    other_arrays = [sno.Generator(2).generate_many(10_000) for _ in range(5)]
    assert view[9_999, 7] == 1
    assert len(other_arrays) == 5


def test_arrays_are_read_only() -> None:
    array = sno.Generator(1).generate_many(2)
    before, view = bytes(array), memoryview(array)
    with pytest.raises(TypeError):
        view[0, 0] = 1
    with pytest.raises(TypeError):
        io.BytesIO(bytes(20)).readinto(array)
    with pytest.raises(TypeError):
        array[0] = array[1]  # type: ignore[index]
    assert bytes(array) == before


def test_indices_are_integers_and_zero_steps_are_rejected() -> None:
    array = sno.Generator(1).generate_many(2)
    assert array[np.int64(1)] == array[1]
    with pytest.raises(ValueError, match="zero"):
        array[::0]


def test_iterators_stay_exhausted() -> None:
    iterator = iter(sno.Generator(1).generate_many(2))
    assert len(list(iterator)) == 2
    assert list(iterator) == []


GRANT = randflake.Grant(1, 1_730_000_000, 2_803_741_824)
ARRAYS: dict[type, Any] = {
    sno.SnoArray: sno.Generator(1).generate_many(300),
    hotguid.HotGuidArray: hotguid.Generator().generate_many(300),
    uuid7.Uuid7Array: uuid7.generate_many(300),
    randflake.RandflakeArray: randflake.Generator(GRANT, bytes(16)).generate_many(300),
    layout.LayoutArray: layout.LayoutArray(np.arange(300)),
}
TEXT_ARRAY_CLASSES = {sno.SnoArray, hotguid.HotGuidArray, uuid7.Uuid7Array, randflake.RandflakeArray}


@pytest.mark.parametrize("cls", TEXT_ARRAY_CLASSES, ids=lambda cls: cls.__name__)
def test_numpy_and_arrow_share_the_memory_of_strings(cls: Any) -> None:
    assert {cls for cls in ARRAYS if hasattr(cls, "texts")} == TEXT_ARRAY_CLASSES
    ids, column = ARRAYS[cls], ARRAYS[cls].text_column()
    array, arrow = np.asarray(column), pa.array(column)
    arrow.validate(full=True)
    assert (arrow.type, pa.field(column).type, array.flags.writeable) == (pa.string(), pa.string(), False)
    assert np.shares_memory(array, np.asarray(column))
    assert list(column) == array.astype(str).tolist() == arrow.to_pylist() == ids.texts()
    assert pl.Series(column).to_list() == ids.texts()
    assert repr(column) == "<TextColumn of 300 texts>"
    assert cls.from_texts(column) == ids
    assert len(cls.from_texts(ids[:0].text_column())) == 0


@pytest.mark.parametrize("cls", ARRAYS, ids=lambda cls: cls.__name__)
def test_numpy_shares_the_memory_of_ids(cls: Any) -> None:
    ids, sizes = ARRAYS[cls], {sno.SnoArray: 10, hotguid.HotGuidArray: 16, uuid7.Uuid7Array: 16}
    array, view = np.asarray(ids), memoryview(ids)
    shape, dtype = ((300, sizes[cls]), np.uint8) if cls in sizes else ((300,), np.int64)
    assert (array.shape, array.dtype, array.flags.writeable) == (shape, dtype, False)
    assert np.shares_memory(array, np.asarray(ids))
    assert (view.shape, view.strides, view.readonly, view.c_contiguous) == (shape, array.strides, True, True)
    assert bytes(ids) == array.tobytes() == view.tobytes()
    assert np.asarray(ids[:0]).shape == (0, *shape[1:])
    assert cls(array[::-2]) == ids[::-2]


IDS: dict[type, list[Any]] = {cls: list(array[:5]) for cls, array in ARRAYS.items()}
TEXTS: dict[type, list[str]] = {cls: ARRAYS[cls][:5].texts() for cls in TEXT_ARRAY_CLASSES}


def to_iterables(items: list[Any]) -> list[Any]:
    """Returns the same items in other types of iterables."""
    return [items, tuple(items), iter(items), dict.fromkeys(items), np.array(items, object)]


@pytest.mark.parametrize("cls", ARRAYS, ids=lambda cls: cls.__name__)
def test_lists_of_ids_become_arrays(cls: Any) -> None:
    for ids in to_iterables(IDS[cls]):
        assert cls(ids) == ARRAYS[cls][:5]
    assert cls(IDS[cls][::-1]) != ARRAYS[cls][:5]
    assert len(cls([])) == 0
    nothing: list[Any] = [None, 7, 1.5, "", "1", object()]
    for wrong in nothing:
        with raises_code("invalid_type", field="ids"):
            cls(wrong)
    for item in (None, 1.5, [], True, b"", object()):
        with raises_code("invalid_type", field="ids", item=3):
            cls([*IDS[cls][:3], item])


@pytest.mark.parametrize("cls", TEXT_ARRAY_CLASSES, ids=lambda cls: cls.__name__)
def test_lists_can_contain_strings(cls: Any) -> None:
    mixed_items = [IDS[cls][0], TEXTS[cls][1], IDS[cls][2], *TEXTS[cls][3:]]
    for ids in to_iterables(mixed_items):
        assert cls(ids) == ARRAYS[cls][:5]
    with pytest.raises(PolyflakeError) as caught:
        cls([*mixed_items, TEXTS[cls][0][:-1] + "!"])
    error = caught.value
    assert (error.code, error.item, error.position) == ("invalid_character", 5, len(TEXTS[cls][0]) - 1)
    with raises_code("invalid_length", item=1):
        cls([IDS[cls][0], TEXTS[cls][0] * 9])


def test_integers_in_lists_must_fit_in_64_bits() -> None:
    for cls in (randflake.RandflakeArray, layout.LayoutArray):
        array = cls([-(2**63), np.int64(5), 2**63 - 1])
        assert list(array) == [-(2**63), 5, 2**63 - 1]
        for beyond in (2**63, -(2**63) - 1, 2**200):
            with raises_code("out_of_range", field="ids", item=1):
                cls([0, beyond])


def test_bytes_in_lists_must_have_the_same_length() -> None:
    ids = [b"abc", bytearray(b"def"), memoryview(b"ghi")]
    assert layout.LayoutArray(ids, 3) == layout.LayoutArray(b"abcdefghi", 3)
    with raises_code("invalid_length", item=1):
        layout.LayoutArray([b"abc", b"de"], 3)
    with raises_code("invalid_type", item=0):
        layout.LayoutArray([5], 3)


def test_columns_are_read_from_lists() -> None:
    codec = randflake.Codec(bytes(16))
    flakes = IDS[randflake.RandflakeArray]
    assert list(codec.inspect_columns(flakes)) == [codec.inspect(id) for id in flakes]
    twitter = layout.Layout.preset("twitter")
    assert list(twitter.parse_columns([1, 2])) == [twitter.parse(1), twitter.parse(2)]
    packed = layout.Layout({"id": "bytes", "bits": 16, "fields": [{"kind": "bindable", "bits": 16, "name": "key"}]})
    assert list(packed.parse_columns([b"ab", b"cd"])) == [packed.parse(b"ab"), packed.parse(b"cd")]


def test_exceptions_of_an_iterable_propagate() -> None:
    def raising_iterable() -> Any:
        yield IDS[sno.SnoArray][0]
        raise LookupError

    with pytest.raises(LookupError):
        sno.SnoArray(raising_iterable())
