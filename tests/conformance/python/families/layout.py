"""Custom layouts."""

from __future__ import annotations

import json
from typing import Any

from outcomes import outcome
from polyflake.layout import Generator, Layout, Parsed, Snapshot
from stage import Args, Stage, unknown_step
from values import decimal, description_figures, read, read_all, write


def layout(args: Args) -> Layout:
    """Returns the layout of a preset or of a description. Checks that a description produces the same layout as an
    object and as a JSON string.
    """
    description = args["layout"]
    if "preset" in description:
        return Layout.preset(description["preset"], **read_all(description.get("fields")))
    as_object = outcome(lambda: Layout(description).to_json())
    as_text = outcome(lambda: Layout.from_json(json.dumps(description)).to_json())
    if as_object != as_text:
        raise AssertionError(f"as an object: {as_object}, as a text: {as_text}")
    return Layout(description)


def to_json(args: Args) -> Any:
    return layout(args).to_json()


def describe(args: Args) -> Any:
    return description_figures(layout(args).describe())


def pack(args: Args) -> Any:
    given = {"timestamp": args.get("timestamp_ms"), "sequence": args.get("sequence")}
    values = {name: read(value) for name, value in given.items() if value is not None}
    bindables, constants = read_all(args.get("bindables")), read_all(args.get("constants"))
    return id_to_json(layout(args).pack(**values, bindables=bindables, constants=constants))


def parse(args: Args) -> Any:
    its = layout(args)
    return fields(its.parse(read(args["id_value"]) if "id_value" in args else read_id(its, args["id"])))


def read_id(its: Layout, id: str) -> int | bytes:
    """Reads an ID: a decimal string for an integer layout, otherwise hexadecimal."""
    return int(id) if its.is_integer else bytes.fromhex(id)


def id_to_json(id: int | bytes) -> str:
    return str(id) if isinstance(id, int) else id.hex()


def time_range(args: Args) -> Any:
    span = int(args["from_ms"]), int(args["to_ms"])
    lowest, highest = layout(args).time_range(*span, read_all(args.get("bindables")))
    return {"lowest": id_to_json(lowest), "highest": id_to_json(highest)}


def generate(args: Args) -> Any:
    """Makes an ID with a generator that uses the system clock, and returns its fields."""
    generator = Generator(layout(args), bindables=read_all(args.get("bindables")))
    id = generator.generate()
    return {"id": id_to_json(id), "parsed": fields(generator.layout.parse(id))}


def fields(parsed: Parsed) -> dict[str, Any]:
    """Returns the protocol's PARSED, with only the fields that the layout has."""
    found = {
        "timestamp_ms": decimal(parsed.unix_ms),
        "sequence": decimal(parsed.sequence),
        "bindables": {name: write(value) for name, value in parsed.bindables.items()},
        "constants": {name: write(value) for name, value in parsed.constants.items()},
    }
    return {name: value for name, value in found.items() if value not in (None, {})}


class Trace(Stage):
    generator: Generator

    def build(self) -> Generator:
        return Generator(layout(self.args), **self.all_options())

    def all_options(self) -> dict[str, Any]:
        own: dict[str, Any] = {"bindables": read_all(self.args.get("bindables"))}
        if "range" in self.args:
            name, first, last = self.args["range"]
            own["range"] = (name, int(first), int(last))
        return {**self.options(), **own, "sequence_only": self.args.get("sequence_only", False)}

    def call(self, step: Args) -> Any:
        match step["op"]:
            case "generate":
                return self.generate(step)
            case "extend_window":
                return self.generator.extend_window(int(step["end_ms"]))
            case "stats":
                return self.stats()
            case "close":
                return snapshot_figures(self.generator.close())
            case "restore":
                return self.restore()
            case _:
                raise unknown_step(step)

    def generate(self, step: Args) -> Any:
        bindables = read_all(step["bindables"]) if "bindables" in step else None
        if "count" in step:
            return [id_to_json(id) for id in self.generator.generate_many(step["count"], bindables)]
        return [id_to_json(self.generator.generate(bindables))]

    def stats(self) -> dict[str, Any]:
        stats = self.generator.stats()
        return {"last_ms": decimal(stats.last_ms), "len": str(stats.len), "closed": stats.closed}

    def restore(self) -> Any:
        """Closes the generator and continues with one restored from its snapshot's attributes."""
        closed = snapshot_figures(self.generator.close())
        again = Snapshot.from_dict(closed)
        self.generator = Generator.restore(self.generator.layout, again, **self.all_options())
        return closed


def snapshot_figures(snapshot: Snapshot) -> dict[str, str]:
    return {"tick": str(snapshot.tick), "next_sequence": str(snapshot.next_sequence)}


OPS = {
    "json": to_json,
    "from_json": lambda args: Layout.from_json(args["text"]).to_json(),
    "describe": describe,
    "pack": pack,
    "parse": parse,
    "time_range": time_range,
    "generate": generate,
    "generator": lambda args: Trace(args).run(),
}
