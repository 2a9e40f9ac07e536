"""Serializers for Django REST framework: IDs are texts in JSON, also those that are integers of 64 bits."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from rest_framework import serializers

from polyflake import PolyflakeError, django, randflake, sno

__all__ = ["Int64Field", "ModelSerializer", "RandflakeField", "SnoField"]


class SnoField(serializers.Field):  # type: ignore[type-arg, unused-ignore]
    """A serializer's field of :class:`polyflake.sno.Sno`: its text."""

    def to_representation(self, value: Any) -> str:
        return str(value)

    def to_internal_value(self, data: Any) -> sno.Sno:
        try:
            return django.read_sno(data)
        except ValidationError as error:
            raise serializers.ValidationError(error.messages, code=error.code) from error


class RandflakeField(serializers.IntegerField):
    """A serializer's field of Randflakes: the text of an ``int``."""

    def to_representation(self, value: Any) -> str:
        return randflake.encode_text(value)

    def to_internal_value(self, data: Any) -> int:
        try:
            return randflake.decode_text(data)
        except PolyflakeError as error:
            raise serializers.ValidationError(str(error), code=error.code) from error


class Int64Field(serializers.IntegerField):
    """A serializer's field of integers of 64 bits: decimal digits, which no reader rounds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": -(2**63), "max_value": 2**63 - 1, **options})

    def to_representation(self, value: Any) -> Any:
        return str(value)


class ModelSerializer(serializers.ModelSerializer):  # type: ignore[type-arg, unused-ignore]
    """A ``ModelSerializer`` that knows the fields of :mod:`polyflake.django`."""

    serializer_field_mapping = {  # noqa: RUF012
        **serializers.ModelSerializer.serializer_field_mapping,
        django.SnoField: SnoField,
        django.RandflakeField: RandflakeField,
        django.Int64Field: Int64Field,
    }

    def build_relational_field(self, field_name: str, relation_info: Any) -> Any:
        field, options = super().build_relational_field(field_name, relation_info)
        key = self.serializer_field_mapping.get(type(relation_info.related_model._meta.pk))
        if key in (SnoField, RandflakeField, Int64Field) and issubclass(field, serializers.PrimaryKeyRelatedField):
            options["pk_field"] = key()
        return field, options
