"""Tests a process that was restored from an image of its memory. Each test runs in a separate process, because
reporting a restore affects all generators of the process.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import polyflake


def run(code: str, *path: Path) -> None:
    import_paths = [str(place) for place in (*path, Path(polyflake.__file__).parents[1])]
    lines = [f"import sys; sys.path[:0] = {import_paths!r}", textwrap.dedent(code)]
    result = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")


def test_default_worker_ids_are_assigned_anew_and_explicit_ones_are_rejected() -> None:
    run("""
        import polyflake
        from polyflake import hotguid, sno, uuid7

        machine = lambda: hotguid.parts(hotguid.generate()).machine
        partition = lambda: sno.generate().partition
        explicit = sno.Generator(partition=7), uuid7.Generator(7)
        before = machine(), partition()
        for ids in explicit:
            ids.generate()
        assert polyflake.after_restore() is None
        after = machine(), partition()
        assert before[0] != after[0] and before[1] != after[1] and after == (machine(), partition())
        for ids in explicit:
            try:
                ids.generate()
            except polyflake.StateError as error:
                assert error.code == "forked"
            else:
                raise AssertionError("expected an error")
        assert sno.Generator(partition=8).generate().partition == 8
        assert uuid7.worker_id(uuid7.Generator(8).generate()) == 8
    """)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_signal_after_a_restore_reports_it() -> None:
    run("""
        import os
        import signal
        import polyflake
        from polyflake import sno

        signal.signal(signal.SIGUSR1, lambda *_: polyflake.after_restore())
        before = sno.generate().partition
        os.kill(os.getpid(), signal.SIGUSR1)
        assert sno.generate().partition != before
    """)


def test_restores_are_watched_or_the_error_states_the_reason() -> None:
    run("""
        import polyflake

        for _ in range(2):
            try:
                assert polyflake.watch_restores() is None
            except polyflake.StateError as error:
                assert error.code == "watch_unavailable" and "found" in str(error)
    """)


def test_snapstart_calls_after_restore_automatically(tmp_path: Path) -> None:
    (tmp_path / "snapshot_restore_py.py").write_text(
        "called = []\ndef register_after_restore(function, *args, **kwargs): called.append((function, args, kwargs))\n"
    )
    run(
        """
        import polyflake
        import snapshot_restore_py

        assert snapshot_restore_py.called == [(polyflake.after_restore, (), {})]
        assert "register_after_restore" not in vars(polyflake)
        """,
        tmp_path,
    )


def test_a_restore_replaces_the_lease(tmp_path: Path) -> None:
    run(f"""
        import time
        import polyflake
        from polyflake import sno

        lease = polyflake.lease({f"sqlite:{tmp_path}/ids.db?allow=overlayfs"!r}, namespace="orders")
        ids = sno.Generator(lease=lease)
        before, made = lease.worker_id or (ids.generate(), lease.worker_id)[1], {{ids.generate() for _ in range(1000)}}
        polyflake.after_restore()
        end = time.monotonic() + 30
        while True:
            try:
                made.add(ids.generate())
                break
            except polyflake.PolyflakeError as error:
                assert error.code == "lease_unavailable" and time.monotonic() < end, error
        made.update(ids.generate() for _ in range(1000))
        assert lease.worker_id != before and len(made) == 2001, (lease.worker_id, before, len(made))
    """)


#: Reports a restore in one of two ways: by a call, and as the kernel does, which wakes no lease.
REPORTS = {"call": "polyflake.after_restore()", "kernel": "report_restore()"}


@pytest.mark.parametrize("report", REPORTS)
def test_the_first_id_after_a_restore_waits_like_the_first_id_of_a_process(report: str, tmp_path: Path) -> None:
    run(f"""
        import asyncio
        import time
        import polyflake
        from polyflake import _lease, sno

        def report_restore():
            wake_all, _lease._wake_all = _lease._wake_all, lambda: None
            polyflake.after_restore()
            _lease._wake_all = wake_all

        lease = polyflake.lease({f"sqlite:{tmp_path}/ids.db?allow=overlayfs"!r}, namespace="orders")
        ids = sno.Generator(lease=lease)
        calls = [
            lambda: ids.generate(),
            lambda: ids.generate_many(3)[2],
            lambda: asyncio.run(ids.generate_async()),
            lambda: sno.Sno(ids.generate_text()),
        ]
        partitions = [ids.generate().partition]
        for call in calls:
            {REPORTS[report]}
            started_at = time.monotonic()
            partitions.append(call().partition)
            assert time.monotonic() - started_at < 5
            assert lease.worker_id == partitions[-1] and lease.ready() == partitions[-1]
        assert len(set(partitions)) == 5, partitions
    """)


def test_messages_after_a_restore_name_the_restore(tmp_path: Path) -> None:
    run(f"""
        import polyflake
        from polyflake import PolyflakeError, _lease, sno, uuid7

        def message(call):
            try:
                call()
            except PolyflakeError as error:
                return error.code, str(error)

        url = {f"sqlite:{tmp_path}/ids.db?allow=overlayfs"!r}
        ids = sno.Generator(lease=polyflake.lease(url, namespace="orders"))
        ids.generate()
        explicit = [sno.Generator(7), uuid7.Generator(7), uuid7.Generator(window=(0, 2**32 * 1000))]
        _lease._wake_all = lambda: None
        polyflake.after_restore()
        code, said = message(ids.try_generate)
        assert code == "lease_unavailable" and ", since the process was restored: " in said, said
        for generator in explicit:
            for call in (generator.generate, lambda: generator.generate_many(2)):
                assert message(call) == ("forked", "generator was created before the process was restored")
    """)


LATE_LEASE_PROGRAM = """
    import os
    import time
    import polyflake
    from polyflake import sno

    ids = sno.Generator(lease=polyflake.lease(URL, namespace="orders"))
    if FORKS and os.fork() != 0:
        raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
    polyflake.after_restore()
    end, made = time.monotonic() + 20, None
    while made is None:
        try:
            made = ids.generate()
        except polyflake.PolyflakeError as error:
            assert error.code == "lease_unavailable" and time.monotonic() < end, error
"""


@pytest.mark.parametrize(
    "forks", [False, pytest.param(True, marks=pytest.mark.skipif(sys.platform == "win32", reason="no forks"))]
)
def test_a_lease_can_begin_after_a_restore(forks: bool, tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/ids.db?allow=overlayfs"
    run(textwrap.dedent(LATE_LEASE_PROGRAM).replace("URL", repr(url)).replace("FORKS", repr(forks)))
