"""Tests that long calls let other threads run."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

import pytest

from polyflake import randflake, sparx64

CIPHER = sparx64.Sparx64(bytes(16))


def make_ids(n: int) -> object:
    grant = randflake.Grant((0, 131071), 1_730_000_000, 2_803_741_824)
    return randflake.Generator(grant, b"a secret of ours").generate_many(n)


def encrypt(n: int) -> object:
    return CIPHER.encrypt_many(bytes(8 * n))


def decrypt(n: int) -> object:
    return CIPHER.decrypt_many(bytes(8 * n))


def calibrate_work(work: Callable[[int], object]) -> int:
    """Returns an amount of work that takes about a fifth of a second, which is much longer than a thread needs to wake
    up."""
    n, elapsed = 1 << 14, 0.0
    while elapsed < 0.2 and n < 1 << 24:
        n *= 2
        start_time = time.monotonic()
        work(n)
        elapsed = time.monotonic() - start_time
    return n


@pytest.mark.parametrize("work", [make_ids, encrypt, decrypt])
def test_a_long_call_lets_other_threads_run(work: Callable[[int], object]) -> None:
    """The interpreter is configured not to switch threads by itself, so this thread continues only if the call releases
    the GIL."""
    n, begun, ended = calibrate_work(work), threading.Event(), []

    def run() -> None:
        begun.set()
        work(n)
        ended.append(time.monotonic())

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=run)
    try:
        sys.setswitchinterval(60)
        thread.start()
        begun.wait()
        resume_time = time.monotonic()
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert resume_time < ended[0]
