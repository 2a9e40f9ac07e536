"""Hooks for msgspec.

msgspec reads and writes a Hot Guid, which is a :class:`uuid.UUID`, by itself. A Randflake and a layout's integer ID are
each an ``int``, which says nothing of being an ID: msgspec writes a JSON number, which JavaScript and others round past
53 bits. The types :class:`Randflake` and :class:`Int64` are integers that become texts.

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

from polyflake import hotguid, layout, randflake, sno
from polyflake._reading import read_int64, read_sno

__all__ = ["Int64", "Randflake", "dec_hook", "enc_hook", "schema_hook"]


class Int64(int):
    """An integer of 64 bits, such as a layout's ID, which the hooks write as decimal digits.

    :raises PolyflakeError: for any value but an integer of 64 bits or its digits.
    """

    def __new__(cls, value: int | str, /) -> Int64:
        return super().__new__(cls, read_int64(value))


class Randflake(int):
    """A Randflake, which the hooks write as its text.

    :raises PolyflakeError: for any value but an integer of 64 bits or the text of a Randflake.
    """

    def __new__(cls, value: int | str, /) -> Randflake:
        number = randflake.decode_text(value) if isinstance(value, str) else read_int64(value)
        return super().__new__(cls, number)


def enc_hook(value: Any) -> Any:
    """The text of an ID, or the texts of an array: the argument ``enc_hook`` of msgspec's encoders, and orjson's
    ``default``.

    Randflakes of an array become their texts, a layout's IDs decimal digits or, if they are bytes, hex.

    :raises NotImplementedError: for any other type.
    """
    if isinstance(value, sno.Sno | Int64):
        return str(value)
    if isinstance(value, Randflake):
        return randflake.encode_text(value)
    if isinstance(value, sno.SnoArray | hotguid.HotGuidArray | randflake.RandflakeArray):
        return value.texts()
    if isinstance(value, layout.LayoutArray):
        return [id.hex() if isinstance(id, bytes) else str(id) for id in value]
    raise NotImplementedError(f"expected an ID or an array of IDs, found {type(value).__name__}")


def dec_hook(type: type, value: Any) -> Any:
    """The ID of a text, a sno also of 10 bytes, a UUID or an ID: the argument ``dec_hook`` of msgspec's decoders.

    :raises PolyflakeError: as the type's constructor; msgspec reports it with the path of the field.
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
    """The JSON Schema of an ID's string: the argument ``schema_hook`` of :func:`msgspec.json.schema`.

    :raises NotImplementedError: for any other type.
    """
    if type not in _SCHEMAS:
        raise NotImplementedError(f"expected the type Sno, Randflake or Int64, found {type.__name__}")
    return dict(_SCHEMAS[type])
