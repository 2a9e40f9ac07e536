"""IDs in Python's own ``sqlite3``.

A :class:`polyflake.sno.Sno` may be a parameter as it is, since it has ``__conform__``: it becomes its text.
:func:`register` adds the rest.
"""

from __future__ import annotations

import sqlite3
from uuid import UUID

from polyflake import sno

__all__ = ["register"]


def register() -> None:
    """Lets ``sqlite3`` store ``UUID`` parameters as texts, and read columns that are declared as ``SNO`` or
    ``HOTGUID``.

    Columns are read this way by connections with ``detect_types=sqlite3.PARSE_DECLTYPES``. A column that is declared as
    ``SNO`` or ``HOTGUID`` must hold texts. It is for all connections of the process, as the module's own registers are.

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
