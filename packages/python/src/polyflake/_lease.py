"""Leases of node numbers. The rules are compiled; the threads, the tasks and the databases' clients are Python's."""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from polyflake._errors import PolyflakeError, build
from polyflake._lease_stores import absolute, driver_of, file_of
from polyflake._polyflake import Keeper, place

__all__ = ["Lease", "LeaseStatus", "lease"]

_LOGGER = logging.getLogger("polyflake.lease")
_CLOSING_SECONDS = 10.0


class LeaseStatus(NamedTuple):
    """The state of a lease at one moment."""

    number: int | None
    """The number that is leased now."""
    end: int | None
    """The end of the lease unless it is renewed, in Unix milliseconds."""
    remaining_ms: int
    """The time until then, in milliseconds."""
    grants: int
    """Number of grants so far."""
    renewals: int
    """Number of renewals so far."""
    failures: int
    """Number of requests that failed so far."""
    refused: dict[str, Any] | None
    """The last refusal, until there is a grant again: ``code``, ``message``, ``until``."""


class Lease:
    """A number that nobody else in a namespace has, leased from a database: a generator's partition, node or machine.

    It is for one generator, whose first ID begins it. It is renewed, replaced by another if it must be, and returned by
    :meth:`close` or at exit. A forked child leases a number of its own at its first ID. Without a store it is the lease
    that the variables ``POLYFLAKE_LEASE`` and ``POLYFLAKE_NODE`` describe.
    """

    def __init__(
        self,
        store: Any = None,
        namespace: str | None = None,
        *,
        schema: str | None = None,
        numbers: tuple[int, int] | None = None,
        prefer: int | None = None,
        insist: int | None = None,
        lease_seconds: float | None = None,
        holder: str | None = None,
        watch: Callable[[dict[str, Any]], object] | None = None,
        wait: float = 10.0,
        sigterm: bool = False,
    ) -> None:
        """A lease, which the first ID of its generator begins.

        :param store: ``"sqlite:PATH"`` or ``"postgres://..."``, with ``?namespace=`` if that is not given; or the
            program's own: a pool of ``psycopg_pool``, a pool of asyncpg, an SQLAlchemy engine, a connecting function.
            No connection is used across a fork, so a child cannot use its parent's pool.
        :param schema: the schema of the tables in PostgreSQL, for a pool, an engine or a function of the program's own:
            ``polyflake`` by default. A URL has it as ``?schema=``.
        :param namespace: the name that all processes of a fleet share. Each family has one of its own, such as
            ``orders/sno``.
        :param numbers: the first and the last number of the namespace; all that the family has by default.
        :param prefer: a number to take if it is free.
        :param insist: the only number to take, whenever it is free.
        :param lease_seconds: the length of a lease: an hour by default.
        :param holder: a name for people; the host and the process by default.
        :param watch: called with each event on the lease's thread, beside the logger ``polyflake.lease``.
        :param wait: the longest wait of a process' first ID, in seconds.
        :param sigterm: true to return the number at SIGTERM, before the handler that was there or the end of the
            process.
        :raises PolyflakeError: ``lease_unavailable`` without a store and a variable; ``out_of_range``, also for an
            empty variable. Each names the remedy, and never the password.
        """
        self._kind, self._allows_overlayfs, create = None, False, None
        if (file := file_of(store)) is not None:
            self._kind, store = "sqlite", file
        elif store is None or isinstance(store, str):
            found = json.loads(place(store, namespace))
            self._kind, store, namespace = found["store"], found["address"], found["namespace"]
            self._allows_overlayfs, create = found["allows_overlayfs"], found["create"]
            insist = found["insist"] if insist is None else insist
            schema = found["schema"] if schema is None else schema
        self._store = absolute(store) if self._kind == "sqlite" else store
        self._wait_seconds, self._watch = wait, watch
        self._settings: dict[str, Any] = {
            "namespace": namespace,
            "schema": schema,
            "create": create,
            "numbers": numbers,
            "prefer": prefer,
            "insist": insist,
            "lease_ms": None if lease_seconds is None else round(lease_seconds * 1000),
            "holder": holder,
        }
        self._bound: Keeper | None = None
        self._pid = self._made_in = os.getpid()
        self._reset()
        _LEASES.add(self)
        if sigterm:
            _handle_sigterm()

    def _reset(self) -> None:
        """Everything of one process: nothing has begun."""
        self._lock = threading.Lock()
        self._wake, self._settled = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None
        self._driver: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: BaseException | None = None
        self._is_of_another_shape = False
        self._number: int | None = None
        self._closed = False

    # For the generator.

    def _bind(self, keeper: Keeper, settings: dict[str, Any]) -> None:
        if self._bound is not None:
            reason = "expected a lease for each generator, found one that has a generator: call `polyflake.lease` again"
            raise _refusal("lease_mismatch", reason)
        self._bound = keeper
        self._settings.update(settings)

    def _wait(self, waited: float | None) -> None:
        """Begins the lease, and waits for a number; or tells a call that has waited whether to go on."""
        self._begin()
        if waited is None and self._thread is None:
            waited = self._wait_seconds  # a task goes on only while this thread does other work
        if waited is None and not self._closed:
            self._settled.wait(self._wait_seconds)
        if self._closed:
            raise _refusal("generator_closed", "generator is closed")
        if self._failure is not None:
            raise self._failure
        is_late = not self._settled.is_set() and (waited is None or waited >= self._wait_seconds)
        if is_late or self._is_of_another_shape:
            raise _refusal("lease_unavailable", *self._reason())

    def _reason(self) -> tuple[str, int | None]:
        """The reason why there is no ID now, and the end of its cause if that is known."""
        reason = json.loads(self._keeper.reason(_wall_ms()))
        hint = "; a lease over a pool of asyncpg begins by `await lease.ready()`" if self._thread is None else ""
        return reason["message"] + hint, reason["until"]

    @property
    def _keeper(self) -> Keeper:
        if self._bound is None:
            raise _refusal(
                "lease_unavailable", "expected the lease of a generator, found none: sno.Generator(lease=...)"
            )
        return self._bound

    # For users.

    @property
    def number(self) -> int | None:
        """The number that is leased now."""
        return self._number

    def status(self) -> LeaseStatus:
        """The state of the lease."""
        if self._pid != os.getpid() or not self._has_begun():
            return LeaseStatus(None, None, 0, 0, 0, 0, None)
        return LeaseStatus(**json.loads(self._keeper.status(_wall_ms())))

    async def ready(self) -> None:
        """Waits for the first number, while the event loop does other work. Raises as a first ID."""
        begun = time.monotonic()
        self._begin()
        while not self._settled.is_set():
            self._wait(time.monotonic() - begun)
            await asyncio.sleep(0.005)
        self._wait(0)

    def close(self) -> None:
        """Ends the generator at once, so that its calls raise ``generator_closed``, and returns the number within 10
        seconds: the store may be away."""
        self._ask_to_close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSING_SECONDS)

    async def aclose(self) -> None:
        """As :meth:`close`, while the event loop does other work."""
        self._ask_to_close()
        end = time.monotonic() + _CLOSING_SECONDS
        while self._is_running() and time.monotonic() < end:
            await asyncio.sleep(0.005)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise _refusal("invalid_type", "expected one lease for a number, found a copy: begin another one")

    def __repr__(self) -> str:
        return f"<Lease of number {self._number} of {self._settings['namespace']}>"

    # The keeping.

    def _has_begun(self) -> bool:
        return self._thread is not None or self._task is not None

    def _is_running(self) -> bool:
        return (self._thread is not None and self._thread.is_alive()) or (
            self._task is not None and not self._task.done()
        )

    def _begin(self) -> None:
        with self._lock:
            if self._has_begun() or self._closed:
                return
            seconds = min(10.0, (self._settings["lease_ms"] or 3_600_000) / 4000)
            self._driver = driver_of(self._kind, self._store, self._made_in, seconds, self._allows_overlayfs)
            settings = {**self._settings, "store": self._driver.kind}
            if settings["holder"] is None:
                settings["holder"] = f"{socket.gethostname()} {os.getpid()}"[:200]
            self._keeper.start(json.dumps({name: value for name, value in settings.items() if value is not None}))
            _close_at_exit()
            if self._driver.is_of_loop:
                self._loop = _running_loop()
                self._task = self._loop.create_task(self._keep_async(), name="polyflake.lease")
                return
            keep = self._keep_in_loop if self._driver.is_async else self._keep
            self._thread = threading.Thread(target=keep, name="polyflake.lease", daemon=True)
            self._thread.start()

    def _ask_to_close(self) -> None:
        if self._pid == os.getpid():
            self._closed = True
            if self._bound is not None:
                self._bound.close()
            self._wake.set()

    def _steps(self) -> Generator[dict[str, Any], Any, None]:
        """The commands that need a client of a database, or time; the answer to each is sent."""
        keeper, is_closing = self._keeper, False
        answer: Any = None
        while True:
            if self._closed and not is_closing:
                is_closing = True
                keeper.close()  # it may have started since
                self._settled.set()  # nobody waits for a number any more
            command = json.loads(keeper.next(_wall_ms(), _elapsed_ms(), os.urandom(128), json.dumps(answer)))
            answer = None
            match command["do"]:
                case "end":
                    return
                case "begin":
                    refused = keeper.begin(command["first"], command["start"], command["end"])
                    if refused is None:
                        self._number = command["first"]
                    else:
                        answer = {"not_begun": refused}
                case "extend":
                    keeper.extend(command["end"])
                case "seal":
                    answer = {"used_until": keeper.seal()}
                    self._number = None
                case "tell":
                    self._tell(command["event"])
                case _:
                    answer = yield command

    def _tell(self, event: dict[str, Any]) -> None:
        if event["name"] in ("acquired", "refused"):
            # A namespace keeps its shape, however long a first ID waits.
            self._is_of_another_shape = event.get("code") == "namespace_mismatch"
            if event["name"] == "acquired" or self._is_of_another_shape:
                self._settled.set()  # the figures know of it by now
        level = logging.WARNING if event["name"] in ("refused", "expired") else logging.INFO
        _LOGGER.log(level, "%s: %s", self._settings["namespace"], event["text"])
        if self._watch is not None:
            try:
                self._watch(event)
            except Exception:
                _LOGGER.exception("%s: the callback of the lease failed", self._settings["namespace"])

    def _keep(self) -> None:
        """The lease, on a thread of its own."""
        driver, steps, answer = self._driver, self._steps(), None
        try:
            while True:
                command = steps.send(answer)
                answer = None
                if command["do"] == "wait":
                    self._wake.wait(command["ms"] / 1000)
                else:
                    answer = driver.do(command)
        except StopIteration:
            pass
        except BaseException as failure:
            self._fail(failure)
        finally:
            driver.close()

    def _keep_in_loop(self) -> None:
        asyncio.run(self._keep_async())

    async def _keep_async(self) -> None:
        """The lease, as a task. A loop that ends cancels it, and it returns the number first."""
        driver, steps, answer = self._driver, self._steps(), None
        try:
            while True:
                command = steps.send(answer)
                answer = None
                try:
                    if command["do"] == "wait":
                        end = time.monotonic() + command["ms"] / 1000
                        while not self._wake.is_set() and (left := end - time.monotonic()) > 0:
                            await asyncio.sleep(min(left, 0.1))
                    else:
                        answer = await driver.do(command)
                except asyncio.CancelledError:
                    if self._closed:
                        raise
                    self._ask_to_close()
                    answer = {"silent": True} if command["do"] == "run" else None
        except StopIteration:
            pass
        except BaseException as failure:
            self._fail(failure)
            raise
        finally:
            await driver.close()

    def _fail(self, failure: BaseException) -> None:
        """Ends the lease by an error that the rules do not know: the generator makes no more IDs."""
        self._keeper.seal()
        self._number, self._failure = None, failure
        self._settled.set()
        _LOGGER.error("%s: the lease ended", self._settings["namespace"], exc_info=failure)

    def _leave(self) -> None:
        """In the child of a fork: nothing of the parent's is used or ended."""
        if self._bound is not None:
            self._bound = self._bound.leave((self._driver, self._thread, self._task))
        closed = self._closed
        self._reset()
        self._closed, self._pid = closed, os.getpid()


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _elapsed_ms() -> int:
    """A clock that counts suspension where there is one."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


def _refusal(code: str, message: str, retry_at: int | None = None) -> PolyflakeError:
    return build(code, message, None, None, retry_at, None, None)


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        reason = "expected a running event loop for asyncpg, found none: call `await lease.ready()` first"
        raise _refusal("lease_unavailable", reason) from None


lease = Lease
Lease.__module__ = LeaseStatus.__module__ = "polyflake"

_LEASES: weakref.WeakSet[Lease] = weakref.WeakSet()
_EXITS: set[int] = set()


def _close_all(*_: object, **__: object) -> None:
    """Returns the numbers of this process."""
    leases = list(_LEASES)
    for one in leases:
        one._ask_to_close()
    end = time.monotonic() + _CLOSING_SECONDS
    for one in leases:
        if one._thread is not None and one._thread is not threading.current_thread():
            one._thread.join(max(0.0, end - time.monotonic()))


def _close_at_exit() -> None:
    """Has the numbers returned at the end of the process, once for each process: children of `multiprocessing`, and
    Celery's, end without `atexit`."""
    if os.getpid() in _EXITS:
        return
    _EXITS.add(os.getpid())
    atexit.unregister(_close_all)
    atexit.register(_close_all)
    for name in ("multiprocessing.util", "billiard.util"):
        if name in sys.modules:
            sys.modules[name].Finalize(None, _close_all, exitpriority=10)
    if "celery.signals" in sys.modules:
        sys.modules["celery.signals"].worker_process_shutdown.connect(_close_all)


def _handle_sigterm() -> None:
    before = signal.getsignal(signal.SIGTERM)
    if before is _at_sigterm:
        return
    global _BEFORE
    _BEFORE = before
    signal.signal(signal.SIGTERM, _at_sigterm)


_BEFORE: Any = signal.SIG_DFL


def _at_sigterm(number: int, frame: Any) -> None:
    _close_all()
    if callable(_BEFORE):
        _BEFORE(number, frame)
    elif _BEFORE == signal.SIG_DFL:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def _after_fork() -> None:
    for one in list(_LEASES):
        one._leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
