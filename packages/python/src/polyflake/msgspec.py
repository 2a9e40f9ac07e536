"""Hooks for msgspec.

msgspec reads and writes a Hot Guid, which is a :class:`uuid.UUID`, by itself, and a Randflake, which is an ``int``, as
a JSON number: a field of type ``str`` with ``randflake.encode_text(id)`` is safe from readers that round.

    >>> import msgspec
    >>> msgspec.json.decode(b'["a7rdmuv326nct5if"]', type=list[sno.Sno], dec_hook=dec_hook)
    [Sno('a7rdmuv326nct5if')]
    >>> msgspec.json.encode(sno.Sno("a7rdmuv326nct5if"), enc_hook=enc_hook)
    b'"a7rdmuv326nct5if"'
"""

from __future__ import annotations

from typing import Any

from polyflake import hotguid, layout, randflake, sno

__all__ = ["dec_hook", "enc_hook"]


def enc_hook(value: Any) -> Any:
    """The text of an ID, or the texts of an array: the argument ``enc_hook`` of msgspec's encoders, and orjson's
    ``default``.

    Randflakes of an array become their texts, a layout's IDs decimal digits or, if they are bytes, hex.

    :raises NotImplementedError: for any other type.
    """
    if isinstance(value, sno.Sno):
        return str(value)
    if isinstance(value, sno.SnoArray | hotguid.HotGuidArray | randflake.RandflakeArray):
        return value.texts()
    if isinstance(value, layout.LayoutArray):
        return [id.hex() if isinstance(id, bytes) else str(id) for id in value]
    raise NotImplementedError(f"expected an ID or an array of IDs, found {type(value).__name__}")


def dec_hook(type: type, value: Any) -> Any:
    """The ID of a text, or of 10 bytes: the argument ``dec_hook`` of msgspec's decoders.

    :raises InvalidValueError: as :class:`polyflake.sno.Sno`; msgspec reports it with the path of the field.
    :raises NotImplementedError: for any other type.
    """
    if type is not sno.Sno:
        raise NotImplementedError(f"expected the type Sno, found {type.__name__}")
    return sno.Sno.from_bytes(value) if isinstance(value, bytes | bytearray) else sno.Sno(value)
