"""The cipher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyflake.sparx64 import Sparx64
from stage import Args


def cipher(args: Args) -> Sparx64:
    return Sparx64(bytes.fromhex(args["key"]))


def one(method: Callable[[Sparx64, bytes], bytes]) -> Callable[[Args], Any]:
    return lambda args: method(cipher(args), bytes.fromhex(args["block"])).hex()


def many(method: Callable[[Sparx64, bytes], bytes]) -> Callable[[Args], Any]:
    return lambda args: method(cipher(args), bytes.fromhex(args["blocks"])).hex()


OPS = {
    "encrypt": one(Sparx64.encrypt),
    "decrypt": one(Sparx64.decrypt),
    "encrypt_many": many(Sparx64.encrypt_many),
    "decrypt_many": many(Sparx64.decrypt_many),
}
