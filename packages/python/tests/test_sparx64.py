"""The cipher: one block and many, and blocks that are none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polyflake.sparx64 import Sparx64
from support import refused

CIPHER = Sparx64(bytes(range(16)))
ONE: list[Callable[[Any], bytes]] = [CIPHER.encrypt, CIPHER.decrypt]
MANY: list[Callable[[Any], bytes]] = [CIPHER.encrypt_many, CIPHER.decrypt_many]


def test_one_block_and_many_are_encrypted_alike_and_back() -> None:
    blocks = bytearray(range(80))
    encrypted = CIPHER.encrypt_many(blocks)
    assert blocks == bytes(range(80)) != encrypted, "what was given stays as it is"
    assert encrypted == b"".join(CIPHER.encrypt(blocks[at : at + 8]) for at in range(0, 80, 8))
    assert CIPHER.decrypt_many(encrypted) == blocks
    assert CIPHER.decrypt(encrypted[8:16]) == blocks[8:16]


@pytest.mark.parametrize("length", [0, 1, 7, 9, 15, 16, 1 << 20])
@pytest.mark.parametrize("work", ONE)
def test_a_block_has_8_bytes(work: Callable[[Any], bytes], length: int) -> None:
    for kind in (bytes, bytearray, lambda n: memoryview(bytes(n))):
        with refused("invalid_length"):
            work(kind(length))


@pytest.mark.parametrize("length", [1, 7, 9, 15, (1 << 20) + 1])
@pytest.mark.parametrize("work", MANY)
def test_a_last_block_that_is_not_whole_is_refused(work: Callable[[Any], bytes], length: int) -> None:
    with refused("invalid_length"):
        work(bytes(length))


@pytest.mark.parametrize("work", ONE + MANY)
def test_bytes_are_anything_with_a_buffer(work: Callable[[Any], bytes]) -> None:
    data = bytes(range(8))
    spread = memoryview(bytes(b for byte in data for b in (byte, 0)))
    for good in (bytearray(data), memoryview(data), spread[::2], np.frombuffer(data, np.uint8)):
        assert work(good) == work(data)
    for bad in (None, "01234567", 8, 8.0, True, list(data), object()):
        with refused("invalid_type"):
            work(bad)
    released = memoryview(data)
    released.release()
    with pytest.raises(ValueError, match="released"):
        work(released)


def test_threads_share_a_cipher() -> None:
    blocks = bytes(80_000)
    wanted, found = CIPHER.encrypt_many(blocks), []
    threads = [threading.Thread(target=lambda: found.append(CIPHER.encrypt_many(blocks))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 8
