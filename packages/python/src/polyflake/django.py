"""Model fields for Django.

Each field stores IDs in a form that the database sorts in the same order as the IDs, so
``filter(id__range=sno.time_range(a, b))`` is a range query. ``default=sno.generate`` generates an ID for each new row,
and ``functools.partial(sno.generate, 7)`` generates IDs with the metabyte 7. Django can serialize both defaults in
migrations. Serializers for Django REST framework are in :mod:`polyflake.rest_framework`.
"""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from django.core import checks
from django.core.serializers.json import DjangoJSONEncoder
from django.db import NotSupportedError, connections, models
from django.db.models.lookups import IExact, PatternLookup, UUIDTextMixin

from polyflake import _reading, hotguid, public, randflake, sno
from polyflake._django import (
    COLUMNS,
    MYSQL_TYPES,
    UNSORTED_MESSAGE,
    UUID_FIELD,
    IdEncoderMixin,
    WholeIdExact,
    WholeIdLookupOnMySql,
    to_uuid,
    typed_lookup,
    uuid_value,
    validate,
)

__all__ = [
    "HotGuidField",
    "Int64Field",
    "JSONEncoder",
    "PublicIdConverter",
    "RandflakeConverter",
    "RandflakeField",
    "SnoConverter",
    "SnoField",
    "read_sno",
]


def read_sno(value: Any) -> sno.Sno:
    """Returns the sno ID for a value, which is a ``Sno``, a string, bytes or a UUID.

    :raises django.core.exceptions.ValidationError: if the value is invalid. Its code is the stable error code.
    """
    return validate(_reading.read_sno, value)


class JSONEncoder(IdEncoderMixin, DjangoJSONEncoder):
    """Django's JSON encoder, extended to write IDs as strings. Use it in ``JsonResponse(data, encoder=JSONEncoder)`` or
    in a ``JSONField``.
    """


class SnoField(models.Field):
    """A model field for :class:`polyflake.sno.Sno`.

    :param form: how IDs are stored: ``"text"`` as 16 characters, ``"bytes"`` as 10 bytes, ``"uuid8"`` as a version 8
        UUID, or ``"uuid"`` as a UUID in the compatible form. Migrations record the form. On SQL Server, the two UUID
        forms fail a system check, because SQL Server does not sort UUIDs by time.
    """

    description = "sno ID"
    empty_strings_allowed = False

    def __init__(self, *args: Any, form: Literal["text", "bytes", "uuid8", "uuid"] = "text", **kwargs: Any) -> None:
        _reading.check_form(form)
        self.form = form
        kwargs["max_length"] = 16
        super().__init__(*args, **kwargs)

    def check(self, **options: Any) -> list[Any]:
        is_any_unsorted = any(self._is_unsorted(connections[name]) for name in options.get("databases") or ())
        errors = (
            [checks.Error(UNSORTED_MESSAGE.format(form=self.form), obj=self, id="polyflake.E001")]
            if is_any_unsorted
            else []
        )
        return [*super().check(**options), *errors]

    def _is_unsorted(self, connection: Any) -> bool:
        return connection.vendor == "microsoft" and COLUMNS[self.form] is UUID_FIELD

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["max_length"]
        return name, path, args, kwargs if self.form == "text" else {**kwargs, "form": self.form}

    def db_type(self, connection: Any) -> str | None:
        if connection.vendor == "mysql":
            return MYSQL_TYPES.get(self.form, "binary(16)")
        return COLUMNS[self.form].db_type(connection)

    def db_parameters(self, connection: Any) -> dict[str, Any]:
        parameters = super().db_parameters(connection)
        # A string column sorts bytewise only with a binary collation.
        is_collated = self.form == "text" and connection.vendor == "postgresql"
        return {**parameters, "collation": "C"} if is_collated else parameters

    def to_python(self, value: Any) -> sno.Sno | None:
        return None if value is None else read_sno(value)

    def get_prep_value(self, value: Any) -> sno.Sno | None:
        return self.to_python(super().get_prep_value(value))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        if self._is_unsorted(connection):
            raise NotSupportedError(UNSORTED_MESSAGE.format(form=self.form))
        id = value if prepared else self.get_prep_value(self._parse_stored(value))
        if id is None or self.form == "text":
            return None if id is None else str(id)
        if self.form == "bytes":
            # Do not use the driver's `Binary`: psycopg's `Binary` objects compare by identity, but Django looks up rows
            # by value.
            return bytes(id)
        return uuid_value(id.uuid8 if self.form == "uuid8" else id.uuid, connection)

    def get_lookup(self, lookup_name: str) -> Any:
        lookup = super().get_lookup(lookup_name)
        is_text_lookup = lookup is not None and issubclass(lookup, (IExact, PatternLookup))
        if is_text_lookup and self.form != "text":
            return WholeIdExact
        return None if lookup is None else typed_lookup(lookup)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> sno.Sno | None:
        return self.to_python(self._parse_stored(value))

    def _parse_stored(self, value: Any) -> Any:
        return to_uuid(value) if COLUMNS[self.form] is UUID_FIELD else value

    def value_from_object(self, obj: models.Model) -> Any:
        """Returns the ID as a string, because forms and serializers compare it with the user's input."""
        id = super().value_from_object(obj)
        return str(id) if isinstance(id, sno.Sno) else id

    def formfield(self, *args: Any, **options: Any) -> Any:
        return super().formfield(*args, **{"empty_value": None, **options})

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))


class HotGuidField(models.UUIDField):
    """A model field for Hot Guids, which are UUIDs.

    MySQL and MariaDB store the UUID as 16 bytes. On SQL Server the bytes are rearranged so that the column sorts by
    time.
    """

    description = "Hot Guid"

    def get_internal_type(self) -> str:
        return "HotGuidField"  # a name that no backend converts

    def db_type(self, connection: Any) -> str | None:
        return "binary(16)" if connection.vendor == "mysql" else UUID_FIELD.db_type(connection)

    def get_lookup(self, lookup_name: str) -> Any:
        lookup = super().get_lookup(lookup_name)
        is_text_lookup = lookup is not None and issubclass(lookup, UUIDTextMixin)
        return type(lookup.__name__, (WholeIdLookupOnMySql, lookup), {}) if is_text_lookup else lookup

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        id = self.to_python(to_uuid(value))
        return id and uuid_value(hotguid.to_sql(id) if connection.vendor == "microsoft" else id, connection)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> UUID | None:
        id = self.to_python(to_uuid(value))
        return hotguid.from_sql(id) if id and connection.vendor == "microsoft" else id


class Int64Field(models.BigIntegerField):
    """A model field for 64-bit integers, such as a layout's IDs. Serializers write them as decimal strings."""

    description = "integer of 64 bits"

    def to_python(self, value: Any) -> int | None:
        return None if value is None else validate(_reading.read_int64, value)

    def get_prep_value(self, value: Any) -> Any:
        # Django itself handles integers of more than 64 bits in queries.
        value = models.Field.get_prep_value(self, value)
        return value if type(value) is int else self.to_python(value)


class RandflakeField(Int64Field):
    """A model field for Randflakes. Serializers write them as base32hex strings."""

    description = "Randflake"


class SnoConverter:
    """A path converter for sno IDs.

    After ``register_converter(SnoConverter, "sno")``, the view for ``"orders/<sno:id>/"`` receives a ``Sno``.
    """

    regex = "[2-9a-x]{16}"

    def to_python(self, value: str) -> sno.Sno:
        return sno.Sno(value)

    def to_url(self, value: sno.Sno | str) -> str:
        return str(value)


class RandflakeConverter:
    """A path converter that converts between an encoded Randflake in a URL and the Randflake's integer. Any other
    string results in a 404 response.
    """

    regex = "[0-9a-v]{1,13}"

    def to_python(self, value: str) -> int:
        return randflake.decode_text(value)

    def to_url(self, value: int) -> str:
        return randflake.encode_text(value)


class PublicIdConverter:
    """A path converter that converts between a public ID in a URL and its integer. A string that cannot be decoded
    results in a 404 response.

    Set the type of public IDs in a subclass: ``class OrderConverter(PublicIdConverter): of = orders``.

    :raises OutOfRangeError: if the type has 64 bits, because Django's integer fields are signed.
    """

    regex = "[a-z0-9_]+"
    of: public.IdType

    def __init__(self) -> None:
        _reading.check_bigint(self.of)

    def to_python(self, value: str) -> int:
        return self.of.decode(value)

    def to_url(self, value: int) -> str:
        return self.of.encode(value)
