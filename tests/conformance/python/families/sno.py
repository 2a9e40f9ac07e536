"""sno."""

from __future__ import annotations

import json
import uuid
from typing import Any

from polyflake import sno
from polyflake.sno import Generator, Snapshot, Sno
from stage import Args, Stage, unknown_step


def fields(id: Sno) -> dict[str, Any]:
    """Returns an ID's fields in the protocol's FIELDS form."""
    return {
        "hex": bytes(id).hex(),
        "text": str(id),
        "tick": str(id.tick),
        "unix_ms": str(id.unix_ms),
        "tick_tock": int(id.tick_tock),
        "metabyte": id.metabyte,
        "partition": id.partition,
        "sequence": id.sequence,
    }


def parse(args: Args) -> Any:
    return fields(Sno(args["text"]))


def from_bytes(args: Args) -> Any:
    return fields(Sno.from_bytes(bytes.fromhex(args["hex"])))


def from_parts(args: Args) -> Any:
    parts = {"tick": int(args["tick"]), "tick_tock": args["tick_tock"] == 1}
    return fields(Sno.from_parts(**{**args, **parts}))


def metabyte(args: Args) -> Any:
    return sno.metabyte(args["text"])


def with_fields(args: Args) -> Any:
    id = Sno(args["text"])
    for name in ("metabyte", "partition", "sequence"):
        if name in args:
            id = getattr(id, f"with_{name}")(args[name])
    return fields(id)


def time_range(args: Args) -> Any:
    lowest, highest = sno.time_range(int(args["from_ms"]), int(args["to_ms"]))
    return {"lowest": range_end(lowest), "highest": range_end(highest)}


def range_end(id: Sno) -> dict[str, str]:
    return {"hex": bytes(id).hex(), "text": str(id)}


def to_uuid(args: Args) -> Any:
    return str(Sno(args["text"]).uuid)


def from_uuid(args: Args) -> Any:
    return fields(Sno.from_uuid(uuid.UUID(args["uuid"])))


def to_uuid8(args: Args) -> Any:
    return str(Sno(args["text"]).uuid8)


def from_uuid8(args: Args) -> Any:
    return fields(Sno.from_uuid8(uuid.UUID(args["uuid"])))


def find_in_json(args: Args) -> Any:
    """Returns the ID at a JSON pointer (RFC 6901) in a JSON text, and its metabyte."""
    value = json.loads(args["json"])
    for step in args["pointer"].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    id = Sno(value)
    return {"id": str(id), "metabyte": id.metabyte}


def json_value(args: Args) -> Any:
    return fields(sno.from_json_value(json.loads(args["json"])))


def json_value_or_null(args: Args) -> Any:
    return fields(sno.from_json_value(json.loads(args["json"]), null_is_zero=True))


def to_json(args: Args) -> Any:
    return json.dumps(sno.to_json_value(Sno(args["text"])))


def to_json_or_null(args: Args) -> Any:
    return json.dumps(sno.to_json_value(Sno(args["text"]), null_is_zero=True))


def generate(args: Args) -> Any:
    """Generates an ID with the default generator."""
    return fields(sno.generate(args["metabyte"]))


class Trace(Stage):
    generator: Generator

    def build(self) -> Generator:
        config = self.args.get("config")
        if config is not None:
            make_generator = Generator.import_original if self.args.get("original") else Generator.restore
            return make_generator(Snapshot.from_dict(config), **self.options())
        names = ("partition", "sequence_min", "sequence_max")
        own_options = {name: self.args[name] for name in names if self.args.get(name) is not None}
        return Generator(**own_options, **self.options())

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
            case _:
                raise unknown_step(step)

    def stats(self) -> dict[str, Any]:
        stats = self.generator.stats()
        names = ("sequence", "len", "now", "wall_hi", "wall_safe", "drifts")
        extra_names = ("partition", "sequence_min", "sequence_max", "closed")
        return {name: getattr(stats, name) for name in names + extra_names}

    def restore(self) -> Any:
        """Closes the generator and continues with one restored from its snapshot, after a round trip through JSON."""
        snapshot = self.generator.close()
        self.generator = Generator.restore(Snapshot.from_json(snapshot.to_json()), **self.options())
        return snapshot.to_dict()


OPS = {
    "parse": parse,
    "from_bytes": from_bytes,
    "from_parts": from_parts,
    "metabyte": metabyte,
    "with": with_fields,
    "time_range": time_range,
    "to_uuid": to_uuid,
    "to_uuid8": to_uuid8,
    "from_uuid8": from_uuid8,
    "from_uuid": from_uuid,
    "json": find_in_json,
    "json_value": json_value,
    "json_value_or_null": json_value_or_null,
    "to_json": to_json,
    "to_json_or_null": to_json_or_null,
    "generate": generate,
    "generator": lambda args: Trace(args).run(),
}
