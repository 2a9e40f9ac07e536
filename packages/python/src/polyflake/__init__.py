"""Coordination-based unique IDs, the same bytes and the same text in every language.

A family of IDs is a module: :mod:`polyflake.sno`, :mod:`polyflake.randflake`; :mod:`polyflake.sparx64` is the cipher
of the latter. Everything that is refused raises a :class:`PolyflakeError` with a
stable ``code``.
"""

from polyflake._errors import (
    ClockError,
    EntropyError,
    ExhaustedError,
    InvalidTypeError,
    InvalidValueError,
    LeaseError,
    OutOfRangeError,
    PolyflakeError,
    StateError,
)

# After the errors, which the module raises.
from polyflake import randflake, sno, sparx64  # isort: skip
from polyflake._polyflake import Description, FieldDescription, Stall, __version__  # isort: skip

__all__ = [
    "ClockError",
    "Description",
    "EntropyError",
    "ExhaustedError",
    "FieldDescription",
    "InvalidTypeError",
    "InvalidValueError",
    "LeaseError",
    "OutOfRangeError",
    "PolyflakeError",
    "Stall",
    "StateError",
    "__version__",
    "randflake",
    "sno",
    "sparx64",
]
