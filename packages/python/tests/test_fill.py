"""Tests writing IDs into the caller's buffers: every format, every kind of buffer, and values that are not buffers."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from families import FAMILIES, Family, each_family, is_unused
from polyflake import hotguid, layout, sno
from support import NOW_NS, raises_code


def frozen_clock() -> int:
    return NOW_NS


#: Functions that create a buffer for a given number of IDs of a given size.
BYTE_BUFFERS: dict[str, Callable[[int, int], Any]] = {
    "bytearray": lambda n, size: bytearray(n * size),
    "memoryview": lambda n, size: memoryview(bytearray(n * size)),
    "part of a memoryview": lambda n, size: memoryview(bytearray(n * size + 7))[3 : 3 + n * size],
    "array": lambda n, size: array("B", bytes(n * size)),
    "signed array": lambda n, size: array("b", bytes(n * size)),
    "ctypes": lambda n, size: (ctypes.c_ubyte * (n * size))(),
    "uint8": lambda n, size: np.zeros(n * size, np.uint8),
    "rows": lambda n, size: np.zeros((n, size), np.uint8),
    "rows of rows": lambda n, size: np.zeros((1, n, size), np.int8),
    "S": lambda n, size: np.zeros(n, f"S{size}"),
    "V": lambda n, size: np.zeros(n, f"V{size}"),
}

INTEGER_BUFFERS: dict[str, Callable[[int], Any]] = {
    "array": lambda n: array("q", [0] * n),
    "int64": lambda n: np.zeros(n, np.int64),
    "table": lambda n: np.zeros((1, n), np.int64),
    "cast": lambda n: memoryview(bytearray(8 * n)).cast("q"),
    "ctypes": lambda n: (ctypes.c_int64 * n)(),
    "not aligned": lambda n: np.frombuffer(bytearray(8 * n + 1), np.uint8)[1:].view(np.int64),
}


def buffers(family: Family, n: int) -> dict[str, Any]:
    if family.size is None:
        return {kind: make(n) for kind, make in INTEGER_BUFFERS.items()}
    return {kind: make(n, family.size) for kind, make in BYTE_BUFFERS.items()}


def ids_of(family: Family, buffer: Any) -> list[bytes]:
    data, size = memoryview(buffer).tobytes(), family.size or 8
    return [data[i : i + size] for i in range(0, len(data), size)]


@pytest.mark.parametrize("n", [0, 1, 3277, 10_000])
@each_family
def test_every_type_of_buffer_is_filled(family: Family, n: int) -> None:
    for kind, buffer in buffers(family, n).items():
        ids = family.make()
        assert ids.fill(buffer) is None, kind
        made = ids_of(family, buffer)
        assert len(set(made)) == n, kind
        # The generator's next IDs must differ from the IDs in the buffer.
        next_generator = family.make() if n == 0 else ids
        assert not set(ids_of(family, next_generator.generate_many(3))) & set(made)


@pytest.mark.parametrize("n", [1, 3276, 3277, 9000])
@pytest.mark.parametrize("name", ["sno", "randflake", "layout", "wide layout"])
def test_a_filled_buffer_equals_a_batch(name: str, n: int) -> None:
    """Generators with the same clock and identity generate equal IDs, except Hot Guids, which contain random bytes."""
    family = FAMILIES[name]
    buffer = family.make_buffer(n)
    family.make(test_clock=frozen_clock).fill(buffer)
    assert memoryview(buffer).tobytes() == bytes(family.make(test_clock=frozen_clock).generate_many(n))


def test_fill_accepts_the_options_of_a_batch() -> None:
    buffer = bytearray(30)
    sno.Generator(7, metabyte=3).fill(buffer)
    assert {id.metabyte for id in sno.SnoArray(buffer)} == {3}
    sno.Generator(7, metabyte=3).fill(buffer, 4)
    assert {id.metabyte for id in sno.SnoArray(buffer)} == {4}
    guids = bytearray(48)
    hotguid.Generator().fill(guids, shard_key=9)
    assert {*hotguid.HotGuidArray(guids).shard_keys()} == {9}
    instagram, column = layout.Layout.preset("instagram"), np.zeros(3, np.int64)
    layout.Generator(instagram).fill(column, {"shard": 5})
    assert [instagram.parse(id).bindables for id in column] == [{"shard": 5}] * 3
    with raises_code("missing_field", field="shard", written=None):
        layout.Generator(instagram).fill(column)
    with raises_code("unknown_field", field="x"):
        layout.Generator(instagram).fill(column, bindables={"x": 5})


def make_read_only(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    value.flags.writeable = False
    return value


#: Buffers that cannot be filled with IDs. 720 bytes are a whole number of IDs in every format.
INVALID_TARGETS: dict[str, Callable[[], Any]] = {
    "bytes": lambda: bytes(720),
    "read-only view": lambda: memoryview(bytes(720)),
    "read-only integers": lambda: memoryview(bytes(720)).cast("q"),
    "read-only array": lambda: make_read_only(np.zeros(72, np.int64)),
    "an array of IDs": lambda: sno.SnoArray(bytes(720)),
    "strided view": lambda: memoryview(bytearray(1440))[::2],
    "strided array": lambda: np.zeros(144, np.int64)[::2],
    "backwards": lambda: np.zeros(72, np.int64)[::-1],
    "Fortran's order": lambda: np.zeros((720, 10), np.uint8, order="F"),
    "Fortran's order, integers": lambda: np.zeros((9, 10), np.int64, order="F"),
    "the same memory again": lambda: np.lib.stride_tricks.as_strided(np.zeros(9, np.int64), (9,), (0,)),
    "overlapping rows": lambda: np.lib.stride_tricks.as_strided(np.zeros(720, np.uint8), (72, 10), (5, 1)),
    "uint64": lambda: np.zeros(72, np.uint64),
    "int32": lambda: np.zeros(72, np.int32),
    "other byte order": lambda: np.zeros(72, ">i8" if np.little_endian else "<i8"),
    "bool": lambda: np.zeros(720, np.bool_),
    "characters": lambda: np.zeros(72, "U10"),
    "records": lambda: np.zeros(72, [("a", "S5"), ("b", "S5")]),
    "objects": lambda: np.zeros(72, object),
    "list": lambda: [0] * 72,
    "text": lambda: "x" * 720,
    "none": lambda: None,
}


@pytest.mark.parametrize("kind", INVALID_TARGETS)
@each_family
def test_invalid_targets_are_rejected(family: Family, kind: str) -> None:
    ids = family.make(test_clock=frozen_clock)
    for target in (INVALID_TARGETS[kind](), bytearray(720) if family.size is None else np.zeros(90, np.int64)):
        with raises_code("invalid_type", field="buffer"):
            ids.fill(target)
    assert is_unused(ids)


@pytest.mark.parametrize("name", ["sno", "hotguid", "wide layout"])
def test_buffers_must_hold_whole_ids(name: str) -> None:
    family = FAMILIES[name]
    id_size = family.size or 0
    wrong: list[Any] = [bytearray(length) for length in (1, id_size - 1, id_size + 1, 25 * id_size - 1)]
    wrong += [np.zeros(shape, np.uint8) for shape in ((3, 1), (3, id_size + 1), (id_size, 3), (2, 0))]
    wrong += [np.zeros(3, kind) for kind in (f"S{id_size + 1}", "S1", f"V{id_size - 1}")]
    for buffer in wrong:
        with raises_code("invalid_length"):
            family.make().fill(buffer)
        assert not any(memoryview(buffer).tobytes())


@pytest.mark.parametrize("limit", [100, 3276, 3277, 5000])
def test_ids_written_before_an_error_are_usable(limit: int) -> None:
    ids = sno.Generator(1, sequence_max=limit - 1, test_clock=frozen_clock, on_exhausted="error")
    buffer = bytearray(b"\xff" * 10 * 6000)
    with raises_code("sequence_exhausted", written=limit):
        ids.fill(buffer)
    written_ids = sno.SnoArray(buffer[: limit * 10])
    assert [id.sequence for id in written_ids] == list(range(limit))
    assert set(buffer[limit * 10 :]) == {0xFF}
    with raises_code("sequence_exhausted", written=0):
        ids.fill(buffer)


def test_a_buffer_cannot_be_resized_during_a_fill() -> None:
    buffer = bytearray(100)

    def clock() -> int:
        buffer.extend(b"x" * 4096)
        return NOW_NS

    with raises_code("clock_failed") as caught:
        sno.Generator(1, test_clock=clock).fill(buffer)
    assert isinstance(caught.value.__cause__, BufferError)
    assert buffer == bytes(100)
    buffer.extend(b"and is free afterwards")
    assert len(buffer) == 122


def test_a_clock_can_write_to_the_buffer_being_filled() -> None:
    buffer = bytearray(10 * 5000)

    def clock() -> int:
        buffer[:] = b"\xff" * len(buffer)
        if other_generator.stats().len < 5:
            other_generator.fill(buffer)
        return NOW_NS

    other_generator = sno.Generator(2, test_clock=frozen_clock)
    ids = sno.Generator(1, test_clock=clock)
    ids.fill(buffer)
    written_ids = sno.SnoArray(buffer[10 * 3276 :])
    assert {id.partition for id in written_ids} == {1}, "the last block is written last"
    assert len(set(written_ids)) == len(written_ids)
