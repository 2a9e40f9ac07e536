"""The SPARX-64/128 cipher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyflake.sparx64 import Sparx64
from stage import Args


def cipher(args: Args) -> Sparx64:
    return Sparx64(bytes.fromhex(args["key"]))


def single_block_op(method: Callable[[Sparx64, bytes], bytes]) -> Callable[[Args], Any]:
    return lambda args: method(cipher(args), bytes.fromhex(args["block"])).hex()


def multi_block_op(method: Callable[[Sparx64, bytes], bytes]) -> Callable[[Args], Any]:
    return lambda args: method(cipher(args), bytes.fromhex(args["blocks"])).hex()


OPS = {
    "encrypt": single_block_op(Sparx64.encrypt),
    "decrypt": single_block_op(Sparx64.decrypt),
    "encrypt_many": multi_block_op(Sparx64.encrypt_many),
    "decrypt_many": multi_block_op(Sparx64.decrypt_many),
}
