"""Tests that no fork, signal handler or logging filter blocks the first ID, wherever it interrupts the call.

Each program runs in a process of its own, which is killed after a time limit. A finder for modules marks the moment in
the middle of an import, so the programs do not depend on timing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator

import pytest

from support import REPOSITORY

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

LIMIT_SECONDS = 30


@pytest.fixture
def url() -> Iterator[str]:
    target = REPOSITORY / "target"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as folder:
        yield f"sqlite:{folder}/ids.db?allow=overlayfs&namespace=orders"


#: Defines `during_import`, which calls a function in the middle of the first import of a module, and `in_child`, which
#: returns what a function returns in a forked child.
PRELUDE = """
    import importlib.abc, os, signal, sys, threading, time, warnings
    warnings.simplefilter("ignore", DeprecationWarning)

    class Finder(importlib.abc.MetaPathFinder):
        def __init__(self, name, call):
            self.name, self.call = name, call

        def find_spec(self, name, path, target=None):
            if name == self.name:
                sys.meta_path.remove(self)
                self.call()
            return None

    def during_import(name, call):
        assert name not in sys.modules, name
        sys.meta_path.insert(0, Finder(name, call))

    def in_child(call):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                answer = str(call())
            except BaseException as error:
                answer = f"{type(error).__name__}: {error}"
            os.write(write, answer.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            answer = pipe.read()
        assert os.waitpid(child, 0)[1] == 0, "the child hangs"
        return answer
"""


def run(program: str, **environment: str) -> str:
    code = textwrap.dedent(PRELUDE) + textwrap.dedent(program)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("POLYFLAKE_")}
    try:
        result = subprocess.run(
            [sys.executable, "-c", code],
            env=variables | environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"the program hangs: {error.stderr!r}") from None
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


FORK_PROGRAM = """
    import polyflake
    from polyflake import sno
    if LATE:
        os.environ["POLYFLAKE_LEASE"] = URL
    is_importing = threading.Event()

    def pause():
        is_importing.set()
        time.sleep(0.3)

    during_import(MODULE, pause)
    thread = threading.Thread(target=sno.generate)
    thread.start()
    assert is_importing.wait(10)
    child = in_child(lambda: sno.generate().partition)
    thread.join()
    print([child, str(sno.generate().partition)])
"""


@pytest.mark.parametrize(
    ("module", "is_late"), [("polyflake._lease", True), ("polyflake._lease_stores", True), ("sqlite3.dump", False)]
)
def test_a_child_forked_while_a_thread_imports_gets_its_own_worker_id(url: str, module: str, is_late: bool) -> None:
    program = FORK_PROGRAM.replace("MODULE", repr(module)).replace("LATE", str(is_late)).replace("URL", repr(url))
    if module == "sqlite3.dump":
        # A driver that imports a module, as the drivers of servers do.
        driver = """
            import polyflake._lease_stores as stores
            new_sqlite = stores.SQLite.__init__
            def init(self, *arguments):
                import sqlite3.dump
                new_sqlite(self, *arguments)
            stores.SQLite.__init__ = init
        """
        mark = "    is_importing ="
        program = program.replace(mark, textwrap.indent(textwrap.dedent(driver), "    ") + mark)
    partitions = run(program, **({} if is_late else {"POLYFLAKE_LEASE": url}))
    assert partitions in ("['0', '1']", "['1', '0']")


@pytest.mark.parametrize("format", ["sno", "hotguid", "uuid7"])
@pytest.mark.parametrize("is_leased", [False, True])
def test_children_forked_around_the_first_id_make_ids(url: str, format: str, is_leased: bool) -> None:
    program = f"""
        import polyflake
        from polyflake import {format}
        sys.setswitchinterval(1e-6)
        for delay in (0, 0.0002, 0.001, 0.01, 0.05):
            {format}.set_default_generator(None)
            threads = [threading.Thread(target=lambda: {format}.generate_many(2)) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(delay)
            assert len(in_child({format}.generate)) >= 16
            for thread in threads:
                thread.join()
        print("well")
    """
    assert run(program, **({"POLYFLAKE_LEASE": url} if is_leased else {})) == "well"


def test_a_child_is_not_blocked_by_a_value_that_a_thread_creates() -> None:
    """Calls that need a class for the first time, while another thread keeps the interpreter busy and forks."""
    program = """
        import datetime, polyflake
        from polyflake import hotguid, sno, uuid7
        sys.setswitchinterval(1e-6)

        def work():
            sno.generate().uuid8
            uuid7.generate()
            sno.time_range(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc), 1_800_000_000_000)
            sno.Sno.from_uuid8(sno.generate().uuid8)
            return "made"

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        answers = {in_child(work) for _ in range(10)}
        for thread in threads:
            thread.join()
        print(answers)
    """
    assert run(program) == "{'made'}"


HANDLER_PROGRAM = """
    import polyflake
    from polyflake import PolyflakeError, sno, uuid7
    made, errors = [], []

    def handle(*_):
        try:
            made.append(FORMAT.generate())
        except PolyflakeError as error:
            errors.append(error.code)
        if not is_over:
            signal.setitimer(signal.ITIMER_REAL, 0.0005)

    is_over = False
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.0005)
    for _ in range(5):
        made.append(FORMAT.generate())
        FORMAT.set_default_generator(None)
    is_over = True
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(set(made)) == len(made) >= 5, made
    print(sorted(set(errors)))
"""


@pytest.mark.parametrize("format", ["sno", "uuid7"])
@pytest.mark.parametrize("is_leased", [False, True])
def test_a_signal_handler_can_generate_during_the_first_call(url: str, format: str, is_leased: bool) -> None:
    program = HANDLER_PROGRAM.replace("FORMAT", format)
    assert run(program, **({"POLYFLAKE_LEASE": url} if is_leased else {})) == "[]"


def test_a_signal_handler_that_interrupts_an_import_gets_an_error(url: str) -> None:
    program = f"""
        from polyflake import PolyflakeError, sno
        os.environ["POLYFLAKE_LEASE"] = {url!r}
        errors = []

        def handle(*_):
            try:
                sno.generate()
            except PolyflakeError as error:
                errors.append((error.code, str(error)))

        signal.signal(signal.SIGUSR1, handle)
        during_import("polyflake._lease_stores", lambda: os.kill(os.getpid(), signal.SIGUSR1))
        assert sno.generate().partition == 0
        [[code, message]] = errors
        assert "set POLYFLAKE_LEASE before polyflake is imported" in message, message
        print(code)
    """
    assert run(program) == "lease_unavailable"


def test_a_forking_signal_handler_can_interrupt_the_wait_for_the_first_id(url: str) -> None:
    """The first ID waits, because the worker ID is leased to another process. The child waits for its own lease."""
    program = f"""
        import polyflake
        from polyflake import sno
        limits = {{"wait": 20, "worker_ids": (0, 1)}}
        holders = [polyflake.lease({url!r}, worker_ids=(0, 1)) for _ in range(2)]
        for holder in holders:
            sno.Generator(lease=holder).generate()
        ids = sno.Generator(lease=polyflake.lease({url!r}, lease_seconds=2, **limits))
        started, child = os.getpid(), []

        def handle(*_):
            child.append(os.fork())
            if child[0] == 0:
                signal.alarm(25)
            else:
                for holder in holders:
                    holder.close()

        signal.signal(signal.SIGUSR1, handle)
        threading.Timer(0.5, os.kill, [started, signal.SIGUSR1]).start()
        partition = ids.generate().partition
        if os.getpid() != started:
            os._exit(10 + partition)
        code = os.waitstatus_to_exitcode(os.waitpid(child[0], 0)[1])
        print(sorted([partition, code - 10]))
    """
    assert run(program) == "[0, 1]"


def test_sigterm_can_interrupt_close(url: str) -> None:
    program = f"""
        import polyflake
        from polyflake import sno
        signal.signal(signal.SIGALRM, lambda *_: lease.close())
        for attempt in range(20):
            lease = polyflake.lease({url!r})
            sno.Generator(lease=lease).generate()
            signal.setitimer(signal.ITIMER_REAL, 1e-6 + attempt * 4e-5)
            lease.close()
            signal.setitimer(signal.ITIMER_REAL, 0)
        print("well")
    """
    assert run(program) == "well"


LOGGING_PROGRAM = """
    import logging
    from polyflake import PolyflakeError, sno, uuid7
    errors, made = [], []

    def add_id(record):
        for format in (sno, uuid7):
            try:
                made.append(format.generate())
            except PolyflakeError as error:
                errors.append(error.code)
        return True

    logging.basicConfig(level=logging.INFO, handlers=[logging.StreamHandler(sys.stdout)], format="%(message)s")
    logging.getLogger("polyflake.lease").addFilter(add_id)
    started_at = time.monotonic()
    made.append(sno.generate())
    made.append(uuid7.generate())
    assert time.monotonic() - started_at < 5, "a lease's thread waits for itself"
    assert set(errors) <= {"lease_unavailable"}, errors
    print("well")
"""


def test_a_logging_filter_that_generates_ids_does_not_wait_for_its_own_lease(url: str) -> None:
    assert "well" in run(LOGGING_PROGRAM, POLYFLAKE_LEASE=url).splitlines()
    # The first event is a rejection, so no worker ID is available when the filter runs.
    program = f"""
        import os, tempfile
        import polyflake
        path = {url!r}.removeprefix("sqlite:").partition("?")[0]
        with polyflake.lease({url!r}.replace("orders", "late"), worker_ids=(0, 0)) as holder:
            polyflake.sno.Generator(lease=holder).generate()
            os.environ["POLYFLAKE_LEASE"] = {url!r}.replace("orders", "late&worker_ids=0-0&wait=3")
            import logging
            from polyflake import PolyflakeError, sno
            seconds = []

            def add_id(record):
                started_at = time.monotonic()
                try:
                    sno.generate()
                except PolyflakeError as error:
                    seconds.append((error.code, time.monotonic() - started_at))
                return True

            logging.getLogger("polyflake.lease").addFilter(add_id)
            try:
                sno.generate()
            except PolyflakeError as error:
                print(error.code)
        assert seconds and all(code == "lease_unavailable" and spent < 1 for code, spent in seconds), seconds
    """
    assert run(program) == "lease_unavailable"


def test_a_logging_filter_that_raises_does_not_end_the_lease(url: str) -> None:
    program = """
        import logging
        from polyflake import sno

        def fail(record):
            raise ValueError("of the filter")

        logging.basicConfig(level=logging.INFO)
        logging.getLogger("polyflake.lease").addFilter(fail)
        print(sno.generate().partition)
    """
    assert run(program, POLYFLAKE_LEASE=url) == "0"
