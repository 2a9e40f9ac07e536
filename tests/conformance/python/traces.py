"""A sno generator under a scripted clock, step by step.

The clock is called from inside the generator and may itself take steps, so each call in progress has a frame of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from outcomes import outcome
from polyflake.sno import Generator, Snapshot

Args = dict[str, Any]

NANOS_PER_MS = 1_000_000


@dataclass
class Frame:
    """One call in progress: its readings, and the steps to take when the clock is read for the second time."""

    readings: list[str]
    inside: list[Args]
    read: int = 0
    answers: list[Any] = field(default_factory=list)

    def shown(self) -> int:
        """The reading of now, the last one for ever, in Unix nanoseconds."""
        reading = self.readings[min(self.read, len(self.readings)) - 1]
        if reading == "raise":
            raise RuntimeError("a clock that fails")
        return int(reading) * NANOS_PER_MS


class Trace:
    """A generator, and the calls in progress."""

    def __init__(self, args: Args) -> None:
        self.args = args
        self.frames: list[Frame] = []
        self.generator = self.build()

    def build(self) -> Generator:
        config = self.args.get("config")
        if config is not None:
            make = Generator.import_original if self.args.get("original") else Generator.restore
            return make(Snapshot.from_dict(config), **self.options())
        names = ("partition", "sequence_min", "sequence_max")
        own = {name: self.args[name] for name in names if self.args.get(name) is not None}
        return Generator(**own, **self.options())

    def options(self) -> dict[str, Any]:
        """Those that a restored generator takes too."""
        options: dict[str, Any] = {"clock": self.clock}
        if self.args.get("window") is not None:
            start, end = self.args["window"]
            options["window"] = (int(start), int(end))
        if self.args.get("max_wait_ms") is not None:
            options["max_wait"] = self.args["max_wait_ms"]
        if self.args.get("on_exhausted") is not None:
            options["on_exhausted"] = self.args["on_exhausted"]
        return options

    def clock(self) -> int:
        frame = self.frames[-1]
        frame.read += 1
        if frame.read == 2:
            frame.answers = [self.step(step) for step in frame.inside]
        return frame.shown()

    def step(self, step: Args) -> dict[str, Any]:
        """Takes a step: its readings are the clock's until it ends."""
        frame = Frame(step.get("clock", []), step.get("inside", []))
        self.frames.append(frame)
        answer = outcome(lambda: self.call(step))
        self.frames.pop()
        if "inside" in step:
            answer["inside"] = frame.answers
        return answer

    def call(self, step: Args) -> Any:
        match step["op"]:
            case "generate" if "count" in step:
                return [bytes(id).hex() for id in self.generator.generate_many(step["count"], step["metabyte"])]
            case "generate":
                return [bytes(self.generator.generate(step["metabyte"])).hex()]
            case "generate_at":
                return bytes(self.generator.generate_at(int(step["unix_ms"]), step["metabyte"])).hex()
            case "stats":
                return self.stats()
            case "extend_window":
                return self.generator.extend_window(int(step["end_ms"]))
            case "close":
                return self.generator.close().to_dict()
            case "restore":
                return self.restore()
            case op:
                raise ValueError(f"expected a step of the protocol, found {op}")

    def stats(self) -> dict[str, Any]:
        stats = self.generator.stats()
        names = ("sequence", "len", "now", "wall_hi", "wall_safe", "drifts")
        more = ("partition", "sequence_min", "sequence_max", "closed")
        return {name: getattr(stats, name) for name in names + more}

    def restore(self) -> Any:
        """Closes the generator, and goes on with one from its snapshot, which has been JSON in between."""
        closed = self.generator.close()
        self.generator = Generator.restore(Snapshot.from_json(closed.to_json()), **self.options())
        return closed.to_dict()


def run(args: Args) -> Any:
    trace = Trace(args)
    return {"steps": [trace.step(step) for step in args["steps"]]}
