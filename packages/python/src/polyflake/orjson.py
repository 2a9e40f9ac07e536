"""A hook for orjson.

IDs that are :class:`uuid.UUID` objects do not need the hook, because orjson already supports them. Randflakes are
``int`` objects, so orjson writes them as JSON numbers; ``option=orjson.OPT_STRICT_INTEGER`` rejects numbers that
JavaScript would round. With ``option=orjson.OPT_PASSTHROUGH_SUBCLASS``, orjson writes values of the types
:class:`polyflake.msgspec.Randflake` and
:class:`polyflake.msgspec.Int64` as strings, whereas ``json.dumps`` always writes them as numbers.

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
    """Returns an ID as a string, or an array as a list of strings.

    Pass it as ``default`` to ``orjson.dumps`` or ``json.dumps``.

    :raises TypeError: for any other type.
    """
    if isinstance(value, UUID):  # `json.dumps` does not support UUIDs
        return str(value)
    try:
        return enc_hook(value)
    except NotImplementedError as error:
        raise TypeError(str(error)) from None
