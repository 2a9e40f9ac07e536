"""Unique, time-sortable IDs with the same bytes and the same strings in every language.

Each ID format is a module: ``polyflake.sno``, ``polyflake.randflake`` (whose cipher is ``polyflake.sparx64``),
``polyflake.hotguid``, ``polyflake.uuid7``, and ``polyflake.layout`` for custom Snowflake layouts.
``polyflake.public`` encrypts your integer keys into public IDs. Every error is a ``PolyflakeError`` with a
stable ``code``.
"""

import atexit
import os
import sys

# This import raises an exception in a subinterpreter, so it comes first.
from polyflake import _main_interpreter as _main_interpreter  # isort: skip
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

# This import comes after the errors, because the compiled module raises them.
from polyflake import hotguid, layout, public, randflake, sno, sparx64, uuid7  # isort: skip
from polyflake._polyflake import (  # isort: skip
    Description,
    FieldDescription,
    Stall,
    __version__,
    after_restore,
    clock_source,
    watch_restores,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from polyflake._lease import Lease, LeaseEvent, LeaseStatus, lease

__all__ = [
    "ClockError",
    "Description",
    "EntropyError",
    "ExhaustedError",
    "FieldDescription",
    "InvalidTypeError",
    "InvalidValueError",
    "Lease",
    "LeaseError",
    "LeaseEvent",
    "LeaseStatus",
    "OutOfRangeError",
    "PolyflakeError",
    "Stall",
    "StateError",
    "__version__",
    "after_restore",
    "clock_source",
    "hotguid",
    "layout",
    "lease",
    "public",
    "randflake",
    "sno",
    "sparx64",
    "uuid7",
    "watch_restores",
]


def _close_leases() -> None:
    if "polyflake._lease" in sys.modules:
        sys.modules["polyflake._lease"]._close_all()


# Register the handler now rather than with the first lease. Handlers run in reverse order, so functions that a program
# registers after this import run earlier and can still generate IDs.
atexit.register(_close_leases)

# Import the module of leases now if the default generators need it. A signal handler or a fork could otherwise
# interrupt the import when the first ID is generated.
if "POLYFLAKE_LEASE" in os.environ:
    from polyflake import _lease as _lease

try:
    # The AWS Lambda runtime provides this module, through which SnapStart reports that a snapshot was restored. It is
    # imported by name, because type checkers cannot find it elsewhere.
    _snapshot_module = __import__("snapshot_restore_py")
except ImportError:
    pass
else:
    _snapshot_module.register_after_restore(after_restore)
    del _snapshot_module


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    # These names are imported on first use, so that programs without a lease start faster.
    if name in ("Lease", "LeaseEvent", "LeaseStatus", "lease"):
        from polyflake import _lease

        return getattr(_lease, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
