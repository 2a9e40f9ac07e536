"""Public IDs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyflake.public import IdType, Keyring
from stage import Args
from values import decode_value


def id_type(args: Args) -> IdType:
    secrets = {int(version): bytes.fromhex(secret) for version, secret in args["secrets"].items()}
    return Keyring(secrets).of(args["type"], args["bits"])


def encode(args: Args) -> Any:
    return id_type(args).encode(decode_value(args["number"]))


def decode(args: Args) -> Any:
    # A string argument is passed unchanged and is never parsed as an integer.
    text = args["text"]
    return str(id_type(args).decode(text if isinstance(text, str) else decode_value(text)))


def encode_many(args: Args) -> Any:
    return id_type(args).encode_many(int(number) for number in args["numbers"])


def decode_many(args: Args) -> Any:
    return [str(number) for number in id_type(args).decode_many(args["texts"])]


OPS: dict[str, Callable[[Args], Any]] = {
    "encode": encode,
    "decode": decode,
    "encode_many": encode_many,
    "decode_many": decode_many,
}
