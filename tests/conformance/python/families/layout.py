"""Custom layouts."""

from __future__ import annotations

import json
from typing import Any

from outcomes import outcome
from polyflake.layout import Generator, Layout, Parsed, Snapshot
from stage import Args, Stage, unknown_step
from values import decimal, decode_value, decode_values, description_figures, encode_value


def layout(args: Args) -> Layout:
    """Returns the layout of a preset or of a description. Checks that a description passed as an object and the same
    description passed as a JSON string produce equal layouts.
    """
    description = args["layout"]
    if "preset" in description:
        return Layout.preset(description["preset"], **decode_values(description.get("fields")))
    object_outcome = outcome(lambda: Layout(description).to_json())
    text_outcome = outcome(lambda: Layout.from_json(json.dumps(description)).to_json())
    if object_outcome != text_outcome:
        raise AssertionError(f"as an object: {object_outcome}, as a text: {text_outcome}")
    return Layout(description)


def to_json(args: Args) -> Any:
    return layout(args).to_json()


def describe(args: Args) -> Any:
    return description_figures(layout(args).describe())


def pack(args: Args) -> Any:
    encoded_fields = {"timestamp": args.get("timestamp_ms"), "sequence": args.get("sequence")}
    values = {name: decode_value(value) for name, value in encoded_fields.items() if value is not None}
    bindables, constants = decode_values(args.get("bindables")), decode_values(args.get("constants"))
    return id_to_json(layout(args).pack(**values, bindables=bindables, constants=constants))


def parse(args: Args) -> Any:
    target_layout = layout(args)
    return fields(
        target_layout.parse(
            decode_value(args["id_value"]) if "id_value" in args else read_id(target_layout, args["id"])
        )
    )


def read_id(target_layout: Layout, id: str) -> int | bytes:
    """Reads an ID, which is a decimal string for an integer layout and a hexadecimal string otherwise."""
    return int(id) if target_layout.is_integer else bytes.fromhex(id)


def id_to_json(id: int | bytes) -> str:
    return str(id) if isinstance(id, int) else id.hex()


def time_range(args: Args) -> Any:
    span = int(args["from_ms"]), int(args["to_ms"])
    lowest, highest = layout(args).time_range(*span, decode_values(args.get("bindables")))
    return {"lowest": id_to_json(lowest), "highest": id_to_json(highest)}


def generate(args: Args) -> Any:
    """Generates an ID with a generator that uses the system clock, and returns the ID's fields."""
    generator = Generator(layout(args), bindables=decode_values(args.get("bindables")))
    id = generator.generate()
    return {"id": id_to_json(id), "parsed": fields(generator.layout.parse(id))}


def fields(parsed: Parsed) -> dict[str, Any]:
    """Returns a parsed ID in the protocol's PARSED form, which contains only the fields that the layout has."""
    all_fields = {
        "timestamp_ms": decimal(parsed.unix_ms),
        "sequence": decimal(parsed.sequence),
        "bindables": {name: encode_value(value) for name, value in parsed.bindables.items()},
        "constants": {name: encode_value(value) for name, value in parsed.constants.items()},
    }
    return {name: value for name, value in all_fields.items() if value not in (None, {})}


class Trace(Stage):
    generator: Generator

    def build(self) -> Generator:
        return Generator(layout(self.args), **self.all_options())

    def all_options(self) -> dict[str, Any]:
        own_options: dict[str, Any] = {"bindables": decode_values(self.args.get("bindables"))}
        if "range" in self.args:
            name, first, last = self.args["range"]
            own_options["range"] = (name, int(first), int(last))
        return {**self.options(), **own_options, "sequence_only": self.args.get("sequence_only", False)}

    def call(self, step: Args) -> Any:
        match step["op"]:
            case "generate":
                return self.generate(step)
            case "extend_window":
                return self.generator.extend_window(int(step["end_ms"]))
            case "stats":
                return self.stats()
            case "close":
                return snapshot_members(self.generator.close())
            case "restore":
                return self.restore()
            case _:
                raise unknown_step(step)

    def generate(self, step: Args) -> Any:
        bindables = decode_values(step["bindables"]) if "bindables" in step else None
        if "count" in step:
            return [id_to_json(id) for id in self.generator.generate_many(step["count"], bindables)]
        return [id_to_json(self.generator.generate(bindables))]

    def stats(self) -> dict[str, Any]:
        stats = self.generator.stats()
        return {"last_ms": decimal(stats.last_ms), "len": str(stats.len), "closed": stats.closed}

    def restore(self) -> Any:
        """Closes the generator and continues with one restored from its snapshot's attributes."""
        closing_members = snapshot_members(self.generator.close())
        restored_snapshot = Snapshot.from_dict(closing_members)
        self.generator = Generator.restore(self.generator.layout, restored_snapshot, **self.all_options())
        return closing_members


def snapshot_members(snapshot: Snapshot) -> dict[str, str]:
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
