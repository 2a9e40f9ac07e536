"""Contests: statements timed in turn, and goals for the ratios of their times.

The same method as in Rust: rounds of about half a millisecond, one of each entry after the other, and the median of the
ratios within a round. Since every entry rests while the others run, the limit of a generator (65,536 sno IDs in 4 ms)
is not reached if one ID takes 30 ns or more.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
from dataclasses import dataclass, field
from timeit import Timer
from typing import Any

import polyflake

#: Number of rounds in each repetition, set by `cargo xtask bench`.
ROUNDS = int(os.environ["POLYFLAKE_BENCH_ROUNDS"])
ROUND_SECONDS = 0.0005
#: Most times that the rounds are repeated, while they leave a goal undecided.
MOST_TIMES = 8
#: Fewest rounds that can decide a goal; fewer are only a trial run.
FEWEST_ROUNDS = 20
#: Most attempts at a round that the system interrupts.
TRIES = 5


@dataclass
class Entry:
    """A statement, and the objects that it names."""

    name: str
    statement: str
    objects: dict[str, Any]
    ours: bool = False
    #: Number of items that one repetition makes.
    items: int = 1
    #: Position on the contest's axis.
    x: int | None = None
    #: Statement that runs before a round, outside its time.
    before: str = ""

    def timer(self) -> Timer:
        """A timer in which the objects are local names, as in a function."""
        names = [f"{name} = _objects[{name!r}]" for name in self.objects]
        return Timer(self.statement, "\n".join([*names, self.before]) or "pass", globals={"_objects": self.objects})


@dataclass
class Goal:
    """The most time that an entry may take, as a multiple of another entry's. Both by name and position on the axis."""

    name: str
    ours: tuple[str, int | None]
    against: tuple[str, int | None]
    most: float

    def is_open(self, ratios: list[float]) -> bool:
        """Returns whether the rounds leave the goal undecided: its limit is within 5 % of the median ratio, and in the
        interval that holds the true median in 95 of 100 runs.
        """
        ordered, middle = sorted(ratios), len(ratios) // 2
        width = math.isqrt(len(ratios))
        low, high = ordered[max(0, middle - width)], ordered[min(len(ratios) - 1, middle + width)]
        is_near = abs(ordered[middle] / self.most - 1) < 0.05
        return len(ratios) >= FEWEST_ROUNDS and is_near and low <= self.most <= high


@dataclass
class Contest:
    name: str
    entries: list[Entry]
    goals: list[Goal] = field(default_factory=list)
    axis: str | None = None
    #: Peers that are unavailable here, with the reason.
    missing: list[dict[str, str]] = field(default_factory=list)

    def is_meant_by(self, text: str) -> bool:
        return any(text in name for name in [self.name, *(goal.name for goal in self.goals)])

    def hold(self) -> dict[str, Any]:
        """Runs the contest, and returns its results, ready for JSON."""
        rounds = self._time()
        return {
            "contest": self.name,
            "axis": self.axis,
            "clock": polyflake.clock_source(),
            "entries": [_tell(entry, rounds[entry.name, entry.x]) for entry in self.entries],
            "goals": [_judge(goal, rounds) for goal in self.goals],
            "missing": self.missing,
        }

    def _time(self) -> dict[tuple[str, int | None], list[float]]:
        timed = [(entry, entry.timer()) for entry in self.entries]
        counts = [_calibrate(timer) for _, timer in timed]
        rounds: dict[tuple[str, int | None], list[float]] = {(e.name, e.x): [] for e, _ in timed}
        for _ in range(MOST_TIMES):
            for _ in range(ROUNDS):
                for (entry, timer), count in zip(timed, counts, strict=True):
                    seconds = _undisturbed(timer, count)
                    rounds[entry.name, entry.x].append(seconds * 1e9 / count / entry.items)
            if not any(goal.is_open(_ratios(goal, rounds)) for goal in self.goals):
                break
        return rounds


def _undisturbed(timer: Timer, count: int) -> float:
    """The seconds of a round during which no other process used this one's processor."""
    for _ in range(TRIES):
        before = _interruptions()
        seconds = timer.timeit(count)
        if _interruptions() == before:
            break
    return seconds


def _interruptions() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _calibrate(timer: Timer) -> int:
    """Number of repetitions that fill a round."""
    count = 1
    while (seconds := timer.timeit(count)) < ROUND_SECONDS / 4:
        count *= 2
    return max(1, int(count * ROUND_SECONDS / seconds))


def _tell(entry: Entry, rounds: list[float]) -> dict[str, Any]:
    low, median, high = statistics.quantiles(rounds, n=4, method="inclusive")
    spread = {"ns": median, "quartiles_ns": [low, high]}
    return {"name": entry.name, "ours": entry.ours, "x": entry.x, **spread}


def _ratios(goal: Goal, rounds: dict[tuple[str, int | None], list[float]]) -> list[float]:
    return [mine / other for mine, other in zip(rounds[goal.ours], rounds[goal.against], strict=True)]


def _judge(goal: Goal, rounds: dict[tuple[str, int | None], list[float]]) -> dict[str, Any]:
    low, ratio, high = statistics.quantiles(_ratios(goal, rounds), n=4, method="inclusive")
    return {
        "name": goal.name,
        "ours_ns": statistics.median(rounds[goal.ours]),
        "against": goal.against[0],
        "against_ns": statistics.median(rounds[goal.against]),
        "ratio": ratio,
        "ratio_quartiles": [low, high],
        "goal": goal.most,
        "met": ratio <= goal.most,
    }
