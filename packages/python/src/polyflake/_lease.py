"""Leases of worker IDs.

The rules of leases are compiled code that all languages share: a state machine (``Keeper``) that returns commands in
JSON, such as "run these statements" or "wait for 250 ms", and accepts the result of each command. This module executes
the commands, because threads, tasks, signals and database clients are specific to the language. It makes no decisions
about worker IDs.

A thread maintains the lease, even in an asynchronous program. A task would end together with its event loop, and a long
computation in the loop would let the lease expire. The exception is an asyncpg pool, which works only in its own event
loop. Once a worker ID is leased, calls that generate IDs never wait for this thread, because they use the generator of
the newest grant.

The thread starts when the first ID is generated, not when the ``Lease`` object is created, so that a server can load a
program before it forks its workers. A forked child has a copy of the lease, but neither its thread nor its connection.
``_Upkeep.in_child`` therefore replaces the state. It does not free any inherited object, because closing the client
would close the parent's connection. When the child generates its first ID, it starts its own lease.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
import weakref
from _thread import start_new_thread
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict

from polyflake._errors import PolyflakeError, build
from polyflake._forks import imports, pause
from polyflake._lease_stores import absolute_path, is_of_loop, new_driver, sqlite_file
from polyflake._polyflake import Keeper, begin_check, check_file, parse_lease_url, restores

__all__ = ["Lease", "LeaseEvent", "LeaseStatus", "lease"]

_LOGGER = logging.getLogger("polyflake.lease")
_CLOSE_TIMEOUT_SECONDS = 10.0
# The same for a lease that never had a worker ID, which has nothing to release unless a claim is in transit.
_UNLEASED_CLOSE_TIMEOUT_SECONDS = 1.0
# The pauses of callers that wait for a worker ID.
_POLL_SECONDS = 0.002
_ASYNC_POLL_SECONDS = 0.005


class LeaseStatus(NamedTuple):
    """The status of a lease at one point in time."""

    worker_id: int | None
    """The worker ID that is currently leased, or ``None``."""
    end: int | None
    """The time at which the lease ends unless it is renewed, in Unix milliseconds."""
    remaining_ms: int
    """The time left until the lease ends, in milliseconds."""
    grants: int
    """The number of grants so far."""
    renewals: int
    """The number of renewals so far."""
    failures: int
    """The number of failed requests so far."""
    gaps: int
    """The number of times that the wall clock moved by more than a second relative to the monotonic clock."""
    rejected: dict[str, Any] | None
    """The last rejection since the last grant or renewal, or ``None``. The dict has the items ``code``, ``message``,
    ``until`` and ``permanent`` of a ``rejected`` event (``LeaseEvent``).
    """


class _NamedEvent(TypedDict):
    name: Literal["acquired", "renewed", "switched", "gap", "unconfirmed", "rejected", "expired", "sealed"]
    """What happened.

    - ``acquired``: a worker ID was leased, for the first time or after an interruption.
    - ``renewed``: the store acknowledged a later end for the grant.
    - ``switched``: a new grant replaced the previous grant before its end.
    - ``gap``: the wall clock moved by more than a second relative to the monotonic clock.
    - ``unconfirmed``: the store did not acknowledge a write within a second after a gap, and the generator continues.
    - ``rejected``: a request was rejected or failed, for a different reason than the last one.
    - ``expired``: the grant ended without a renewal, so the generator creates no more IDs.
    - ``sealed``: the generator was closed, before its worker ID is released.
    """
    text: str
    """A description of the event."""


class LeaseEvent(_NamedEvent, total=False):
    """An event that a lease reports. Times are in Unix milliseconds. Besides ``name`` and ``text``, an event has only
    the items that belong to its name.
    """

    worker_id: int
    """The worker ID, in all events except ``rejected``."""
    previous_worker_id: int
    """The previous worker ID, in ``switched`` events."""
    start: int
    """The start of the grant, in ``acquired`` and ``switched`` events."""
    end: int
    """The end of the grant, in ``acquired``, ``renewed``, ``switched`` and ``expired`` events."""
    milliseconds: int
    """How far the wall clock moved relative to the monotonic clock, in ``gap`` events."""
    used_until: int | None
    """The end of the last tick used, or ``None`` if no tick was used, in ``sealed`` events."""
    code: str
    """The error code, in ``rejected`` events."""
    message: str
    """The reason, which names the store without its password, in ``rejected`` events."""
    until: int | None
    """The time at which the condition that caused the error ends, or ``None`` if it is not known, in ``rejected``
    events.
    """
    permanent: bool
    """Whether the error persists until someone changes the configuration or the store, in ``rejected`` events."""


class _PsycopgPool(Protocol):
    def getconn(self, timeout: float | None = None) -> Any: ...
    def putconn(self, conn: Any) -> None: ...


class _AsyncpgPool(Protocol):
    def acquire(self, *, timeout: float | None = None) -> Any: ...
    def release(self, connection: Any) -> Any: ...


class _Engine(Protocol):
    """An engine of SQLAlchemy."""

    @property
    def dialect(self) -> Any: ...
    @property
    def pool(self) -> Any: ...


class _RedisClient(Protocol):
    @property
    def connection_pool(self) -> Any: ...


class _RedisPool(Protocol):
    @property
    def connection_kwargs(self) -> Any: ...


_AnyStore: TypeAlias = "str | _PsycopgPool | _AsyncpgPool | _Engine | _RedisClient | _RedisPool | Callable[[], Any]"


class Lease:
    """A lease on a worker ID, which a database grants. While the lease is held, no other generator in the namespace has
    the same worker ID.

    Use a lease for one generator. The worker ID becomes the generator's partition, node or machine bytes. The lease
    starts when the generator creates its first ID. It is renewed automatically, and it switches to a different worker
    ID if necessary. The worker ID is released by ``close`` or when the process exits normally. A forked child
    leases its own worker ID when it generates its first ID. If no store is passed, the environment variables
    ``POLYFLAKE_LEASE`` and ``POLYFLAKE_WORKER_ID`` configure the lease.
    """

    def __init__(
        self,
        store: _AnyStore | None = None,
        namespace: str | None = None,
        *,
        schema: str | None = None,
        worker_ids: tuple[int, int] | None = None,
        preferred_worker_id: int | None = None,
        required_worker_id: int | None = None,
        lease_seconds: float | None = None,
        holder: str | None = None,
        watch: Callable[[LeaseEvent], object] | None = None,
        wait: float | None = None,
        sigterm: bool = False,
        renew_seconds: float | None = None,
        strict: bool = False,
    ) -> None:
        """Creates a lease, which starts when its generator creates its first ID.

        :param store: ``"sqlite:PATH"``, ``"postgres://..."``, ``"mysql://..."``, ``"rediss://..."`` or
            ``"https://..."``, with ``?namespace=`` unless ``namespace`` is passed.
            The URL can also contain ``worker_ids``, ``lease_seconds``, ``renew_seconds``, ``strict``, ``wait`` and
            ``sigterm``, but arguments with the same names take precedence. Instead of a URL, the store can be a
            connection source from your program: a ``psycopg_pool`` pool, an asyncpg pool, an SQLAlchemy engine, a
            ``redis.Redis`` client or its pool, or a function that returns a connection. No connection is used across a
            fork, so a child cannot use its parent's pool.
        :param schema: the PostgreSQL schema that contains the tables, if the store is a pool, an engine or a function;
            ``polyflake`` by default. In a URL, use ``?schema=``.
        :param namespace: a name that all processes of a fleet share. Each ID format has its own namespace, such as
            ``orders/sno``.
        :param worker_ids: the first and the last worker ID in the namespace; by default, all worker IDs of the ID
            format.
        :param preferred_worker_id: a worker ID to lease if it is free.
        :param required_worker_id: the only worker ID to accept. The lease waits until it is free.
        :param lease_seconds: the length of the lease, in seconds. The default is one hour, or one minute with
            ``required_worker_id`` or ``POLYFLAKE_WORKER_ID``.
        :param holder: a descriptive name for the holder; by default, the value of ``POLYFLAKE_HOLDER``, or the host
            name and the process ID.
        :param watch: a callable that is called with each event (``LeaseEvent``), on the lease's thread. Events are
            also logged to ``polyflake.lease``.
        :param wait: how long a process's first ID can wait for a worker ID, in seconds. The default is 10, or 70 with
            ``required_worker_id`` or ``POLYFLAKE_WORKER_ID``.
        :param sigterm: ``True`` to release the worker ID on SIGTERM, which then terminates the process. This option has
            no effect in a program that handles or ignores the signal itself, so that its last requests still get IDs.
        :param renew_seconds: the time between renewals, in seconds, at least 1. The default, which is also the maximum,
            is a quarter of the lease's length.
        :param strict: ``True`` to hold IDs back after the process has been restored from an image of its memory, until
            the store has distinguished this copy of the process from other copies. IDs are held back for up to a
            second. A request that the store does not answer extends this time by up to 15 seconds.
        :raises PolyflakeError: ``lease_unavailable`` if neither a store nor an environment variable is set, or
            ``out_of_range`` if the URL or another value is invalid, or an environment variable is empty. The message
            states the remedy and never contains the password.
        """
        _check_arguments(
            {"namespace": namespace, "schema": schema, "holder": holder},
            {"preferred_worker_id": preferred_worker_id, "required_worker_id": required_worker_id},
            {"lease_seconds": lease_seconds, "wait": wait, "renew_seconds": renew_seconds},
            worker_ids,
            watch,
            {"sigterm": sigterm, "strict": strict},
        )
        store_parts, terms = _locate(store, namespace)
        explicit_settings = {
            "schema": schema,
            "worker_ids": worker_ids,
            "wait_ms": _to_ms(wait),
            "lease_ms": _to_ms(lease_seconds),
            "renew_ms": _to_ms(renew_seconds),
        }
        settings: dict[str, Any] = {
            "namespace": terms.get("namespace", namespace),
            **{name: terms.get(name) for name in ("store_name", "create", "storage", "environment_worker_id")},
            **{name: terms.get(name) if value is None else value for name, value in explicit_settings.items()},
            "preferred_worker_id": preferred_worker_id,
            "required_worker_id": required_worker_id,
            "strict": strict or bool(terms.get("strict")),
            "holder": os.environ.get("POLYFLAKE_HOLDER") if holder is None else holder,
        }
        self._upkeep = _Upkeep(settings, store_parts, watch, sigterm or bool(terms.get("sigterm")))
        _LEASES[id(self)] = self

    # Generators call the following methods.

    def _bind(self, keeper: Keeper, settings: dict[str, Any]) -> None:
        upkeep = self._current()
        if upkeep.keeper is not None:
            reason = "expected a lease for each generator, found one that has a generator: call `polyflake.lease` again"
            raise _lease_error("lease_mismatch", reason)
        upkeep.bind(keeper, settings)

    def _wait(self, waited: float | None) -> None:
        """Starts the lease and waits for a worker ID. If the caller passes the time that it has waited so far, this
        method does not wait. The method returns if the caller should continue, and raises an error otherwise.

        It waits by checking repeatedly, without a lock. A signal handler may run at any time during the wait. It may
        wait for the same lease, or it may fork, and the child continues this call with its own lease.
        """
        started_at = time.monotonic()
        while True:
            upkeep = self._current()
            upkeep.begin()
            if upkeep.is_ready():
                return
            elapsed = time.monotonic() - started_at if waited is None else waited
            if upkeep.has_waited() or elapsed >= upkeep.wait_seconds:
                # Wait only once per process. If the store has reported nothing new, a second wait would end like the
                # first.
                if elapsed < math.inf:
                    upkeep.record_wait()
                raise upkeep.unavailable_error()
            if upkeep.is_blocked_by_this_thread(is_async=waited is not None):
                raise upkeep.unavailable_error()
            if waited is not None:
                return
            pause(_POLL_SECONDS)

    def _reason(self) -> tuple[str, int | None]:
        """Returns the reason why no ID is available, and the time until which this reason applies, if known."""
        return self._current().reason()

    def _current(self) -> _Upkeep:
        """Returns the state of this process, which differs from the state that a forked child inherits."""
        if self._upkeep.pid != os.getpid():
            self._upkeep = self._upkeep.in_child()
        return self._upkeep

    # Users call the following methods.

    @property
    def worker_id(self) -> int | None:
        """The worker ID that is currently leased, or ``None``."""
        return self.status().worker_id

    def status(self) -> LeaseStatus:
        """Returns the status of the lease."""
        return self._current().status()

    def ready(self) -> int:
        """Waits for the first worker ID and returns it. Call this method when your program starts.

        It raises the same exceptions as a generator's first call.
        """
        self._current().waited_in = None
        self._wait(None)
        return self._current().leased_worker_id()

    async def aready(self) -> int:
        """Waits like ``ready``, without blocking the event loop."""
        started_at = time.monotonic()
        self._current().waited_in = None
        self._wait(0)
        while not self._current().is_ready():
            await asyncio.sleep(_ASYNC_POLL_SECONDS)
            self._wait(time.monotonic() - started_at)
        return self._current().leased_worker_id()

    @staticmethod
    def check(store: _AnyStore | None = None, namespace: str | None = None, *, schema: str | None = None) -> str:
        """Checks whether a lease could be acquired, for deployment scripts.

        Returns the name of the store, without a password. The check neither leases a worker ID nor writes to the store.
        It also succeeds if the store does not exist yet but could be created.

        :param store: any store that ``Lease`` accepts, except an asyncpg pool, which requires a running event
            loop.
        :raises PolyflakeError: immediately, with the reason, if no lease could be acquired. The code is
            ``lease_unavailable``, ``store_not_durable``, ``store_changed``, ``worker_ids_exhausted``, ``clock_skewed``
            or another lease code.
        """
        return _check(Lease(store, namespace, schema=schema))

    def close(self) -> None:
        """Closes the generator immediately and releases the worker ID. Calls to the generator then raise
        ``generator_closed``.

        This method waits at most 10 seconds for the release, because the store may be unreachable.
        """
        upkeep = self._current()
        upkeep.request_close()
        upkeep.join(upkeep.close_timeout())

    async def aclose(self) -> None:
        """Closes the lease like ``close``, without blocking the event loop."""
        upkeep = self._current()
        upkeep.request_close()
        deadline = time.monotonic() + upkeep.close_timeout()
        while upkeep.is_running() and time.monotonic() < deadline:
            await asyncio.sleep(_ASYNC_POLL_SECONDS)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # The attribute is missing if the constructor raised an exception. An inherited lease belongs to the parent.
        upkeep = self.__dict__.get("_upkeep")
        if upkeep is None or upkeep.pid != os.getpid() or upkeep.is_closed or not upkeep.is_running():
            return
        # The garbage collector may run this method anywhere, so it does not wait for the release.
        upkeep.request_close()
        warnings.warn(f"unclosed {self!r}: call its `close()`", ResourceWarning, stacklevel=2, source=self)

    def __reduce__(self) -> Any:
        raise _lease_error("invalid_type", "expected a lease that was not copied: create another one")

    def __repr__(self) -> str:
        return f"<Lease of worker ID {self._upkeep.worker_id} of {self._upkeep.settings['namespace']}>"


class _Store(NamedTuple):
    """A store, as the drivers need it."""

    kind: str | None
    """The kind of a store that a URL specifies, or ``None`` for a pool, an engine, a client or a function."""
    target: Any
    """A path, the settings that the lease rules parsed from a URL, or the program's own object."""
    allows_overlayfs: bool = False

    def new_driver(self, settings: dict[str, Any], pid: int) -> Any:
        seconds = min(10.0, (settings["lease_ms"] or 3_600_000) / 4000)
        return new_driver(self.kind, self.target, pid, seconds, self.allows_overlayfs)


def _locate(store: Any, namespace: str | None) -> tuple[_Store, dict[str, Any]]:
    """Returns the store, and the settings that its URL or the environment variables contain."""
    if (file := sqlite_file(store)) is not None:
        return _Store("sqlite", absolute_path(file)), {"store_name": f"sqlite:{file}"}
    if store is not None and not isinstance(store, str):
        return _Store(None, store), {}
    terms = json.loads(parse_lease_url(store, namespace))
    kind = terms["store"]
    target = absolute_path(terms["path"]) if kind == "sqlite" else terms["server"]
    return _Store(kind, target, terms["allows_overlayfs"]), terms


class _Upkeep:
    """The part of a lease that its thread uses, in one process.

    It does not refer to the lease. A lease that the program drops is therefore collected, although its thread runs.

    No attribute is protected by a lock. A lock could be held when another thread forks, and the child would wait for it
    forever. A signal handler that interrupts the holder would do the same. Therefore each attribute is set by one
    thread, or each thread sets it to the same value. The exceptions are ``claim``, which no thread waits for, and
    ``wake``, whose methods a signal handler may call at any time.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        store: _Store,
        watch: Callable[[LeaseEvent], object] | None,
        handles_sigterm: bool,
        made_in: int | None = None,
    ) -> None:
        self.settings, self.store, self.watch, self.handles_sigterm = settings, store, watch, handles_sigterm
        self.pid = os.getpid()
        self.made_in = self.pid if made_in is None else made_in
        self.is_named = settings["holder"] is not None
        self.is_of_loop = is_of_loop(store.kind, store.target)
        self.keeper: Keeper | None = None
        self.wait_seconds = 0.0
        # The thread that acquires `claim` maintains the lease. Several calls may start a thread at the same time, and
        # the other threads end immediately.
        self.claim = threading.Lock()
        # An item in `wake` interrupts the keeper's pause.
        self.wake: SimpleQueue[None] = SimpleQueue()
        self.thread: threading.Thread | None = None
        self.task: asyncio.Task[None] | None = None
        self.driver: Any = None
        self.failure: BaseException | None = None
        # Waiting cannot cure the reason why there is no worker ID.
        self.is_permanent = False
        # The restore counts at which a worker ID was acquired, and at which a call waited in vain.
        self.acquired_in: int | None = None
        self.waited_in: int | None = None
        self.worker_id: int | None = None
        self.is_closed = False
        _UPKEEPS[id(self)] = self

    def in_child(self) -> _Upkeep:
        """Returns the state of a forked child, which neither uses nor frees the resources of its parent."""
        settings = self.settings if self.is_named else self.settings | {"holder": None}
        child = _Upkeep(settings, self.store, self.watch, self.handles_sigterm, self.made_in)
        child.is_closed, child.wait_seconds = self.is_closed, self.wait_seconds
        if self.keeper is not None:
            child.keeper = self.keeper.leave(self)
            child.keeper.start(child.to_json(child.store.kind or "postgresql"))
        return child

    def bind(self, keeper: Keeper, settings: dict[str, Any]) -> None:
        self.settings.update(settings)
        wait_ms = keeper.start(self.to_json(self.store.kind or "postgresql"))  # rejects what the format does not allow
        self.wait_seconds = wait_ms / 1000
        self.keeper = keeper
        # Only the main thread can set a signal handler, but another thread may generate the first ID.
        if self.handles_sigterm and threading.current_thread() is threading.main_thread():
            _handle_sigterm()

    def to_json(self, kind: str, **others: object) -> str:
        settings = self.settings | others | {"store": kind}
        return json.dumps({name: value for name, value in settings.items() if value is not None})

    def bound_keeper(self) -> Keeper:
        if self.keeper is None:
            raise _lease_error(
                "lease_unavailable", "expected the lease of a generator, found none: sno.Generator(lease=...)"
            )
        return self.keeper

    # Callers that need a worker ID use the following methods.

    def has_begun(self) -> bool:
        return self.thread is not None or self.task is not None

    def is_running(self) -> bool:
        return (self.thread is not None and self.thread.is_alive()) or (self.task is not None and not self.task.done())

    def begin(self) -> None:
        """Starts the lease, unless it has started. After a restore, wakes the lease's thread."""
        keeper = self.bound_keeper()
        if self.is_closed:
            return
        if self.has_begun():
            if keeper.is_restored() and self.wake.empty():
                self.wake.put(None)
            return
        if self.handles_sigterm:
            _handle_sigterm()
        _close_at_exit()
        if self.is_of_loop:
            loop = _running_loop()
            driver = self.store.new_driver(self.settings, self.made_in)
            if self.claim.acquire(blocking=False):
                self.start_rules(driver)
                self.task = loop.create_task(self.run_async(), name="polyflake.lease")
            return
        # The thread is a daemon, because Python waits for all other threads before it runs the `atexit` handlers that
        # release worker IDs.
        thread = threading.Thread(target=self.run, name="polyflake.lease", daemon=True)
        # `Thread.start` waits for the new thread. A signal handler could interrupt this wait and fork, and the child
        # has no such thread. Therefore another thread waits.
        start_new_thread(thread.start, ())

    def is_ready(self) -> bool:
        """Returns whether the generator has a worker ID, and raises an exception if waiting for one cannot help."""
        if self.is_closed:
            raise _lease_error("generator_closed", "generator is closed")
        if self.failure is not None:
            # Without this call, the traceback would grow with each call that raises the exception.
            raise self.failure.with_traceback(None)
        if self.acquired_in is not None and self.acquired_in == restores():
            return True
        if self.is_permanent:
            raise self.unavailable_error()
        return False

    def is_blocked_by_this_thread(self, is_async: bool) -> bool:
        """Returns whether a wait of this thread would prevent a lease from getting a worker ID.

        A lease's thread runs the program's callbacks and logging filters, which may generate IDs. A lease that is a
        task runs only while its event loop's thread is free.
        """
        return (self.is_of_loop and not is_async) or threading.get_ident() in _LEASE_THREADS

    def has_waited(self) -> bool:
        return self.waited_in is not None and self.waited_in == restores()

    def record_wait(self) -> None:
        self.waited_in = restores()

    def unavailable_error(self) -> PolyflakeError:
        return _lease_error("lease_unavailable", *self.reason())

    def reason(self) -> tuple[str, int | None]:
        reason = json.loads(self.bound_keeper().reason(_wall_ms()))
        hint = "; a lease over a pool of asyncpg begins by `await lease.aready()`" if self.is_of_loop else ""
        return reason["message"] + hint, reason["until"]

    def status(self) -> LeaseStatus:
        if not self.has_begun():
            return LeaseStatus(None, None, 0, 0, 0, 0, 0, None)
        return LeaseStatus(**json.loads(self.bound_keeper().status(_wall_ms())))

    def leased_worker_id(self) -> int:
        if self.worker_id is None:
            raise self.unavailable_error()
        return self.worker_id

    def request_close(self) -> None:
        """Closes the generator, and makes the lease's thread release the worker ID. A signal handler and the garbage
        collector may call this method.
        """
        if self.pid == os.getpid():
            self.is_closed = True
            if self.keeper is not None:
                self.keeper.close()
            self.wake.put(None)

    def close_timeout(self) -> float:
        """Returns how long a close waits for the release, in seconds."""
        return _CLOSE_TIMEOUT_SECONDS if self.acquired_in is not None else _UNLEASED_CLOSE_TIMEOUT_SECONDS

    def join(self, seconds: float) -> None:
        """Waits for the lease's thread to end, without ``Thread.join``. That method holds a lock, for which a signal
        handler that calls it as well would wait.
        """
        if self.thread is not None and self.thread.ident != threading.get_ident():
            deadline = time.monotonic() + seconds
            while self.thread.is_alive() and time.monotonic() < deadline:
                pause(_POLL_SECONDS)

    # The following methods maintain the lease.

    def start_rules(self, driver: Any) -> None:
        self.driver = driver
        if not self.is_named:
            self.settings["holder"] = f"{socket.gethostname()} {os.getpid()}"[:200]
        self.bound_keeper().start(self.to_json(driver.kind))

    def steps(self) -> Generator[dict[str, Any], Any, None]:
        """Yields the commands that need a database client or that wait, and receives the answer to each of these
        commands.
        """
        keeper, is_closing = self.bound_keeper(), False
        answer: Any = None
        while self.pid == os.getpid():  # a callback may fork, and the child must not continue its parent's lease
            if self.is_closed and not is_closing:
                is_closing = True
                keeper.close()  # it may have been started after request_close closed it
            command = json.loads(keeper.next(_wall_ms(), _elapsed_ms(), os.urandom(128), json.dumps(answer)))
            answer = None
            match command["do"]:
                case "end":
                    return
                case "begin":
                    self.worker_id = command["first"]
                    rejected = keeper.begin(command["first"], command["start"], command["end"])
                    if rejected is not None:
                        self.worker_id = None
                        answer = {"not_begun": rejected}
                case "extend":
                    keeper.extend(command["end"])
                case "seal":
                    answer = {"used_until": keeper.seal()}
                    self.worker_id = None
                case "report":
                    self.report(command["event"])
                case _:
                    answer = yield command

    def report(self, event: LeaseEvent) -> None:
        if event["name"] == "acquired":
            # The status already includes the event.
            self.is_permanent, self.waited_in = False, None
            self.acquired_in = restores()
        elif event["name"] == "rejected" and self.worker_id is None:
            # Waiting helps only if the reason is not permanent.
            self.is_permanent = event["permanent"]
        level = logging.WARNING if event["name"] in ("rejected", "expired") else logging.INFO
        # The exception of a call is always `lease_unavailable`, so the log states the code of the reason.
        code = event.get("code")
        suffix = f" ({code})" if code not in (None, "lease_unavailable") else ""
        self.log(level, f"{event['text']}{suffix}")
        if self.watch is not None:
            try:
                self.watch(event)
            except Exception as failure:
                self.log(logging.ERROR, "the callback of the lease failed", failure)

    def log(self, level: int, text: str, failure: BaseException | None = None) -> None:
        try:
            _LOGGER.log(level, "%s: %s", self.settings["namespace"], text, exc_info=failure)
        except Exception:
            # An exception of a logging filter reaches this code, and must not end the lease. Like the exceptions of
            # handlers, it is printed.
            if logging.raiseExceptions:
                traceback.print_exc()

    def run(self) -> None:
        """Executes the lease's commands on the lease's thread until the lease ends."""
        if self.is_closed or not self.claim.acquire(blocking=False):
            return
        self.thread = threading.current_thread()
        _LEASE_THREADS.add(threading.get_ident())
        try:
            with imports:
                driver = self.store.new_driver(self.settings, self.made_in)
            self.start_rules(driver)
        except PolyflakeError as failure:
            self.failure = failure  # each call raises it
        except BaseException as failure:
            self.fail(failure)
        else:
            if driver.is_async:
                _run_in_new_loop(self.run_async())
            else:
                self.run_blocking()
        finally:
            _LEASE_THREADS.discard(threading.get_ident())

    def run_blocking(self) -> None:
        driver, steps, answer = self.driver, self.steps(), None
        try:
            while True:
                command = steps.send(answer)
                answer = None
                if command["do"] == "wait":
                    with suppress(Empty):
                        self.wake.get(timeout=command["ms"] / 1000)
                else:
                    answer = driver.execute(command)
        except StopIteration:
            pass
        except BaseException as failure:
            self.fail(failure)
        finally:
            if self.pid == os.getpid():
                driver.end()

    async def run_async(self) -> None:
        """Executes the lease's commands in a task on an event loop. If the event loop shuts down, it cancels the task,
        which then releases the worker ID.
        """
        driver, steps, answer = self.driver, self.steps(), None
        try:
            while True:
                command = steps.send(answer)
                answer = None
                try:
                    if command["do"] == "wait":
                        deadline = time.monotonic() + command["ms"] / 1000
                        # Any thread may put an item into `wake`, which cannot wake a task. Therefore, the task checks
                        # ten times a second.
                        while self.wake.empty() and (left := deadline - time.monotonic()) > 0:
                            await asyncio.sleep(min(left, 0.1))
                        with suppress(Empty):
                            self.wake.get_nowait()
                    else:
                        answer = await driver.execute(command)
                except asyncio.CancelledError:
                    if self.is_closed:
                        raise
                    self.request_close()
                    answer = {"silent": True} if command["do"] == "run" else None
        except StopIteration:
            pass
        except BaseException as failure:
            self.fail(failure)
            raise
        finally:
            if self.pid == os.getpid():
                await driver.end()

    def fail(self, failure: BaseException) -> None:
        """Ends the lease after an unexpected error. The generator can then generate no more IDs."""
        self.bound_keeper().seal()
        self.worker_id, self.failure = None, failure
        self.log(logging.ERROR, "the lease ended", failure)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _elapsed_ms() -> int:
    """Returns the time of a clock that also counts while the system is suspended, if one is available."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    return time.monotonic_ns() // 1_000_000


def _lease_error(code: str, message: str, retry_at: int | None = None) -> PolyflakeError:
    return build(code, message, None, None, retry_at, None, None)


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        reason = "expected a running event loop for asyncpg, found none: call `await lease.aready()` first"
        raise _lease_error("lease_unavailable", reason) from None


class _InlineExecutor(ThreadPoolExecutor):
    """Resolves host names for asyncio on the lease's thread, because no thread can be started while a process ends."""

    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Any = Future()
        try:
            future.set_result(call(*args, **kwargs))
        except BaseException as failure:
            future.set_exception(failure)
        return future


def _run_in_new_loop(task: Any) -> Any:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(_InlineExecutor())
    try:
        return loop.run_until_complete(task)
    finally:
        loop.close()


def _check(lease: Lease) -> str:
    upkeep = lease._current()
    store, name = upkeep.store, upkeep.settings["store_name"] or "the store"
    driver = store.new_driver(upkeep.settings, upkeep.made_in)
    if driver.is_of_loop:
        raise _lease_error(
            "invalid_type", "expected a URL, a pool of psycopg_pool, an engine or a function, found a pool of asyncpg"
        )
    keeper = begin_check(upkeep.to_json(driver.kind, check=True))
    if driver.kind == "sqlite":
        try:
            if not check_file(store.target, store.allows_overlayfs):
                return str(name)
        except PolyflakeError as error:
            raise _lease_error(error.code, f"cannot lease a worker ID from {name}: {error}") from None

    async def run() -> dict[str, Any] | None:
        answer: Any = None
        try:
            while True:
                command = json.loads(keeper.next(_wall_ms(), _elapsed_ms(), os.urandom(128), json.dumps(answer)))
                if command["do"] == "end":
                    rejected: dict[str, Any] | None = command["rejected"]
                    return rejected
                answer = driver.execute(command)
                if driver.is_async:
                    answer = await answer
        finally:
            end_result = driver.end()
            if driver.is_async:
                await end_result

    # The check runs on a separate thread, because the caller's thread may have a running event loop.
    with ThreadPoolExecutor(1, "polyflake.lease.check") as thread:
        rejection = thread.submit(_run_in_new_loop, run()).result()
    if rejection is not None:
        raise _lease_error(rejection["code"], rejection["message"], rejection["until"])
    return str(name)


def _to_ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _argument_error(code: str, field: str, expected: str, found: Any) -> PolyflakeError:
    found_text = type(found).__name__ if code == "invalid_type" else repr(found)
    return build(code, f"expected {expected} for `{field}`, found {found_text}", None, field, None, None, None)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_arguments(
    texts: dict[str, Any],
    whole: dict[str, Any],
    seconds: dict[str, Any],
    worker_ids: Any,
    watch: Any,
    flags: dict[str, Any],
) -> None:
    """Rejects arguments that have the wrong type or are out of range. The error contains the name of the argument."""
    for field, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise _argument_error("invalid_type", field, "a string", value)
        if field == "holder" and value is not None and len(value.encode(errors="replace")) > 200:
            raise _argument_error("out_of_range", field, "at most 200 bytes", value)
    for field, value in whole.items():
        if value is not None and not _is_integer(value):
            raise _argument_error("invalid_type", field, "an integer", value)
        if value is not None and not 0 <= value < 1 << 53:
            raise _argument_error("out_of_range", field, "an integer from 0 to 2**53 - 1", value)
    for field, value in seconds.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _argument_error("invalid_type", field, "a number of seconds", value)
        if not 0 <= value <= 366 * 86_400:
            raise _argument_error("out_of_range", field, "a number of seconds from 0 to a year's", value)
        if field == "renew_seconds" and value < 1:
            raise _argument_error("out_of_range", field, "at least 1 second", value)
    if worker_ids is not None:
        if not isinstance(worker_ids, (tuple, list)) or len(worker_ids) != 2 or not all(map(_is_integer, worker_ids)):
            raise _argument_error("invalid_type", "worker_ids", "the first and the last worker ID", worker_ids)
        if not 0 <= worker_ids[0] <= worker_ids[1] < 1 << 53:
            raise _argument_error("out_of_range", "worker_ids", "the first and the last worker ID", worker_ids)
    if watch is not None and not callable(watch):
        raise _argument_error("invalid_type", "watch", "a function", watch)
    for field, value in flags.items():
        if not isinstance(value, bool):
            raise _argument_error("invalid_type", field, "True or False", value)


lease = Lease
Lease.__module__ = LeaseEvent.__module__ = LeaseStatus.__module__ = "polyflake"

# The leases of this process, and the states that a thread may still use after their leases have been collected. They
# are read with `valuerefs`, which cannot be interrupted, because other threads change them.
_LEASES: weakref.WeakValueDictionary[int, Lease] = weakref.WeakValueDictionary()
_UPKEEPS: weakref.WeakValueDictionary[int, _Upkeep] = weakref.WeakValueDictionary()
# The identifiers of the threads that maintain leases.
_LEASE_THREADS: set[int] = set()
_EXITS: set[int] = set()


def _upkeeps() -> list[_Upkeep]:
    """Returns the states of this process's leases."""
    states = [ref() for ref in _UPKEEPS.valuerefs()]
    return [state for state in states if state is not None and state.pid == os.getpid()]


def _close_all(*_: object, **__: object) -> None:
    """Releases the worker IDs of this process."""
    states = _upkeeps()
    # Send the close request to all leases before waiting for any of them, so that their releases overlap and share the
    # time limit.
    for state in states:
        state.request_close()
    began = time.monotonic()
    for state in states:
        state.join(max(0.0, began + state.close_timeout() - time.monotonic()))


def _wake_all() -> None:
    """Wakes the leases' threads after a restore, so that they begin their new leases."""
    for state in _upkeeps():
        state.wake.put(None)


def _close_at_exit() -> None:
    """Makes `multiprocessing` and Celery release the worker IDs when a child process exits.

    Their child processes exit without running `atexit` handlers.
    """
    if os.getpid() in _EXITS:
        return
    _EXITS.add(os.getpid())
    for name in ("multiprocessing.util", "billiard.util"):
        if name in sys.modules:
            sys.modules[name].Finalize(None, _close_all, exitpriority=10)
    if "celery.signals" in sys.modules:
        sys.modules["celery.signals"].worker_process_shutdown.connect(_close_all)


def _handle_sigterm() -> None:
    # Do not replace a handler that the program has installed, because the program may generate IDs until its last
    # request is done. A program that ignores the signal continues to run. Both kinds of programs eventually exit
    # normally, and `atexit` then releases the worker IDs.
    if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return
    if threading.current_thread() is not threading.main_thread():
        reason = (
            "expected a lease with `sigterm` to begin in the main thread, as signal handlers do, found another thread"
        )
        raise _lease_error("lease_unavailable", f"{reason}: call its `ready()` at the start of the program")
    signal.signal(signal.SIGTERM, _on_sigterm)


def _on_sigterm(number: int, _: object) -> None:
    """Releases the worker IDs, and then terminates the process in the same way as without this handler."""
    _close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _after_fork() -> None:
    # The child's only thread maintains no lease, even if it is a copy of a thread that does.
    _LEASE_THREADS.clear()
    for ref in _LEASES.valuerefs():
        if (lease := ref()) is not None:
            lease._current()


imports.wait_before_logging()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
