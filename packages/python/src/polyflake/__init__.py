"""Coordination-based unique IDs, the same bytes and the same text in every language.

A family of IDs is a module: :mod:`polyflake.sno`. Everything that is refused raises a :class:`PolyflakeError` with a
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
from polyflake import sno  # isort: skip
from polyflake._polyflake import __version__  # isort: skip

__all__ = [
    "ClockError",
    "EntropyError",
    "ExhaustedError",
    "InvalidTypeError",
    "InvalidValueError",
    "LeaseError",
    "OutOfRangeError",
    "PolyflakeError",
    "StateError",
    "__version__",
    "sno",
]
