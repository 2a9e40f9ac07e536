"""Runs an adapter's generator as the environment variables specify, and prints the IDs in chunks in the format of
`src/chunk.rs`.

Usage: `python host.py ADAPTER`. The adapter is a module that defines `generator(worker)`, which returns a function that
returns an ID. This file is the Python counterpart of the Rust host in `src/host`.
"""

import ctypes
import os
import re
import runpy
import select
import sys
import threading
import time
from collections.abc import Callable

IdMaker = Callable[[], object]

SHAPE = os.environ["STORM_SHAPE"]
WIDTH, IDS, WORKER = (int(os.environ[f"STORM_{name}"]) for name in ("WIDTH", "IDS", "WORKER"))
PAUSE = int(os.environ["STORM_PAUSE_US"]) / 1e6
SHOULD_RENEW = bool(os.environ["STORM_RENEW"])

CHUNK_SIZE = 50
# Delay in seconds after which all copies start to generate IDs at the same time.
START_DELAY = 0.02
MAX_LINE_LENGTH = 4096
# The numbers of failed calls after which a thread gives up. The first limit applies until the thread has generated an
# ID, and the second limit applies afterward.
RETRY_LIMITS = (20, 3000)

MADV_KEEPONFORK = 19
SYS_CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
SIGCHLD, CLONE_NEWPID = 17, 0x2000_0000
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def sleep(seconds: float) -> None:
    """Sleeps for the given time. Python's `sleep` does not work under libfaketime, because libfaketime changes the time
    at which the sleep ends.
    """
    select.select([], [], [], seconds)


def write_line(text: str) -> None:
    """Writes a line in one system call, so that the lines of several processes never mix."""
    os.write(1, text.replace("\n", " ").encode()[: MAX_LINE_LENGTH - 1] + b"\n")


def generate(copy: int, thread: int, make: IdMaker, count: int, start: float) -> None:
    """Generates the IDs of one thread. In a copy, each chunk has a scheduled start time, so that all copies generate
    IDs at the same times.
    """
    done_count = failed_count = 0
    while done_count < count and failed_count < RETRY_LIMITS[done_count > 0]:
        sleep(max(0, start - time.monotonic()))
        start = (time.monotonic() if SHAPE == "plain" else start) + PAUSE
        ids: list[str] = []
        error = None
        line_length = 0
        begin, wall_begin = time.monotonic_ns(), time.time_ns()
        try:
            while len(ids) < min(CHUNK_SIZE, count - done_count) and line_length < MAX_LINE_LENGTH - 200:
                ids.append(str(make()))
                line_length += len(ids[-1]) + 1
        except Exception as found:
            error = found
        end, wall_end = time.monotonic_ns(), time.time_ns()
        if ids:
            write_line(f"# {copy} {thread} {begin} {end} {wall_begin} {wall_end} {' '.join(ids)}")
        done_count += len(ids)
        if error is not None:
            failed_count += 1
            write_line(f"! {type(error).__name__}: {getattr(error, 'code', error)}")
            sleep(0.001)


def mappings() -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Returns the memory mappings that the kernel wipes in a forked child, and the mappings that a forked child shares.
    Each mapping is a start address and a length.
    """
    wiped, shared, last_mapping = [], [], (0, 0)
    with open("/proc/self/smaps") as lines:
        for words in map(str.split, lines):
            if ends := re.fullmatch(r"([0-9a-f]+)-([0-9a-f]+)", words[0]):
                start, end = (int(text, 16) for text in ends.groups())
                last_mapping = (start, end - start)
                if words[1].startswith("rw") and words[1].endswith("s"):
                    shared.append(last_mapping)
            elif words[0] == "VmFlags:" and "wf" in words:
                wiped.append(last_mapping)
    return wiped, shared


def clone_image() -> int:
    """Creates a copy of this process that imitates a restored memory image, as `src/host/copies.rs` describes."""
    wiped, shared = mappings()
    for start, size in wiped:
        assert libc.madvise(start, size, MADV_KEEPONFORK) == 0
    saved_mappings = [(start, ctypes.string_at(start, size)) for start, size in shared]
    copy_pid = int(libc.syscall(SYS_CLONE, SIGCHLD | CLONE_NEWPID, 0, 0, 0, 0))
    assert copy_pid >= 0, os.strerror(ctypes.get_errno())
    for start, content in saved_mappings if copy_pid == 0 else []:
        # The protection 3 is PROT_READ | PROT_WRITE. The flags 0x32 are MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED.
        assert libc.mmap(start, len(content), 3, 0x32, -1, 0) == start
        ctypes.memmove(start, content, len(content))
    return copy_pid


def run_copies(new: Callable[[int], IdMaker], make: IdMaker) -> None:
    """Creates copies of this process that generate IDs. This process also generates IDs, unless its only purpose is to
    be forked.
    """
    ways: dict[str, Callable[[], int]] = {"raw-fork": libc._Fork, "image": clone_image}
    create = ways.get(SHAPE, os.fork)
    is_server = SHAPE == "prefork"
    if not is_server:
        generate(0, 0, make, CHUNK_SIZE, 0)
    start = time.monotonic() + START_DELAY
    for copy in range(1, WIDTH + 1):
        if create() == 0:
            # A copied image cannot detect that it is a copy, so it keeps using the original generator.
            copy_make = new(WORKER + copy) if SHOULD_RENEW and SHAPE != "image" else make
            generate(copy, 0, copy_make, IDS, start)
            os._exit(0)
    if not is_server:
        generate(0, 0, make, IDS, start)
    for _ in range(WIDTH):
        assert os.wait()[1] == 0, "a copy failed"


def main() -> None:
    if "FAKETIME_TIMESTAMP_FILE" in os.environ:
        vars(time)["sleep"] = sleep
    new: Callable[[int], IdMaker] = runpy.run_path(sys.argv[1])["generator"]
    write_line("?")
    sys.stdin.readline()
    make = new(WORKER)
    if SHAPE == "plain":
        generate(0, 0, make, IDS, time.monotonic())
    elif SHAPE == "threads":
        arguments = [(0, thread, make, IDS, time.monotonic()) for thread in range(WIDTH)]
        threads = [threading.Thread(target=generate, args=of_one) for of_one in arguments]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        run_copies(new, make)
    write_line(".")
    os._exit(0)


main()
