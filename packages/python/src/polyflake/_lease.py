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
``_reset_after_fork`` therefore resets the copy. It does not free any inherited object, because closing the client would
close the parent's connection. When the child generates its first ID, it starts its own lease.
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
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, TypedDict

from polyflake._errors import PolyflakeError, build
from polyflake._lease_stores import absolute_path, new_driver, sqlite_file
from polyflake._polyflake import Keeper, begin_check, check_file, parse_lease_url

__all__ = ["Lease", "LeaseEvent", "LeaseStatus", "lease"]

_LOGGER = logging.getLogger("polyflake.lease")
_CLOSE_TIMEOUT_SECONDS = 10.0


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
    ``until`` and ``permanent`` of a ``rejected`` event (:class:`LeaseEvent`).
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


class Lease:
    """A lease on a worker ID, which a database grants. While the lease is held, no other generator in the namespace has
    the same worker ID.

    Use a lease for one generator. The worker ID becomes the generator's partition, node or machine bytes. The lease
    starts when the generator creates its first ID. It is renewed automatically, and it switches to a different worker
    ID if necessary. The worker ID is released by :meth:`close` or when the process exits normally. A forked child
    leases its own worker ID when it generates its first ID. If no store is passed, the environment variables
    ``POLYFLAKE_LEASE`` and ``POLYFLAKE_WORKER_ID`` configure the lease.
    """

    def __init__(
        self,
        store: Any = None,
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
            ``redis.Redis`` client, or a function that returns a connection. No connection is used across a fork, so a
            child cannot use its parent's pool.
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
        :param watch: a callable that is called with each event (:class:`LeaseEvent`), on the lease's thread. Events are
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
        terms = self._locate(store, namespace)
        explicit_settings = {
            "schema": schema,
            "worker_ids": worker_ids,
            "wait_ms": _to_ms(wait),
            "lease_ms": _to_ms(lease_seconds),
            "renew_ms": _to_ms(renew_seconds),
        }
        self._settings: dict[str, Any] = {
            "namespace": terms.get("namespace", namespace),
            **{name: terms.get(name) for name in ("store_name", "create", "environment_worker_id")},
            **{name: terms.get(name) if value is None else value for name, value in explicit_settings.items()},
            "preferred_worker_id": preferred_worker_id,
            "required_worker_id": required_worker_id,
            "strict": strict or bool(terms.get("strict")),
            "holder": os.environ.get("POLYFLAKE_HOLDER") if holder is None else holder,
        }
        self._is_named = self._settings["holder"] is not None
        self._wait_seconds, self._watch = 0.0, watch
        self._handles_sigterm = sigterm or bool(terms.get("sigterm"))
        self._bound: Keeper | None = None
        self._pid = self._made_in = os.getpid()
        self._reset()
        _LEASES.add(self)

    def _locate(self, store: Any, namespace: str | None) -> dict[str, Any]:
        """Sets the store, and returns the settings that its URL or the environment variables contain."""
        self._kind, self._allows_overlayfs = None, False
        terms: dict[str, Any] = {}
        if (file := sqlite_file(store)) is not None:
            self._kind, store = "sqlite", file
            terms = {"store_name": f"sqlite:{file}"}
        elif store is None or isinstance(store, str):
            terms = json.loads(parse_lease_url(store, namespace))
            self._kind, self._allows_overlayfs = terms["store"], terms["allows_overlayfs"]
            store = terms["path"] if self._kind == "sqlite" else terms["server"]
        self._store = absolute_path(store) if self._kind == "sqlite" else store
        return terms

    def _reset(self) -> None:
        """Initializes the state for this process, in which the lease has not started yet."""
        # Create all locks anew, because a thread of the parent may have held the inherited locks at the moment of the
        # fork.
        self._lock = threading.Lock()
        # `_wake` interrupts the keeper's pause. `_settled` is set while calls do not have to wait, either because a
        # worker ID is leased or because waiting would not help.
        self._wake, self._settled = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None
        self._driver: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failure: BaseException | None = None
        self._is_permanent = self._has_waited = False
        self._worker_id: int | None = None
        self._closed = False

    # Generators call the following methods.

    def _bind(self, keeper: Keeper, settings: dict[str, Any]) -> None:
        if self._bound is not None:
            reason = "expected a lease for each generator, found one that has a generator: call `polyflake.lease` again"
            raise _lease_error("lease_mismatch", reason)
        self._settings.update(settings)
        wait_ms = keeper.start(self._json(self._kind or "postgresql"))  # rejects what the format does not allow
        self._wait_seconds = wait_ms / 1000
        self._bound = keeper
        # Only the main thread can set a signal handler, but another thread may generate the first ID.
        if self._handles_sigterm and threading.current_thread() is threading.main_thread():
            _handle_sigterm()

    def _json(self, kind: str, **others: object) -> str:
        settings = self._settings | others | {"store": kind}
        return json.dumps({name: value for name, value in settings.items() if value is not None})

    def _wait(self, waited: float | None) -> None:
        """Starts the lease and waits for a worker ID. If the caller passes the time that it has waited so far, this
        method does not wait. The method returns if the caller should continue, and raises an error otherwise.
        """
        self._begin()
        # This call cannot wait for a lease that an asyncio task keeps, because the task runs only while this thread is
        # free.
        is_over = self._has_waited or (waited is None and self._thread is None)
        if waited is None and not is_over and not self._closed:
            self._settled.wait(self._wait_seconds)
            is_over = self._has_waited = not self._settled.is_set()
        elif waited is not None and self._wait_seconds <= waited < math.inf:
            is_over = self._has_waited = True
        if self._closed:
            raise _lease_error("generator_closed", "generator is closed")
        if self._failure is not None:
            raise self._failure
        if self._settled.is_set() and not self._is_permanent:
            return
        # Wait only once per process. If the store has reported nothing new, a second wait would end like the first.
        if self._is_permanent or is_over or waited == math.inf:
            raise _lease_error("lease_unavailable", *self._reason())

    def _reason(self) -> tuple[str, int | None]:
        """Returns the reason why no ID is available, and the time until which this reason applies, if known."""
        reason = json.loads(self._keeper.reason(_wall_ms()))
        hint = "; a lease over a pool of asyncpg begins by `await lease.aready()`" if self._thread is None else ""
        return reason["message"] + hint, reason["until"]

    @property
    def _keeper(self) -> Keeper:
        if self._bound is None:
            raise _lease_error(
                "lease_unavailable", "expected the lease of a generator, found none: sno.Generator(lease=...)"
            )
        return self._bound

    # Users call the following methods.

    @property
    def worker_id(self) -> int | None:
        """The worker ID that is currently leased, or ``None``."""
        return self.status().worker_id

    def status(self) -> LeaseStatus:
        """Returns the status of the lease."""
        if self._pid != os.getpid() or not self._has_begun():
            return LeaseStatus(None, None, 0, 0, 0, 0, 0, None)
        return LeaseStatus(**json.loads(self._keeper.status(_wall_ms())))

    def ready(self) -> int:
        """Waits for the first worker ID and returns it. Call this method when your program starts.

        It raises the same exceptions as a generator's first call.
        """
        self._has_waited = False
        self._wait(None)
        return self._leased_worker_id()

    async def aready(self) -> int:
        """Waits like :meth:`ready`, without blocking the event loop."""
        started_at = time.monotonic()
        self._has_waited = False
        self._begin()
        while not self._settled.is_set():
            self._wait(time.monotonic() - started_at)
            await asyncio.sleep(0.005)
        self._wait(0)
        return self._leased_worker_id()

    def _leased_worker_id(self) -> int:
        worker_id = self._worker_id
        if worker_id is None:
            raise _lease_error("lease_unavailable", *self._reason())
        return worker_id

    @staticmethod
    def check(store: Any = None, namespace: str | None = None, *, schema: str | None = None) -> str:
        """Checks whether a lease could be acquired, for deployment scripts.

        Returns the name of the store, without a password. The check neither leases a worker ID nor writes to the store.
        It also succeeds if the store does not exist yet but could be created.

        :param store: any store that :class:`Lease` accepts, except an asyncpg pool, which requires a running event
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
        self._request_close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_TIMEOUT_SECONDS)

    async def aclose(self) -> None:
        """Closes the lease like :meth:`close`, without blocking the event loop."""
        self._request_close()
        deadline = time.monotonic() + _CLOSE_TIMEOUT_SECONDS
        while self._is_running() and time.monotonic() < deadline:
            await asyncio.sleep(0.005)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise _lease_error("invalid_type", "expected a lease that was not copied: create another one")

    def __repr__(self) -> str:
        return f"<Lease of worker ID {self._worker_id} of {self._settings['namespace']}>"

    # The following methods maintain the lease.

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
            if self._handles_sigterm:
                _handle_sigterm()
            self._driver = self._new_driver()
            if not self._is_named:
                self._settings["holder"] = f"{socket.gethostname()} {os.getpid()}"[:200]
            self._keeper.start(self._json(self._driver.kind))
            _close_at_exit()
            if self._driver.is_of_loop:
                self._loop = _running_loop()
                self._task = self._loop.create_task(self._run_keeper_async(), name="polyflake.lease")
                return
            run_keeper = self._run_keeper_in_loop if self._driver.is_async else self._run_keeper
            # The thread is a daemon, because Python waits for all other threads before it runs the `atexit` handlers
            # that release worker IDs.
            self._thread = threading.Thread(target=run_keeper, name="polyflake.lease", daemon=True)
            self._thread.start()

    def _new_driver(self) -> Any:
        seconds = min(10.0, (self._settings["lease_ms"] or 3_600_000) / 4000)
        return new_driver(self._kind, self._store, self._made_in, seconds, self._allows_overlayfs)

    def _request_close(self) -> None:
        if self._pid == os.getpid():
            self._closed = True
            if self._bound is not None:
                self._bound.close()
            self._wake.set()

    def _steps(self) -> Generator[dict[str, Any], Any, None]:
        """Yields the commands that need a database client or that wait, and receives the answer to each of these
        commands.
        """
        keeper, is_closing = self._keeper, False
        answer: Any = None
        while True:
            if self._closed and not is_closing:
                is_closing = True
                keeper.close()  # it may have been started after _request_close closed it
                self._settled.set()  # no caller waits for a worker ID any more
            command = json.loads(keeper.next(_wall_ms(), _elapsed_ms(), os.urandom(128), json.dumps(answer)))
            answer = None
            match command["do"]:
                case "end":
                    return
                case "begin":
                    rejected = keeper.begin(command["first"], command["start"], command["end"])
                    if rejected is None:
                        self._worker_id = command["first"]
                    else:
                        answer = {"not_begun": rejected}
                case "extend":
                    keeper.extend(command["end"])
                case "seal":
                    answer = {"used_until": keeper.seal()}
                    self._worker_id = None
                case "report":
                    self._report(command["event"])
                case _:
                    answer = yield command

    def _report(self, event: LeaseEvent) -> None:
        if event["name"] == "acquired":
            self._is_permanent = self._has_waited = False
            self._settled.set()  # the status already includes the event
        elif event["name"] == "rejected" and self._worker_id is None:
            # Waiting helps only if the reason is not permanent.
            self._is_permanent = event["permanent"]
            (self._settled.set if self._is_permanent else self._settled.clear)()
        level = logging.WARNING if event["name"] in ("rejected", "expired") else logging.INFO
        _LOGGER.log(level, "%s: %s", self._settings["namespace"], event["text"])
        if self._watch is not None:
            try:
                self._watch(event)
            except Exception:
                _LOGGER.exception("%s: the callback of the lease failed", self._settings["namespace"])

    def _run_keeper(self) -> None:
        """Executes the lease's commands on the lease's thread until the lease ends."""
        driver, steps, answer = self._driver, self._steps(), None
        try:
            while True:
                command = steps.send(answer)
                answer = None
                if command["do"] == "wait":
                    self._wake.wait(command["ms"] / 1000)
                else:
                    answer = driver.execute(command)
        except StopIteration:
            pass
        except BaseException as failure:
            self._fail(failure)
        finally:
            driver.end()

    def _run_keeper_in_loop(self) -> None:
        _run_in_new_loop(self._run_keeper_async())

    async def _run_keeper_async(self) -> None:
        """Executes the lease's commands in a task on an event loop. If the event loop shuts down, it cancels the task,
        which then releases the worker ID.
        """
        driver, steps, answer = self._driver, self._steps(), None
        try:
            while True:
                command = steps.send(answer)
                answer = None
                try:
                    if command["do"] == "wait":
                        deadline = time.monotonic() + command["ms"] / 1000
                        # `_wake` is a `threading.Event`, which any thread may set by calling `close`. Therefore, the
                        # task polls it ten times a second.
                        while not self._wake.is_set() and (left := deadline - time.monotonic()) > 0:
                            await asyncio.sleep(min(left, 0.1))
                    else:
                        answer = await driver.execute(command)
                except asyncio.CancelledError:
                    if self._closed:
                        raise
                    self._request_close()
                    answer = {"silent": True} if command["do"] == "run" else None
        except StopIteration:
            pass
        except BaseException as failure:
            self._fail(failure)
            raise
        finally:
            await driver.end()

    def _fail(self, failure: BaseException) -> None:
        """Ends the lease after an unexpected error. The generator can then generate no more IDs."""
        self._keeper.seal()
        self._worker_id, self._failure = None, failure
        self._settled.set()
        _LOGGER.error("%s: the lease ended", self._settings["namespace"], exc_info=failure)

    def _reset_after_fork(self) -> None:
        """Resets the lease in a forked child, without using or closing the resources of the parent."""
        if self._bound is not None:
            self._bound = self._bound.leave((self._driver, self._thread, self._task))
        closed = self._closed
        self._reset()
        self._closed, self._pid = closed, os.getpid()


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
    driver = lease._new_driver()
    name = lease._settings["store_name"] or "the store"
    if driver.is_of_loop:
        raise _lease_error(
            "invalid_type", "expected a URL, a pool of psycopg_pool, an engine or a function, found a pool of asyncpg"
        )
    keeper = begin_check(lease._json(driver.kind, check=True))
    if driver.kind == "sqlite":
        try:
            if not check_file(lease._store, lease._allows_overlayfs):
                return name
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
    return name


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

_LEASES: weakref.WeakSet[Lease] = weakref.WeakSet()
_EXITS: set[int] = set()


def _close_all(*_: object, **__: object) -> None:
    """Releases the worker IDs of this process."""
    leases = list(_LEASES)
    # Send the close request to all leases before waiting for any of them, so that their releases overlap and share the
    # time limit.
    for one in leases:
        one._request_close()
    deadline = time.monotonic() + _CLOSE_TIMEOUT_SECONDS
    for one in leases:
        if one._thread is not None and one._thread is not threading.current_thread():
            one._thread.join(max(0.0, deadline - time.monotonic()))


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
    for one in list(_LEASES):
        one._reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
