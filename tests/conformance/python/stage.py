"""Runs traces of a generator with a scripted clock. A trace is a list of steps, and each format defines its own steps.

The generator calls the clock, which may itself run steps. Therefore, each call in progress has its own frame.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from outcomes import outcome

Args = dict[str, Any]

NANOS_PER_MS = 1_000_000

# Clock readings that are not valid times.
INVALID_READINGS: dict[str, Any] = {"none": None, "boolean": True, "float": 1_763_650_000.5}


@dataclass
class Frame:
    """A call in progress: its clock readings, and the steps to run when the clock is read for the second time."""

    readings: list[str]
    inside: list[Args]
    read: int = 0
    answers: list[Any] = field(default_factory=list)

    def current_reading(self) -> Any:
        """Returns the current clock reading, in Unix nanoseconds. Once the readings run out, the last one is repeated
        forever.
        """
        reading = self.readings[min(self.read, len(self.readings)) - 1]
        if reading == "raise":
            raise RuntimeError("a clock that fails")
        return INVALID_READINGS[reading] if reading in INVALID_READINGS else int(reading) * NANOS_PER_MS


class Stage(ABC):
    """A generator and the calls that are in progress."""

    def __init__(self, args: Args) -> None:
        self.args = args
        self.frames: list[Frame] = []
        self.generator = self.build()

    @abstractmethod
    def build(self) -> Any:
        """Returns the generator for the trace's options."""

    @abstractmethod
    def call(self, step: Args) -> Any:
        """Returns the answer to a step."""

    def options(self) -> dict[str, Any]:
        """Returns the options that the generators of all formats accept."""
        options: dict[str, Any] = {"test_clock": self.clock}
        if self.args.get("window") is not None:
            start, end = self.args["window"]
            options["window"] = (int(start), int(end))
        if self.args.get("max_wait_ms") is not None:
            options["max_wait"] = self.args["max_wait_ms"]
        if self.args.get("on_exhausted") is not None:
            options["on_exhausted"] = self.args["on_exhausted"]
        return options

    def clock(self) -> Any:
        frame = self.frames[-1]
        frame.read += 1
        if frame.read == 2:
            frame.answers = [self.step(step) for step in frame.inside]
        return frame.current_reading()

    def step(self, step: Args) -> dict[str, Any]:
        """Runs a step. While the step runs, the clock returns the step's readings."""
        frame = Frame(step.get("clock", []), step.get("inside", []))
        self.frames.append(frame)
        answer = outcome(lambda: self.call(step))
        self.frames.pop()
        if "inside" in step:
            answer["inside"] = frame.answers
        return answer

    def run(self) -> Any:
        """Runs all steps of the trace, and returns their answers."""
        return {"steps": [self.step(step) for step in self.args["steps"]]}


def unknown_step(step: Args) -> Exception:
    return ValueError(f"expected a step of the protocol, found {step['op']}")
