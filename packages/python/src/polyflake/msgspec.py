"""Hooks for msgspec.

IDs that are :class:`uuid.UUID` objects do not need hooks, because msgspec already supports them. Randflakes and a
layout's integer IDs are plain ``int`` objects, so msgspec writes them as JSON numbers. JavaScript and other languages
round numbers that need more than 53 bits. Use the integer types :class:`Randflake` and :class:`Int64` to write them as
strings instead.

    >>> import msgspec
    >>> msgspec.json.decode(b'["9afikjv326nct5if"]', type=list[sno.Sno], dec_hook=dec_hook)
    [Sno('9afikjv326nct5if')]
    >>> msgspec.json.encode(sno.Sno("9afikjv326nct5if"), enc_hook=enc_hook)
    b'"9afikjv326nct5if"'
    >>> msgspec.json.encode([Randflake(4594531474933654033), Int64(1541815603606036480)], enc_hook=enc_hook)
    b'["3vgoe12ccb8gh","1541815603606036480"]'
"""

from __future__ import annotations

from typing import Any

from polyflake import layout, randflake, sno
from polyflake._reading import read_int64, read_sno

__all__ = ["Int64", "Randflake", "dec_hook", "enc_hook", "schema_hook"]

#: The base class shared by the array classes of all ID formats.
_Array: type[Any] = sno.SnoArray.__bases__[0]


class Int64(int):
    """A 64-bit integer, such as a layout's ID, which the hooks write as a decimal string.

    :raises PolyflakeError: unless the value is a 64-bit integer or the canonical decimal string of a 64-bit integer.
    """

    def __new__(cls, value: int | str, /) -> Int64:
        return super().__new__(cls, read_int64(value))


class Randflake(int):
    """A Randflake, which the hooks write as a base32hex string.

    :raises PolyflakeError: unless the value is a 64-bit integer or an encoded Randflake.
    """

    def __new__(cls, value: int | str, /) -> Randflake:
        number = randflake.decode_text(value) if isinstance(value, str) else read_int64(value)
        return super().__new__(cls, number)


def enc_hook(value: Any) -> Any:
    """Returns an ID as a string, or an array as a list of strings.

    Pass it as ``enc_hook`` to msgspec's encoders. Randflakes in an array are written as base32hex strings. A layout's
    IDs are written as decimal strings or, if they are bytes, as hexadecimal strings.

    :raises NotImplementedError: for any other type.
    """
    if isinstance(value, sno.Sno | Int64):
        return str(value)
    if isinstance(value, Randflake):
        return randflake.encode_text(value)
    if isinstance(value, _Array) and hasattr(value, "texts"):
        return value.texts()
    if isinstance(value, layout.LayoutArray):
        return [id.hex() if isinstance(id, bytes) else str(id) for id in value]
    raise NotImplementedError(f"expected an ID or an array of IDs, found {type(value).__name__}")


def dec_hook(type: type, value: Any) -> Any:
    """Returns the ID for a decoded value, which is usually a string. The value for a sno ID can also be 10 bytes, a
    UUID or a ``Sno``.

    Pass it as ``dec_hook`` to msgspec's decoders.

    :raises PolyflakeError: the same exceptions as the constructor of the type. msgspec adds the path of the field.
    :raises NotImplementedError: for any other type.
    """
    if type in (Int64, Randflake):
        return type(value)
    if type is not sno.Sno:
        raise NotImplementedError(f"expected the type Sno, Randflake or Int64, found {type.__name__}")
    return read_sno(value)


#: JSON Schemas of the strings that :func:`enc_hook` writes.
_SCHEMAS = {
    sno.Sno: {"type": "string", "pattern": "^[2-9a-x]{16}$", "maxLength": 16},
    Randflake: {"type": "string", "pattern": "^[0-9a-v]{1,13}$", "maxLength": 13},
    Int64: {"type": "string", "pattern": "^(0|-?[1-9][0-9]{0,18})$", "maxLength": 20},
}


def schema_hook(type: type) -> dict[str, Any]:
    """Returns the JSON Schema of an encoded ID. Pass it as ``schema_hook`` to :func:`msgspec.json.schema`.

    :raises NotImplementedError: for any other type.
    """
    if type not in _SCHEMAS:
        raise NotImplementedError(f"expected the type Sno, Randflake or Int64, found {type.__name__}")
    return dict(_SCHEMAS[type])
