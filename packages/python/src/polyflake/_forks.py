"""Keeps this process from forking while another thread imports the modules of a lease, or has an SQLite file open.

The package imports this module when it is imported itself. If the modules of leases registered their own functions,
they could do so while a fork waits for them, and only the second half of these functions would then be called.
"""

from __future__ import annotations

import os
import select
import sys
import time
from _thread import allocate_lock, get_ident

from polyflake._errors import PolyflakeError, build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def pause(seconds: float) -> None:
    """Sleeps for a short time.

    ``time.sleep`` waits until an absolute time. Under libfaketime, it fails with ``EINVAL`` while the clock is far from
    the real time. A wait without files has a relative time-out; Windows does not support it.
    """
    if sys.platform == "win32":
        time.sleep(seconds)
    else:
        select.select((), (), (), seconds)


class _Imports:
    """The imports in progress, for ``with``.

    Python holds a lock for each module that a thread is importing. A child that is forked in the meantime inherits the
    lock, but not the thread, and waits forever when it imports the same module. A lease imports the client of its
    database when the first ID is generated. Therefore a fork waits until other threads have finished such imports, and
    an import waits until other threads have forked. Both wait for at most 10 seconds, because the other thread may
    itself wait for this one.

    The lists are changed without a lock, so a signal handler and a fork may interrupt each method.
    """

    def __init__(self) -> None:
        self.importing: list[int] = []
        self.forking: list[int] = []
        self.is_interrupted = self.is_before_logging = False

    def __enter__(self) -> None:
        if self.is_interrupted:
            reason = "expected a process that was forked while no thread imported the modules of a lease, found another"
            raise build("forked", f"{reason}: import them before the process forks", None, None, None, None, None)
        self.importing.append(get_ident())
        deadline = time.monotonic() + 10
        while _others(self.forking) and time.monotonic() < deadline:
            self.importing.remove(get_ident())
            pause(0.001)
            self.importing.append(get_ident())

    def __exit__(self, *_: object) -> None:
        self.importing.remove(get_ident())

    def before_fork(self) -> None:
        if get_ident() not in self.forking:
            self.forking.append(get_ident())
        deadline = time.monotonic() + 10
        while _others(self.importing) and time.monotonic() < deadline:
            pause(0.001)

    def in_parent(self) -> None:
        self.forking[:] = _others(self.forking)

    def in_child(self) -> None:
        self.is_interrupted |= bool(_others(self.importing))
        # A signal handler may have forked during an import of this thread, which then continues.
        self.importing[:] = [thread for thread in self.importing if thread == get_ident()]
        self.forking.clear()

    def wait_before_logging(self) -> None:
        """Makes a fork wait for imports before it acquires the lock of ``logging``, which an import may need.

        Python calls the functions that run before a fork in the reverse order of their registration.
        """
        if not self.is_before_logging and hasattr(os, "register_at_fork"):
            self.is_before_logging = True
            with self:
                import logging  # noqa: F401
            os.register_at_fork(before=self.before_fork)


def _others(threads: list[int]) -> list[int]:
    return [thread for thread in threads.copy() if thread != get_ident()]


class _SqliteGate:
    """A gate that is open while no SQLite file is open.

    SQLite keeps the locks of a process in memory. A forked child has a copy of that memory, so the child would mistake
    its parent's locks for its own. A fork therefore waits until no file is open, but for at most two seconds. A child
    that was forked while a file was open does not open any file.
    """

    def __init__(self) -> None:
        self.lock, self.is_inherited = allocate_lock(), False
        # The thread that holds the lock in order to fork. Several threads may fork at the same time.
        self.forking_thread: int | None = None

    def enter(self) -> None:
        if self.is_inherited:
            raise OSError("expected a process forked while no SQLite file was open, found an open one")
        if not self.lock.acquire(timeout=5):
            raise OSError("expected the file of another lease to be closed within 5 seconds")

    def before_fork(self) -> None:
        if self.lock.acquire(timeout=2):
            self.forking_thread = get_ident()

    def in_parent(self) -> None:
        if self.forking_thread == get_ident():
            self.forking_thread = None
            self.lock.release()

    def in_child(self) -> None:
        self.is_inherited |= self.forking_thread != get_ident()
        self.lock, self.forking_thread = allocate_lock(), None


imports = _Imports()
sqlite_gate = _SqliteGate()


def _before_fork() -> None:
    imports.before_fork()
    sqlite_gate.before_fork()


def _in_parent() -> None:
    sqlite_gate.in_parent()
    imports.in_parent()


def _in_child() -> None:
    imports.in_child()
    sqlite_gate.in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


def default_lease() -> Any:
    """Returns a new lease that the environment variables configure.

    :raises PolyflakeError: ``lease_unavailable`` if a signal handler has interrupted the import of the lease's module;
        otherwise, the same errors as ``polyflake.lease``.
    """
    imports.wait_before_logging()
    with imports:
        from polyflake import _lease
    if (lease := getattr(_lease, "lease", None)) is None:
        raise _interrupted_import_error()
    return lease()


def _interrupted_import_error() -> PolyflakeError:
    reason = "expected an imported module `polyflake._lease`, found one whose import this signal handler interrupts"
    remedy = "set POLYFLAKE_LEASE before polyflake is imported"
    return build("lease_unavailable", f"{reason}: {remedy}", None, None, None, None, None)
