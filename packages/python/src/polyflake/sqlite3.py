"""IDs for Python's ``sqlite3`` module.

A :class:`polyflake.sno.Sno` can be a query parameter without registration, because it has a ``__conform__`` method. It
is stored as a string. :func:`register` adds support for reading columns and for Hot Guids.
"""

from __future__ import annotations

import sqlite3
from uuid import UUID

from polyflake import sno

__all__ = ["register"]


def register() -> None:
    """Makes ``sqlite3`` store ``UUID`` parameters as strings, and convert columns declared as ``SNO`` or ``HOTGUID``.

    Only connections with ``detect_types=sqlite3.PARSE_DECLTYPES`` convert columns. A column declared as ``SNO`` or
    ``HOTGUID`` must contain strings. The registration applies to all connections of the process, because ``sqlite3``
    keeps adapters and converters per process.

        >>> register()
        >>> database = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
        >>> _ = database.execute("CREATE TABLE orders (id SNO PRIMARY KEY) WITHOUT ROWID")
        >>> _ = database.execute("INSERT INTO orders VALUES (?)", [sno.Sno("9afikjv326nct5if")])
        >>> database.execute("SELECT id FROM orders").fetchone()
        (Sno('9afikjv326nct5if'),)
        >>> database.close()
    """
    sqlite3.register_adapter(UUID, str)
    sqlite3.register_converter("SNO", lambda text: sno.Sno(text.decode()))
    sqlite3.register_converter("HOTGUID", lambda text: UUID(text.decode()))
