"""Tests columns of other libraries: strings and packed IDs in NumPy, pyarrow and polars, and invalid columns."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import BAD_CHARACTERS
from polyflake import PolyflakeError, hotguid, layout, randflake, sno, uuid7
from support import import_or_skip, raises_code

pl = import_or_skip("polars")

ColumnFactory = Callable[[list[str]], Any]

CODEC = randflake.Codec(bytes(16))
FLAKES = randflake.Generator(randflake.Grant((0, 131_071), 1_730_000_000, 2_803_741_824), bytes(16)).generate_many(1500)
GUIDS = hotguid.Generator().generate_many(1500)
UUIDS = uuid7.generate_many(1500)
SNOS = sno.Generator(5, metabyte=9).generate_many(1500)


class Family(NamedTuple):
    """String columns of one format: the array class, a parser, the number of bytes per slot, and IDs."""

    array: Any
    read: Callable[[str], Any]
    width: int
    ids: Any

    def sample_texts(self, count: int) -> list[str]:
        return self.ids[:count].texts()  # type: ignore[no-any-return]

    def error_of(self, text: str) -> tuple[str, int | None]:
        """Parses a single invalid string, and returns the code and position of the error."""
        with pytest.raises(PolyflakeError) as caught:
            self.read(text)
        return caught.value.code, caught.value.position


#: Randflakes whose strings have every possible length.
FLAKES_OF_ALL_LENGTHS = randflake.RandflakeArray([id >> k % 61 if id > 0 else id for k, id in enumerate(FLAKES)])
FAMILIES = {
    "sno": Family(sno.SnoArray, sno.Sno, 16, SNOS),
    "randflake": Family(randflake.RandflakeArray, randflake.decode_text, 16, FLAKES_OF_ALL_LENGTHS),
    "hotguid": Family(hotguid.HotGuidArray, hotguid.parse, 36, GUIDS),
    "uuid7": Family(uuid7.Uuid7Array, uuid7.parse, 36, UUIDS),
}
each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def sample_texts(count: int) -> list[str]:
    return FAMILIES["sno"].sample_texts(count)


def chunked_column(texts: list[str]) -> Any:
    """Returns a chunked column with some empty chunks."""
    third = len(texts) // 3
    return pa.chunked_array([texts[:third], [], texts[third : third + 1], texts[third + 1 :], []], pa.string())


def sliced_column(texts: list[str]) -> Any:
    """Returns a slice of a longer column."""
    return pa.array(["", "x" * 40, None, *texts, "y"])[3:-1]


#: Columns of strings of any length.
ANY_LENGTH: dict[str, ColumnFactory] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "objects": lambda texts: np.array(texts, dtype=object),
    "numpy strings": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "string": lambda texts: pa.array(texts, pa.string()),
    "dictionary": lambda texts: pa.array(texts, pa.string()).dictionary_encode(),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "binary": lambda texts: pa.array([text.encode() for text in texts], pa.binary()),
    "chunked": chunked_column,
    "sliced": sliced_column,
    "polars": lambda texts: pl.Series(texts, dtype=pl.String),
    "U": lambda texts: np.array(texts, dtype=np.str_),
    "U40": lambda texts: np.array(texts, dtype="U40"),
}

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    del ANY_LENGTH["numpy strings"]


def pad_texts(texts: list[str], width: int) -> bytes:
    return b"".join(text.encode().ljust(width, b"\0") for text in texts)


#: Columns of ASCII strings in fixed-width slots, padded with zeros.
SLOTS: dict[str, Callable[[list[str], int], Any]] = {
    "S": lambda texts, width: np.array([text.encode() for text in texts], f"S{width}"),
    "S40": lambda texts, _: np.array([text.encode() for text in texts], "S40"),
    "strided": lambda texts, width: np.array([half for text in texts for half in (text, "no ID")], f"S{width}")[::2],
    "table": lambda texts, width: np.frombuffer(pad_texts(texts, width), np.uint8).reshape(-1, width),
    "table, reversed": lambda texts, width: np.array(SLOTS["table"](texts[::-1], width))[::-1],
    "bytes": pad_texts,
    "bytearray": lambda texts, width: bytearray(pad_texts(texts, width)),
    "fixed": lambda texts, width: pa.array([pad_texts([text], width) for text in texts], pa.binary(width)),
}

COLUMN_KINDS = [*ANY_LENGTH, *SLOTS]


def make_column(kind: str, family: Family, texts: list[str]) -> Any:
    return ANY_LENGTH[kind](texts) if kind in ANY_LENGTH else SLOTS[kind](texts, family.width)


@pytest.mark.parametrize("kind", COLUMN_KINDS)
@pytest.mark.parametrize("count", [0, 1, 513, 1500])
@each_family
def test_all_types_of_columns_are_read(family: Family, kind: str, count: int) -> None:
    texts = family.sample_texts(count)
    parsed_ids = family.array.from_texts(make_column(kind, family, texts))
    assert parsed_ids == family.ids[:count]
    assert list(parsed_ids) == [family.read(text) for text in texts]


@pytest.mark.parametrize("kind", ANY_LENGTH)
@pytest.mark.parametrize("text", ["", "x!", "2" * 37, "é" * 8, "2é" * 8, "\U0001d7d7" * 4])
@each_family
def test_columns_and_single_strings_report_the_same_error(family: Family, kind: str, text: str) -> None:
    for item in (0, 600):
        texts = family.sample_texts(601)
        texts[item:] = [text, *["also bad"] * (600 - item)]
        code, position = family.error_of(text)
        with raises_code(code, position=position, item=item) as caught:
            family.array.from_texts(ANY_LENGTH[kind](texts))
        assert str(caught.value).startswith(f"item {item}: ")


@pytest.mark.parametrize("kind", COLUMN_KINDS)
@each_family
def test_an_invalid_character_is_located(family: Family, kind: str) -> None:
    for item in (0, 511, 512, 699):
        texts = family.sample_texts(700)
        position = len(texts[item]) - 1
        texts[item] = texts[item][:position] + "!"
        with raises_code("invalid_character", position=position, item=item):
            family.array.from_texts(make_column(kind, family, texts))


@given(st.sampled_from([*ANY_LENGTH]), st.integers(0, 15), st.sampled_from(BAD_CHARACTERS))
def test_columns_and_single_strings_reject_the_same_characters(kind: str, position: int, bad: str) -> None:
    valid_text = "93bm44ab22flxhjb"
    text = valid_text[:position] + bad + valid_text[position + 1 :]
    if (bad == "\0" and position == 15 and kind in ("U", "U40")) or "\ud800" <= bad <= "\udfff":
        return  # NumPy treats a trailing NUL as padding, and Arrow strings cannot contain surrogates
    code, at = FAMILIES["sno"].error_of(text)
    with raises_code(code, position=at, item=1):
        sno.SnoArray.from_texts(ANY_LENGTH[kind]([valid_text, text]))


def test_lone_surrogates_are_rejected() -> None:
    text = "93bm44ab22flxhj\ud800"
    columns: list[Any] = [[text], np.array([text]), np.array([text], dtype=object)]
    for column in columns:
        with raises_code("invalid_character", position=15, item=0):
            sno.SnoArray.from_texts(column)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary", "polars", "chunked", "sliced"])
@each_family
def test_a_null_is_rejected(family: Family, kind: str) -> None:
    for item in (0, 8, 600):
        texts: list[Any] = family.sample_texts(700)
        texts[item] = texts[item + 1] = None
        with raises_code("invalid_type", item=item) as caught:
            family.array.from_texts(ANY_LENGTH[kind](texts))
        assert str(caught.value) == f"item {item}: expected str for `column`, found null"


@pytest.mark.parametrize(
    ("read", "typed"),
    [
        (sno.SnoArray, pa.binary(10)),
        (sno.SnoArray.from_texts, pa.string()),
        (hotguid.HotGuidArray, pa.binary(16)),
        (hotguid.HotGuidArray.from_texts, pa.string()),
        (uuid7.Uuid7Array, pa.binary(16)),
        (uuid7.Uuid7Array.from_texts, pa.string()),
        (randflake.RandflakeArray, pa.int64()),
        (randflake.RandflakeArray.from_texts, pa.string()),
        (layout.LayoutArray, pa.int64()),
        (lambda ids: layout.LayoutArray(ids, 12), pa.binary(12)),
        (CODEC.inspect_columns, pa.int64()),
        (layout.Layout.preset("twitter").parse_columns, pa.int64()),
    ],
)
def test_an_empty_column_needs_no_type(read: Any, typed: pa.DataType) -> None:
    for empty in (pa.array([]), pa.chunked_array([[], []]), pa.array([], pa.null()).dictionary_encode(), pl.Series([])):
        assert read(empty) == read(pa.array([], typed))
    for nulls in (pa.array([None]), pa.chunked_array([[], [None]], pa.null())):
        with raises_code("invalid_type", item=0):
            read(nulls)


@pytest.mark.parametrize("value", [None, 1, b"2" * 16, np.bytes_(b"2" * 16), ["2" * 16], object()])
def test_a_non_string_item_is_rejected(value: Any) -> None:
    for item in (0, 600):
        texts: list[Any] = sample_texts(700)
        texts[item] = value
        with raises_code("invalid_type", item=item):
            sno.SnoArray.from_texts(texts)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2]),
        pa.array([1, 2]).dictionary_encode(),
        pa.array([sample_texts(1)]),
        pa.table({"id": sample_texts(2)}),
        np.array([1]),
        np.array([]),
        np.zeros((2, 2, 16), np.uint8),
        np.array([["2" * 16]]),
        np.array(sample_texts(2), ">U16" if np.little_endian else "<U16"),
        np.zeros(2, [("a", "S16")]),
        sample_texts(1)[0],
        None,
        1,
        sno.SnoArray,
        randflake.RandflakeArray([1]),
    ],
    ids=lambda column: str(getattr(column, "type", getattr(column, "dtype", column)))[:40],
)
@each_family
def test_non_string_columns_are_rejected(family: Family, column: Any) -> None:
    with raises_code("invalid_type"):
        family.array.from_texts(column)


@each_family
def test_polars_numbers_and_tables_are_rejected(family: Family) -> None:
    for column in (pl.Series([1]), pl.DataFrame({"id": sample_texts(2)})):
        with raises_code("invalid_type"):
            family.array.from_texts(column)


@pytest.mark.parametrize(
    "column",
    [
        bytes(17),
        bytearray(1),
        np.zeros((2, 13), np.uint8),
        np.zeros((0, 17), np.uint8),
        np.zeros((2, 0), np.uint8),
    ],
    ids=repr,
)
@each_family
def test_bytes_of_another_width_are_rejected(family: Family, column: Any) -> None:
    with raises_code("invalid_length"):
        family.array.from_texts(column)


def test_only_numpy_strings_can_be_padded() -> None:
    good = sample_texts(1)[0].encode()
    assert sno.SnoArray.from_texts(np.array([good + b"\0" * 3])).texts() == [good.decode()]
    for bad in (good[:-1] + b"\0", b"\0" * 16):
        with raises_code("invalid_length", item=0):
            sno.SnoArray.from_texts(np.array([bad], "S16"))
    with raises_code("invalid_character", position=8):
        sno.SnoArray.from_texts(np.array([good[:8] + b"\0" + good[9:]], "S16"))
    for column in (["1\0"], pa.array(["1\0"]), pa.array([b"1\0"]), pa.array(["1\0"], pa.string_view())):
        with raises_code("invalid_character", position=1, item=0):
            randflake.RandflakeArray.from_texts(column)


class FakeColumn:
    """An object that claims to be an Arrow column, and returns the given capsules."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def _export(self) -> Any:
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given


class FakeArray(FakeColumn):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        return self._export()


class FakeStream(FakeColumn):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._export()


def export_capsules() -> tuple[Any, Any]:
    return pa.array(sample_texts(3)).__arrow_c_array__()  # type: ignore[no-any-return]


@pytest.mark.parametrize("claims", [FakeArray, FakeStream])
def test_invalid_arrow_capsules_are_rejected(claims: type[FakeColumn]) -> None:
    schema, array = export_capsules()
    invalid_capsules = [None, (), (1, 2), (schema,), (schema, schema), (array, schema), (array, array), object()]
    for what in [*invalid_capsules, *([schema, array] if claims is FakeStream else [])]:
        with raises_code("invalid_type", field="column") as caught:
            sno.SnoArray.from_texts(claims(what))
        assert caught.value.__cause__ is not None
    for leaving in (ValueError("no"), KeyError("x"), MemoryError(), KeyboardInterrupt(), SystemExit()):
        with pytest.raises(type(leaving)):
            sno.SnoArray.from_texts(claims(leaving))


def test_capsules_are_consumed_once() -> None:
    fake_array = FakeArray(export_capsules())
    assert len(sno.SnoArray.from_texts(fake_array)) == 3
    with raises_code("invalid_type"):
        sno.SnoArray.from_texts(fake_array)


def test_a_failed_stream_is_rejected() -> None:
    def batches() -> Iterator[Any]:
        yield pa.record_batch({"id": sample_texts(2)})
        raise ZeroDivisionError

    reader = pa.RecordBatchReader.from_batches(pa.schema({"id": pa.string()}), batches())
    with raises_code("invalid_type"):
        sno.SnoArray.from_texts(reader)


def test_exceptions_of_an_iterator_propagate() -> None:
    def raising_stream(error: BaseException) -> Iterator[str]:
        yield sample_texts(1)[0]
        raise error

    for kind in (ZeroDivisionError, sqlite3.OperationalError, MemoryError, KeyboardInterrupt):
        raised = kind("no")
        with pytest.raises(kind) as caught:
            sno.SnoArray.from_texts(raising_stream(raised))
        assert caught.value is raised


TWITTER_IDS = layout.Generator(layout.Layout.preset("twitter", datacenter=1, worker=2)).generate_many(1000)
WIDE_LAYOUT = layout.Layout(
    {
        "id": "bytes",
        "bits": 72,
        "fields": [{"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0}, {"kind": "sequence", "bits": 24}],
    }
)
WIDE_IDS = layout.Generator(WIDE_LAYOUT).generate_many(1000)


class ExportCase(NamedTuple):
    """An array of IDs, its Arrow type, a conversion to plain values, and a function that reads such columns."""

    ids: Any
    kind: Any
    plain: Callable[[Any], Any]
    read: Callable[[Any], Any]


EXPORT_CASES = {
    "sno": ExportCase(SNOS, pa.binary(10), bytes, sno.SnoArray),
    "hotguid": ExportCase(GUIDS, pa.binary(16), lambda id: id.bytes, hotguid.HotGuidArray),
    "uuid7": ExportCase(UUIDS, pa.binary(16), lambda id: id.bytes, uuid7.Uuid7Array),
    "randflake": ExportCase(FLAKES, pa.int64(), int, randflake.RandflakeArray),
    "layout of integers": ExportCase(TWITTER_IDS, pa.int64(), int, layout.LayoutArray),
    "layout of bytes": ExportCase(WIDE_IDS, pa.binary(9), bytes, lambda column: layout.LayoutArray(column, 9)),
}
each_export = pytest.mark.parametrize(("ids", "kind", "plain", "read"), EXPORT_CASES.values(), ids=EXPORT_CASES)


@each_export
def test_arrow_shares_the_memory_of_ids(ids: Any, kind: Any, plain: Any, read: Any) -> None:
    expected = [plain(id) for id in ids]
    array = pa.array(ids)
    array.validate(full=True)
    assert array.type == kind == pa.field(ids).type
    assert array.to_pylist() == pl.Series(ids).to_list() == expected
    assert array.buffers()[1].address == np.asarray(ids).ctypes.data
    assert pa.array(ids[10:20]).to_pylist() == expected[10:20]
    assert pa.array(ids[:0]).to_pylist() == []


@each_export
def test_exported_arrays_can_be_read_back(ids: Any, kind: Any, plain: Any, read: Any) -> None:
    for column in columns_of_each_type(ids):
        assert read(column) == ids, type(column)
    with raises_code("invalid_type", item=2) as caught:
        read(pa.array([*pa.array(ids[:2]).to_pylist(), None], kind))
    assert "found null" in str(caught.value)
    for wrong in (pa.array(["x" * 16]), pl.Series([1.5]), pa.table({"id": pa.array(ids)}), FakeArray(None)):
        with raises_code("invalid_type"):
            read(wrong)
    with pytest.raises(ZeroDivisionError):
        read(FakeStream(ZeroDivisionError()))


def test_arrow_keeps_the_ids_alive() -> None:
    array = pa.array(sno.Generator(1).generate_many(50_000))
    texts = pa.array(sno.Generator(1).generate_many(50_000).text_column())
    gc.collect()
    other_arrays = [sno.Generator(2).generate_many(50_000) for _ in range(5)]
    assert array[49_999].as_py()[7] == 1
    assert sno.Sno(texts[49_999].as_py()).partition == 1
    assert len(other_arrays) == 5


def columns_of_each_type(ids: Any) -> list[Any]:
    """Returns the IDs as columns of other libraries: whole, chunked, sliced and dictionary-encoded."""
    array = pa.array(ids)
    longer_array = pa.concat_arrays([array[:1], array, array[:2]])
    return [
        array,
        pa.chunked_array([array[:3], array[3:3], array[3:]]),
        pl.Series(ids),
        longer_array[1:-2],
        array.dictionary_encode(),
    ]


def test_arrow_uuids_are_read_as_ids() -> None:
    uuid_type = getattr(pa, "uuid", None)
    if uuid_type is None:
        pytest.skip("this pyarrow has no UUIDs")
    assert hotguid.HotGuidArray(pa.array([id.bytes for id in GUIDS], uuid_type())) == GUIDS
    assert uuid7.Uuid7Array(pa.array([id.bytes for id in UUIDS], uuid_type())) == UUIDS
    with raises_code("not_canonical", item=2):
        uuid7.Uuid7Array(pa.array([*(id.bytes for id in UUIDS[:2]), bytes(16)], uuid_type()))


def test_layout_columns_are_parsed_from_arrow() -> None:
    expected = [parsed.unix_ms for parsed in WIDE_LAYOUT.parse_columns(WIDE_IDS)]
    for column in columns_of_each_type(WIDE_IDS):
        assert [parsed.unix_ms for parsed in WIDE_LAYOUT.parse_columns(column)] == expected


@pytest.mark.parametrize("kind", ["categorical", "enum"])
def test_polars_categories_are_read(kind: str) -> None:
    def column(texts: list[str]) -> Any:
        return pl.Series(
            texts, dtype=pl.Categorical if kind == "categorical" else pl.Enum(["not used", *dict.fromkeys(texts)])
        )

    texts = [text for text in sample_texts(5) for _ in range(3)]
    assert sno.SnoArray.from_texts(column(texts)).texts() == texts
    texts[4] = "bad!" * 4
    with raises_code("invalid_character", item=4, position=3):
        sno.SnoArray.from_texts(column(texts))
