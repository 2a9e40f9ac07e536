"""Model fields for Django.

A field stores an ID in a form that the database sorts as the ID sorts, so ``filter(id__range=sno.time_range(a, b))`` is
a range query. ``default=sno.generate`` makes an ID for each new row; ``functools.partial(sno.generate, 7)`` one with a
metabyte. Both can be written into migrations. :mod:`polyflake.rest_framework` has the serializers.
"""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models

from polyflake import PolyflakeError, hotguid, sno

__all__ = ["HotGuidField", "Int64Field", "RandflakeField", "SnoField", "read_sno"]

_COLUMNS = {"text": "CharField", "bytes": "BinaryField", "uuid8": "UUIDField", "uuid": "UUIDField"}


def read_sno(value: Any) -> sno.Sno:
    """The ID of an ID, its text, its bytes or its UUID.

    :raises django.core.exceptions.ValidationError: with the error's stable code.
    """
    try:
        if isinstance(value, sno.Sno):
            return value
        if isinstance(value, UUID):
            # No UUID is both: the bytes of the compatible form are ASCII, which the variant of version 8 is not.
            return sno.Sno.from_uuid(value) if value.bytes[8] < 0x80 else sno.Sno.from_uuid8(value)
        return sno.Sno.from_bytes(value) if isinstance(value, bytes | bytearray | memoryview) else sno.Sno(value)
    except PolyflakeError as error:
        raise ValidationError("%(reason)s", code=error.code, params={"reason": error}) from error


class SnoField(models.Field):
    """A field of :class:`polyflake.sno.Sno`.

    :param form: ``"text"``, 16 characters; ``"bytes"``, 10 bytes; ``"uuid8"``, a UUID of version 8; ``"uuid"``, the
        UUID of the compatible form. It is part of migrations.
    """

    description = "sno ID"
    empty_strings_allowed = False

    def __init__(self, *args: Any, form: Literal["text", "bytes", "uuid8", "uuid"] = "text", **kwargs: Any) -> None:
        if form not in _COLUMNS:
            raise ValueError(f"expected text, bytes, uuid8 or uuid as the form of a field, found {form!r}")
        self.form = form
        kwargs["max_length"] = 16
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["max_length"]
        return name, path, args, kwargs if self.form == "text" else {**kwargs, "form": self.form}

    def get_internal_type(self) -> str:
        return _COLUMNS[self.form]

    def db_parameters(self, connection: Any) -> dict[str, Any]:
        parameters = super().db_parameters(connection)
        # A text sorts by the bytes of its characters only under a collation that does.
        is_collated = self.form == "text" and connection.vendor == "postgresql"
        return {**parameters, "collation": "C"} if is_collated else parameters

    def to_python(self, value: Any) -> sno.Sno | None:
        return None if value is None else read_sno(value)

    def get_prep_value(self, value: Any) -> sno.Sno | None:
        return self.to_python(super().get_prep_value(value))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        id = value if prepared else self.get_prep_value(value)
        if id is None or self.form == "text":
            return None if id is None else str(id)
        if self.form == "bytes":
            return connection.Database.Binary(bytes(id))
        uuid = id.uuid8 if self.form == "uuid8" else id.uuid
        return uuid if connection.features.has_native_uuid_field else uuid.hex

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> sno.Sno | None:
        return self.to_python(value)

    def value_from_object(self, obj: models.Model) -> Any:
        """The text: forms and serializers compare it with what was typed."""
        id = super().value_from_object(obj)
        return str(id) if isinstance(id, sno.Sno) else id

    def formfield(self, *args: Any, **options: Any) -> Any:
        return super().formfield(*args, **{"empty_value": None, **options})

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))


class HotGuidField(models.UUIDField):
    """A field of Hot Guids: a UUID, and on SQL Server in the order that sorts by time there."""

    description = "Hot Guid"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        id = self.to_python(value)
        if id is not None and connection.vendor == "microsoft":
            id = hotguid.to_sql(id)
        return super().get_db_prep_value(id, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> UUID | None:
        id: UUID | None = self.to_python(value)
        return hotguid.from_sql(id) if id is not None and connection.vendor == "microsoft" else id


class Int64Field(models.BigIntegerField):
    """A field of integers of 64 bits, such as a layout's IDs, which serializers write as decimal digits."""

    description = "integer of 64 bits"


class RandflakeField(models.BigIntegerField):
    """A field of Randflakes, which serializers write as their texts."""

    description = "Randflake"
