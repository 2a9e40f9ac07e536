"""A hook for orjson.

orjson writes a Hot Guid, which is a :class:`uuid.UUID`, by itself, and a Randflake, which is an ``int``, as a JSON
number. ``option=orjson.OPT_STRICT_INTEGER`` refuses numbers that JavaScript would round. Values of the types
:class:`polyflake.msgspec.Randflake` and :class:`polyflake.msgspec.Int64` become texts with
``option=orjson.OPT_PASSTHROUGH_SUBCLASS``; ``json.dumps`` writes them as numbers.

    >>> import orjson
    >>> from polyflake.sno import Sno
    >>> orjson.dumps({"id": Sno("9afikjv326nct5if")}, default=default)
    b'{"id":"9afikjv326nct5if"}'
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from polyflake.msgspec import enc_hook

__all__ = ["default"]


def default(value: Any) -> Any:
    """The text of an ID, or the texts of an array: the argument ``default`` of ``orjson.dumps``, and of ``json.dumps``.

    :raises TypeError: for any other type.
    """
    if isinstance(value, UUID):  # which `json.dumps` does not write by itself
        return str(value)
    try:
        return enc_hook(value)
    except NotImplementedError as error:
        raise TypeError(str(error)) from None
