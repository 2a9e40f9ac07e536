"""Helpers for :mod:`polyflake.pydantic`: validation of IDs, and unions that are discriminated by metabyte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from polyflake import PolyflakeError, _reading, sno

_ALPHABET = "23456789abcdefghijklmnopqrstuvwx"


def to_pydantic_error(error: PolyflakeError) -> PydanticCustomError:
    """Returns the Pydantic error for a rejected value. Its type is the stable error code."""
    return PydanticCustomError(error.code, "{reason}", {"reason": str(error)})


def read_sno(value: Any) -> sno.Sno:
    try:
        return _reading.read_sno(value)
    except PolyflakeError as error:
        raise to_pydantic_error(error) from error


def pattern(metabyte: int) -> str:
    """Returns a regular expression that matches all IDs with the given metabyte.

    The upper 5 bits of the metabyte are one character, and its lower 3 bits are the upper bits of the next character.
    """
    low = (metabyte & 7) * 4
    return f"[2-9a-x]{{8}}{_ALPHABET[metabyte >> 3]}[{_ALPHABET[low : low + 4]}][2-9a-x]{{6}}"


def extend_json_schema(schema: CoreSchema, own: dict[str, Any]) -> dict[str, Any]:
    """Returns this package's JSON schema for a type, including what an annotation adds, such as a description.

    For the type of a model field, Pydantic itself adds the contents of the annotation to the result. For other types,
    for example the type of a list's items, Pydantic adds them only to its own schema. Because this package's schema
    replaces that schema, this function copies the contents of the annotation into the result.
    """
    metadata = schema.get("metadata") or {}
    updates, extra = metadata.get("pydantic_js_updates") or {}, metadata.get("pydantic_js_extra")
    result = {**own, **updates, **(extra if isinstance(extra, dict) else {})}
    if callable(extra):
        extra(result)
    return result


class by_metabyte:
    """Discriminates the members of a union based on the metabytes of their IDs.

    ``Annotated[Person | Order, by_metabyte({1: Person, 2: Order})]`` is a discriminated union. Only the member for the
    ID's metabyte is validated. An error message states the metabyte that was found.

    :param kinds: a mapping from metabytes, 0..255, to the members of the union. A member can have several metabytes.
    :param name: the name of the field that holds the ID, both in the model and in the input.
    """

    def __init__(self, kinds: Mapping[int, Any], *, name: str = "id") -> None:
        sno.by_metabyte(kinds, name=name)  # rejects invalid metabytes and values that are not callable
        self.kinds, self.name = {int(metabyte): kind for metabyte, kind in kinds.items()}, name

    def _metabyte(self, value: Any) -> int | None:
        found = value.get(self.name) if isinstance(value, Mapping) else getattr(value, self.name, None)
        return None if found is None else read_sno(found).metabyte

    def _check(self, value: Any) -> Any:
        metabyte = self._metabyte(value)
        if metabyte is None:
            raise PydanticCustomError("missing_field", "missing value for field `{field}`", {"field": self.name})
        if metabyte not in self.kinds:
            expected = " or ".join(f"{known_metabyte} ({kind.__name__})" for known_metabyte, kind in self.kinds.items())
            context = {"field": self.name, "expected": expected, "found": metabyte}
            raise PydanticCustomError("metabyte", "expected `{field}` of metabyte {expected}, found {found}", context)
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if set(get_args(source) or [source]) != set(self.kinds.values()):
            raise TypeError(f"expected a metabyte for each member of {source}, and for no other type")
        choices = {metabyte: handler.generate_schema(kind) for metabyte, kind in self.kinds.items()}
        union = core_schema.tagged_union_schema(choices, self._metabyte)
        return core_schema.no_info_before_validator_function(self._check, union)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        choices = schema["schema"]["choices"]
        members = [
            {
                "allOf": [handler(choice), {"properties": {self.name: {"pattern": f"^{pattern(metabyte)}$"}}}],
                "description": f"`{self.name}` of metabyte {metabyte}",
            }
            for metabyte, choice in choices.items()
        ]
        return {"oneOf": members}
