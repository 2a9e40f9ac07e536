"""IDs as parameters of psycopg 3.

A Hot Guid is a :class:`uuid.UUID` and a Randflake an ``int``, which psycopg knows by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from psycopg import adapt, adapters, postgres, pq

from polyflake import sno
from polyflake._reading import check_form

__all__ = ["register"]


def register(context: Any = None, *, form: Literal["text", "bytes", "uuid8", "uuid"] = "text") -> None:
    """Lets psycopg take a :class:`polyflake.sno.Sno` as a parameter.

    Results stay ``str``, ``bytes`` or ``UUID``, since a type of PostgreSQL is not of IDs alone: ``sno.Sno(text)``,
    ``sno.Sno.from_bytes(data)``, ``sno.Sno.from_uuid8(uuid)``, ``sno.Sno.from_uuid(uuid)`` read them.

    :param context: a connection or cursor; ``None`` for all connections that are made later.
    :param form: the columns' type: ``text``, ``bytea``, or ``uuid`` for ``"uuid8"`` (version 8) and ``"uuid"`` (the
        compatible form).
    :raises OutOfRangeError: which is a :class:`ValueError`, for another form.
    """
    check_form(form)
    written = {"text": "text", "bytes": "bytea", "uuid8": "uuid", "uuid": "uuid"}[form]
    targets = context.adapters if context is not None else adapters
    for dumper in (_dumper(form, written, pq.Format.BINARY), _dumper(form, written, pq.Format.TEXT)):
        targets.register_dumper(sno.Sno, dumper)


_BINARY: dict[str, Callable[[sno.Sno], bytes]] = {
    "text": lambda id: str(id).encode(),
    "bytes": bytes,
    "uuid8": lambda id: id.uuid8.bytes,
    "uuid": lambda id: id.uuid.bytes,
}
_TEXT: dict[str, Callable[[sno.Sno], bytes]] = {
    "text": lambda id: str(id).encode(),
    "bytes": lambda id: b"\\x" + bytes(id).hex().encode(),
    "uuid8": lambda id: str(id.uuid8).encode(),
    "uuid": lambda id: str(id.uuid).encode(),
}


def _dumper(form: str, written: str, how: pq.Format) -> type[adapt.Dumper]:
    """The class that writes an ID in one of PostgreSQL's two formats."""
    dumped = (_BINARY if how is pq.Format.BINARY else _TEXT)[form]

    class SnoDumper(adapt.Dumper):
        format = how
        oid = postgres.types[written].oid

        def dump(self, obj: sno.Sno) -> bytes:
            return dumped(obj)

    return SnoDumper
