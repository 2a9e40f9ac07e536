"""The cost of keys in a B-tree: rows under one kind of key, inserted into a table of a database."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Key: TypeAlias = "bytes | int"

#: Content of a row besides its key: 100 bytes, the size of a small record.
PAYLOAD = bytes(100)
#: Number of rows in a transaction.
TRANSACTION = 10_000


@dataclass(frozen=True)
class Kind:
    """A kind of key: its name in reports, its name for the program that makes the keys, and its length in bytes."""

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
    """Time and size of a filled table."""

    database: str
    key: str
    seconds: float
    #: Pages of the tree with the key, and bytes of the table with its index.
    pages: int
    bytes: int
    #: Bytes written to the log meanwhile; None if the database does not report it.
    log_bytes: int | None


Fill: TypeAlias = Callable[[Kind, list[Key]], Filled]


def transactions(keys: list[Key]) -> Iterator[list[tuple[Key, bytes]]]:
    """The rows, by transaction."""
    for start in range(0, len(keys), TRANSACTION):
        yield [(key, PAYLOAD) for key in keys[start : start + TRANSACTION]]


def size_of(*files: Path) -> int:
    return sum(file.stat().st_size for file in files if file.exists())
