"""Tests generators during interpreter shutdown. Each call must return IDs or raise a typed error, and never panic."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def run(program: str) -> tuple[int, str, str]:
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120
    )
    return result.returncode, result.stdout, result.stderr


CALLS = {
    "generate": "generator.generate()",
    "generate_many": "generator.generate_many(70_000)",
    "close": "generator.close()",
    "error": "print_error(generator)",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    "clock", ["", ", test_clock=clock", ", test_clock=broken", ", test_clock=clock, on_stall=told"]
)
def test_a_generator_deleted_at_shutdown_works_or_raises(call: str, clock: str) -> None:
    """The result must not depend on earlier calls, so the program makes no calls before shutdown."""
    returned, said, errors = run(
        f"""
        import builtins, time
        from polyflake import PolyflakeError, sno

        def clock(now=time.time_ns):
            return now()

        def told(stall):
            pass

        def broken():
            raise ZeroDivisionError

        def print_error(generator):
            try:
                generator.generate(256)
            except Exception as error:
                print(type(error).__name__, error.code)

        class Last:
            def __init__(self):
                self.generator = sno.Generator(1{clock})
            def __del__(self, error=PolyflakeError, print=print, print_error=print_error):
                generator = self.generator
                try:
                    {call}
                except error as error:
                    print(error.code)
                print("done")

        builtins.last = last = Last()
        last.itself = last
        """
    )
    assert (returned, errors) == (0, "")
    answers = {"print_error(generator)": "OutOfRangeError out_of_range\n"}
    clock_fails = "broken" in clock and "print_error" not in call and "close" not in call
    expected = answers.get(call, "clock_failed\n" if clock_fails else "")
    assert said == expected + "done\n"


@pytest.mark.parametrize("inside", ["clock", "on_stall"])
@pytest.mark.parametrize("does", ["time.sleep(0.001)", "sum(range(1000))", "threading.Event().wait(1)"])
def test_a_daemon_thread_in_a_callable_does_not_crash_the_exit(inside: str, does: str) -> None:
    """At exit, CPython before 3.14 ends a daemon thread by unwinding its stack, regardless of what the thread is
    executing.
    """
    returned, said, errors = run(
        f"""
        import threading, time
        from polyflake import sno

        begun = threading.Event()

        def busy():
            begun.set()
            while True:
                {does}

        def clock():
            if {inside == "clock"}:
                busy()
            return 1_800_000_000_000_000_000

        def on_stall(stall):
            busy()

        generator = sno.Generator(1, sequence_max=3, test_clock=clock, on_stall=on_stall)
        threading.Thread(target=lambda: generator.generate_many(100), daemon=True).start()
        begun.wait()
        print("bye")
        """
    )
    assert (returned, said, errors) == (0, "bye\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the process's memory from /proc")
def test_a_long_string_is_rejected_without_encoding_it() -> None:
    """If the package borrowed the string's UTF-8 form from Python, that form would stay in memory as long as the string
    exists.
    """
    returned, said, errors = run(
        """
        import resource, sys
        from polyflake import PolyflakeError, hotguid, layout, randflake, sno, uuid7

        text = "\\N{LATIN SMALL LETTER E WITH ACUTE}" * (1 << 25)
        size, most = sys.getsizeof(text), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for read in (
            sno.Sno, sno.metabyte, sno.from_json_value, randflake.decode_text, hotguid.parse, uuid7.parse,
            lambda text: sno.SnoArray.from_texts([text]), lambda text: randflake.RandflakeArray.from_texts([text]),
        ):
            try:
                read(text)
            except PolyflakeError as error:
                assert error.code == "invalid_length", error.code
                assert str(1 << 25) in str(error), error
            else:
                raise AssertionError(read)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 1 << 12
        for read in (
            layout.Layout.from_json, layout.Layout.preset, sno.Snapshot.from_json,
            lambda text: sno.Generator(on_exhausted=text),
            lambda text: layout.Layout.preset("instagram").pack(bindables={text: 1}),
            lambda text: layout.Layout.preset("instagram").pack(bindables={"shard": text}),
        ):
            try:
                read(text)
            except PolyflakeError:
                pass
            else:
                raise AssertionError(read)
        assert sys.getsizeof(text) == size
        print("well")
        """
    )
    assert (returned, said, errors) == (0, "well\n", "")
