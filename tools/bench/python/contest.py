"""Times statements in turn, and sets goals for the ratios of their times, which `cargo xtask bench` evaluates.

The method is the same as in the Rust benchmarks: the entries take turns, and each turn lasts about half a millisecond.
A generator is idle while the other entries run, so it does not reach its limit (65,536 sno IDs in 4 ms) if one ID takes
30 ns or more.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from dataclasses import asdict, dataclass, field
from timeit import Timer
from typing import Any

import polyflake

#: Number of rounds in each repetition, set by `cargo xtask bench`.
ROUNDS = int(os.environ["POLYFLAKE_BENCH_ROUNDS"])
ROUND_SECONDS = 0.0005
#: The maximum number of attempts at a round if the system keeps interrupting it.
MAX_TRIES = 5


@dataclass
class Entry:
    """A statement, and the objects that it refers to."""

    name: str
    statement: str
    objects: dict[str, Any]
    ours: bool = False
    #: Number of items that one repetition generates.
    items: int = 1
    #: Position on the x-axis of the contest's plot, or `None` if the plot has no x-axis.
    x: int | None = None
    #: An untimed statement that runs before each round.
    before: str = ""

    def timer(self) -> Timer:
        """Returns a timer in which the objects are local variables, as in a function."""
        assignments = [f"{name} = _objects[{name!r}]" for name in self.objects]
        return Timer(
            self.statement, "\n".join([*assignments, self.before]) or "pass", globals={"_objects": self.objects}
        )


@dataclass
class Goal:
    """A limit on an entry's time, as a multiple of another entry's time. Each entry is identified by its name and its
    position on the x-axis.
    """

    name: str
    ours: tuple[str, int | None]
    against: tuple[str, int | None]
    most: float


@dataclass
class Comparison:
    name: str
    entries: list[Entry]
    goals: list[Goal] = field(default_factory=list)
    axis: str | None = None
    #: Peers that are unavailable on this machine, and the reasons.
    missing: list[dict[str, str]] = field(default_factory=list)

    def matches_filter(self, text: str) -> bool:
        return any(text in name for name in [self.name, *(goal.name for goal in self.goals)])

    def time_repeatedly(self) -> None:
        """Times all entries in turn, and prints the times. Repeats this for as long as `cargo xtask bench` replies
        `more`.
        """
        entry_timers = [(entry, entry.timer()) for entry in self.entries]
        counts = [_calibrate(timer) for _, timer in entry_timers]
        rounds: list[list[float]] = [[] for _ in entry_timers]
        reply = "more\n"
        while reply == "more\n":
            for _ in range(ROUNDS):
                for (entry, timer), count, nanos in zip(entry_timers, counts, rounds, strict=True):
                    nanos.append(_time_without_interruption(timer, count) * 1e9 / count / entry.items)
            print(json.dumps(self._report(rounds)), flush=True)
            reply = sys.stdin.readline()

    def _report(self, rounds: list[list[float]]) -> dict[str, Any]:
        entry_rounds = zip(self.entries, rounds, strict=True)
        return {
            "contest": self.name,
            "axis": self.axis,
            "clock": polyflake.clock_source(),
            "entries": [{"name": e.name, "ours": e.ours, "x": e.x, "rounds": nanos} for e, nanos in entry_rounds],
            "goals": [asdict(goal) for goal in self.goals],
            "missing": self.missing,
        }


def _time_without_interruption(timer: Timer, count: int) -> float:
    """Returns the duration of a round in seconds. Repeats the round if the system interrupts it, with at most
    `MAX_TRIES` attempts in total.
    """
    for _ in range(MAX_TRIES):
        interruptions_before = _count_interruptions()
        seconds = timer.timeit(count)
        if _count_interruptions() == interruptions_before:
            break
    return seconds


def _count_interruptions() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _calibrate(timer: Timer) -> int:
    """Returns the number of repetitions that fill a round.

    The first call is not counted, because a generator with an explicit worker ID waits for the next tick during its
    first call.
    """
    timer.timeit(1)
    count = 1
    while (seconds := timer.timeit(count)) < ROUND_SECONDS / 4:
        count *= 2
    return max(1, int(count * ROUND_SECONDS / seconds))
