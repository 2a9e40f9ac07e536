"""Helpers for :mod:`polyflake.django`: the database columns for each form, their values, and string lookups in them."""

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

UUID_FIELD = models.UUIDField()
COLUMNS = {
    "text": models.CharField(max_length=16),
    "bytes": models.BinaryField(),
    "uuid8": UUID_FIELD,
    "uuid": UUID_FIELD,
}
# These types replace Django's column types, which sort strings by the table's collation, store bytes in blobs, and
# store UUIDs as strings or in MariaDB's UUID type.
MYSQL_TYPES = {"text": "char(16) CHARACTER SET ascii COLLATE ascii_bin", "bytes": "binary(10)"}
_UUID_HEX = re.compile("[0-9a-f]{32}")
UNSORTED_MESSAGE = "SQL Server does not sort UUIDs by time: expected form 'text' or 'bytes' there, found {form!r}"

_T = TypeVar("_T")


def validate(read: Callable[[Any], _T], value: Any) -> _T:
    try:
        return read(value)
    except PolyflakeError as error:
        raise ValidationError("%(reason)s", code=error.code, params={"reason": error}) from error


def uuid_value(id: UUID, connection: Any) -> Any:
    """Returns the query parameter for a UUID. On MySQL and MariaDB, this is the UUID's bytes in the order of the string
    form.
    """
    if connection.vendor == "mysql":
        return id.bytes
    return id if connection.features.has_native_uuid_field else id.hex


def to_uuid(value: Any) -> Any:
    """Converts 16 bytes or 32 hexadecimal digits to a UUID, and returns any other value unchanged.

    Databases without a UUID type return UUIDs in one of these two forms. Django passes the values of a join table to
    ``get_db_prep_value`` exactly as the database returned them.
    """
    if isinstance(value, bytes) and len(value) == 16:
        return UUID(bytes=value)
    return UUID(value) if isinstance(value, str) and _UUID_HEX.fullmatch(value) else value


class IdEncoderMixin(json.JSONEncoder):
    """A mixin for JSON encoders that writes IDs and arrays of IDs."""

    def default(self, o: Any) -> Any:
        try:
            return enc_hook(o)
        except NotImplementedError:
            return super().default(o)


class WholeIdExact(Exact):
    """A string lookup, such as ``icontains``, in a column that does not store strings. It matches whole IDs only,
    because the column cannot be searched for a part of an ID.
    """

    def get_prep_lookup(self) -> Any:
        try:
            return super().get_prep_lookup()
        except ValidationError:
            return self.rhs

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if isinstance(self.rhs, str):
            raise EmptyResultSet
        return super().as_sql(compiler, connection)


class TypedLookup:
    """A lookup that assigns the column's type to a ``Value`` without an output field, as in ``filter(id=Value(id))``.

    Django infers a ``Value``'s column type only for its built-in types. For an ID, the column type depends on the form.
    Without this lookup, SQLite would compare a string with bytes, which are never equal.
    """

    def __init__(self, lhs: Any, rhs: Any) -> None:
        if isinstance(rhs, models.Value) and rhs._output_field_or_none is None:
            rhs = models.Value(rhs.value, output_field=lhs.output_field)
        super().__init__(lhs, rhs)  # type: ignore[call-arg]


@cache
def typed_lookup(lookup: type) -> type:
    return type(lookup.__name__, (TypedLookup, lookup), {})


class WholeIdLookupOnMySql:
    """A string lookup in a UUID column. On MySQL and MariaDB, which store UUIDs as bytes, it matches whole IDs only."""

    lhs: Any
    rhs: Any

    def as_mysql(self, compiler: Any, connection: Any) -> Any:
        return WholeIdExact(self.lhs, self.rhs).as_sql(compiler, connection)
