"""Replays the actions of the real keepers as steps of the model in `leases.py`.

The simulator (`lease/tests/simulator`) runs real keepers, a store and generators of the core in worlds that are
generated from a seed. It writes each event as a line, for example when a write is sent, the store replies, a grant
begins, an ID is made or a backup is restored. `World` reads these lines one after another and lets the model take the
same steps. If the model does not permit a step, or if the store and the model disagree on whether a write was applied,
the trace is rejected.

The model and the code therefore cannot drift apart unnoticed. A keeper that breaks a rule takes a step that the model
lacks, and a model with rules that keepers do not follow rejects the keepers' steps. Because every step is proved to
preserve the invariant, each state of an accepted trace satisfies the invariant.

Two kinds of events have no counterpart in the model, so the replay skips them: reads that lead to no write, and the
records of other namespaces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

from leases import BURIES, CLAIMS, EVICTS, FREES, RELEASES, RENEWS
from runs import FRESH_TOKEN, NO_PROCESS, RejectedError, Run

ZERO_TOKEN = "0" * 32
RESERVED_UNTIL = 2**53 - 1
# The value that the simulator records instead of a process ID when an operator acts.
OPERATOR_PROCESS = 2**64 - 1
Event = dict[str, Any]


class Record(NamedTuple):
    first: int
    start: int
    until: int
    token: str
    version: int
    incarnation: str

    @classmethod
    def from_values(cls, values: list[Any]) -> Record:
        first, start, until, token, version, incarnation = values
        return cls(first, start, until, FRESH_TOKEN if token == ZERO_TOKEN else token, version, incarnation)


class Namespace(NamedTuple):
    incarnation: str
    store: str
    previous_store: str
    quiet: int
    previous_quiet: int


class World:
    """A namespace with its records, and the processes that lease its worker IDs."""

    def __init__(self, event: Event) -> None:
        step, epoch = event["step"], event["epoch"]
        self.longest, self.error, self.unit = event["longest"], event["error"], event["unit"]
        self.step, self.epoch = step, epoch
        self.runs = [Run(self.longest, self.error, lambda tick: epoch + step * tick) for _ in range(event["numbers"])]
        self.namespace: Namespace | None = None
        self.lines: dict[str, int] = {}
        self.names: dict[str, int] = {}
        # The message of each request, the claims of each process, and the times that each process has received from the
        # store.
        self.messages: dict[tuple[int, int, int], tuple[Run, int]] = {}
        self.claims: dict[int, list[tuple[Run, str]]] = {}
        self.heard: dict[int, list[int]] = {}
        self.making = -1
        # The old and new store names of each promotion, and whether the store has been replaced but the replacement has
        # not been noticed yet.
        self.promotions: set[tuple[str, str]] = set()
        self.is_promotion = self.is_unnoticed = False
        self.counts: Counter[str] = Counter()

    def apply_event(self, event: Event) -> None:
        """Takes the model's steps that correspond to an event of the trace."""
        getattr(self, f"on_{event['event']}")(event)

    # ------------------------------------------------------------------------------------------------ processes

    def on_sent(self, event: Event) -> None:
        """A process sends a write, which is a claim, the proof of a claim, a renewal or a release."""
        process, old, new = event["process"], Record.from_values(event["old"]), Record.from_values(event["new"])
        run = self.runs[new.first]
        p, s, claim = run.protocol, run.state, new.token
        recent_times = self.heard.get(process, [])[-3:]
        if s.over(claim):
            message = self.write(run, RELEASES, claim, old, new)
            run.take(p.release(s, claim, message), f"a release of {claim}")
            self.counts["releases"] += 1
        elif s.acquired(claim):
            message = self.write(run, RENEWS, claim, old, new)
            if new.until > max(old.until, s.time + self.longest):
                # A keeper's estimate of the time includes the time that has passed since the store's last reply.
                self.read_time(run, new.until - self.longest)
            # The most recent replies may have arrived too late for the keeper to use them, so try earlier replies, too.
            steps = [p.renew(run.state, claim, message, now) for now in recent_times]
            possible_steps = [step for step in steps if step.guard is True]
            run.take((possible_steps or steps)[-1], f"a renewal of {claim}")
            self.counts["renewals" if new.incarnation == old.incarnation else "renewals in a restored store"] += 1
        elif s.used(claim):
            message = self.write(run, CLAIMS, claim, old, new)
            run.take(p.prove(s, claim, message), f"a proof of {claim}")
            self.counts["proofs"] += 1
        else:
            message = self.write(run, CLAIMS, claim, old, new)
            run.claim(claim, message, recent_times[-1])
            self.claims.setdefault(process, []).append((run, claim))
            self.counts["claims"] += 1
        self.messages[process, event["life"], event["number"]] = run, message

    def write(self, run: Run, kind: int, owner: str, old: Record, new: Record) -> int:
        """Creates the message for a write and returns its number. If the write is for the current incarnation, first
        checks that the store has shown the record that the write replaces.
        """
        line = self.lines[new.incarnation]
        if line == run.state.line:
            self.compare(run, line, old)
        return run.message(
            kind, owner, line, old.version, new.version, (new.token, new.start, new.until), new.until == RESERVED_UNTIL
        )

    def compare(self, run: Run, line: int, record: Record) -> None:
        """Compares a record with the model, and rejects a record that the model's store has never contained."""
        c = run.contents
        known_parts = tuple(part(line, record.version) for part in (c.has_token, c.has_start, c.has_until))
        if not run.state.ever(line, record.version) or known_parts != (record.token, record.start, record.until):
            raise RejectedError(f"expected a record that the store has shown, found {record}")

    def read_time(self, run: Run, now: int) -> None:
        run.take(run.protocol.read_time(run.state, now), "a reading of the clock")

    def on_heard(self, event: Event) -> None:
        self.heard.setdefault(event["process"], []).append(event["now"])

    def on_begin(self, event: Event) -> None:
        """A keeper passes a new grant to its generator. The new grant replaces the previous grant."""
        *earlier, (run, claim) = self.claims[event["process"]]
        for other, ended in earlier:
            other.take(other.protocol.finish(other.state, ended), f"the end of {ended}")
        message = run.state.awaits(claim)
        window = (run.contents.put_start(message), run.contents.put_until(message))
        if window != (event["start"], event["end"]):
            raise RejectedError(f"expected the window {window}, found another one")
        run.take(run.protocol.acquire(run.state, claim, message), f"a grant of {claim}")

    def on_extend(self, event: Event) -> None:
        run, claim = self.claims[event["process"]][-1]
        run.take(run.protocol.extend(run.state, claim, run.state.awaits(claim)), f"an extension of {claim}")
        if run.state.end(claim) != event["end"]:
            raise RejectedError(f"expected the end {run.state.end(claim)}, found another one")

    def on_over(self, event: Event) -> None:
        """Ends all claims of a process, because its generator was sealed or the process was killed."""
        for run, claim in self.claims.get(event["process"], []):
            run.take(run.protocol.finish(run.state, claim), f"the end of {claim}")

    def on_makes(self, event: Event) -> None:
        self.making = event["process"]

    def on_made(self, event: Event) -> None:
        """Handles an ID that the process generated under its newest grant."""
        held_claims = [(run, claim) for run, claim in self.claims.get(self.making, []) if run.state.acquired(claim)]
        if not held_claims or held_claims[-1][0] is not self.runs[event["first"]]:
            raise RejectedError("expected an ID of the process's worker ID, found another one")
        run, claim = held_claims[-1]
        tick = event["tick"] // self.unit
        run.take(run.protocol.make(run.state, claim, tick), f"an ID of {claim} in tick {tick}")
        self.counts["IDs"] += 1

    # ------------------------------------------------------------------------------------------------ the store

    def on_stored(self, event: Event) -> None:
        """Handles an event in which the store has processed a request from a process or an operator."""
        if event["namespace"] is None:
            return
        namespace, now = Namespace(*event["namespace"]), event["now"]
        records = {record.first: record for record in map(Record.from_values, event["records"])}
        for run in self.runs:
            self.read_time(run, now)
        if self.namespace is None:
            self.lines[namespace.incarnation] = 0
            self.names[namespace.store] = 1
            self.is_unnoticed = False
        elif namespace.incarnation not in self.lines:
            self.begin_incarnation(namespace, records, now)
        elif not self.is_unnoticed and namespace.quiet != self.namespace.quiet:
            for run in self.runs:
                names = (self.names[namespace.previous_store], self.names[namespace.store])
                run.take(run.protocol.declare_promoted(run.state, *names), "a report of a promotion")
            self.counts["reported promotions"] += 1
        if event["is_put"]:
            self.put(event)
        if self.is_unnoticed:
            # The store returns the contents of a backup. It accepts no write until a process begins the new
            # incarnation.
            return
        self.namespace = namespace
        shown_state = (self.lines[namespace.incarnation], namespace.quiet)
        if any((run.state.line, run.state.quiet) != shown_state for run in self.runs):
            raise RejectedError("expected the incarnation and the quiet time of the model, found others")
        for record in records.values():
            run = self.runs[record.first]
            if event["process"] == OPERATOR_PROCESS and record.version != run.state.version:
                self.apply_operator_change(run, record, now)
            if record.version != run.state.version:
                raise RejectedError(f"expected version {run.state.version}, found {record}")
            self.compare(run, run.state.line, record)

    def put(self, event: Event) -> None:
        """The store has applied or rejected a write. The model must agree with the outcome."""
        run, message = self.messages[event["process"], event["life"], event["number"]]
        self.counts["writes" if event["is_done"] else "rejected writes"] += 1
        if event["is_done"]:
            run.accept(message)
        elif run.would_deliver(message) and not self.is_unnoticed:
            raise RejectedError("expected a write that the store does, found one that it rejects")

    def begin_incarnation(self, namespace: Namespace, records: dict[int, Record], now: int) -> None:
        """Begins a new incarnation, because a process or an operator has noticed that the store was restored or
        promoted.
        """
        before = self.names.get(namespace.previous_store, 0)
        name = self.names.setdefault(namespace.store, self.runs[0].state.names)
        is_promotion = (namespace.previous_store, namespace.store) in self.promotions
        for first, run in enumerate(self.runs):
            record = records.get(first)
            version = record.version if record else 1
            if is_promotion:
                if record:
                    self.compare(run, run.state.line, record)
                run.promote(version, namespace.quiet)
            else:
                line = self.find_restored_line(run, record)
                # The quiet time is calculated from an earlier reply.
                now = min(now, namespace.quiet - self.longest - self.error)
                run.restore(line, version, now, namespace.quiet, namespace.previous_quiet, name, before)
        self.lines[namespace.incarnation] = self.runs[0].state.line
        self.counts["promotions" if is_promotion else "restored backups"] += 1
        self.is_unnoticed = False

    def find_restored_line(self, run: Run, record: Record | None) -> int:
        """Returns the latest incarnation in which the store has shown a restored record."""
        if record is None or record.token == FRESH_TOKEN:
            return 0
        c, written = run.contents, self.lines[record.incarnation]
        for line in range(run.state.line, -1, -1):
            if run.state.ever(line, record.version) and c.has_line(line, record.version) == written:
                self.compare(run, line, record)
                return line
        raise RejectedError(f"expected a backup of this store, found {record}")

    def on_promotes(self, event: Event) -> None:
        self.is_promotion = True

    def on_another(self, event: Event) -> None:
        """Handles the replacement of the store with a backup or with its replica. The store now has a different
        name.
        """
        if self.is_promotion and not self.is_unnoticed:
            self.promotions.add((event["from"], event["to"]))
        self.is_promotion, self.is_unnoticed = False, True

    # ---------------------------------------------------------------------------------------------- an operator

    def apply_operator_change(self, run: Run, new: Record, now: int) -> None:
        """Takes the steps of an operator that has changed a record."""
        s, c, p = run.state, run.contents, run.protocol
        version = s.version
        old = Record(
            new.first,
            c.has_start(s.line, version),
            c.has_until(s.line, version),
            c.has_token(s.line, version),
            version,
            new.incarnation,
        )
        if c.has_reserved(s.line, version):
            message = self.write(run, FREES, NO_PROCESS, old, new)
            run.take(p.free(s, message), "a freed number")
            self.counts["freed numbers"] += 1
        elif new.start >= old.until:
            message = self.write(run, EVICTS, NO_PROCESS, old, new)
            run.take(p.evict(s, message), "an eviction")
            self.counts["evictions"] += 1
        else:
            message = self.write(run, BURIES, old.token, old, new)
            last_tick = (now + self.error - self.epoch) // self.step + 1
            run.bury(old.token, message, now, last_tick)
            self.counts["dead holders"] += 1
        run.accept(message)


def replay(lines: Iterable[str], kind: type[World] = World) -> Iterator[World]:
    """Replays the worlds of a trace."""
    world: World | None = None
    for number, line in zip(count(1), lines):
        event = json.loads(line)
        if event["event"] == "world":
            if world:
                yield world
            world = kind(event)
            continue
        assert world, "expected the beginning of a world"
        try:
            world.apply_event(event)
        except RejectedError as error:
            raise RejectedError(f"line {number}: {error}: {line}") from None
    if world:
        yield world
