"""Converts between the protocol's values and Python values."""

from __future__ import annotations

from typing import Any

from polyflake import Description


def decode_value(value: Any) -> Any:
    """Reads a VALUE. A decimal string represents an integer, ``{"hex"}`` represents bytes, and ``{"text"}`` represents
    a string. Any other value is returned unchanged.
    """
    match value:
        case str():
            return int(value)
        case {"hex": hex}:
            return bytes.fromhex(hex)
        case {"text": text}:
            return text
        case _:
            return value


def decode_values(values: dict[str, Any] | None) -> dict[str, Any]:
    """Reads named values. Returns an empty dictionary if ``values`` is ``None``."""
    return {name: decode_value(value) for name, value in (values or {}).items()}


def encode_value(value: Any) -> Any:
    match value:
        case int():
            return str(value)
        case bytes():
            return {"hex": value.hex()}
        case _:
            return {"text": value}


def decimal(number: int | None) -> str | None:
    return None if number is None else str(number)


def description_figures(description: Description) -> dict[str, Any]:
    """Returns a format's description in the protocol's FIGURES form."""
    fields = [
        {"name": field.name, "kind": field.kind, "offset": field.offset, "bits": field.bits}
        for field in description.fields
    ]
    integers = ("per_second", "per_second_in_all", "first_ms", "last_ms")
    flags = ("sorts_by_time", "below_2_53", "below_2_63")
    return {
        "bits": description.bits,
        "fields": fields,
        **{name: decimal(getattr(description, name)) for name in integers},
        **{name: getattr(description, name) for name in flags},
    }
