"""Columns of texts in, columns of IDs and of texts out: NumPy, pyarrow, polars, and false columns."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalogue import BAD_CHARACTERS, anything
from polyflake import PolyflakeError, hotguid, layout, randflake, sno
from support import if_built, refused

pl = if_built("polars")

Column = Callable[[list[str]], Any]


def chunked(texts: list[str]) -> Any:
    """A column in pieces, with empty ones among them."""
    third = len(texts) // 3
    return pa.chunked_array([texts[:third], [], texts[third : third + 1], texts[third + 1 :], []], pa.string())


def sliced(texts: list[str]) -> Any:
    """A part of a longer column."""
    return pa.array(["", "x" * 40, None, *texts, "y"])[3:-1]


def fixed(texts: list[str]) -> Any:
    return pa.array([text.encode() for text in texts], pa.binary(16))


def table(texts: list[str]) -> Any:
    return np.frombuffer("".join(texts).encode(), np.uint8).reshape(-1, 16)


def strided(texts: list[str]) -> Any:
    return np.array([half for text in texts for half in (text, "no text at all!!")], "S16")[::2]


def numpy_bytes(texts: list[str]) -> Any:
    return np.array([text.encode() for text in texts], "S16" if not texts else None)


#: What holds texts of any length.
ANY: dict[str, Column] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "objects": lambda texts: np.array(texts, dtype=object),
    "numpy strings": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "string": lambda texts: pa.array(texts, pa.string()),
    "large_string": lambda texts: pa.array(texts, pa.large_string()),
    "string_view": lambda texts: pa.array(texts, pa.string_view()),
    "binary": lambda texts: pa.array([text.encode() for text in texts], pa.binary()),
    "large_binary": lambda texts: pa.array([text.encode() for text in texts], pa.large_binary()),
    "binary_view": lambda texts: pa.array([text.encode() for text in texts], pa.binary_view()),
    "chunked": chunked,
    "sliced": sliced,
    "polars": lambda texts: pl.Series(texts, dtype=pl.String),
    "U": lambda texts: np.array(texts, dtype=np.str_),
    "U40": lambda texts: np.array(texts, dtype="U40"),
}

#: What holds texts of ASCII, padded.
PADDED: dict[str, Column] = {
    "S": numpy_bytes,
    "S40": lambda texts: np.array(texts, dtype="S40"),
    "strided": strided,
}

#: What holds 16 bytes.
SIXTEEN: dict[str, Column] = {
    "fixed": fixed,
    "table": table,
    "table, reversed twice": lambda texts: np.array(table(texts[::-1]))[::-1],
    "bytes": lambda texts: "".join(texts).encode(),
    "bytearray": lambda texts: bytearray("".join(texts).encode()),
    "text_column": lambda texts: sno.SnoArray.from_texts(texts).text_column(),
}

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    del ANY["numpy strings"]

ALL = ANY | PADDED | SIXTEEN

ids = st.binary(min_size=10, max_size=10).map(sno.Sno.from_bytes)


def some(count: int) -> list[str]:
    return sno.Generator(5, metabyte=9).generate_many(count).texts()


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("count", [0, 1, 2, 511, 512, 513, 1500])
def test_all_kinds_of_columns_are_read(kind: str, count: int) -> None:
    texts = some(count)
    read = sno.SnoArray.from_texts(ALL[kind](texts))
    assert read.texts() == texts
    assert read == sno.SnoArray(b"".join(bytes(sno.Sno(text)) for text in texts))


@given(st.lists(ids, max_size=40))
def test_what_is_written_is_read(column: list[sno.Sno]) -> None:
    array = sno.SnoArray(b"".join(map(bytes, column)))
    for kind, make in ALL.items():
        assert sno.SnoArray.from_texts(make(array.texts())) == array, kind


def single(text: str) -> tuple[str, int | None]:
    """The error code and position of a refused text that is read alone."""
    with pytest.raises(PolyflakeError) as caught:
        sno.Sno(text)
    return caught.value.code, caught.value.position


@pytest.mark.parametrize("kind", ANY)
@pytest.mark.parametrize(
    "text", ["", "x", "2" * 15, "2" * 17, "2" * 15 + "é", "é" * 8, "é" * 16, "2é" * 8, "\U0001d7d7" * 4]
)
@pytest.mark.parametrize("item", [0, 1, 600])
def test_a_bad_text_is_refused_as_alone(kind: str, text: str, item: int) -> None:
    texts = some(601)
    texts[item] = text
    texts[item + 1 :] = ["also bad"] * (600 - item)
    code, position = single(text)
    with refused(code, position=position, item=item) as caught:
        sno.SnoArray.from_texts(ANY[kind](texts))
    assert str(caught.value).startswith(f"item {item}: ")


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "text_column"])
@pytest.mark.parametrize("position", [0, 7, 15])
@pytest.mark.parametrize("item", [0, 2, 511, 512, 699])
def test_a_bad_character_is_found(kind: str, position: int, item: int) -> None:
    texts = some(700)
    texts[item] = texts[item][:position] + "!" + texts[item][position + 1 :]
    with refused("invalid_character", position=position, item=item):
        sno.SnoArray.from_texts(ALL[kind](texts))


@given(st.sampled_from([*ANY]), st.integers(0, 15), st.sampled_from(BAD_CHARACTERS))
def test_each_bad_character_is_refused_as_alone(kind: str, position: int, bad: str) -> None:
    good = "93bm44ab22flxhjb"
    text = good[:position] + bad + good[position + 1 :]
    if (bad == "\0" and position == 15 and kind in ("U", "U40")) or "\ud800" <= bad <= "\udfff":
        return  # NumPy does not tell a NUL at the end from padding; Arrow has no surrogates
    code, at = single(text)
    with refused(code, position=at, item=1):
        sno.SnoArray.from_texts(ANY[kind]([good, text]))


def test_lone_surrogates_are_refused() -> None:
    text = "93bm44ab22flxhj\ud800"
    columns: list[Any] = [[text], np.array([text]), np.array([text], dtype=object)]
    for column in columns:
        with refused("invalid_character", position=15, item=0):
            sno.SnoArray.from_texts(column)


@pytest.mark.parametrize("item", [0, 1, 8, 600])
@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "binary", "fixed", "polars", "chunked", "sliced"]
)
def test_a_null_is_refused(kind: str, item: int) -> None:
    texts: list[Any] = some(700)
    texts[item] = None
    texts[item + 1] = None
    column = pa.array([text and text.encode() for text in texts], pa.binary(16)) if kind == "fixed" else None
    if kind == "binary":
        column = pa.array([text and text.encode() for text in texts], pa.binary())
    with refused("invalid_type", item=item) as caught:
        sno.SnoArray.from_texts(ANY[kind](texts) if column is None else column)
    assert str(caught.value) == f"item {item}: expected str for `column`, found null"


def test_a_bad_text_before_a_null_comes_first() -> None:
    with refused("invalid_length", item=1):
        sno.SnoArray.from_texts(pa.array([*some(1), "x", None]))
    with refused("invalid_length", item=1):
        sno.SnoArray.from_texts(pa.chunked_array([some(1), ["x"], [None]]))
    with refused("invalid_type", item=1):
        sno.SnoArray.from_texts(pa.array([*some(1), None, "x"]))


def test_nulls_outside_of_the_part_are_not_its() -> None:
    texts = some(3)
    assert len(sno.SnoArray.from_texts(pa.array([None, *texts, None])[1:-1])) == 3
    assert len(sno.SnoArray.from_texts(pa.array([None, *texts, None]).slice(1, 3))) == 3


@pytest.mark.parametrize(
    ("read", "typed"),
    [
        (sno.SnoArray, pa.binary(10)),
        (sno.SnoArray.from_texts, pa.string()),
        (hotguid.HotGuidArray, pa.binary(16)),
        (hotguid.HotGuidArray.from_texts, pa.string()),
        (randflake.RandflakeArray, pa.int64()),
        (randflake.RandflakeArray.from_texts, pa.string()),
        (layout.LayoutArray, pa.int64()),
        (lambda ids: layout.LayoutArray(ids, 12), pa.binary(12)),
        (randflake.Codec(bytes(16)).inspect_columns, pa.int64()),
        (layout.Layout.preset("twitter").parse_columns, pa.int64()),
    ],
)
def test_an_empty_column_needs_no_type(read: Any, typed: pa.DataType) -> None:
    for empty in (pa.array([]), pa.chunked_array([[], []]), pa.array([], pa.null()).dictionary_encode(), pl.Series([])):
        assert read(empty) == read(pa.array([], typed))
    for nulls in (pa.array([None]), pa.chunked_array([[], [None]], pa.null())):
        with refused("invalid_type", item=0):
            read(nulls)


@pytest.mark.parametrize("item", [0, 1, 600])
@pytest.mark.parametrize("value", [None, 1, b"2" * 16, np.bytes_(b"2" * 16), ["2" * 16], object()])
def test_an_item_that_is_no_text_is_refused(item: int, value: Any) -> None:
    texts: list[Any] = some(700)
    texts[item] = value
    with refused("invalid_type", item=item):
        sno.SnoArray.from_texts(texts)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2]),
        pa.array([1.5]),
        pa.array([True]),
        pa.array([1, 2]).dictionary_encode(),
        pa.array([some(1)[0], None]).dictionary_encode(),
        pa.array([some(1)]),
        pa.table({"id": some(2)}),
        np.array([1]),
        np.array([]),
        np.array([1.0]),
        np.zeros((2, 2, 16), np.uint8),
        np.array([["2" * 16]]),
        np.array(some(2), ">U16" if np.little_endian else "<U16"),
        np.zeros(2, [("a", "S16")]),
        some(1)[0],
        "",
        None,
        1,
        object(),
        sno.SnoArray,
        sno.Generator(1),
        randflake.RandflakeArray(np.array([1])),
    ],
    ids=lambda column: str(getattr(column, "type", getattr(column, "dtype", column)))[:40],
)
def test_what_is_no_column_of_texts_is_refused(column: Any) -> None:
    with refused("invalid_type"):
        sno.SnoArray.from_texts(column)


def test_numbers_and_tables_of_polars_are_refused() -> None:
    for column in (pl.Series([1]), pl.DataFrame({"id": some(2)})):
        with refused("invalid_type"):
            sno.SnoArray.from_texts(column)


@pytest.mark.parametrize(
    "column",
    [
        bytes(15),
        bytes(17),
        bytearray(1),
        np.zeros((2, 15), np.uint8),
        np.zeros((0, 17), np.uint8),
        np.zeros((2, 0), np.uint8),
        pa.array([b"2" * 15], pa.binary(15)),
        pa.array([b"2" * 17], pa.binary(17)),
        pa.array([b""], pa.binary(0)),
        sno.Generator(1).generate_many(3),
        np.array(["2" * 15]),
        np.array([b"2" * 15]),
        np.array([b"2" * 17]),
        np.array([""]),
        np.array([b""]),
    ],
    ids=repr,
)
def test_bytes_that_are_no_texts_are_refused(column: Any) -> None:
    with refused("invalid_length"):
        sno.SnoArray.from_texts(column)


def test_numpy_text_may_be_padded_and_nothing_else() -> None:
    good = some(1)[0].encode()
    assert sno.SnoArray.from_texts(np.array([good + b"\0" * 3])).texts() == [good.decode()]
    for bad in (good[:-1] + b"\0", good[:8] + b"\0" * 8, b"\0" * 16):
        with refused("invalid_length", item=0):
            sno.SnoArray.from_texts(np.array([bad], "S16"))
    with refused("invalid_character", position=8):
        sno.SnoArray.from_texts(np.array([good[:8] + b"\0" + good[9:]], "S16"))
    with refused("invalid_character", position=15):
        sno.SnoArray.from_texts(pa.array([good[:-1] + b"\0"]))


class Claims:
    """An object with the methods of an Arrow column."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def _give(self) -> Any:
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given


class ClaimsArray(Claims):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> Any:
        return self._give()


class ClaimsStream(Claims):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._give()


def capsules() -> tuple[Any, Any]:
    return pa.array(some(3)).__arrow_c_array__()  # type: ignore[no-any-return]


@pytest.mark.parametrize("claims", [ClaimsArray, ClaimsStream])
def test_what_only_claims_to_be_arrows_is_refused(claims: type[Claims]) -> None:
    schema, array = capsules()
    wrong = [
        None,
        (),
        (1, 2),
        (None, None),
        (schema,),
        (schema, schema),
        (array, schema),
        (array, array),
        object(),
        b"",
    ]
    for what in [*wrong, *([schema, array] if claims is ClaimsStream else [])]:
        with refused("invalid_type", field="column") as caught:
            sno.SnoArray.from_texts(claims(what))
        assert caught.value.__cause__ is not None
    for leaving in (ValueError("no"), KeyError("x"), MemoryError(), KeyboardInterrupt(), SystemExit()):
        with pytest.raises(type(leaving)):
            sno.SnoArray.from_texts(claims(leaving))


def test_capsules_are_taken_once() -> None:
    claim = ClaimsArray(capsules())
    assert len(sno.SnoArray.from_texts(claim)) == 3
    with refused("invalid_type"):
        sno.SnoArray.from_texts(claim)


def test_a_stream_may_fail() -> None:
    def batches() -> Iterator[Any]:
        yield pa.record_batch({"id": some(2)})
        raise ZeroDivisionError

    reader = pa.RecordBatchReader.from_batches(pa.schema({"id": pa.string()}), batches())
    with refused("invalid_type"):
        sno.SnoArray.from_texts(reader)


def test_an_iterator_may_raise() -> None:
    def raising(error: BaseException) -> Iterator[str]:
        yield some(1)[0]
        raise error

    for kind in (ZeroDivisionError, sqlite3.OperationalError, MemoryError, KeyboardInterrupt):
        raised = kind("no")
        with pytest.raises(kind) as caught:
            sno.SnoArray.from_texts(raising(raised))
        assert caught.value is raised


@given(anything)
@example(memoryview(b"2" * 32)[::2])
@example(memoryview(b"2" * 16).cast("B", (1, 16)))
@example(memoryview(b"2" * 16).cast("b"))
@example(memoryview(b"2" * 16).cast("c"))
def test_anything_is_taken_or_refused(column: Any) -> None:
    try:
        sno.SnoArray.from_texts(column)
    except PolyflakeError as error:
        assert error.code in ("invalid_type", "invalid_length", "invalid_character")


def test_a_released_buffer_is_refused() -> None:
    view = memoryview(b"2" * 16)
    view.release()
    with pytest.raises(ValueError, match="released"):
        sno.SnoArray.from_texts(view)


def test_numpy_sees_texts_without_a_copy() -> None:
    column = sno.SnoArray.from_texts(some(1000)).text_column()
    array = np.asarray(column)
    assert (array.dtype, array.shape, array.flags.writeable) == (np.dtype("S16"), (1000,), False)
    assert np.shares_memory(array, np.asarray(column))
    assert [text.decode() for text in array] == some_of(column)
    assert len(column) == 1000
    assert repr(column) == "<TextColumn of 1000 texts>"


def some_of(column: sno.TextColumn) -> list[str]:
    return sno.SnoArray.from_texts(column).texts()


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 2000])
def test_texts_are_arrows_strings(count: int) -> None:
    texts = some(count)
    column = sno.SnoArray.from_texts(texts).text_column()
    array = pa.array(column)
    array.validate(full=True)
    assert array.type == pa.string() == pa.field(column).type
    assert array.to_pylist() == texts
    assert pl.Series(column).to_list() == texts
    assert pl.Series(column).dtype == pl.String


GUIDS = hotguid.Generator().generate_many(1000)
FLAKES = randflake.Generator(randflake.Grant(7, 1_730_000_000, 2_803_741_824), bytes(16)).generate_many(1000)
TWITTER = layout.Generator(layout.Layout.preset("twitter", datacenter=1, worker=2)).generate_many(1000)
WIDE = layout.Layout(
    {
        "id": "bytes",
        "bits": 72,
        "fields": [{"kind": "timestamp", "bits": 48, "tick": "1ms", "epoch_ms": 0}, {"kind": "sequence", "bits": 24}],
    }
)
WIDES = layout.Generator(WIDE).generate_many(1000)


@pytest.mark.parametrize(
    ("ids", "kind", "plain"),
    [
        (sno.Generator(1).generate_many(1000), pa.binary(10), bytes),
        (GUIDS, pa.binary(16), lambda id: id.bytes),
        (FLAKES, pa.int64(), int),
        (TWITTER, pa.int64(), int),
        (WIDES, pa.binary(9), bytes),
    ],
    ids=["sno", "hotguid", "randflake", "layout of integers", "layout of bytes"],
)
def test_ids_are_arrows_columns_without_a_copy(ids: Any, kind: Any, plain: Callable[[Any], Any]) -> None:
    expected = [plain(id) for id in ids]
    array = pa.array(ids)
    array.validate(full=True)
    assert array.type == kind == pa.field(ids).type
    assert array.to_pylist() == expected
    assert array.null_count == 0
    assert array.buffers()[1].address == np.asarray(ids).ctypes.data
    series = pl.Series(ids)
    assert series.to_list() == expected
    part = ids[10:20]
    assert pa.array(part).to_pylist() == expected[10:20]
    assert pa.array(ids[:0]).to_pylist() == []


def test_arrow_keeps_the_ids_alive() -> None:
    array = pa.array(sno.Generator(1).generate_many(50_000))
    texts = pa.array(sno.Generator(1).generate_many(50_000).text_column())
    gc.collect()
    others = [sno.Generator(2).generate_many(50_000) for _ in range(5)]
    assert array[49_999].as_py()[7] == 1
    assert sno.Sno(texts[49_999].as_py()).partition == 1
    assert len(others) == 5


def test_capsules_that_nobody_takes_are_released() -> None:
    for _ in range(1000):
        sno.Generator(1).generate_many(10).__arrow_c_array__()
        sno.Generator(1).generate_many(10).__arrow_c_schema__()


def one_of_each(ids: Any) -> list[Any]:
    """The IDs as columns of other libraries: whole, in pieces, a part of a longer one, a dictionary."""
    array = pa.array(ids)
    longer = pa.concat_arrays([array[:1], array, array[:2]])
    return [
        array,
        pa.chunked_array([array[:3], array[3:3], array[3:]]),
        pl.Series(ids),
        longer[1:-2],
        array.dictionary_encode(),
    ]


@pytest.mark.parametrize(
    ("ids", "read"),
    [
        (sno.Generator(1).generate_many(1000), sno.SnoArray),
        (GUIDS, hotguid.HotGuidArray),
        (FLAKES, randflake.RandflakeArray),
        (TWITTER, layout.LayoutArray),
        (WIDES, lambda column: layout.LayoutArray(column, 9)),
    ],
    ids=["sno", "hotguid", "randflake", "layout of integers", "layout of bytes"],
)
def test_arrays_read_what_they_export(ids: Any, read: Callable[[Any], Any]) -> None:
    for column in one_of_each(ids):
        assert read(column) == ids, type(column)
    assert read(pa.array(ids)[:0]) == read(pl.Series(ids)[:0]) == ids[:0]
    with refused("invalid_type", item=2) as caught:
        read(pa.array([*pa.array(ids[:2]).to_pylist(), None], pa.array(ids).type))
    assert "found null" in str(caught.value)
    for wrong in (pa.array(["x" * 16]), pl.Series([1.5]), pa.table({"id": pa.array(ids)}), ClaimsArray(None)):
        with refused("invalid_type"):
            read(wrong)
    leaving = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        read(ClaimsStream(leaving))


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
def test_packed_ids_may_lie_in_columns_of_any_bytes(kind: Any) -> None:
    ids = sno.Generator(1).generate_many(600)
    packed = [bytes(id) for id in ids]
    assert sno.SnoArray(pa.array(packed, kind)) == ids
    packed[5] += b"!"
    with refused("invalid_length", item=5):
        sno.SnoArray(pa.array(packed, kind))
    with refused("invalid_length", item=None):
        sno.SnoArray(pa.array([b"x" * 11], pa.binary(11)))
    assert hotguid.HotGuidArray(pa.array([id.bytes for id in GUIDS], kind)) == GUIDS
    assert layout.LayoutArray(pa.array(list(TWITTER))) == TWITTER


def test_uuids_of_arrow_are_hot_guids() -> None:
    kind = getattr(pa, "uuid", None)
    if kind is None:
        pytest.skip("this pyarrow has no UUIDs")
    assert hotguid.HotGuidArray(pa.array([id.bytes for id in GUIDS], kind())) == GUIDS


def test_columns_of_a_layout_are_parsed_from_arrow() -> None:
    expected = [parsed.unix_ms for parsed in WIDE.parse_columns(WIDES)]
    for column in one_of_each(WIDES):
        assert [parsed.unix_ms for parsed in WIDE.parse_columns(column)] == expected


def categories(texts: list[str]) -> dict[str, Any]:
    """The texts as columns of keys into other texts, some of which are not used and no IDs'."""
    unused = ["", "not used", *dict.fromkeys(reversed(texts))]
    keys = [unused.index(text) for text in texts]
    return {
        "dictionary": pa.array(texts).dictionary_encode(),
        "in pieces": pa.chunked_array(
            [pa.array(texts[:2]).dictionary_encode(), pa.array(texts[2:]).dictionary_encode()]
        ),
        "with unused values": pa.DictionaryArray.from_arrays(pa.array(keys, pa.int16()), pa.array(unused)),
        "of large strings": pa.DictionaryArray.from_arrays(
            pa.array(keys, pa.uint8()), pa.array(unused, pa.large_string())
        ),
        "of fixed bytes": pa.array([text.encode() for text in texts], pa.binary(16)).dictionary_encode(),
    }


def categories_of_polars(texts: list[str]) -> dict[str, Any]:
    kinds = {"categorical": pl.Categorical, "enum": pl.Enum(["", "not used", *dict.fromkeys(reversed(texts))])}
    return {name: pl.Series(texts, dtype=kind) for name, kind in kinds.items()}


def check_categories(kind: str, columns: Callable[[list[str]], dict[str, Any]]) -> None:
    texts = [text for text in some(5) for _ in range(3)]
    assert sno.SnoArray.from_texts(columns(texts)[kind]).texts() == texts
    texts[4] = "bad!" * 4
    with refused("invalid_character", item=4, position=3):
        sno.SnoArray.from_texts(columns(texts)[kind])


@pytest.mark.parametrize("kind", categories(some(4)))
def test_categories_are_read(kind: str) -> None:
    check_categories(kind, categories)


@pytest.mark.parametrize("kind", ["categorical", "enum"])
def test_categories_of_polars_are_read(kind: str) -> None:
    check_categories(kind, categories_of_polars)


def test_a_null_category_is_refused() -> None:
    texts = some(3)
    for column in (
        pa.array([*texts, None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array([*texts, None])),
        pl.Series([*texts, None], dtype=pl.Categorical),
    ):
        with refused("invalid_type", item=3) as caught:
            sno.SnoArray.from_texts(column)
        assert "found null" in str(caught.value)
    unselected = pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array([texts[0], None, texts[2]]))
    assert sno.SnoArray.from_texts(unselected).texts() == [texts[0], texts[2]]
