"""Hot Guid."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from polyflake import hotguid
from polyflake.hotguid import Generator
from stage import Args, Stage, unknown_step
from values import decimal


def fields(id: UUID) -> dict[str, Any]:
    """Returns an ID's fields in the protocol's GUID form."""
    parts = hotguid.parts(id)
    if (hotguid.timestamp(id), hotguid.shard_key(id)) != (parts.timestamp, parts.shard_key):
        raise AssertionError(f"{id}: one field alone is another than among all")
    return {
        "text": str(id),
        "timestamp": str(parts.timestamp),
        "machine": parts.machine.hex(),
        "counter": parts.counter,
        "shard_key": parts.shard_key,
        "dotnet": hotguid.to_dotnet_bytes(id).hex(),
        "rfc": id.bytes.hex(),
        "sql_text": str(hotguid.to_sql(id)),
    }


def parse(args: Args) -> Any:
    return fields(hotguid.parse(args["text"]))


def from_parts(args: Args) -> Any:
    exact_fields = {"timestamp": int(args["timestamp"]), "machine": bytes.fromhex(args["machine"])}
    return fields(hotguid.from_parts(**{**args, **exact_fields}))


def uuid8_parts(args: Args) -> Any:
    parts = hotguid.parts(hotguid.parse(args["text"]), uuid8=True)
    return {
        "timestamp": str(parts.timestamp),
        "machine": str(parts.machine),
        "counter": parts.counter,
        "shard_key": parts.shard_key,
    }


def from_uuid8_parts(args: Args) -> Any:
    exact_fields = {"timestamp": int(args["timestamp"]), "machine": int(args["machine"])}
    return str(hotguid.from_parts(**{**args, **exact_fields}, uuid8=True))


def from_bytes(args: Args) -> Any:
    return fields(UUID(bytes=bytes.fromhex(args["hex"])))


def from_dotnet(args: Args) -> Any:
    return fields(hotguid.from_dotnet_bytes(bytes.fromhex(args["hex"])))


def to_sql(args: Args) -> Any:
    return str(hotguid.to_sql(hotguid.parse(args["text"])))


def from_sql(args: Args) -> Any:
    return str(hotguid.from_sql(hotguid.parse(args["text"])))


def time_range(args: Args) -> Any:
    span = int(args["from_ms"]), int(args["to_ms"])
    ends = zip(hotguid.time_range(*span), hotguid.time_range(*span, sql=True), strict=True)
    lowest, highest = ({"text": str(id), "sql_text": str(sql)} for id, sql in ends)
    return {"lowest": lowest, "highest": highest}


def generate(args: Args) -> Any:
    """Generates an ID with the default generator."""
    return fields(hotguid.generate(args["shard_key"]))


class Trace(Stage):
    """A trace that contains only those parts of IDs that do not depend on random bytes."""

    generator: Generator

    def __init__(self, args: Args) -> None:
        super().__init__(args)
        self.first: dict[int, int] = {}
        self.machines: list[bytes | int] = []

    def build(self) -> Generator:
        return Generator(**self.options(), uuid8=self.args.get("uuid8", False))

    def call(self, step: Args) -> Any:
        match step["op"]:
            case "generate" if "count" in step:
                ids = self.generator.generate_many(step["count"], step["shard_key"])
                return [self.show_id(id) for id in ids]
            case "generate":
                return [self.show_id(self.generator.generate(step["shard_key"]))]
            case "extend_window":
                return self.generator.extend_window(int(step["end_ms"]))
            case "stats":
                return self.stats()
            case "close":
                return self.generator.close()
            case _:
                raise unknown_step(step)

    def show_id(self, id: UUID) -> dict[str, Any]:
        """Describes an ID by the index of its machine in the trace and by its counter relative to the first ID of the
        same second.
        """
        parts = hotguid.parts(id, uuid8=self.args.get("uuid8", False))
        first_counter = self.first.setdefault(parts.timestamp, parts.counter)
        if parts.machine not in self.machines:
            self.machines.append(parts.machine)
        return {
            "timestamp": str(parts.timestamp),
            "machine": self.machines.index(parts.machine),
            "counter": (parts.counter - first_counter) % 2**24,
            "shard_key": parts.shard_key,
        }

    def stats(self) -> dict[str, Any]:
        stats = self.generator.stats()
        return {"last_second": decimal(stats.last_second), "len": stats.len, "closed": stats.closed}


OPS = {
    "parse": parse,
    "from_parts": from_parts,
    "uuid8_parts": uuid8_parts,
    "from_uuid8_parts": from_uuid8_parts,
    "from_bytes": from_bytes,
    "from_dotnet": from_dotnet,
    "to_sql": to_sql,
    "from_sql": from_sql,
    "time_range": time_range,
    "generate": generate,
    "generator": lambda args: Trace(args).run(),
}
