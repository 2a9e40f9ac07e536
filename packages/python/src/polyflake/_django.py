"""Parts of :mod:`polyflake.django`: the columns of each form, and what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models

from polyflake import PolyflakeError

UUIDS = models.UUIDField()
COLUMNS = {"text": models.CharField(max_length=16), "bytes": models.BinaryField(), "uuid8": UUIDS, "uuid": UUIDS}
# Django's own sort texts by the table's collation, and keep bytes in blobs, UUIDs in texts or in MariaDB's type.
MYSQL = {"text": "char(16) CHARACTER SET ascii COLLATE ascii_bin", "bytes": "binary(10)"}
UNSORTED = "SQL Server does not sort UUIDs by time: expected form 'text' or 'bytes' there, found {form!r}"

_T = TypeVar("_T")


def checked(read: Callable[[Any], _T], value: Any) -> _T:
    try:
        return read(value)
    except PolyflakeError as error:
        raise ValidationError("%(reason)s", code=error.code, params={"reason": error}) from error


def stored(id: UUID, connection: Any) -> Any:
    """A UUID as a parameter: on MySQL and MariaDB its bytes in the order of the text."""
    if connection.vendor == "mysql":
        return id.bytes
    return id if connection.features.has_native_uuid_field else id.hex


def found(value: Any) -> UUID:
    """The UUID of a column, which databases without a type for it give as bytes or as a text."""
    return value if isinstance(value, UUID) else UUID(bytes=value) if isinstance(value, bytes) else UUID(value)
