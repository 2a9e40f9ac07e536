"""Secrets: 16 bytes, copied on entry, shown nowhere."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polyflake import PolyflakeError, randflake
from polyflake.sparx64 import Sparx64
from support import NOW_NS, refused

SECRET = b"\xde\xad\xbe\xef" + b"tell no one!"
SECOND = NOW_NS // 10**9
GRANT = randflake.Grant(42, SECOND, SECOND + 10)


def a_block(secret: Any) -> object:
    return Sparx64(secret).encrypt(bytes(8))


def an_id(secret: Any) -> object:
    return randflake.Codec(secret).encrypt(SECOND, 1, 2)


def a_new_id(secret: Any) -> object:
    return randflake.Generator(GRANT, secret, clock=lambda: NOW_NS).generate()


each = pytest.mark.parametrize("use", [a_block, an_id, a_new_id])


@each
@pytest.mark.parametrize("length", [0, 1, 8, 15, 17, 32, 1 << 20])
def test_a_secret_has_16_bytes(use: Callable[[Any], object], length: int) -> None:
    for kind in (bytes, bytearray, lambda n: memoryview(bytes(n))):
        with refused("invalid_secret") as caught:
            use(kind(length))
        assert str(caught.value) == f"expected a secret of 16 bytes, found {length}"


@each
@pytest.mark.parametrize(
    "value",
    [
        None,
        "sixteen byte key",
        16,
        True,
        1.5,
        list(SECRET),
        tuple(SECRET),
        object(),
        np.zeros(16),
        np.zeros(2, np.int64),
    ],
    ids=repr,
)
def test_what_is_no_bytes_is_refused(use: Callable[[Any], object], value: object) -> None:
    with refused("invalid_type"):
        use(value)


@each
def test_a_released_view_is_refused(use: Callable[[Any], object]) -> None:
    view = memoryview(SECRET)
    view.release()
    with pytest.raises(ValueError, match="released"):
        use(view)


@each
def test_any_buffer_of_bytes_is_read_in_its_order(use: Callable[[Any], object]) -> None:
    spread = memoryview(bytes(b for byte in SECRET for b in (byte, 0)))
    for same in (bytearray(SECRET), memoryview(SECRET), spread[::2], np.frombuffer(SECRET, np.uint8)):
        assert use(same) == use(SECRET)
    assert use(memoryview(SECRET)[::-1]) == use(SECRET[::-1]) != use(SECRET)


def test_a_secret_is_copied() -> None:
    secret = bytearray(SECRET)
    cipher, codec = Sparx64(secret), randflake.Codec(secret)
    generator = randflake.Generator(GRANT, secret, clock=lambda: NOW_NS)
    secret[:] = bytes(16)
    secret.clear()  # no view of it is left
    assert cipher.encrypt(bytes(8)) == Sparx64(SECRET).encrypt(bytes(8))
    assert codec.inspect(generator.generate()).node == 42
    assert codec.encrypt(SECOND, 0, 0) == randflake.Codec(SECRET).encrypt(SECOND, 0, 0)


def test_a_secret_is_in_no_text() -> None:
    objects = [Sparx64(SECRET), randflake.Codec(SECRET), randflake.Generator(GRANT, SECRET)]
    texts = [text for value in objects for text in (repr(value), str(value))]
    for refuse in (
        lambda: Sparx64(SECRET + b"x"),
        lambda: randflake.Codec(memoryview(SECRET)[1:]),
        lambda: randflake.Codec(SECRET.decode("latin-1")),  # type: ignore[arg-type]
        lambda: randflake.Codec(list(SECRET)),  # type: ignore[arg-type]
        objects[0].__reduce__,
        objects[1].__reduce__,
        objects[2].__reduce__,
    ):
        with pytest.raises(PolyflakeError) as caught:
            refuse()
        error = caught.value
        texts += [
            str(error),
            repr(error),
            str(vars(error)),
            "".join(traceback.format_exception_only(type(error), error)),
        ]
        texts += [str(error.__cause__), *getattr(error, "__notes__", [])]
    for text in texts:
        for shown in ("tell no one", "deadbeef", "\\xde", "222, 173", "\xde\xad"):
            assert shown not in text, text
