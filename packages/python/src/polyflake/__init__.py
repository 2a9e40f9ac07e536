"""Coordination-based unique IDs, the same bytes and the same text in every language.

A family of IDs is a module: :mod:`polyflake.sno`, :mod:`polyflake.randflake` (whose cipher is
:mod:`polyflake.sparx64`), :mod:`polyflake.hotguid`; :mod:`polyflake.layout` makes and reads snowflakes of any shape.
:mod:`polyflake.public` gives the integers that you have a public text.
Every error is a :class:`PolyflakeError` with a stable ``code``.
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
from polyflake import hotguid, layout, public, randflake, sno, sparx64  # isort: skip
from polyflake._polyflake import Description, FieldDescription, Stall, __version__, clock_source  # isort: skip

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
    "clock_source",
    "hotguid",
    "layout",
    "public",
    "randflake",
    "sno",
    "sparx64",
]
