"""Tests that columns work as Python sequences and as NumPy arrays. Libraries such as pandas rely on both."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polyflake
from polyflake import hotguid, layout, public, randflake, sno, sparx64, uuid7
from support import NOW_NS, raises_code

IDS = sno.Generator(7, test_clock=lambda: NOW_NS).generate_many(20, metabyte=3)
FLAKES = randflake.RandflakeArray(np.arange(-5, 15))
INSTAGRAM_LAYOUT = layout.Layout.preset("instagram")
PACKED_IDS = INSTAGRAM_LAYOUT.pack_columns(timestamp=1_500_000_000_000, sequence=np.arange(20), bindables={"shard": 5})
BYTES_LAYOUT = layout.Layout({"id": "bytes", "bits": 24, "fields": [{"kind": "sequence", "bits": 24}]})

GUIDS = hotguid.Generator().generate_many(20)
CODEC = randflake.Codec(bytes(16))
EVERY_THIRD_MASK = np.arange(20) % 3 == 0

COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "texts": (IDS.text_column(), IDS.texts()),
    "times": (IDS.unix_ms(), [id.unix_ms for id in IDS]),
    "metabytes": (IDS.metabytes(), [3] * 20),
    "partitions": (IDS.partitions(), [7] * 20),
    "sequences": (IDS.sequences(), list(range(20))),
    "texts of Randflakes": (FLAKES.text_column(), FLAKES.texts()),
    "texts of Hot Guids": (GUIDS.text_column(), GUIDS.texts()),
    "Hot Guids": (GUIDS, list(GUIDS)),
    "counters": (GUIDS.counters(), [hotguid.parts(id).counter for id in GUIDS]),
    "machines": (GUIDS.machines(), [hotguid.parts(id).machine for id in GUIDS]),
    "fields of Randflakes": (CODEC.inspect_columns(FLAKES), [CODEC.inspect(id) for id in FLAKES]),
    "a field of a layout": (INSTAGRAM_LAYOUT.parse_columns(PACKED_IDS).sequence, list(range(20))),
    "fields of a layout": (
        INSTAGRAM_LAYOUT.parse_columns(PACKED_IDS),
        [INSTAGRAM_LAYOUT.parse(id) for id in PACKED_IDS],
    ),
    "fields of bytes": (
        BYTES_LAYOUT.parse_columns(bytes(60)),
        [BYTES_LAYOUT.parse(bytes(3))] * 20,
    ),
    "IDs": (IDS, list(IDS)),
    "Randflakes": (FLAKES, list(range(-5, 15))),
    "IDs of a layout": (PACKED_IDS, list(PACKED_IDS)),
    "IDs of bytes": (layout.LayoutArray(bytes(range(60)), 3), [bytes(range(k, k + 3)) for k in range(0, 60, 3)]),
}

each_column = pytest.mark.parametrize(("column", "items"), COLUMNS.values(), ids=COLUMNS)


@each_column
def test_columns_are_sequences(column: Any, items: list[Any]) -> None:
    assert list(column) == list(iter(column)) == items
    assert len(column) == len(items) == 20
    assert [type(item) for item in column] == [type(item) for item in items]
    for index in range(-20, 20):
        assert column[index] == items[index]
    for outside in (20, -21, 2**63, -(2**100)):
        with pytest.raises(IndexError):
            column[outside]
    assert items[0] in column
    assert object() not in column


@each_column
def test_slices_and_boolean_arrays_return_columns(column: Any, items: list[Any]) -> None:
    for part in (slice(None), slice(3, 9), slice(None, None, -1), slice(15, 2, -4), slice(30, 40), slice(-7, None, 3)):
        selection = column[part]
        assert type(selection) is type(column)
        assert list(selection) == items[part]
    selected_column = column[EVERY_THIRD_MASK]
    assert type(selected_column) is type(column)
    assert list(selected_column) == items[::3]
    assert list(selected_column[1:][np.array([True, False] * 3)]) == items[3::6]
    with raises_code("invalid_length"):
        column[np.array([True])]


@each_column
def test_columns_compare_copy_and_pickle_by_value(column: Any, items: list[Any]) -> None:
    copies = [pickle.loads(pickle.dumps(column, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for same in [copy.copy(column), copy.deepcopy(column), *copies, column[:], column[::-1][::-1]]:
        assert type(same) is type(column)
        assert list(same) == items
        assert same == column
        assert (same != column) is False
        assert type(column).__hash__ is None or hash(same) == hash(column)
    for other in (column[:-1], column[:0], items, memoryview(b""), None):
        assert column != other
    empty_column = column[:0]
    assert pickle.loads(pickle.dumps(empty_column)) == empty_column


def test_columns_of_different_fields_differ() -> None:
    zeros = sno.SnoArray(bytes(20))
    assert list(zeros.metabytes()) == list(zeros.partitions()) == [0, 0]
    assert zeros.metabytes() != zeros.partitions()


def test_columns_of_other_classes_differ() -> None:
    zeros = [randflake.RandflakeArray([0]), layout.LayoutArray([0]), layout.LayoutArray(bytes(8), 8)]
    zeros += [
        INSTAGRAM_LAYOUT.parse_columns([0]).sequence,
        sno.SnoArray([]),
        hotguid.HotGuidArray([]),
        uuid7.Uuid7Array([]),
    ]
    for k, column in enumerate(zeros):
        assert [column == other for other in zeros] == [k == other for other in range(len(zeros))]


def test_only_generators_and_keys_compare_by_identity() -> None:
    modules = [polyflake, sno, randflake, hotguid, uuid7, layout, public, sparx64]
    classes = {getattr(module, name) for module in modules for name in module.__all__}
    own_classes = [
        cls for cls in classes if isinstance(cls, type) and not issubclass(cls, BaseException | dict | tuple)
    ]
    identity_compared_names = {cls.__name__ for cls in own_classes if cls.__eq__ is object.__eq__}
    assert identity_compared_names == {"Codec", "Generator", "IdType", "Keyring", "Lease", "Sparx64"}
    assert all(cls.__reduce__ is not object.__reduce__ for cls in own_classes)


@each_column
def test_invalid_indices_are_rejected(column: Any, items: list[Any]) -> None:
    for bad in (None, 1.0, "1", True, b"", [0], (0,), object()):
        with raises_code("invalid_type", field="index"):
            column[bad]
    with pytest.raises(TypeError):
        column[0] = items[0]


NUMBER_COLUMNS = {
    name: COLUMNS[name] for name in ("times", "metabytes", "partitions", "sequences", "a field of a layout")
}


@pytest.mark.parametrize(("column", "items"), NUMBER_COLUMNS.values(), ids=NUMBER_COLUMNS)
def test_numpy_reads_columns_through_the_array_protocol(column: Any, items: list[Any]) -> None:
    shared_array = column.__array__()
    assert shared_array.tolist() == items
    assert shared_array.dtype == np.asarray(column).dtype
    assert not shared_array.flags.writeable
    assert np.shares_memory(shared_array, np.asarray(column))
    copied_array = column.__array__(copy=True)
    assert copied_array.tolist() == items
    assert copied_array.flags.writeable
    assert column.__array__(np.dtype("float64")).tolist() == [float(item) for item in items]
    assert column.__array__(dtype="f8", copy=None).dtype == np.float64
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert column.__array__(copy=False).tolist() == items
        with pytest.raises(ValueError, match="copy"):
            column.__array__("f8", copy=False)
    assert np.asarray(column, dtype=object).tolist() == items
    assert (np.asarray(column)[EVERY_THIRD_MASK] == items[::3]).all()


@pytest.mark.parametrize("name", ["texts", "texts of Randflakes"])
def test_string_columns_have_no_array_protocol(name: str) -> None:
    column, items = COLUMNS[name]
    assert not hasattr(column, "__array__")
    assert np.asarray(column).astype(str).tolist() == items


@pytest.mark.parametrize("make", [lambda: IDS[:0].text_column(), lambda: IDS[:0].unix_ms()])
def test_an_empty_column_is_an_empty_sequence(make: Callable[[], Any]) -> None:
    column = make()
    assert (len(column), list(column), list(column[::-1])) == (0, [], [])
    with pytest.raises(IndexError):
        column[0]


def test_a_slice_outlives_its_column() -> None:
    part = sno.Generator(1).generate_many(3000).text_column()[1000:2000]
    array = np.asarray(part)
    texts = [bytes(text).decode() for text in array]
    assert texts == list(part)
    assert part.__arrow_c_array__() is not None
