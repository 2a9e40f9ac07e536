"""The cipher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyflake.sparx64 import Sparx64
from stage import Args


def cipher(args: Args) -> Sparx64:
    return Sparx64(bytes.fromhex(args["key"]))


def one_block(method: Callable[[Sparx64, bytes], bytes]) -> Callable[[Args], Any]:
    return lambda args: method(cipher(args), bytes.fromhex(args["block"])).hex()


def many_blocks(method: Callable[[Sparx64, bytes], bytes]) -> Callable[[Args], Any]:
    return lambda args: method(cipher(args), bytes.fromhex(args["blocks"])).hex()


OPS = {
    "encrypt": one_block(Sparx64.encrypt),
    "decrypt": one_block(Sparx64.decrypt),
    "encrypt_many": many_blocks(Sparx64.encrypt_many),
    "decrypt_many": many_blocks(Sparx64.decrypt_many),
}
