"""Tests misbehaving clocks, waits and signals."""

from __future__ import annotations

import decimal
import gc
import mmap
import os
import platform
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from families import FAMILIES, Family, each_family, is_unused
from polyflake import PolyflakeError, layout, sno
from support import NOW_MS, NOW_NS, TICK_NS, raises_code

HAS_COUNTER = sys.platform == "linux" and platform.machine() in {"x86_64", "aarch64"}


class Clock:
    """A clock that returns its current value, or raises it if it is an exception."""

    def __init__(self, reading: Any = NOW_NS) -> None:
        self.reading = reading

    def __call__(self) -> Any:
        if isinstance(self.reading, BaseException):
            raise self.reading
        return self.reading


def make_generator(clock: Callable[[], Any], **options: Any) -> sno.Generator:
    return sno.Generator(1, test_clock=clock, **options)


CALLS: list[Callable[[sno.Generator], object]] = [
    lambda g: g.generate(),
    lambda g: g.generate_text(),
    lambda g: g.generate_many(3),
    lambda g: g.stats(),
]

#: Constructors for generators of each format, and every call that reads the clock.
READERS: list[Any] = [
    pytest.param(family.make, call, id=f"{name} {k}")
    for name, family in FAMILIES.items()
    for k, call in enumerate(CALLS)
    if "layout" not in name or k != 1  # a layout's IDs have no string form
    if name == "sno" or k != 3  # the other formats' statistics need no clock
]

each_reader = pytest.mark.parametrize(("make", "call"), READERS)


@each_reader
@pytest.mark.parametrize("raised", [ZeroDivisionError("no"), OSError(5, "no"), StopIteration(), RecursionError()])
def test_a_clocks_exception_becomes_the_cause(make: Any, call: Callable[[Any], object], raised: Exception) -> None:
    clock = Clock(raised)
    ids = make(test_clock=clock)
    with raises_code("clock_failed") as caught:
        call(ids)
    assert caught.value.__cause__ is raised
    assert_recovers(ids, clock)


@each_reader
@pytest.mark.parametrize("through", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_base_exceptions_propagate(make: Any, call: Callable[[Any], object], through: Any) -> None:
    clock = Clock(through())
    ids = make(test_clock=clock)
    with pytest.raises(through):
        call(ids)
    assert_recovers(ids, clock)


@each_reader
def test_a_reading_must_be_a_64_bit_integer(make: Any, call: Callable[[Any], object]) -> None:
    for reading in (None, True, float(NOW_NS), float("nan"), "now", decimal.Decimal(NOW_NS), b"", [], object()):
        clock = Clock(reading)
        ids = make(test_clock=clock)
        with raises_code("clock_failed") as caught:
            call(ids)
        assert isinstance(caught.value.__cause__, TypeError)
        assert_recovers(ids, clock)
    for reading in (2**63, -(2**63) - 1, 2**64, 2**127, 2**128, -(2**200), 10**10_000):
        with raises_code("time_out_of_range"):
            call(make(test_clock=Clock(reading)))


def assert_recovers(ids: Any, clock: Clock) -> None:
    """Asserts that the generator has not made an ID yet, and that it makes an ID once the clock returns a valid
    time.
    """
    clock.reading = NOW_NS
    assert is_unused(ids)
    assert ids.generate()


def failing_clock(ends: int, raised: BaseException) -> Callable[[], int]:
    """Returns a clock that advances by one tick per reading. After ``ends`` readings, the clock raises ``raised``."""
    readings = iter(range(ends))

    def clock() -> int:
        reading = next(readings, None)
        if reading is None:
            raise raised
        return NOW_NS + reading * TICK_NS

    return clock


def test_a_failed_fill_reports_the_cause_and_the_count() -> None:
    raised, buffer = OSError(5, "no"), bytearray(1000)
    ids = make_generator(failing_clock(3, raised), sequence_min=0, sequence_max=7)
    with raises_code("clock_failed", written=24) as caught:
        ids.fill(buffer)
    assert caught.value.__cause__ is raised
    written_ids = sno.SnoArray(bytes(buffer[:240]))
    assert len(set(written_ids)) == 24 and not any(buffer[240:])


@each_family
def test_each_thread_gets_its_own_clocks_exception(family: Family) -> None:
    barrier = threading.Barrier(4)
    causes: dict[int, bool] = {}

    def run(number: int) -> None:
        raised = OSError(number, "no")
        ids = family.make(test_clock=Clock(raised))
        barrier.wait()
        is_same = True
        for _ in range(200):
            with raises_code("clock_failed") as caught:
                ids.generate()
            is_same &= caught.value.__cause__ is raised
        causes[number] = is_same

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert causes == dict.fromkeys(range(4), True)


@each_family
def test_a_clocks_exception_is_garbage_collected(family: Family) -> None:
    class Failure(Exception):
        """An exception that supports weak references, unlike built-in ones."""

    def raise_failure() -> weakref.ref[Failure]:
        raised = Failure()
        with raises_code("clock_failed"):
            family.make(test_clock=Clock(raised)).generate()
        return weakref.ref(raised)

    failure_ref = raise_failure()
    gc.collect()
    assert failure_ref() is None


def test_a_reading_outside_the_format_is_reported_in_nanoseconds() -> None:
    """The clock returns milliseconds by mistake. A message that stated the range in milliseconds would not explain the
    error, because that range contains the reading.
    """
    with raises_code("time_out_of_range", field="clock") as caught:
        make_generator(Clock(NOW_MS)).generate()
    limits = "from 1262304000000000000 to 3461327255551999999 ns"
    assert str(caught.value) == f"expected clock {limits}, found {NOW_MS}"


def test_integer_like_readings_are_accepted() -> None:
    for reading in (np.int64(NOW_NS), np.uint64(NOW_NS)):
        assert make_generator(Clock(reading)).generate().unix_ms == NOW_MS
    assert abs(sno.Generator(1, clock=time.time_ns).generate().unix_ms - time.time() * 1000) < 60_000


def test_a_handled_error_inside_a_clock_does_not_propagate() -> None:
    inner_clock = Clock(ValueError("inner"))

    def clock() -> int:
        with raises_code("clock_failed"):
            make_generator(inner_clock).generate()
        return NOW_NS

    assert make_generator(clock).generate().unix_ms == NOW_MS


@each_family
def test_an_infinitely_recursive_clock_is_stopped(family: Family) -> None:
    """The package's own limit stops the recursion long before the thread's stack overflows. Python's recursion limit
    does not suffice, because it ignores the stack's size.
    """
    limit, size = sys.getrecursionlimit(), threading.stack_size(1 << 20)
    calls: list[int] = []
    codes: list[str] = []

    def clock() -> int:
        calls.append(1)
        ids.generate()
        return NOW_NS

    def run() -> None:
        with raises_code("clock_failed") as caught:
            ids.generate()
        codes.append(caught.value.code)

    ids = family.make(test_clock=clock)
    try:
        sys.setrecursionlimit(1_000_000)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    assert (len(calls), codes) == (64, ["clock_failed"])


@each_family
def test_clocks_can_nest_64_levels_deep(family: Family) -> None:
    def nested_generator(below: int) -> Any:
        if below == 0:
            return family.make(test_clock=lambda: NOW_NS)
        inner_generator = nested_generator(below - 1)
        return family.make(test_clock=lambda: inner_generator.generate() and NOW_NS)

    for _ in range(2):
        assert nested_generator(63).generate()
    with raises_code("clock_failed"):
        nested_generator(64).generate()


def slow_clock() -> Callable[[], int]:
    """Returns a clock that advances, but never reaches the next tick."""
    return iter(range(NOW_NS, NOW_NS + TICK_NS)).__next__


def test_a_wait_lasts_up_to_max_wait() -> None:
    for clock, wait in ((Clock(), 0), (Clock(), 300), (slow_clock(), 50)):
        ids = make_generator(clock, sequence_max=3, max_wait=wait)
        start_time = time.monotonic()
        with raises_code("sequence_exhausted", retry_at=NOW_MS + 4, written=4):
            ids.generate_many(5)
        assert wait / 1000 <= time.monotonic() - start_time < 30


@contextmanager
def alarm(seconds: float, raised: BaseException) -> Iterator[None]:
    def handle(*_: object) -> None:
        raise raised

    previous_handler = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm signal here")
@pytest.mark.parametrize("raised", [KeyboardInterrupt(), TimeoutError("too long")], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda ids: ids.generate(),
        lambda ids: ids.generate_many(1000),
        lambda ids: ids.fill(bytearray(10_000)),
    ],
    ids=["one", "many", "fill"],
)
def test_a_signal_ends_a_wait(raised: BaseException, call: Callable[[sno.Generator], object]) -> None:
    # The clock is a C function. No Python code runs during the wait, so only the wait itself can notice the signal.
    ids = make_generator(slow_clock(), sequence_max=3, max_wait=60_000)
    ids.generate_many(4)
    start_time = time.monotonic()
    with pytest.raises(type(raised)) as caught, alarm(0.05, raised):
        call(ids)
    assert caught.value is raised
    assert time.monotonic() - start_time < 30
    assert ids.stats().len == 4


#: A layout with such a wide sequence that a batch never has to wait for the next tick.
WIDE_SEQUENCE_LAYOUT = layout.Layout(
    {
        "id": "bytes",
        "bits": 128,
        "fields": [
            {"kind": "timestamp", "bits": 24, "tick": "3600s", "epoch_ms": 0},
            {"kind": "unused", "bits": 64},
            {"kind": "sequence", "bits": 40},
        ],
    }
)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm signal here")
@pytest.mark.parametrize(
    "call",
    [
        lambda ids, _: ids.generate_many(1 << 24),
        lambda ids, _: ids.try_generate_many(1 << 24),
        lambda ids, buffer: ids.fill(buffer),
    ],
    ids=["many", "try many", "fill"],
)
def test_a_signal_ends_a_batch_that_never_waits(call: Callable[[layout.Generator, memoryview], object]) -> None:
    # Generating the batch takes much longer than the interval between signal checks. The interrupt leaves most of the
    # mapped memory untouched.
    ids, buffer = layout.Generator(WIDE_SEQUENCE_LAYOUT, test_clock=time.time_ns), memoryview(mmap.mmap(-1, 1 << 31))
    with pytest.raises(TimeoutError), alarm(0.001, TimeoutError("too long")):
        call(ids, buffer)
    id_count = ids.stats().len
    assert 0 < id_count < 1 << 24
    assert WIDE_SEQUENCE_LAYOUT.parse(ids.generate()).sequence == id_count


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm signal here")
def test_a_signal_whose_handler_returns_does_not_end_a_wait() -> None:
    rung: list[int] = []
    previous_handler = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        ids = make_generator(slow_clock(), sequence_max=3, max_wait=300)
        ids.generate_many(4)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with raises_code("sequence_exhausted"):
            ids.generate()
    finally:
        signal.signal(signal.SIGALRM, previous_handler)
    assert rung == [1]


def test_a_wait_lets_other_threads_run() -> None:
    """The interpreter is configured not to switch threads by itself, so this thread continues only if the wait releases
    the GIL."""
    ids = make_generator(slow_clock(), sequence_max=3, max_wait=5_000)
    ids.generate_many(4)
    waiting, codes = threading.Event(), []

    def wait() -> None:
        waiting.set()
        try:
            ids.generate()
        except PolyflakeError as error:
            codes.append(error.code)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=wait)
    try:
        sys.setswitchinterval(60)
        thread.start()
        waiting.wait()
        time.sleep(0.02)
        assert codes == [], "this thread ran while the other one waited"
        ids.close()
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert codes == ["generator_closed"]


@pytest.mark.parametrize("call", ["ids.generate()", "ids.generate_many(100)", "ids.fill(bytearray(1000))"])
def test_the_interpreter_exits_while_a_thread_waits(call: str) -> None:
    program = textwrap.dedent(
        f"""
        import threading
        from polyflake import sno
        clock = iter(range({NOW_NS}, {NOW_NS} + {TICK_NS})).__next__
        ids = sno.Generator(1, sequence_max=3, test_clock=clock, max_wait=600_000)
        ids.generate_many(4)
        threading.Thread(target=lambda: {call}, daemon=True).start()
        print("bye")
        """
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "bye\n", "")


def test_ids_can_be_made_until_the_interpreter_exits() -> None:
    """Covers exit functions, objects and clocks that are deleted late during shutdown, and columns that Arrow still
    references.
    """
    program = textwrap.dedent(
        """
        import atexit, builtins, time
        import pyarrow
        from polyflake import hotguid, sno

        class Last:
            def __init__(self, first):
                own = [sno.Generator(first, test_clock=time.time_ns), sno.Generator(first + 1)]
                self.generators = [*own, hotguid.Generator()]
            def __del__(self):
                assert all(generator.generate_text() for generator in self.generators)
                assert all(len(generator.generate_many(9)) for generator in self.generators)

        builtins.last = last = Last(1)
        last.itself = last
        builtins.second = Last(3)
        builtins.arrow = pyarrow.array(sno.Generator(5).generate_many(5))
        builtins.capsules = sno.Generator(6).generate_many(5).text_column().__arrow_c_array__()
        atexit.register(last.generators[0].generate)
        atexit.register(sno.generate)
        print("bye")
        """
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "bye\n", "")


@pytest.mark.parametrize("choice", ["exact", "counter", "another word"])
def test_the_environment_selects_the_clock_source(choice: str) -> None:
    code = "import polyflake; polyflake.sno.generate(); print(polyflake.clock_source())"
    environment = {**os.environ, "POLYFLAKE_CLOCK": choice}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    expected = {"exact": {"system_call"}, "counter": {"counter"} if HAS_COUNTER else {"system_call"}}
    assert result.stdout.strip() in expected.get(choice, {"counter", "system_call"})
