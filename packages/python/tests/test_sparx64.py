"""Tests the cipher with single blocks, batches, and values that are not blocks."""

from __future__ import annotations

import threading

from polyflake.sparx64 import Sparx64

CIPHER = Sparx64(bytes(range(16)))


def test_single_and_batch_encryption_round_trip_identically() -> None:
    blocks = bytearray(range(80))
    encrypted_blocks = CIPHER.encrypt_many(blocks)
    assert blocks == bytes(range(80)) != encrypted_blocks, "what was given stays as it is"
    assert encrypted_blocks == b"".join(CIPHER.encrypt(blocks[at : at + 8]) for at in range(0, 80, 8))
    assert CIPHER.decrypt_many(encrypted_blocks) == blocks
    assert CIPHER.decrypt(encrypted_blocks[8:16]) == blocks[8:16]


def test_threads_share_a_cipher() -> None:
    blocks = bytes(80_000)
    wanted, found = CIPHER.encrypt_many(blocks), []
    threads = [threading.Thread(target=lambda: found.append(CIPHER.encrypt_many(blocks))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 8
