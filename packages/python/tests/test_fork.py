"""Tests that a forked child never repeats an ID of its parent or siblings."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from polyflake import PolyflakeError, hotguid, layout, randflake, sno, uuid7
from support import NOW_MS, REPOSITORY, ignore_fork_warnings

pytestmark = [ignore_fork_warnings, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")]


def run_in_child(work: Callable[[], Any]) -> Any:
    """Runs ``work`` in a forked child. Returns its result, or the code of its error."""
    read, write = os.pipe()
    child_pid = os.fork()
    if child_pid == 0:
        try:
            answer = work()
        except PolyflakeError as error:
            answer = error.code
        except BaseException as error:
            answer = f"unexpected: {error!r}"
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = json.load(pipe)
    assert os.waitpid(child_pid, 0)[1] == 0
    return answer


def test_children_forked_before_the_first_id_make_different_ids() -> None:
    """The test process forks before it makes its first ID, like a pre-forking server. All of the processes share one
    table that assigns the partitions.
    """
    program = textwrap.dedent(
        """
        import os
        from polyflake import sno
        pipes = []
        for _ in range(16):
            read, write = os.pipe()
            if os.fork() == 0:
                os.write(write, str(sno.generate().partition).encode())
                os._exit(0)
            os.close(write)
            pipes.append(read)
        drawn = {int(os.read(pipe, 100)) for pipe in pipes} | {sno.generate().partition}
        print(any({first ^ k for k in range(17)} == drawn for first in drawn))
        """
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.strip() == "True", result


GRANT = randflake.Grant(7, 1_730_000_000, 2_803_741_824)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sno.Generator(7),
        lambda: randflake.Generator(GRANT, bytes(16), on_exhausted="wait"),
        lambda: hotguid.Generator(window=(0, 2**32 * 1000)),
        lambda: uuid7.Generator(7),
        lambda: uuid7.Generator(window=(0, 2**32 * 1000)),
        lambda: layout.Generator(layout.Layout.preset("instagram", shard=1)),
    ],
    ids=["sno", "randflake", "hotguid", "uuid7", "uuid7 with a window", "layout"],
)
def test_a_child_rejects_explicitly_configured_generators(make: Callable[[], Any]) -> None:
    generator = make()
    generator.generate()
    calls: list[Callable[[Any], Any]] = [
        lambda ids: ids.generate(),
        lambda ids: ids.generate_many(5),
        *([lambda ids: ids.generate_text()] if hasattr(generator, "generate_text") else []),
        *([lambda ids: ids.generate_at(NOW_MS)] if hasattr(generator, "generate_at") else []),
    ]
    if not isinstance(generator, hotguid.Generator):  # Hot Guid's `close` returns `None`
        calls.append(lambda ids: ids.close())
    for call in calls:
        assert run_in_child(lambda call=call: str(call(generator))) == "forked"
    assert run_in_child(lambda: str(make().generate())) != "forked", "a child may have one of its own"
    assert generator.generate()


def _make_in_child(_: int) -> list[str]:
    return [str(sno.generate()) for _ in range(1000)]


def test_hundreds_of_forks_never_repeat_an_id() -> None:
    """Runs ``cargo xtask forks`` briefly, with all formats, children and grandchildren."""
    program = [sys.executable, str(REPOSITORY / "tests/forks/forks.py"), "--forks", "200"]
    result = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert result.stdout.startswith("221 processes, 221112 IDs: none twice"), result


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_process_pools_never_repeat_an_id(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        id_texts = [text for texts in pool.map(_make_in_child, range(8)) for text in texts]
    assert len(set(id_texts)) == 8000


@pytest.mark.parametrize("call", ["generate_many", "fill"])
@pytest.mark.parametrize("given", [False, True], ids=["default", "given"])
def test_a_signal_handler_can_fork_while_a_batch_waits(given: bool, call: str) -> None:
    """The child has a copy of the IDs that its parent has written so far. It must start the batch again, or fail
    without writing any IDs."""
    program = textwrap.dedent(
        """
        import os, signal, sys, tempfile
        from polyflake import PolyflakeError, sno

        # Each tick provides so few IDs that the batch has to wait, even on a slow machine.
        ids = sno.Generator(7 if sys.argv[1] == "given" else None, sequence_min=0, sequence_max=9999)
        forks = []

        def fork(*_):
            forks.append(os.fork())

        signal.signal(signal.SIGALRM, fork)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        where = os.path.join(sys.argv[2], "child")
        try:
            if sys.argv[3] == "fill":
                made = bytearray(8_000_000)
                ids.fill(made)
            else:
                made = bytes(memoryview(ids.generate_many(800_000)).cast("B"))
            said = b""
        except PolyflakeError as error:
            made, said = b"", f"{error.code} {error.written}".encode()
        assert len(forks) == 1
        if forks[0] == 0:
            with open(where, "wb") as file:
                file.write(said or made)
            os._exit(0)
        os.waitpid(forks[0], 0)
        with open(where, "rb") as file:
            child = file.read()
        if sys.argv[1] == "given":
            assert child == b"forked 0", child[:20]
            assert len(made) == 8_000_000
        else:
            ours, theirs = ({bytes(ids[at : at + 10]) for at in range(0, len(ids), 10)} for ids in (made, child))
            both = ours & theirs
            assert len(made) == len(child) == 8_000_000 and not both, len(both)
        print("well")
        """
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-c", program, "given" if given else "default", folder, call]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == "well", result.stderr
