"""IDs as parameters of asyncpg.

A Hot Guid is a :class:`uuid.UUID` and a Randflake an ``int``, which asyncpg knows by itself.
"""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from polyflake import sno
from polyflake._reading import check_form

__all__ = ["register"]


async def register(connection: Any, *, form: Literal["text", "bytes", "uuid8", "uuid"] = "text") -> None:
    """Lets a connection take a :class:`polyflake.sno.Sno` as a parameter of a type of PostgreSQL.

    Other values of the type are taken as before. Lists of IDs are arrays, except of ``text``: asyncpg writes ``text[]``
    without codecs. Cast such a parameter: ``id = any($1::varchar[])``.

    Results stay ``str``, ``bytes`` or ``UUID``, since a codec is for all columns of a type: ``sno.Sno(text)``,
    ``sno.Sno.from_bytes(data)``, ``sno.Sno.from_uuid8(uuid)``, ``sno.Sno.from_uuid(uuid)`` read them.
    ``create_pool(init=register)`` registers all connections of a pool.

    :param form: the columns' type: ``text``, ``varchar`` and ``char`` for ``"text"``, ``bytea`` for ``"bytes"``,
        ``uuid`` for ``"uuid8"`` (version 8) and ``"uuid"`` (the compatible form).
    :raises OutOfRangeError: which is a :class:`ValueError`, for another form.
    """
    check_form(form)
    names, encoder, decoder = {
        "text": (("text", "varchar", "bpchar"), _text, bytes.decode),
        "bytes": (("bytea",), _bytes, bytes),
        "uuid8": (("uuid",), lambda value: _uuid(value, "uuid8"), lambda data: UUID(bytes=bytes(data))),
        "uuid": (("uuid",), lambda value: _uuid(value, "uuid"), lambda data: UUID(bytes=bytes(data))),
    }[form]
    for name in names:
        await connection.set_type_codec(name, schema="pg_catalog", encoder=encoder, decoder=decoder, format="binary")


def _text(value: Any) -> bytes:
    if isinstance(value, str | sno.Sno):
        return str(value).encode()
    raise TypeError(f"expected str or Sno, found {type(value).__name__}")


def _bytes(value: Any) -> bytes:
    # `bytes` alone would take an integer for a length, and store as many zero bytes.
    if isinstance(value, sno.Sno | bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"expected bytes or Sno, found {type(value).__name__}")


def _uuid(value: Any, form: str) -> bytes:
    uuid = getattr(value, form) if isinstance(value, sno.Sno) else value
    return uuid.bytes if isinstance(uuid, UUID) else UUID(uuid).bytes
