"""IDs as query parameters of psycopg 3.

IDs that are :class:`uuid.UUID` or ``int`` objects do not require this module, because psycopg supports these types
itself.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal

import psycopg
from psycopg.types.string import (
    BytesBinaryDumper,
    BytesDumper,
    StrBinaryDumper,
    StrBinaryDumperVarchar,
    StrDumper,
    StrDumperVarchar,
)
from psycopg.types.uuid import UUIDBinaryDumper, UUIDDumper

from polyflake import sno
from polyflake._reading import check_form

__all__ = ["register"]


def register(context: Any = None, *, form: Literal["text", "bytes", "uuid8", "uuid"] = "text") -> None:
    """Makes psycopg accept :class:`polyflake.sno.Sno` as a query parameter.

    Results remain ``str``, ``bytes`` or ``UUID``, because PostgreSQL uses these types for other values, too. Convert
    them with ``sno.Sno(text)``, ``sno.Sno.from_bytes(data)``, ``sno.Sno.from_uuid8(uuid)`` or
    ``sno.Sno.from_uuid(uuid)``.

    :param context: a connection or cursor, or ``None`` for all connections that are created later.
    :param form: how the columns store IDs. Pass ``"text"`` for columns of type ``text`` or ``varchar``, and ``"bytes"``
        for ``bytea``. For ``uuid``, pass ``"uuid8"`` if the columns contain version 8 UUIDs, or ``"uuid"`` if they
        contain UUIDs in the compatible form.
    :raises OutOfRangeError: for any other form. This exception is a subclass of :class:`ValueError`.
    """
    check_form(form)
    for dumper in _DUMPERS[form]:
        (context or psycopg).adapters.register_dumper(sno.Sno, _create_dumper(form, dumper))


# If a query does not specify which dumper to use, psycopg uses the dumper that was registered last. The last class in
# each tuple is therefore the default.
_DUMPERS: dict[str, tuple[type[Any], ...]] = {
    "text": (StrBinaryDumperVarchar, StrDumperVarchar, StrBinaryDumper, StrDumper),
    "bytes": (BytesBinaryDumper, BytesDumper),
    "uuid8": (UUIDBinaryDumper, UUIDDumper),
    "uuid": (UUIDBinaryDumper, UUIDDumper),
}
_PLAIN: dict[str, Callable[[sno.Sno], Any]] = {
    "text": str,
    "bytes": bytes,
    "uuid8": attrgetter("uuid8"),
    "uuid": attrgetter("uuid"),
}


def _create_dumper(form: str, others: type[Any]) -> type[Any]:
    """Returns a subclass of the dumper class ``others`` that also dumps IDs. The subclass must still dump the values
    that ``others`` dumps, because ``COPY`` selects a dumper only by the column type.
    """
    to_plain = _PLAIN[form]

    class SnoDumper(others):  # type: ignore[misc]
        def dump(self, obj: Any) -> Any:
            return super().dump(to_plain(obj) if isinstance(obj, sno.Sno) else obj)

    return SnoDumper
