# The compiled module. Its ID formats are documented in the stubs of their public modules, such as sno.pyi.
import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, final, overload

from typing_extensions import Buffer, Self

from polyflake import hotguid as hotguid
from polyflake import layout as layout
from polyflake import public as public
from polyflake import randflake as randflake
from polyflake import sno as sno
from polyflake import sparx64 as sparx64
from polyflake import uuid7 as uuid7

__all__ = [
    "Description",
    "FieldDescription",
    "Keeper",
    "Stall",
    "__version__",
    "after_restore",
    "begin_check",
    "check_file",
    "clock_source",
    "hotguid",
    "layout",
    "name_file",
    "parse_lease_url",
    "public",
    "randflake",
    "restores",
    "sno",
    "sparx64",
    "uuid7",
    "watch_restores",
]

__version__: str

def clock_source() -> Literal["counter", "system_call"]:
    """Returns how generators read the system time.

    ``"counter"`` means that they read the processor's counter, which is synchronized with the wall clock every
    millisecond. ``"system_call"`` means that they make a system call for each reading. The counter is used on Linux if
    the kernel's own clock uses it. The choice is made once per process: when a generator first reads the clock, or when
    this function is first called. Set ``POLYFLAKE_CLOCK=exact`` in the environment to force system calls.
    """

def after_restore() -> None:
    """Reports that this process was restored from an image of its memory, from which other copies may also have been
    restored.

    Call this function in each copy before it generates IDs: in a virtual machine that was restored from a snapshot, or
    after CRIU restored the process. Under AWS Lambda SnapStart, ``import polyflake`` registers this function
    automatically. Without this call, the copies generate the same IDs.

    One call takes effect in all threads, and in all child processes that were forked after ``import polyflake``.
    Default worker IDs and the generators' random bytes are replaced with new ones. A lease is abandoned, and another
    worker ID is leased. The switch to another worker ID begins immediately or, if a request to the lease's store is in
    progress, after that request. The next ID waits for it like a process's first ID. Generators with an explicit
    worker ID, grant or window raise ``forked``. Replace them with new generators whose worker ID no other copy uses. A
    call that is in progress may return an ID that another copy also returns.

    :raises EntropyError: if the operating system provides no random bytes.
    """

def watch_restores() -> None:
    """Starts a thread that reports a restore when the kernel detects that this virtual machine was restored.

    The thread calls ``after_restore``. If the thread is already running, calling this function has no effect.

    This requires Linux 5.18 or later, a hypervisor that changes the machine's generation ID (VMGENID), such as
    Firecracker, Cloud Hypervisor or QEMU, and permission to read ``/dev/kmsg``, where the kernel reports the restore.
    Other copies of a process, such as those that CRIU or AWS Lambda create, are not detected.

    The thread detects a restore with a short delay, so IDs that the program generates during this delay may also exist
    in another copy. The thread's reports take effect in the same processes as a call to ``after_restore``. A forked
    child does not inherit the thread. If the parent exits before the child, call this function in the child.

    :raises StateError: ``watch_unavailable`` on other systems, on a machine without a generation ID, or without
        permission to read ``/dev/kmsg``.
    """

_Time: TypeAlias = dt.datetime | SupportsIndex
_OnExhausted: TypeAlias = Literal["wait", "error"]

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

# A NumPy array. NumPy's stubs declare arrays as buffers only for Python 3.12 and later.
class _NumPyArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

# A buffer whose items can be assigned, which excludes bytes.
class _ItemAssignment(Buffer, Protocol):
    def __setitem__(self, index: Any, value: Any, /) -> None: ...

_Buffer: TypeAlias = Buffer | _NumPyArray
_WritableBuffer: TypeAlias = _ItemAssignment | _NumPyArray
_Texts: TypeAlias = _ArrowStream | _ArrowArray | _Buffer | Iterable[str]
_Packed: TypeAlias = _ArrowStream | _ArrowArray | _Buffer
_Integers: TypeAlias = _Packed | Iterable[SupportsIndex]

# A NumPy array of bool. Unlike NumPy's scalar integers, an array has a length, so type checkers can distinguish the
# two.
class _BoolArray(_NumPyArray, Protocol):
    def __len__(self) -> int: ...

_Item = TypeVar("_Item", covariant=True)

# The following items are internal. `polyflake._lease` uses them to maintain leases.
@final
class Keeper:
    def start(self, settings: str, /) -> int: ...
    def next(self, wall_ms: int, elapsed_ms: int, random: bytes, answer: str, /) -> str: ...
    def begin(self, worker_id: int, start: int, end: int, /) -> str | None: ...
    def extend(self, end: int, /) -> None: ...
    def seal(self) -> int | None: ...
    def close(self) -> None: ...
    def status(self, wall_ms: int, /) -> str: ...
    def is_restored(self) -> bool: ...
    def reason(self, wall_ms: int, /) -> str: ...
    def leave(self, inherited: object, /) -> Keeper: ...

def begin_check(settings: str, /) -> Keeper: ...
def check_file(path: str, allows_overlayfs: bool, /) -> bool: ...
def restores() -> int: ...
def parse_lease_url(url: str | None, namespace: str | None, /) -> str: ...
def name_file(path: str, allows_overlayfs: bool, connect: Callable[[Path], _Item], /) -> tuple[_Item, str]: ...

# The methods that all arrays and columns have.
class _Array(Generic[_Item]):
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: slice | memoryview | _BoolArray, /) -> Self: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> _Item: ...
    def __iter__(self) -> Iterator[_Item]: ...
    def index(self, value: object, start: int = 0, stop: int = ..., /) -> int: ...
    def count(self, value: object, /) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> Any: ...

@final
class Stall:
    """A notification that a call has to wait. It is the argument of a generator's ``on_stall`` callback."""

    @property
    def reason(self) -> str:
        """The reason for the wait: ``"sequence_exhausted"`` or ``"clock_behind"``."""

    @property
    def unix_ms(self) -> int:
        """The time according to the generator's clock, in Unix milliseconds."""

    @property
    def stalled(self) -> int:
        """The number of calls to this generator that are currently waiting, including this one. They are not queued but
        compete for the next IDs.
        """

    @property
    def slept_ms(self) -> int:
        """How long this call has slept, in milliseconds, rounded up. It is 0 in the first notification."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Description:
    """The size, fields, rate and time span of an ID format. All formats use this class."""

    @property
    def bits(self) -> int:
        """The number of bits in an ID."""

    @property
    def fields(self) -> tuple[FieldDescription, ...]:
        """The fields, starting with the most significant one."""

    @property
    def per_second(self) -> int | None:
        """The number of IDs that one generator can generate per second, rounded down. It is ``None`` unless the format
        has both a timestamp and a sequence.
        """

    @property
    def per_second_in_all(self) -> int | None:
        """The number of IDs that all generators together can generate per second, rounded down. It is ``None`` if the
        number exceeds 2^128, or if the format lacks a timestamp or a sequence.
        """

    @property
    def first_ms(self) -> int | None:
        """The start of the first tick, in Unix milliseconds."""

    @property
    def last_ms(self) -> int | None:
        """The start of the last tick, in Unix milliseconds.

        Ticks whose start does not fit in 64-bit milliseconds are ignored.
        """

    @property
    def sorts_by_time(self) -> bool:
        """True if IDs sort by time from the first tick to the last. Integers are compared as signed integers; bytes and
        strings are compared bytewise.
        """

    @property
    def below_2_53(self) -> bool:
        """True if every ID, as an unsigned integer, is below 2^53, so that a JavaScript number can hold it."""

    @property
    def below_2_63(self) -> bool:
        """True if every ID, as an unsigned integer, is below 2^63, so that it is never negative as a signed integer."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

@final
class FieldDescription:
    """One field of an ID format."""

    @property
    def name(self) -> str:
        """The name: ``"timestamp"``, ``"sequence"``, ``"unused"``, or the name of a constant or bindable field."""

    @property
    def kind(self) -> str:
        """The kind of the field, as in a layout's JSON description."""

    @property
    def offset(self) -> int:
        """The number of bits that are more significant than the field."""

    @property
    def bits(self) -> int:
        """The width, in bits."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
