"""Single runs of the model in `leases.py`, with Python values in place of z3 terms.

The steps are the same functions that z3 reasons about. A run begins with a new record and takes one step after another.
A step whose guard does not hold is rejected. Every step is proved to preserve the invariant, so a run without a
rejected step generates no ID twice. `Run.find_violations` nevertheless evaluates the invariant, in order to detect
mistakes in the domains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from invariant import invariant, is_unique
from leases import CLAIMS, Contents, Protocol, State, Step
from logic import ConcreteDomain, Function, Table, Term

NO_PROCESS = "nobody"
# The token of a record that was never granted.
FRESH_TOKEN = "fresh"


class RejectedError(Exception):
    """A step that the protocol does not permit."""


class Run:
    """A run of the model, which begins with a new record of one worker ID."""

    def __init__(
        self, longest: int, error: int, begin: Callable[[int], int], time: int = 0, left_out: str = ""
    ) -> None:
        table = Table
        self.contents = Contents(
            token=table(None),
            start=table(0),
            kind=table(CLAIMS),
            owner=table(NO_PROCESS),
            line=table(0),
            read=table(0),
            version=table(0),
            put_token=table(None),
            put_start=table(0),
            put_until=table(0),
            put_reserved=table(False),
            has_token=table(None),
            has_start=table(0),
            has_until=table(0),
            has_reserved=table(False),
            has_line=table(0),
            begin=ComputedTable(begin),
            longest=longest,
            error=error,
        )
        self.domain = ConcreteDomain({"tick": []})
        self.protocol = Protocol(self.domain, self.contents, left_out)
        self.messages = 0
        self.write(0, 1, FRESH_TOKEN, 0, 0, False, 0)
        self.state = State(
            drawn=table(False, {(FRESH_TOKEN,): True}),
            used=table(False),
            acquired=table(False),
            over=table(False),
            end=table(0),
            mark=table(0),
            top=table(0),
            origin=table(None),
            awaits=table(None),
            ranked=table(False),
            rank=table(0),
            ranks=0,
            place_line=table(0),
            place=table(0),
            made=table(False),
            sent=table(False),
            done=table(False),
            acknowledged=table(False),
            line=0,
            base=1,
            kept=1,
            version=1,
            stored=table(False, {(0, 1): True}),
            ever=table(False, {(0, 1): True}),
            is_firm=True,
            quiet=0,
            quiet_before=0,
            floor=0,
            name=1,
            name_before=0,
            names=2,
            promoted=table(False),
            time=time,
            latest=time,
            since=time,
        )

    def write(self, line: int, version: int, token: str, start: int, until: int, reserved: bool, of: int) -> None:
        """Sets the contents of a version."""
        parts = {"token": token, "start": start, "until": until, "reserved": reserved, "line": of}
        for name, value in parts.items():
            put(getattr(self.contents, f"has_{name}"), (line, version), value)

    def message(
        self,
        kind: int,
        owner: str,
        line: int,
        read: int,
        version: int,
        new: tuple[str, int, int],
        reserved: bool = False,
    ) -> int:
        """Creates a message and returns its number. `new` contains the new record's token, start and end."""
        self.messages += 1
        parts = {"kind": kind, "owner": owner, "line": line, "read": read, "version": version, "put_reserved": reserved}
        parts |= dict(zip(("put_token", "put_start", "put_until"), new, strict=True))
        for name, value in parts.items():
            put(getattr(self.contents, name), (self.messages,), value)
        return self.messages

    def take(self, step: Step, why: str) -> None:
        """Takes a step, or raises an error if the protocol does not permit the step."""
        if step.guard is not True:
            raise RejectedError(f"expected a step of the protocol, found {why}")
        self.state = step.after

    # The following methods take steps. First, they set the contents that a step uses, or compute the step's parameters.

    def claim(self, claim: str, message: int, now: int) -> None:
        put(self.contents.token, (claim,), self.contents.put_token(message))
        put(self.contents.start, (claim,), self.contents.put_start(message))
        self.take(self.protocol.claim(self.state, claim, message, now), f"the claim {claim}")

    def deliver(self, message: int) -> None:
        c, line, version = self.contents, self.state.line, self.contents.version(message)
        if not self.state.ever(line, version):
            new_values = (c.put_token(message), c.put_start(message), c.put_until(message), c.put_reserved(message))
            self.write(line, version, *new_values, line)
        self.take(self.protocol.deliver(self.state, message), f"the write {message} in the store")

    def would_deliver(self, message: int) -> bool:
        """Returns whether the store accepts a message that arrives now."""
        c, s = self.contents, self.state
        return bool(c.line(message) == s.line and c.read(message) == s.version)

    def accept(self, message: int) -> None:
        """The store applies a write, and acknowledges it at once."""
        self.deliver(message)
        self.take(self.protocol.keep(self.state, self.state.version), "a durable version")
        self.take(self.protocol.acknowledge(self.state, message), f"the reply to {message}")

    def copy(self, line: int, version: int) -> None:
        """Copies the contents of a version to the first version of the next incarnation."""
        c = self.contents
        parts = (c.has_token, c.has_start, c.has_until, c.has_reserved, c.has_line)
        self.write(self.state.line + 1, version, *(part(line, version) for part in parts))

    def restore(self, line: int, version: int, now: int, quiet: int, before: int, name: int, name_before: int) -> None:
        self.copy(line, version)
        step = self.protocol.restore(self.state, line, version, now, quiet, before, name, name_before)
        self.take(step, "a restored backup")

    def promote(self, version: int, quiet: int) -> None:
        self.copy(self.state.line, version)
        self.take(self.protocol.promote(self.state, version, quiet), "a promotion")

    def bury(self, claim: str, message: int, now: int, last: int) -> None:
        self.domain.values["tick"] = [tick for (maker, tick) in self.made_ids() if maker == claim]
        self.take(self.protocol.bury(self.state, claim, message, now, last), f"the death of {claim}")

    def made_ids(self) -> list[tuple[Any, ...]]:
        return keys(self.state.made)

    def find_violations(self) -> list[str]:
        """Returns the names of the conditions that do not hold. The conditions are the parts of the invariant and the
        uniqueness of all IDs.
        """
        s, c = self.state, self.contents
        self.domain.values = {
            "claim": [claim for (claim,) in keys(c.token)],
            "message": [message for (message,) in keys(s.sent)],
            "token": [token for (token,) in keys(s.drawn)],
            "incarnation": list(range(s.line + 1)),
            "version": sorted({version for (_, version) in keys(s.ever)}),
            "tick": sorted({tick for (_, tick) in self.made_ids()}),
            "name": list(range(s.names)),
        }
        parts = invariant(self.protocol, s) | {"no ID is made twice": lambda: is_unique(self.protocol, s)}
        return [name for name, part in parts.items() if part() is not True]


def put(function: Function, key: tuple[Term, ...], value: Term) -> None:
    """Sets the value of a key in place. The contents of a message or a version never change once they are set."""
    assert isinstance(function, Table)
    function.values[key] = value


def keys(function: Function) -> list[tuple[Any, ...]]:
    """Returns the keys whose values were set."""
    assert isinstance(function, Table)
    return list(function.values)


class ComputedTable(Table):
    """A function that computes the value of every key when it is called."""

    def __init__(self, of: Callable[[int], int]) -> None:
        super().__init__(0)
        self.calculate = of

    def __call__(self, *key: Term) -> Term:
        return self.calculate(*key)
