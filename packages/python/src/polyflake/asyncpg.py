"""IDs as query parameters of asyncpg.

IDs that are :class:`uuid.UUID` or ``int`` objects do not need this module, because asyncpg already supports them.
"""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from polyflake import sno
from polyflake._reading import check_form

__all__ = ["register"]


async def register(connection: Any, *, form: Literal["text", "bytes", "uuid8", "uuid"] = "text") -> None:
    """Makes a connection accept :class:`polyflake.sno.Sno` as a query parameter for columns of one form.

    The connection still accepts all other values for columns of the same type. Lists of IDs are sent as arrays, except
    for ``text``, because asyncpg does not apply codecs to ``text[]``. Cast such a parameter: ``id =
    any($1::varchar[])``.

    Results remain ``str``, ``bytes`` or ``UUID``, because a codec applies to all columns of a type. Convert them with
    ``sno.Sno(text)``, ``sno.Sno.from_bytes(data)``, ``sno.Sno.from_uuid8(uuid)`` or ``sno.Sno.from_uuid(uuid)``.
    ``create_pool(init=register)`` registers all connections of a pool.

    :param form: how the columns store IDs. The column types are ``text``, ``varchar`` and ``char`` for ``"text"``,
        ``bytea`` for ``"bytes"``, and ``uuid`` for both ``"uuid8"`` (version 8) and ``"uuid"`` (the compatible form).
    :raises OutOfRangeError: for any other form. This exception is a subclass of :class:`ValueError`.
    """
    check_form(form)
    names, encoder, decoder = {
        "text": (("text", "varchar", "bpchar"), _dump_text, bytes.decode),
        "bytes": (("bytea",), _dump_bytes, bytes),
        "uuid8": (("uuid",), lambda value: _dump_uuid(value, "uuid8"), lambda data: UUID(bytes=bytes(data))),
        "uuid": (("uuid",), lambda value: _dump_uuid(value, "uuid"), lambda data: UUID(bytes=bytes(data))),
    }[form]
    for name in names:
        await connection.set_type_codec(name, schema="pg_catalog", encoder=encoder, decoder=decoder, format="binary")


def _dump_text(value: Any) -> bytes:
    if isinstance(value, str | sno.Sno):
        return str(value).encode()
    raise TypeError(f"expected str or Sno, found {type(value).__name__}")


def _dump_bytes(value: Any) -> bytes:
    # Integers must be rejected, because `bytes(5)` would store 5 zero bytes.
    if isinstance(value, sno.Sno | bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"expected bytes or Sno, found {type(value).__name__}")


def _dump_uuid(value: Any, form: str) -> bytes:
    uuid = getattr(value, form) if isinstance(value, sno.Sno) else value
    return uuid.bytes if isinstance(uuid, UUID) else UUID(uuid).bytes
