"""Functions that the integrations share. They read IDs and integers from untyped values, and check form names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from polyflake import public, randflake, sno
from polyflake._errors import build

_T = TypeVar("_T")

_FORMS = ("text", "bytes", "uuid8", "uuid")
_DECIMAL = re.compile(r"0|-?[1-9][0-9]{0,77}")


def check_form(form: object) -> None:
    """Checks that a name is one of the forms in which sno IDs can be stored.

    :raises OutOfRangeError: for any other name. This exception is a subclass of :class:`ValueError`.
    """
    if form not in _FORMS:
        raise build("out_of_range", f"expected form {_form_names()}, found {form!r}", None, "form", None, None, None)


def _form_names() -> str:
    *others, last = map(repr, _FORMS)
    return f"{', '.join(others)} or {last}"


def check_bigint(of: public.IdType) -> public.IdType:
    """Returns a type of public IDs whose integers fit in a column of signed 64-bit integers.

    :raises OutOfRangeError: if the type has 64 bits. Half of the strings that such a type accepts would have integers
        that the column cannot store.
    """
    if of.bits > 63:
        message = f"expected bits from 1 to 63 for a column of signed 64-bit integers, found {of.bits}"
        raise build("out_of_range", message, None, "bits", None, None, None)
    return of


def read_sno(value: Any) -> sno.Sno:
    """Returns the sno ID for a value, which is an ID, a string, bytes or a UUID.

    :raises PolyflakeError: for any other value.
    """
    if isinstance(value, sno.Sno):
        return value
    if isinstance(value, UUID):
        # No UUID is valid in both forms: the compatible form consists of ASCII bytes, and the variant byte of a version
        # 8 UUID is not ASCII.
        return sno.Sno.from_uuid(value) if value.bytes[8] < 0x80 else sno.Sno.from_uuid8(value)
    return sno.Sno.from_bytes(value) if isinstance(value, bytes | bytearray | memoryview) else read_text(sno.Sno, value)


def read_text(read: Callable[[str], _T], value: Any) -> _T:
    """Returns the result of a function that reads a string.

    The error for any other type names no parameter, because clients of a program, who do not know the function, may
    read it.

    :raises PolyflakeError: if the value is not a string, or if the function rejects it.
    """
    if not isinstance(value, str):
        message = f"expected a string, found {type(value).__name__}"
        raise build("invalid_type", message, None, None, None, None, None)
    return read(value)


def read_int64(value: Any) -> int:
    """Returns a signed 64-bit integer, which is passed as an ``int`` or as a canonical decimal string.

    :raises PolyflakeError: for any other value.
    """
    if isinstance(value, str):
        if not _DECIMAL.fullmatch(value):
            message = "expected an integer of 64 bits in decimal digits, found another text"
            raise build("not_canonical", message, None, None, None, None, None)
        value = int(value)
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        message = f"expected an integer of 64 bits or its decimal digits, found {type(value).__name__}"
        raise build("invalid_type", message, None, None, None, None, None)
    randflake.to_unsigned(value)  # rejects anything except 64-bit integers
    return int(value)
