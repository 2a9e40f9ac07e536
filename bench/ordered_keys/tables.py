"""What keys cost in a B-tree: rows under one kind of key, inserted into a table of a database."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Key: TypeAlias = "bytes | int"

#: What a row holds beside its key: 100 bytes, as a small record does.
PAYLOAD = bytes(100)
#: Rows of one transaction.
TRANSACTION = 10_000


@dataclass(frozen=True)
class Kind:
    """A kind of key: its name to people, to the program that makes the keys, and how long one is."""

    name: str
    argument: str
    length: int
    #: A signed integer of 64 bits in the database; otherwise bytes.
    integer: bool = False

    def keys(self, program: str, rows: int) -> list[Key]:
        """All keys, in the order in which a service made them."""
        made = subprocess.run([program, "keys", self.argument, str(rows)], capture_output=True, check=True)
        if len(made.stdout) != rows * self.length:
            raise ValueError(f"expected {rows} keys of {self.length} bytes, found {len(made.stdout)} bytes")
        if self.integer:
            return list(struct.unpack(f">{rows}q", made.stdout))
        starts = range(0, len(made.stdout), self.length)
        return [made.stdout[start : start + self.length] for start in starts]


KINDS = [
    Kind("sno, 10 bytes", "sno", 10),
    Kind("custom layout, integer", "layout", 8, integer=True),
    Kind("Hot Guid, 16 bytes", "hot-guid", 16),
    Kind("Randflake, integer", "randflake", 8, integer=True),
    Kind("UUID v7, 16 bytes", "uuid-v7", 16),
    Kind("UUID v4, 16 bytes", "uuid-v4", 16),
]


@dataclass(frozen=True)
class Filled:
    """What a table came to."""

    database: str
    key: str
    seconds: float
    #: Pages of the tree that the key is in, and bytes of all that the table takes.
    pages: int
    bytes: int
    #: Bytes that went to the log meanwhile; nothing where the database cannot tell.
    log_bytes: int | None


Fill: TypeAlias = Callable[[Kind, list[Key]], Filled]


def transactions(keys: list[Key]) -> Iterator[list[tuple[Key, bytes]]]:
    """The rows, by transaction."""
    for start in range(0, len(keys), TRANSACTION):
        yield [(key, PAYLOAD) for key in keys[start : start + TRANSACTION]]


def size_of(*files: Path) -> int:
    return sum(file.stat().st_size for file in files if file.exists())
