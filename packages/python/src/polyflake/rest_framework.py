"""Serializers for Django REST framework. They write IDs as strings in JSON, including IDs that are 64-bit integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from django.http import Http404
from rest_framework import renderers, serializers
from rest_framework.utils import encoders

from polyflake import PolyflakeError, django, public, randflake, sno
from polyflake._django import IdEncoderMixin
from polyflake._reading import check_bigint, read_int64, read_sno, read_text

__all__ = [
    "IdLookupMixin",
    "Int64Field",
    "JSONRenderer",
    "ModelSerializer",
    "PublicIdField",
    "RandflakeField",
    "SnoField",
]

_T = TypeVar("_T")


def _validate(read: Callable[[Any], _T], value: Any) -> _T:
    try:
        return read(value)
    except PolyflakeError as error:
        raise serializers.ValidationError(str(error), code=error.code) from error


class _JSONEncoder(IdEncoderMixin, encoders.JSONEncoder):  # type: ignore[misc, unused-ignore]
    pass


class JSONRenderer(renderers.JSONRenderer):  # type: ignore[misc, unused-ignore]
    """The framework's JSON renderer, extended to write IDs as strings even outside serializers.

    For example, ``Response({"id": id})`` works.
    """

    encoder_class = _JSONEncoder


class SnoField(serializers.Field):  # type: ignore[type-arg, unused-ignore]
    """A serializer field for :class:`polyflake.sno.Sno` that writes each ID as a string."""

    def to_representation(self, value: Any) -> str:
        return str(value)

    def to_internal_value(self, data: Any) -> sno.Sno:
        return _validate(read_sno, data)


class RandflakeField(serializers.IntegerField):
    """A serializer field for Randflakes, which are ``int`` objects in Python. It writes them as base32hex strings."""

    def to_representation(self, value: Any) -> str:
        return randflake.encode_text(value)

    def to_internal_value(self, data: Any) -> int:
        return _validate(partial(read_text, randflake.decode_text), data)


class Int64Field(serializers.IntegerField):
    """A serializer field for 64-bit integers, which it writes as decimal strings so that no client rounds them.

    As input, the field accepts integers and canonical decimal strings. It rejects strings such as ``"12.0"``, ``"
    12"``, ``"1_000"`` and ``"007"``.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": -(2**63), "max_value": 2**63 - 1, **options})

    def to_representation(self, value: Any) -> Any:
        return str(value)

    def to_internal_value(self, data: Any) -> int:
        return _validate(read_int64, data)


class PublicIdField(serializers.Field):  # type: ignore[type-arg, unused-ignore]
    """A serializer field that represents an integer as its public ID: ``id = PublicIdField(orders, read_only=True)``.

    For a relation, pass the field as ``pk_field``: ``PrimaryKeyRelatedField(queryset=...,
    pk_field=PublicIdField(orders))``.

    :raises OutOfRangeError: if the type has 64 bits, because Django's integer fields are signed.
    """

    def __init__(self, of: public.IdType, **options: Any) -> None:
        super().__init__(**options)
        self.of = check_bigint(of)

    def to_representation(self, value: Any) -> str:
        return self.of.encode(value)

    def to_internal_value(self, data: Any) -> int:
        return _validate(partial(read_text, self.of.decode), data)


class ModelSerializer(serializers.ModelSerializer):  # type: ignore[type-arg, unused-ignore]
    """A ``ModelSerializer`` that supports the fields of :mod:`polyflake.django`."""

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


class IdLookupMixin:
    """A mixin that looks up a view's object by the ID that the view's serializer writes. List the mixin before
    ``ModelViewSet``.

    Without this mixin, a view with ``id = PublicIdField(orders)`` looks up a row by its number instead of its public
    ID. The serializer must have a field for the view's ``lookup_field``, which is the primary key by default. A string
    in the URL that this field does not accept, such as the row's number, results in a 404 response.
    """

    def get_object(self) -> Any:
        view: Any = self
        name = view.lookup_url_kwarg or view.lookup_field
        try:
            view.kwargs = {**view.kwargs, name: self._lookup_field().to_internal_value(view.kwargs[name])}
        except serializers.ValidationError as error:
            raise Http404 from error
        return super().get_object()  # type: ignore[misc]

    def _lookup_field(self) -> Any:
        """Returns the serializer's field for the view's ``lookup_field``."""
        view: Any = self
        key = view.get_queryset().model._meta.pk.name if view.lookup_field == "pk" else view.lookup_field
        fields = view.get_serializer().fields.values()
        matching_field = next((field for field in fields if field.source in (key, view.lookup_field)), None)
        if matching_field is None:
            raise AssertionError(f"expected a field for {key!r} in {type(view.get_serializer()).__name__}, found none")
        return matching_field
