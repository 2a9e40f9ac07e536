"""Version 7 UUIDs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from polyflake import uuid7
from polyflake.uuid7 import Generator, Uuid7Array
from stage import Args, Stage, unknown_step
from values import decimal


def fields(id: UUID) -> dict[str, Any]:
    """Returns an ID's fields in the protocol's UUID7 form."""
    parts = uuid7.parts(id)
    if uuid7.unix_ms(id) != parts.unix_ms:
        raise AssertionError(f"{id}: the time alone is another than among all fields")
    return {
        "text": str(id),
        "unix_ms": str(parts.unix_ms),
        "sequence": parts.sequence,
        "random": f"{parts.random:014x}",
        "worker_id": uuid7.worker_id(id),
        "hex": id.bytes.hex(),
    }


def from_parts(args: Args) -> Any:
    numbers = {name: int(args[name]) for name in ("unix_ms", "sequence", "random")}
    return fields(uuid7.from_parts(**numbers))


def from_bytes(args: Args) -> Any:
    """Reads an ID from bytes, as an array of length one. The package has no function that converts bytes to a single
    ``uuid.UUID``.
    """
    # An empty array is valid, but an empty ID is not, so replace empty input with a single byte.
    (id,) = Uuid7Array(bytes.fromhex(args["hex"]) or b"\0")
    return fields(id)


def time_range(args: Args) -> Any:
    lowest, highest = uuid7.time_range(int(args["from_ms"]), int(args["to_ms"]))
    return {"lowest": {"text": str(lowest)}, "highest": {"text": str(highest)}}


class Trace(Stage):
    """A trace that contains only those parts of IDs that do not depend on random bytes."""

    generator: Generator

    def __init__(self, args: Args) -> None:
        self.first = (-1, 0)
        super().__init__(args)

    def build(self) -> Generator:
        given: dict[str, Any] = {
            name: int(self.args[name]) for name in ("worker_id", "resume_after") if name in self.args
        }
        follows_rollbacks = self.args.get("follow_rollbacks", False)
        return Generator(**self.options(), **given, follow_rollbacks=follows_rollbacks)

    def call(self, step: Args) -> Any:
        match step["op"]:
            case "generate" if "count" in step:
                return [self.show_id(id) for id in self.generator.generate_many(step["count"])]
            case "generate":
                return [self.show_id(self.generator.generate())]
            case "extend_window":
                return self.generator.extend_window(int(step["end_ms"]))
            case "stats":
                return self.stats()
            case "close":
                return decimal(self.generator.close())
            case _:
                raise unknown_step(step)

    def show_id(self, id: UUID) -> dict[str, Any]:
        """Describes an ID. The sequence is relative to the first ID of the same millisecond."""
        parts = uuid7.parts(id)
        if self.first[0] != parts.unix_ms:
            self.first = (parts.unix_ms, parts.sequence)
        return {
            "unix_ms": str(parts.unix_ms),
            "sequence": (parts.sequence - self.first[1]) % 2**18,
            "worker_id": uuid7.worker_id(id) if "worker_id" in self.args else None,
        }

    def stats(self) -> dict[str, Any]:
        stats = self.generator.stats()
        return {
            "worker_id": stats.worker_id,
            "last_ms": decimal(stats.last_ms),
            "rollbacks": stats.rollbacks,
            "closed": stats.closed,
        }


OPS = {
    "parse": lambda args: fields(uuid7.parse(args["text"])),
    "from_parts": from_parts,
    "from_bytes": from_bytes,
    "time_range": time_range,
    "generate": lambda args: fields(uuid7.generate()),
    "generator": lambda args: Trace(args).run(),
}
