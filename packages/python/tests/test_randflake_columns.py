"""Columns of Randflake's texts, which have many lengths: in slots, side by side, as Python's own."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import BAD_CHARACTERS, anything
from polyflake import PolyflakeError, randflake
from polyflake.randflake import RandflakeArray, decode_text, encode_text
from support import if_built, refused
from test_columns import ANY, Column, sliced

pl = if_built("polars")

GRANT = randflake.Grant((0, 131_071), 1_730_000_000, 2_803_741_824)

#: Of every length.
EDGES = [0, 1, 31, 32, -1, 2**63 - 1, -(2**63), *(2 ** (5 * digits) for digits in range(1, 13))]


def padded(texts: list[str], width: int = 16) -> bytes:
    return b"".join(text.encode().ljust(width, b"\0") for text in texts)


def fixed(width: int) -> Column:
    return lambda texts: pa.array([text.encode().ljust(width, b"\0") for text in texts], pa.binary(width))


#: Where texts have one width, with zeros after them.
SLOTS: dict[str, Column] = {
    "S": lambda texts: np.array([text.encode() for text in texts], "S13"),
    "S16": lambda texts: np.array([text.encode() for text in texts], "S16"),
    "S40": lambda texts: np.array([text.encode() for text in texts], "S40"),
    "every second": lambda texts: np.array([half for text in texts for half in (text, "no text!")], "S16")[::2],
    "table": lambda texts: np.frombuffer(padded(texts), np.uint8).reshape(-1, 16),
    "bytes": padded,
    "bytearray": lambda texts: bytearray(padded(texts)),
    "fixed 13": fixed(13),
    "fixed 16": fixed(16),
    "fixed 20": fixed(20),
    "text_column": lambda texts: RandflakeArray.from_texts(texts).text_column(),
    "text_column in NumPy": lambda texts: np.asarray(RandflakeArray.from_texts(texts).text_column()),
}

ALL = ANY | SLOTS


def array_of(ids: list[int]) -> RandflakeArray:
    return RandflakeArray(np.array(ids, np.int64))


def some(count: int) -> list[str]:
    """Texts of all lengths."""
    ids = list(randflake.Generator(GRANT, bytes(16)).generate_many(count))
    return [encode_text(randflake.from_unsigned(randflake.to_unsigned(id) >> item % 61)) for item, id in enumerate(ids)]


ids = st.lists(st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from(EDGES)), max_size=40)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("count", [0, 1, 2, 511, 512, 513, 1500])
def test_all_kinds_of_columns_are_read(kind: str, count: int) -> None:
    texts = some(count)
    read = RandflakeArray.from_texts(ALL[kind](texts))
    assert list(read) == [decode_text(text) for text in texts]
    assert read.texts() == texts


@given(ids)
def test_what_is_written_is_read(column: list[int]) -> None:
    array = array_of(column)
    assert array.texts() == [encode_text(id) for id in column]
    for kind, make in ALL.items():
        assert RandflakeArray.from_texts(make(array.texts())) == array, kind


def test_texts_of_all_lengths_are_read() -> None:
    texts = [encode_text(id) for id in EDGES]
    assert {len(text) for text in texts} == set(range(1, 14))
    for kind, make in ALL.items():
        assert list(RandflakeArray.from_texts(make(texts))) == EDGES, kind
        for text, id in zip(texts, EDGES, strict=True):
            assert list(RandflakeArray.from_texts(make([text]))) == [id], (kind, text)


BAD = [
    "",
    "01",
    "x",
    "V",
    "g" * 13,
    "v" * 13,
    "1" * 14,
    "1" * 16,
    "1" * 17,
    "1" * 40,
    "1é",
    "é" * 7,
    "é" * 8,
    "1 ",
    "\U0001d7d7",
]


def single(text: str) -> tuple[str, int | None]:
    """The error code and position of a refused text that is read alone."""
    with pytest.raises(PolyflakeError) as caught:
        decode_text(text)
    return caught.value.code, caught.value.position


@pytest.mark.parametrize("kind", ANY)
@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("item", [0, 1, 600])
def test_a_bad_text_is_refused_as_alone(kind: str, text: str, item: int) -> None:
    texts = some(601)
    texts[item] = text
    texts[item + 1 :] = ["also bad"] * (600 - item)
    code, position = single(text)
    with refused(code, position=position, item=item) as caught:
        RandflakeArray.from_texts(ANY[kind](texts))
    assert str(caught.value).startswith(f"item {item}: ")


@pytest.mark.parametrize("kind", [kind for kind in SLOTS if not kind.startswith("text_column")])
@pytest.mark.parametrize("text", ["", "01", "x", "V", "v" * 13, "1\0001", "\0001", "1 "])
@pytest.mark.parametrize("item", [0, 511, 512, 600])
def test_a_bad_text_in_a_slot_is_refused_as_alone(kind: str, text: str, item: int) -> None:
    texts = some(601)
    texts[item] = text
    code, position = single(text)
    with refused(code, position=position, item=item):
        RandflakeArray.from_texts(SLOTS[kind](texts))


@given(st.sampled_from([*ANY]), st.integers(0, 12), st.sampled_from(BAD_CHARACTERS))
def test_each_bad_character_is_refused_as_alone(kind: str, position: int, bad: str) -> None:
    good = "3vgoe12ccb8gh"
    text = good[:position] + bad + good[position + 1 :]
    if (bad == "\0" and position == 12 and kind in ("U", "U40")) or "\ud800" <= bad <= "\udfff":
        return  # NumPy does not tell a NUL at the end from padding; Arrow has no surrogates
    try:
        decode_text(text)
    except PolyflakeError as error:
        with refused(error.code, position=error.position, item=1):
            RandflakeArray.from_texts(ANY[kind]([good, text]))
    else:
        assert RandflakeArray.from_texts(ANY[kind]([good, text])).texts() == [good, text]


def test_zeros_after_a_text_that_has_no_width_are_no_padding() -> None:
    for column in (["1\0"], pa.array(["1\0"]), pa.array([b"1\0"]), pa.array(["1\0"], pa.large_string())):
        with refused("invalid_character", position=1, item=0):
            RandflakeArray.from_texts(column)
    with refused("invalid_character", position=1, item=0):
        RandflakeArray.from_texts(pa.array(["1\0"], pa.string_view()))


@pytest.mark.parametrize("item", [0, 1, 8, 600])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "polars", "chunked", "sliced", "fixed"])
def test_a_null_is_refused(kind: str, item: int) -> None:
    texts: list[Any] = some(700)
    texts[item] = texts[item + 1] = None
    column = pa.array([text and text.encode().ljust(16, b"\0") for text in texts], pa.binary(16))
    with refused("invalid_type", item=item) as caught:
        RandflakeArray.from_texts(column if kind == "fixed" else ANY[kind](texts))
    assert str(caught.value) == f"item {item}: expected str for `column`, found null"


@pytest.mark.parametrize(
    "column",
    [
        bytes(15),
        bytes(17),
        bytearray(1),
        np.zeros((2, 13), np.uint8),
        np.zeros((0, 17), np.uint8),
        np.zeros((2, 0), np.uint8),
    ],
    ids=repr,
)
def test_bytes_of_another_width_are_refused(column: Any) -> None:
    with refused("invalid_length"):
        RandflakeArray.from_texts(column)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1]),
        np.array([1]),
        array_of([1]),
        np.zeros((2, 2, 16), np.uint8),
        "v",
        None,
        1,
        object(),
    ],
    ids=lambda column: str(type(column)),
)
def test_what_is_no_column_of_texts_is_refused(column: Any) -> None:
    with refused("invalid_type"):
        RandflakeArray.from_texts(column)


def test_numbers_of_polars_are_refused() -> None:
    with refused("invalid_type"):
        RandflakeArray.from_texts(pl.Series([1]))


@given(anything)
def test_anything_is_taken_or_refused(column: Any) -> None:
    try:
        RandflakeArray.from_texts(column)
    except PolyflakeError as error:
        assert error.code in ("invalid_type", "invalid_length", "invalid_character", "not_canonical", "out_of_range")


def test_numpy_sees_texts_without_a_copy() -> None:
    texts = some(1000)
    column = RandflakeArray.from_texts(texts).text_column()
    array = np.asarray(column)
    assert (array.dtype, array.shape, array.flags.writeable) == (np.dtype("S16"), (1000,), False)
    assert np.shares_memory(array, np.asarray(column))
    assert [text.decode() for text in array] == texts
    assert len(column) == 1000
    assert repr(column) == "<TextColumn of 1000 texts>"


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 2000, 20_000])
def test_texts_are_arrows_strings(count: int) -> None:
    texts = some(count)
    column = RandflakeArray.from_texts(texts).text_column()
    array = pa.array(column)
    array.validate(full=True)
    assert array.type == pa.string() == pa.field(column).type
    assert array.to_pylist() == texts
    assert pl.Series(column).to_list() == texts
    assert pl.Series(column).dtype == pl.String
    assert RandflakeArray.from_texts(sliced(texts)).texts() == texts


def test_arrow_and_numpy_keep_the_texts_alive() -> None:
    ids = randflake.Generator(GRANT, bytes(16)).generate_many(50_000)
    texts = ids.texts()
    arrow, numpy = pa.array(ids.text_column()), np.asarray(ids.text_column())
    del ids
    gc.collect()
    others = [pa.array(RandflakeArray(np.full(50_000, other)).text_column()) for other in range(5)]
    assert arrow.to_pylist() == texts
    assert [text.decode() for text in numpy] == texts
    assert len(others) == 5


def test_capsules_that_nobody_takes_are_released() -> None:
    column = array_of([1, 2]).text_column()
    for _ in range(1000):
        column.__arrow_c_array__()
        column.__arrow_c_schema__()


def test_ids_are_taken_from_arrow() -> None:
    ids = [decode_text(text) for text in some(100)]
    for column in (pa.array(ids), pa.chunked_array([ids[:50], ids[50:]]), pl.Series(ids), pa.array([None, *ids])[1:]):
        assert list(RandflakeArray(column)) == ids
        assert RandflakeArray(pa.array(RandflakeArray(column))) == RandflakeArray(column)
    with refused("invalid_type", item=1):
        RandflakeArray(pa.array([1, None, 2]))
    for wrong in (pa.array([1], pa.uint64()), pa.array(["v"]), pl.Series(["v"]), pa.table({"id": [1]})):
        with refused("invalid_type"):
            RandflakeArray(wrong)


@given(ids)
def test_fields_of_many_are_those_of_each(column: list[int]) -> None:
    codec, array = randflake.Codec(bytes(range(16))), array_of(column)
    parts = codec.inspect_columns(array)
    expected = [codec.inspect(id) for id in column]
    assert list(parts) == expected
    for name, dtype in (("timestamp", np.int64), ("node", np.uint32), ("sequence", np.uint32)):
        field, values = getattr(parts, name), [getattr(part, name) for part in expected]
        assert (np.asarray(field).dtype, list(field)) == (dtype, values)
        assert pa.array(field).to_pylist() == pl.Series(field).to_list() == values
    assert list(parts[1::2]) == expected[1::2]
    assert (len(parts), repr(parts)) == (len(column), f"<PartsColumns of {len(column)} IDs>")


def test_fields_are_read_from_any_column_of_integers() -> None:
    codec, ids = randflake.Codec(bytes(16)), randflake.Generator(GRANT, bytes(16)).generate_many(1000)
    expected = [codec.inspect(id) for id in ids]
    for column in (ids, np.asarray(ids), pa.array(ids), pl.Series(ids), pa.array(ids).dictionary_encode()):
        assert list(codec.inspect_columns(column)) == expected, type(column)
    assert codec.inspect_columns(ids)[-1] == expected[-1]
    with pytest.raises(IndexError):
        codec.inspect_columns(ids)[1000]
    with refused("invalid_type", item=1):
        codec.inspect_columns(pa.array([1, None]))
    for wrong in (7, [7.0], None, np.array([1.5]), np.array([7], np.uint64), pa.array(["v"]), ids.text_column()):
        with refused("invalid_type", field="ids"):
            codec.inspect_columns(wrong)
