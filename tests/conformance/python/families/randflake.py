"""Randflake."""

from __future__ import annotations

from typing import Any

from polyflake import randflake
from polyflake.randflake import Codec, Generator, Grant
from stage import Args, Stage, unknown_step
from values import decimal, decode_value


def codec(args: Args) -> Codec:
    return Codec(bytes.fromhex(args["secret"]))


def encode(args: Args) -> Any:
    return randflake.encode_text(decode_value(args["id"]))


def decode(args: Args) -> Any:
    return str(randflake.decode_text(args["text"]))


def decode_tagged_text(args: Args) -> Any:
    return str(randflake.decode_text(decode_value(args["text"])))


def to_unsigned(args: Args) -> Any:
    return str(randflake.to_unsigned(int(args["id"])))


def from_unsigned(args: Args) -> Any:
    return str(randflake.from_unsigned(int(args["value"])))


def encrypt(args: Args) -> Any:
    return str(codec(args).encrypt(int(args["timestamp"]), args["node"], args["sequence"]))


def inspect(args: Args) -> Any:
    return fields(codec(args), int(args["id"]))


def fields(codec: Codec, id: int) -> Any:
    """Returns an ID's fields in the protocol's FLAKE form."""
    parts = codec.inspect(id)
    return {
        "id": str(id),
        "text": randflake.encode_text(id),
        "timestamp": str(parts.timestamp),
        "node": parts.node,
        "sequence": parts.sequence,
    }


def generate(args: Args) -> Any:
    """Generates an ID with a generator that uses the system clock."""
    generator = Generator(grant(args), bytes.fromhex(args["secret"]))
    return fields(codec(args), generator.generate())


def grant(args: Args) -> Grant:
    """Returns a grant. ``nodes`` is a node ID, or the first and last node ID of a range. ``lease`` contains the start
    and end of the grant.
    """
    start, end = args["lease"]
    return Grant(args["nodes"], int(start), int(end))


class Trace(Stage):
    generator: Generator

    def build(self) -> Generator:
        options = self.options()
        if self.args.get("resume_after") is not None:
            options["resume_after"] = int(self.args["resume_after"])
        return Generator(grant(self.args), bytes.fromhex(self.args["secret"]), **options)

    def call(self, step: Args) -> Any:
        match step["op"]:
            case "generate" if "count" in step:
                return [str(id) for id in self.generator.generate_many(step["count"])]
            case "generate":
                return [str(self.generator.generate())]
            case "extend_lease":
                self.generator.extend_grant(grant(step))
                return self.current_grant()
            case "stats":
                return self.stats()
            case "close":
                return decimal(self.generator.close())
            case _:
                raise unknown_step(step)

    def current_grant(self) -> Any:
        grant = self.generator.grant
        return {"nodes": list(grant.nodes), "start": str(grant.start), "end": str(grant.end)}

    def stats(self) -> Any:
        stats = self.generator.stats()
        return {"last_second": decimal(stats.last_second), "len": str(stats.len), "closed": stats.closed}


OPS = {
    "encode": encode,
    "decode": decode,
    "decode_value": decode_tagged_text,
    "to_unsigned": to_unsigned,
    "from_unsigned": from_unsigned,
    "encrypt": encrypt,
    "inspect": inspect,
    "generate": generate,
    "generator": lambda args: Trace(args).run(),
}
