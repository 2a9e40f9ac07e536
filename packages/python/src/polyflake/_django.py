"""Parts of :mod:`polyflake.django`: the columns of each form, what they hold, and lookups of texts in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import EmptyResultSet, ValidationError
from django.db import models
from django.db.models.lookups import Exact

from polyflake import PolyflakeError
from polyflake.msgspec import enc_hook

UUIDS = models.UUIDField()
COLUMNS = {"text": models.CharField(max_length=16), "bytes": models.BinaryField(), "uuid8": UUIDS, "uuid": UUIDS}
# Django's own sort texts by the table's collation, and keep bytes in blobs, UUIDs in texts or in MariaDB's type.
MYSQL = {"text": "char(16) CHARACTER SET ascii COLLATE ascii_bin", "bytes": "binary(10)"}
_DIGITS = re.compile("[0-9a-f]{32}")
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


def found(value: Any) -> Any:
    """The UUID that a database without a type for it gives as 16 bytes or as 32 digits; any other value unchanged.

    Django gives a join table's values to ``get_db_prep_value`` as the database gave them.
    """
    if isinstance(value, bytes) and len(value) == 16:
        return UUID(bytes=value)
    return UUID(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value


class Encoding(json.JSONEncoder):
    """An encoder of IDs and arrays of IDs, to be put before another one of :mod:`json`."""

    def default(self, o: Any) -> Any:
        try:
            return enc_hook(o)
        except NotImplementedError:
            return super().default(o)


class Whole(Exact):
    """A lookup of texts, such as ``icontains``, in a column of other values: it finds a whole ID, no part of one."""

    def get_prep_lookup(self) -> Any:
        try:
            return super().get_prep_lookup()
        except ValidationError:
            return self.rhs

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.rhs, str):
            raise EmptyResultSet
        return super().as_sql(compiler, connection)


class Typed:
    """A lookup that gives a ``Value`` without an output field the column's: ``filter(id=Value(id))``.

    Django knows the columns of its own values' types. An ID's column depends on the form, and SQLite would compare a
    string with bytes, which are never equal.
    """

    def __init__(self, lhs: Any, rhs: Any) -> None:
        if isinstance(rhs, models.Value) and rhs._output_field_or_none is None:
            rhs = models.Value(rhs.value, output_field=lhs.output_field)
        super().__init__(lhs, rhs)  # type: ignore[call-arg]


@cache
def typed(lookup: type) -> type:
    return type(lookup.__name__, (Typed, lookup), {})


class WholeOnMySql:
    """A lookup of a text in a column that holds UUIDs as bytes on MySQL and MariaDB alone."""

    lhs: Any
    rhs: Any

    def as_mysql(self, compiler: Any, connection: Any) -> Any:
        return Whole(self.lhs, self.rhs).as_sql(compiler, connection)
