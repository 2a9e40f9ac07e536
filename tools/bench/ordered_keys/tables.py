"""The kinds of keys whose cost in a B-tree is measured, and the measured results. A measurement inserts rows with one
kind of key into a database table.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Key: TypeAlias = "bytes | int"

#: The content of a row without its key: 100 bytes, the size of a small record.
PAYLOAD = bytes(100)
#: Number of rows per transaction.
ROWS_PER_TRANSACTION = 10_000


@dataclass(frozen=True)
class KeyFormat:
    """A kind of key: its name in reports, the argument that selects it in the program that generates keys, and its
    length in bytes.
    """

    name: str
    argument: str
    length: int
    #: Whether the database stores the key as a signed 64-bit integer. Otherwise, it stores the key as bytes.
    integer: bool = False

    def keys(self, program: str, rows: int) -> list[Key]:
        """Returns all keys, in the order in which a service would generate them."""
        completed = subprocess.run([program, "keys", self.argument, str(rows)], capture_output=True, check=True)
        if len(completed.stdout) != rows * self.length:
            raise ValueError(f"expected {rows} keys of {self.length} bytes, found {len(completed.stdout)} bytes")
        if self.integer:
            return list(struct.unpack(f">{rows}q", completed.stdout))
        starts = range(0, len(completed.stdout), self.length)
        return [completed.stdout[start : start + self.length] for start in starts]


KEY_FORMATS = [
    KeyFormat("sno, 10 bytes", "sno", 10),
    KeyFormat("custom layout, integer", "layout", 8, integer=True),
    KeyFormat("Hot Guid, 16 bytes", "hot-guid", 16),
    KeyFormat("Randflake, integer", "randflake", 8, integer=True),
    KeyFormat("UUID v7, 16 bytes", "uuid-v7", 16),
    KeyFormat("UUID v4, 16 bytes", "uuid-v4", 16),
]


@dataclass(frozen=True)
class FilledTable:
    """The time to fill a table, and its size."""

    database: str
    key: str
    seconds: float
    #: Number of pages in the key's B-tree, and number of bytes in the table and its index.
    pages: int
    bytes: int
    #: Number of bytes written to the log while filling the table, or None if the database does not report it.
    log_bytes: int | None


Fill: TypeAlias = Callable[[KeyFormat, list[Key]], FilledTable]


def split_into_transactions(keys: list[Key]) -> Iterator[list[tuple[Key, bytes]]]:
    """Yields the rows of each transaction."""
    for start in range(0, len(keys), ROWS_PER_TRANSACTION):
        yield [(key, PAYLOAD) for key in keys[start : start + ROWS_PER_TRANSACTION]]


def total_size(*files: Path) -> int:
    return sum(file.stat().st_size for file in files if file.exists())
