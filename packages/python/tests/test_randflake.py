"""Tests Randflake: grants as values, the last second used, and packed IDs as NumPy integers."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polyflake.randflake import Codec, Generator, Grant, RandflakeArray
from support import NOW_MS, NOW_NS, raises_code

SECRET = bytes.fromhex("dffd6021bb2bd5b0af676290809ec3a5")
FIRST, END = 1_730_000_000, 2_803_741_824
SECOND_NS = 10**9
NOW_SECONDS = NOW_NS // SECOND_NS
CODEC = Codec(SECRET)


def make_generator(clock: Callable[[], Any] = lambda: NOW_NS, **options: Any) -> Generator:
    return Generator(Grant(42, FIRST, END), SECRET, test_clock=clock, **options)


def test_a_timestamp_past_64_bits_is_reported_in_seconds() -> None:
    with raises_code("time_out_of_range", field="timestamp") as caught:
        CODEC.encrypt(2**63, 0, 0)
    assert str(caught.value) == "expected timestamp in 64-bit seconds, found 9223372036854775808"


def test_grants_compare_hash_and_pickle_by_value() -> None:
    grant = Grant((5, 9), NOW_SECONDS, NOW_SECONDS + 1)
    assert grant == Grant([5, 9], NOW_SECONDS, end=NOW_SECONDS + 1) != Grant((5, 8), NOW_SECONDS, NOW_SECONDS + 1)
    assert grant == copy.deepcopy(grant) == pickle.loads(pickle.dumps(grant)) == eval(repr(grant))
    assert hash(grant) == hash(Grant((5, 9), NOW_SECONDS, NOW_SECONDS + 1))
    assert Grant(5, NOW_SECONDS, NOW_SECONDS + 1) == Grant((5, 5), NOW_SECONDS, NOW_SECONDS + 1)
    with pytest.raises(AttributeError):
        grant.end = END  # type: ignore[misc]


@pytest.mark.parametrize(
    ("nodes", "code"),
    [
        (None, "invalid_type"),
        (True, "invalid_type"),
        (1.0, "invalid_type"),
        ("12", "invalid_type"),
        (range(2), "invalid_type"),
        ((1, None), "invalid_type"),
        ((1,), "invalid_length"),
        ((1, 2, 3), "invalid_length"),
    ],
)
def test_nodes_must_be_one_node_or_a_range(nodes: Any, code: str) -> None:
    with raises_code(code):
        Grant(nodes, NOW_SECONDS, NOW_SECONDS + 1)


def test_a_generator_resumes_after_the_last_second_used() -> None:
    first_generator = make_generator()
    assert first_generator.generate_text()
    assert first_generator.close() == NOW_SECONDS
    second_generator = make_generator(resume_after=NOW_SECONDS)
    with raises_code("sequence_exhausted", retry_at=NOW_MS + 1000):
        second_generator.generate()
    assert make_generator().close() is None
    later_generator = make_generator(lambda: NOW_NS + SECOND_NS, resume_after=NOW_SECONDS)
    parts = CODEC.inspect(later_generator.generate())
    assert (parts.timestamp, parts.datetime) == (
        NOW_SECONDS + 1,
        dt.datetime.fromtimestamp(NOW_SECONDS + 1, dt.timezone.utc),
    )
    assert f"{NOW_SECONDS + 1}" in repr(parts)


def test_unaligned_and_multidimensional_integers_are_read() -> None:
    unaligned_array = np.frombuffer(b"x" + bytes(range(16)), np.uint8)[1:].view(np.int64)
    assert list(RandflakeArray(unaligned_array)) == unaligned_array.tolist()
    assert list(RandflakeArray(np.array([[1, 2], [3, 4]]))) == [1, 2, 3, 4]
    with raises_code("invalid_type"):  # in this byte order, the same bytes are different integers
        RandflakeArray(np.array([1], ">i8" if sys.byteorder == "little" else "<i8"))


@pytest.mark.parametrize(
    "value",
    [None, 7, [1, 2.0], "12345678", bytes(8), np.zeros(2), np.zeros(2, np.uint64), np.zeros(2, np.int32), object()],
    ids=repr,
)
def test_an_array_requires_signed_64_bit_integers(value: Any) -> None:
    with raises_code("invalid_type"):
        RandflakeArray(value)
