"""Tests the Python-specific parts of public IDs. The core and the conformance suite test strings, errors and rates."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import threading
from array import array
from typing import Any

import numpy as np
import pytest

from catalogue import HUGE_INTEGERS, NON_INDICES, NON_INTEGERS, MyInt, RaisingIndex, ValidIndex
from polyflake import InvalidValueError, OutOfRangeError, public
from support import REPOSITORY, raises_code

CASES = json.loads((REPOSITORY / "tests/vectors/public.json").read_text(encoding="utf-8"))["cases"]
KEYRING = public.Keyring(bytes(range(32)))
ORDERS, POSTS = KEYRING.of("order"), KEYRING.of("post", bits=64)
TEXT = "order_1abpg7dgwhjba5j"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text']} of {case['secret'][:2]}")
def test_strings_match_the_vectors(case: dict[str, Any]) -> None:
    id_type = public.Keyring({case["version"]: bytes.fromhex(case["secret"])}).of(case["type"], case["bits"])
    number = int(case["number"])
    assert id_type.bits == case["bits"]
    assert (id_type.name, id_type.encode(number), id_type.decode(case["text"])) == (
        case["type"],
        case["text"],
        number,
    )
    assert id_type.encode_many([number]) == [case["text"]]
    assert id_type.decode_many([case["text"]]) == [number]


@pytest.mark.parametrize("one", [7, MyInt(7), ValidIndex(7), np.int64(7), np.uint8(7), enum.IntEnum("Row", {"A": 7}).A])
def test_integer_like_values_are_accepted(one: Any) -> None:
    assert ORDERS.decode(ORDERS.encode(one)) == 7
    assert ORDERS.encode_many([one]) == [ORDERS.encode(7)]


@pytest.mark.parametrize("value", [*NON_INTEGERS, None, b"7"], ids=repr)
def test_non_integers_are_rejected(value: Any) -> None:
    with raises_code("invalid_type", field="number"):
        ORDERS.encode(value)
    with raises_code("invalid_type", field="numbers", item=1):
        ORDERS.encode_many([1, value])
    with raises_code("invalid_type", field="bits"):
        KEYRING.of("order", value)


@pytest.mark.parametrize(
    "number",
    [-1, 1 << 48, -(2**63), *(value for value in HUGE_INTEGERS if value >= 1 << 48)],
    ids=lambda number: f"{number:x}"[:20],
)
def test_integers_outside_the_type_are_rejected(number: int) -> None:
    with raises_code("out_of_range", field="number") as caught:
        ORDERS.encode(number)
    assert "from 0 to 281474976710655" in str(caught.value)
    assert isinstance(caught.value, OutOfRangeError)
    with raises_code("out_of_range", field="numbers", item=1):
        ORDERS.encode_many([1, number])


def test_exceptions_of_index_propagate() -> None:
    for value in (RaisingIndex(ZeroDivisionError("no")), *NON_INDICES):
        with pytest.raises((ZeroDivisionError, TypeError)):
            ORDERS.encode(value)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, ">i8", np.int32, object])
def test_arrays_and_columns_are_accepted(dtype: Any) -> None:
    numbers, texts = [5, 0, 1 << 30], ORDERS.encode_many(iter([5, 0, 1 << 30]))
    assert texts == [ORDERS.encode(number) for number in numbers]
    number_array = np.array(numbers, dtype)
    if dtype in (">i8", np.int32):
        with raises_code("invalid_type", field="numbers"):
            ORDERS.encode_many(number_array)
        return
    for same in (number_array, number_array[::-1][::-1], np.repeat(number_array, 2)[::2], number_array.tolist()):
        assert ORDERS.encode_many(same) == texts
    assert ORDERS.decode_many(np.array(texts)) == numbers
    for scalar in (np.int64(5), np.uint64(5), np.array(5, np.uint64)):
        with pytest.raises(TypeError):
            ORDERS.encode_many(scalar)


def test_all_64_bits_round_trip() -> None:
    for most in (2**63 - 1, 2**63, 2**64 - 1):
        texts = [POSTS.encode(most), *POSTS.encode_many(array("Q", [most]))]
        assert texts[0] == texts[1]
        assert POSTS.decode_many(texts) == [most, most] == [POSTS.decode(text) for text in texts]
    with raises_code("out_of_range", field="numbers", item=1):
        POSTS.encode_many(array("q", [1, -1]))
    with raises_code("out_of_range", field="numbers", item=0):
        ORDERS.encode_many(array("Q", [2**63]))


class MyStr(str):
    """A string whose overridden methods raise, so only code that reads the string's characters directly succeeds."""

    __slots__ = ()

    def __str__(self) -> str:
        raise AssertionError

    def encode(self, *_: Any) -> bytes:
        raise AssertionError


def test_subclasses_of_str_are_accepted() -> None:
    assert ORDERS.decode(MyStr(TEXT)) == ORDERS.decode(np.str_(TEXT)) == 0
    assert ORDERS.decode_many((MyStr(TEXT), TEXT)) == [0, 0]
    long_type = KEYRING.of("x" * 63)
    assert long_type.decode(MyStr(long_type.encode(9))) == 9


@pytest.mark.parametrize("value", [None, 42, True, TEXT.encode(), bytearray(TEXT.encode()), [TEXT], object()], ids=repr)
def test_non_strings_are_rejected(value: Any) -> None:
    with raises_code("invalid_type", field="text"):
        ORDERS.decode(value)
    with raises_code("invalid_type", field="texts", item=1):
        ORDERS.decode_many([TEXT, value])


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("", "type_mismatch", None),
        ("invoice" + TEXT[5:], "type_mismatch", None),
        ("order_" * 100_000, "type_mismatch", None),
        ("order_" + "0" * 100_000, "invalid_length", None),
        ("x_" * 100_000 + "y", "type_mismatch", None),
        (TEXT[:-1], "invalid_length", None),
        (TEXT[:-1] + "R", "invalid_character", 20),
        (TEXT[:-1] + "\ud800", "invalid_character", 20),
        ("\ud800" + TEXT, "type_mismatch", None),
        (TEXT[:-1] + "0", "check_failed", None),
        (TEXT[:6] + "0" + TEXT[7:-1] + "f", "unknown_version", None),
        (KEYRING.of("order", 64).encode(1 << 48), "unknown_id", None),
    ],
    ids=lambda value: str(value)[:20].encode("ascii", "replace").decode(),
)
def test_invalid_strings_are_rejected(text: str, code: str, position: int | None) -> None:
    with raises_code(code, position=position) as caught:
        ORDERS.decode(text)
    assert isinstance(caught.value, InvalidValueError)
    assert len(str(caught.value)) < 100
    with raises_code(code, position=position, item=2):
        ORDERS.decode_many([TEXT, TEXT, text])


def test_a_single_string_is_not_a_batch() -> None:
    for many in (TEXT, 5, None):
        with raises_code("invalid_type", field="texts"):
            ORDERS.decode_many(many)  # type: ignore[arg-type]
    assert (ORDERS.decode_many([]), ORDERS.encode_many([])) == ([], [])


def test_the_highest_version_is_written_and_all_are_read() -> None:
    old, new = bytes(32), bytearray(b"n" * 32)
    two_version_type = public.Keyring({2: new, 1: old}).of("order")
    assert two_version_type.encode(42)[6] == "2"
    assert two_version_type.encode(42) == public.Keyring({2: bytes(new)}).of("order").encode(42)
    assert two_version_type.decode_many([public.Keyring(old).of("order").encode(42), two_version_type.encode(42)]) == [
        42,
        42,
    ]
    with raises_code("unknown_version"):
        public.Keyring(old).of("order").decode(two_version_type.encode(42))


def test_a_version_other_than_the_highest_can_be_written() -> None:
    old, new = bytes(32), b"n" * 32
    two_version_type = public.Keyring({2: new, 1: old}, write=1).of("order")
    assert two_version_type.encode(42) == public.Keyring(old).of("order").encode(42)
    assert two_version_type.decode(public.Keyring({2: new}).of("order").encode(42)) == 42
    with raises_code("unknown_version", field="write"):
        public.Keyring({2: new, 1: old}, write=3)


@pytest.mark.parametrize(
    ("secrets", "code"),
    [
        ({1: bytes(32), 2: bytes(32)}, "invalid_secret"),
        ({}, "missing_field"),
        ({32: bytes(32)}, "out_of_range"),
        ({-1: bytes(32)}, "out_of_range"),
        ({True: bytes(32)}, "invalid_type"),
        ({"1": bytes(32)}, "invalid_type"),
        ({1: bytes(32), 2: bytes(16)}, "invalid_secret"),
        ({1: "x" * 32}, "invalid_type"),
        ([(1, bytes(32))], "invalid_type"),
    ],
    ids=repr,
)
def test_invalid_secrets_are_rejected(secrets: Any, code: str) -> None:
    with raises_code(code):
        public.Keyring(secrets)


@pytest.mark.parametrize("name", ["", "Order", "1st", "_a", "a-b", "\ud800", "x" * 64, "x" * 100_000], ids=len)
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        KEYRING.of(name)
    assert (caught.value.field, len(str(caught.value)) < 100) == ("name", True)


def test_threads_share_a_type() -> None:
    numbers, found = list(range(10_000)), []
    expected_texts = ORDERS.encode_many(numbers)
    threads = [threading.Thread(target=lambda: found.append(ORDERS.decode_many(expected_texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [numbers] * 4


def test_a_type_copies_as_itself_and_cannot_be_pickled() -> None:
    assert copy.copy(ORDERS) is copy.deepcopy([ORDERS])[0] is ORDERS
    with raises_code("invalid_type"):
        pickle.dumps(ORDERS)


def test_repr_shows_only_the_name_of_a_type() -> None:
    assert repr(ORDERS) == '<IdType "order">'
    assert repr(KEYRING).startswith("<polyflake.public.Keyring object")
