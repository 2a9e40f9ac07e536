# The compiled module. Its families are described where they are public: sno.pyi and its sisters.
import datetime as dt
from collections.abc import Iterable
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, final

from typing_extensions import Buffer

from polyflake import hotguid as hotguid
from polyflake import layout as layout
from polyflake import randflake as randflake
from polyflake import sno as sno
from polyflake import sparx64 as sparx64

__all__ = [
    "Description",
    "FieldDescription",
    "Stall",
    "__version__",
    "hotguid",
    "layout",
    "randflake",
    "sno",
    "sparx64",
]

__version__: str

_Time: TypeAlias = dt.datetime | SupportsIndex
_OnExhausted: TypeAlias = Literal["wait", "error"]

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

# An array of NumPy's, whose own stubs say only from Python 3.12 on that it is a buffer.
class _NumPyArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Buffer: TypeAlias = Buffer | _NumPyArray
_Texts: TypeAlias = _ArrowStream | _ArrowArray | _Buffer | Iterable[str]
_Integers: TypeAlias = _ArrowStream | _ArrowArray | _Buffer

@final
class Stall:
    """A notice that a call has to wait: what a generator's ``on_stall`` is given."""

    @property
    def reason(self) -> str:
        """Why: `sequence_exhausted` or `clock_behind`.

        Why: ``"sequence_exhausted"`` or ``"clock_behind"``."""

    @property
    def unix_ms(self) -> int:
        """The clock's reading, in Unix milliseconds."""

    @property
    def stalled(self) -> int:
        """How many calls of this generator wait now, this one included. They race; there is no queue."""

    @property
    def slept_ms(self) -> int:
        """How long this call has slept, in milliseconds, rounded up: 0 in the first notice."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Description:
    """What an ID format can do, in figures: the same for every family."""

    @property
    def bits(self) -> int:
        """How many bits an ID has."""

    @property
    def fields(self) -> tuple[FieldDescription, ...]:
        """The fields, from the top."""

    @property
    def per_second(self) -> int | None:
        """How many IDs one generator can make in a second, floored; ``None`` without both a timestamp and a
        sequence."""

    @property
    def per_second_in_all(self) -> int | None:
        """How many IDs all generators together can make in a second, floored; ``None`` as above, and past 2^128."""

    @property
    def first_ms(self) -> int | None:
        """When the first tick begins, in Unix milliseconds."""

    @property
    def last_ms(self) -> int | None:
        """When the last tick begins, in Unix milliseconds.

        When the last tick begins that 64-bit milliseconds hold, in Unix milliseconds."""

    @property
    def sorts_by_time(self) -> bool:
        """Whether IDs sort by time from the first tick to the last: integers as signed ones, bytes and texts
        bytewise."""

    @property
    def below_2_53(self) -> bool:
        """Whether every ID is below 2^53.

        Whether every ID, as an unsigned integer, is below 2^53: a JavaScript number holds it."""

    @property
    def below_2_63(self) -> bool:
        """Whether every ID is below 2^63.

        Whether every ID, as an unsigned integer, is below 2^63: it is never negative."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

@final
class FieldDescription:
    """One field of a format."""

    @property
    def name(self) -> str:
        """The field's name: ``"timestamp"``, ``"sequence"``, ``"unused"``, or that of a constant or bindable."""

    @property
    def kind(self) -> str:
        """What kind of field it is, as in a layout's JSON."""

    @property
    def offset(self) -> int:
        """Bits above it."""

    @property
    def bits(self) -> int:
        """How many bits wide it is."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
