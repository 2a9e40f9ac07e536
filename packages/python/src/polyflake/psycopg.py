"""IDs as parameters of psycopg 3.

A Hot Guid is a :class:`uuid.UUID` and a Randflake an ``int``, which psycopg knows by itself.
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
    """Lets psycopg take a :class:`polyflake.sno.Sno` as a parameter.

    Results stay ``str``, ``bytes`` or ``UUID``, since a type of PostgreSQL is not of IDs alone: ``sno.Sno(text)``,
    ``sno.Sno.from_bytes(data)``, ``sno.Sno.from_uuid8(uuid)``, ``sno.Sno.from_uuid(uuid)`` read them.

    :param context: a connection or cursor; ``None`` for all connections that are made later.
    :param form: the columns' type: ``text`` and ``varchar``, ``bytea``, or ``uuid`` for ``"uuid8"`` (version 8) and
        ``"uuid"`` (the compatible form).
    :raises OutOfRangeError: which is a :class:`ValueError`, for another form.
    """
    check_form(form)
    for dumper in _DUMPERS[form]:
        (context or psycopg).adapters.register_dumper(sno.Sno, _dumper(form, dumper))


# The last one of a form is used where a query does not say which.
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


def _dumper(form: str, others: type[Any]) -> type[Any]:
    """The class that writes an ID, and what the class that it replaces writes: ``COPY`` finds it by the type alone."""
    plain = _PLAIN[form]

    class SnoDumper(others):  # type: ignore[misc]
        def dump(self, obj: Any) -> Any:
            return super().dump(plain(obj) if isinstance(obj, sno.Sno) else obj)

    return SnoDumper
