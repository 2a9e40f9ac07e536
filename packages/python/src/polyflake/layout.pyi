"""Custom layouts: Snowflake IDs with fields of your choice.

    an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
    a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian

Fields are listed from the most significant bit, and together they fill the ID. A *bindable* field is a field whose
value you set for a generator or for each ID, such as a worker ID. A layout is checked once, when it is created, so
packing and parsing only shift and mask bits.

Invalid arguments raise a :class:`polyflake.PolyflakeError`; values are never rounded, wrapped or guessed. Integers are
``int`` of any size or any type with ``__index__``, such as NumPy's integers, but not ``bool`` or ``float``. Byte fields
accept ``bytes``, ``bytearray`` or ``memoryview``. Times are aware ``datetime`` objects or integer Unix milliseconds;
naive datetimes are rejected.
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, SupportsIndex, TypeAlias, final, overload

from polyflake._lease import Lease
from polyflake._polyflake import (
    Description,
    Stall,
    _Array,
    _BoolArray,
    _Buffer,
    _Integers,
    _OnExhausted,
    _Packed,
    _Time,
    _WritableBuffer,
)
from polyflake.sno import FieldColumn

_Value: TypeAlias = SupportsIndex | bytes | bytearray | memoryview | str
_Values: TypeAlias = Mapping[str, _Value]

__all__ = ["Generator", "Layout", "LayoutArray", "Parsed", "ParsedColumns", "Snapshot", "Stats", "presets"]

def presets() -> list[str]:
    """Returns the names of the presets, which :meth:`Layout.preset` accepts.

    >>> "discord" in presets()
    True
    """

@final
class Layout:
    """The layout of an ID: its fields and their widths in bits.

    Layouts with the same fields are equal, and a layout can be copied and pickled.

        >>> layout = Layout({"id": "integer", "bits": 64, "fields": [
        ...     {"kind": "unused", "bits": 1},
        ...     {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1483228800000},
        ...     {"kind": "constant", "bits": 5, "name": "data-center-id", "value": 1},
        ...     {"kind": "bindable", "bits": 5, "name": "worker"},
        ...     {"kind": "sequence", "bits": 12}]})
        >>> layout.pack(timestamp=1483228800001, sequence=1, bindables={"worker": 2})
        4333569
        >>> layout.parse(4333569).bindables
        {'worker': 2}
    """

    def __new__(cls, description: dict[str, Any], /) -> Layout:
        """Creates a layout from a description, which is a dict with the same members in every language.

        ``id`` is ``"integer"`` (64 bits) or ``"bytes"`` (a multiple of 8 bits, up to 1024). Each field has a ``kind``
        and its width in ``bits``. A field with ``"invert": True`` has all its bits flipped. A ``timestamp`` has a
        ``tick`` (``"1ms"``, ``"10ms"``, ``"1s"``, ``"50us"``) and an ``epoch_ms``. A ``sequence`` can have a ``start``.
        A ``constant`` has a ``value``. A ``constant`` or ``bindable`` can have a ``name`` and, in byte layouts, a
        ``type``: ``"integer"``, ``"bytes"`` (values in hexadecimal) or ``"text"``. The bits of an ``unused`` field are
        zero. Integers above 2^53 are written as decimal strings. If the description also has ``"only_read": True``, no
        generator can be created from the layout.

        :raises InvalidValueError: ``invalid_layout`` if the description is invalid.
        :raises OutOfRangeError: ``out_of_range`` if a constant or start does not fit its field.
        """

    @staticmethod
    def from_json(text: str, /) -> Layout:
        """Creates a layout from its description as a JSON string.

        This method raises the same exceptions as the constructor.
        """

    @staticmethod
    def preset(name: str, /, **fields: _Value) -> Layout:
        """Returns the layout of a well-known service: ``"twitter"`` or ``"x"``, ``"discord"``, ``"instagram"``,
        ``"sonyflake"``, ``"mastodon"`` or ``"baidu"``.

        The names are case-insensitive. The last two layouts can be used only to read IDs. No generator can be created
        from them.

            >>> Layout.preset("twitter").parse(1541815603606036480).datetime.isoformat()
            '2022-06-28T16:07:40.105000+00:00'

        :param fields: values for machine fields that are the same in every ID, so that you do not have to pass them
            each time.
        :raises InvalidValueError: ``invalid_layout`` if the name is unknown, or ``unknown_field`` if the layout lacks
            one of the fields.
        :raises OutOfRangeError: ``out_of_range`` if a value does not fit its field.
        """

    def to_json(self) -> str:
        """Returns the layout as a JSON string. Equal layouts have the same string in every language."""

    @property
    def bits(self) -> int:
        """The number of bits in an ID."""

    @property
    def is_integer(self) -> bool:
        """True if IDs are integers, false if they are bytes."""

    def pack(
        self,
        *,
        timestamp: _Time | None = None,
        sequence: SupportsIndex | None = None,
        bindables: _Values | None = None,
        constants: _Values | None = None,
    ) -> Any:
        """Returns the ID with the given field values. The ID is an ``int``, or ``bytes`` in a byte layout.

        The caller must ensure that no two calls return the same ID.

        :param timestamp: the time, rounded down to the layout's tick.
        :param bindables: the values for all bindable fields, by name.
        :param constants: values, by field name, that override the layout's constants in this ID.
        :raises InvalidValueError: ``unknown_field`` if the layout has no field with a given name, ``missing_field`` if
            a value is missing, or ``invalid_character`` if a string is not valid Unicode. The error's ``field`` is the
            name.
        :raises InvalidTypeError: if a value does not have the type of its field.
        :raises OutOfRangeError: ``out_of_range`` with the ``field`` if a value does not fit its field, or
            ``time_out_of_range`` if the time does not fit in the timestamp.
        """

    def pack_columns(
        self,
        *,
        timestamp: _Time | _Packed | None = None,
        sequence: SupportsIndex | _Packed | None = None,
        bindables: Mapping[str, _Value | _Packed] | None = None,
        constants: Mapping[str, _Value | _Packed] | None = None,
    ) -> LayoutArray:
        """Returns many IDs with the given field values.

        A column has one value per ID. Any other value applies to all IDs.

            >>> from array import array
            >>> twitter = Layout.preset("twitter", datacenter=11, worker=26)
            >>> ids = twitter.pack_columns(timestamp=1656432460105, sequence=array("q", [0, 1]))
            >>> list(ids)
            [1541815603606036480, 1541815603606036481]

        A column contains signed 64-bit integers. It is a one-dimensional buffer in native byte order (a NumPy array of
        ``int64``, an ``array("q")``, a :class:`polyflake.sno.FieldColumn`) or an Arrow column without nulls (pyarrow,
        polars and others). At least one column is required, and all columns must have the same length.

        :param timestamp: a column of Unix milliseconds, or a single time. Times are rounded down to the layout's tick.
        :param bindables: the values for all bindable fields, by name.
        :param constants: values, by field name, that override the layout's constants in these IDs.
        :raises InvalidTypeError: under the same conditions as :meth:`pack`, and if no column is passed, if a column has
            the wrong type, or if a column is passed for a field that holds bytes, a string or more than 64 bits.
        :raises InvalidValueError: under the same conditions as :meth:`pack`, and ``invalid_length`` if the columns
            differ in length.
        :raises OutOfRangeError: under the same conditions as :meth:`pack`, with the ``item`` if the value comes from a
            column, and ``out_of_range`` if the byte IDs exceed 268435456 bytes in total.
        """

    def parse_columns(self, ids: LayoutArray | _Integers | Iterable[_Buffer], /) -> ParsedColumns:
        """Returns the fields of many IDs as columns. Unused bits are ignored.

            >>> memoryview(twitter.parse_columns(ids).sequence).tolist()
            [0, 1]

        :param ids: a :class:`LayoutArray`, or any IDs that its constructor accepts: signed 64-bit integers for an
            integer layout, packed bytes for a byte layout. Such IDs are copied first.
        :raises InvalidTypeError: if the IDs are bytes in an integer layout, or integers in a byte layout.
        :raises InvalidValueError: ``invalid_length`` if the IDs have the wrong length, or if the last ID is incomplete.
        """

    def parse(self, id: SupportsIndex | str | _Buffer, /) -> Parsed:
        """Returns the fields of an ID. Unused bits are ignored.

        An integer ID can also be passed as a decimal string, which is the form that most web APIs use.

            >>> Layout.preset("discord").parse("175928847299117063").unix_ms
            1462015105796

        :raises InvalidTypeError: if the ID is bytes in an integer layout, or an integer in a byte layout.
        :raises InvalidValueError: ``invalid_length`` if the bytes have the wrong length, or ``invalid_character`` if a
            text field is not UTF-8 or the string is not a canonical decimal number.
        :raises OutOfRangeError: ``out_of_range`` if the integer is outside -2^63..2^63-1, or ``time_out_of_range`` if
            the time does not fit in 64-bit milliseconds.
        """

    def time_range(self, start: _Time, end: _Time, /, bindables: _Values | None = None) -> tuple[Any, Any]:
        """Returns the lowest and the highest ID in the time range ``start <= time < end``, for BETWEEN queries.

        Both IDs belong to the range, so you can use them directly with BETWEEN. An ID is in the range if its tick
        begins in the range.

        :param bindables: values for the bindable fields that are more significant than the timestamp. The range covers
            all values of the other bindable fields.
        :raises OutOfRangeError: ``time_out_of_range`` if the range does not fit in the timestamp; ``out_of_range`` if
            the range is reversed, contains no tick or crosses the sign bit, or if the layout's sequence is more
            significant than its timestamp.
        :raises InvalidValueError: ``missing_field`` if a value is missing, or ``unknown_field`` if a name is unknown.
            ``field`` is the field's name.
        """

    def describe(self) -> Description:
        """Returns the size, fields, rate and time span of the layout's IDs."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[[str], Layout], tuple[str]]: ...

@final
class Parsed:
    """The fields of an ID."""

    @property
    def unix_ms(self) -> int | None:
        """The start of the ID's tick, in Unix milliseconds, rounded down; ``None`` if the layout has no timestamp."""

    @property
    def datetime(self) -> dt.datetime | None:
        """The start of the ID's tick, as an aware datetime in UTC; ``None`` if the layout has no timestamp or the time
        is outside the years 1 to 9999.
        """

    @property
    def sequence(self) -> int | None:
        """The sequence number; ``None`` if the layout has no sequence."""

    @property
    def bindables(self) -> dict[str, Any]:
        """The values of the bindable fields, by name, starting with the most significant field. A value is an ``int``,
        a ``str``, or ``bytes`` without leading zeros.
        """

    @property
    def constants(self) -> dict[str, Any]:
        """The values of the constant fields in this ID, by name, starting with the most significant field."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

@final
class ParsedColumns:
    """The fields of many IDs, as columns of signed 64-bit integers that NumPy and Arrow can read without copying.

    The object is also a sequence of :class:`Parsed` objects, one for each ID, as :meth:`Layout.parse` returns them.

    Each column is read on demand, independently of the others. Fields that hold bytes, strings or more than 64 bits
    have no column. Use :meth:`Layout.parse` to read them one ID at a time.
    """

    @property
    def unix_ms(self) -> FieldColumn | None:
        """The start of each ID's tick, in Unix milliseconds, rounded down; ``None`` if the layout has no timestamp.

        :raises OutOfRangeError: ``time_out_of_range`` with the ``item`` if a time does not fit in 64-bit milliseconds.
        """

    @property
    def sequence(self) -> FieldColumn | None:
        """The sequence number of each ID; ``None`` if the layout has no sequence or a column cannot hold it."""

    @property
    def bindables(self) -> dict[str, FieldColumn]:
        """The columns of the bindable fields, by name, starting with the most significant field. Fields without a
        column are omitted.
        """

    @property
    def constants(self) -> dict[str, FieldColumn]:
        """The columns of the constant fields, by name, starting with the most significant field. They contain the
        values in the IDs, which can differ from the layout's constants. Fields without a column are omitted.
        """

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: slice | memoryview | _BoolArray, /) -> ParsedColumns: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Parsed: ...
    def __iter__(self) -> Iterator[Parsed]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> Any: ...
    __hash__ = None  # type: ignore[assignment]

@final
class Generator:
    """An ID generator for one layout, which must have a timestamp and a sequence.

    Threads can share a generator. The sequence begins at its start value in each new tick. When all sequence numbers in
    a tick are used up, calls wait for the next tick. If the clock is behind the last tick used, calls raise an
    exception without waiting. Two generators with the same layout and bindable values would generate duplicate IDs, so
    a generator cannot be copied or pickled, and it raises ``forked`` in a forked child.

    Other threads can run while a call waits. The wait ends if a signal handler raises an exception, such as
    ``KeyboardInterrupt``.
    """

    def __new__(
        cls,
        layout: Layout,
        *,
        bindables: _Values | None = None,
        range: tuple[str, SupportsIndex, SupportsIndex] | None = None,
        sequence_only: bool = False,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        fields: Iterable[str] | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator.

        :param layout: the layout. No other generator for this layout may have the same bindable values.
        :param bindables: values for those bindable fields that have the same value in every ID. Pass the values of the
            other fields for each ID. An earlier generator may have used the same values, so the first call waits for
            the next tick, by default at most one second. If the clock was set back between two runs, the generator
            creates duplicate IDs unless you restore it from a snapshot. In a layout without a timestamp, every restart
            without a snapshot leads to duplicate IDs.
        :param range: the name of a bindable field, and the first and the last value that this generator can use. No
            other generator may use these values. When a value has no sequence numbers left in a tick, the generator
            continues with the next value, so the rate grows with the size of the range. The bindable field must be
            positioned between the timestamp and the sequence, with the timestamp as the most significant of the three.
            The sequence must start at 0, and neither the bindable field nor the sequence can be inverted. A restored
            generator begins in the tick after the one in the snapshot.
        :param sequence_only: whether to allow a layout without a timestamp. The generator then uses each sequence
            number once, from the start value to the maximum.
        :param window: the half-open time span in which IDs can be generated. An ID is in the window if the ID's tick
            begins within the window.
        :param clock: a callable that returns integer Unix nanoseconds, used instead of the system clock. It is called
            without a lock, so it can be slow, raise an exception or use the generator itself.
        :param test_clock: a clock for tests, used in place of ``clock``. It may stand still or move backwards. The
            first call then uses the current tick, so a generator that is created again repeats the IDs of the one
            before it.
        :param on_exhausted: what to do when all sequence numbers in a tick are used up: ``"wait"`` waits for the next
            tick, and ``"error"`` raises an exception.
        :param max_wait: the longest time that one call can wait, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which provides the worker ID and the time span. The first call waits
            for the lease.
        :param fields: the names of the constant or bindable fields that hold the leased worker ID, starting with the
            most significant one.
        :param on_stall: a callable that is called on the waiting thread before each sleep. If it raises an exception,
            the wait ends and the exception propagates.
        :raises StateError: ``worker_id_in_use`` if another live generator of this process has the same
            layout and values. Constructing a generator again with equal options returns another handle on the same
            generator.
        :raises InvalidValueError: ``invalid_layout`` if no IDs can be generated from the layout, or if it does not
            support the range; ``unknown_field`` if the layout lacks one of the bindable fields, or if a window is set
            for a layout without a timestamp.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        """

    @staticmethod
    def restore(
        layout: Layout,
        snapshot: Snapshot,
        /,
        *,
        bindables: _Values | None = None,
        range: tuple[str, SupportsIndex, SupportsIndex] | None = None,
        sequence_only: bool = False,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator that continues from the snapshot of a closed generator for the same layout.

        Restore a snapshot only once: a second generator restored from it would generate duplicate IDs.

        :raises OutOfRangeError: if no generator for the layout could have produced the snapshot.
        """

    def generate(self, bindables: _Values | None = None) -> Any:
        """Returns a new ID, which is an ``int``, or ``bytes`` in a byte layout.

        :param bindables: values for the bindable fields that the generator does not set. You can also pass a value for
            a field that the generator sets. It then replaces the generator's value in this ID only.
        :raises InvalidValueError: ``missing_field`` if a value is missing, or ``unknown_field`` if a name is unknown.
            ``field`` is the field's name.
        :raises InvalidTypeError: if a value does not have the type of its field.
        :raises ExhaustedError: ``sequence_exhausted`` if no ID became available in time, with ``retry_at`` if the
            layout has a timestamp.
        :raises ClockError: ``clock_behind`` with ``retry_at`` if the clock is behind the last ID's time, or
            ``clock_failed`` if the clock fails.
        :raises LeaseError: ``lease_not_started`` with ``retry_at`` before the window starts, or ``lease_expired`` after
            it ends.
        :raises StateError: ``generator_closed`` if the generator is closed, or ``forked`` if it belongs to a parent
            process.
        :raises OutOfRangeError: if a value does not fit its field, or ``time_out_of_range`` if the time is outside the
            layout's time range.
        """

    def generate_many(self, n: SupportsIndex, /, bindables: _Values | None = None) -> LayoutArray:
        """Returns ``n`` new IDs. Other threads can run during the call.

        :param n: the number of IDs, 0..16777216. Their total size can be at most 268435456 bytes.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of IDs that were
            generated before the error. These IDs are lost.
        """

    def fill(self, buffer: _WritableBuffer, /, bindables: _Values | None = None) -> None:
        """Fills the buffer with new IDs.

        Reusing one buffer avoids allocating memory for each batch. Other threads can run during the call.

        :param buffer: a writable, C-contiguous buffer. An integer layout requires signed 64-bit integers in native byte
            order. A byte layout requires bytes (NumPy's ``uint8`` in rows of one ID) or items that have the length of
            an ID (``S``, ``V``).
        :raises InvalidTypeError: if the buffer is read-only or strided, or has the wrong item type.
        :raises InvalidValueError: ``invalid_length`` if the buffer does not hold a whole number of IDs.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of valid IDs at the
            front of the buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self, bindables: _Values | None = None) -> Any:
        """Returns a new ID if one is available without waiting.

        This method never waits. ``on_exhausted`` and ``max_wait`` are ignored.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID is available before the next tick.
        :raises ClockError: ``clock_behind`` with ``retry_at`` if the clock is behind the last ID's time.
        :raises PolyflakeError: in all other cases, the same exceptions as :meth:`generate`.
        """

    def try_generate_many(self, n: SupportsIndex, /, bindables: _Values | None = None) -> LayoutArray:
        """Returns up to ``n`` new IDs without waiting.

        The array is shorter than ``n``, or empty, if fewer IDs are available.

        :param n: the maximum number of IDs, 0..16777216. Their total size can be at most 268435456 bytes.
        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, except ``sequence_exhausted`` and
            ``clock_behind``.
        """

    def try_fill(self, buffer: _WritableBuffer, /, bindables: _Values | None = None) -> int:
        """Writes as many new IDs to the front of the buffer as are available without waiting, and returns the number of
        IDs written.

        The number can be smaller than the buffer's capacity, or zero. The rest of the buffer is unchanged.

        :param buffer: a buffer that :meth:`fill` accepts.
        :raises PolyflakeError: the same exceptions as :meth:`fill`, except ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self, bindables: _Values | None = None) -> Coroutine[Any, Any, Any]:
        """Returns a new ID without blocking the thread while it waits.

        This method is a coroutine for asyncio. Where :meth:`generate` would block the thread, the coroutine awaits
        instead. A cancelled call generates no ID.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_many_async(
        self, n: SupportsIndex, /, bindables: _Values | None = None
    ) -> Coroutine[Any, Any, LayoutArray]:
        """Returns ``n`` new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`. It yields to the event loop at least once
        every 16,384 IDs. If the call is cancelled, the IDs that it has generated are lost.

        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, when the coroutine is awaited.
        """

    def fill_async(self, buffer: _WritableBuffer, /, bindables: _Values | None = None) -> Coroutine[Any, Any, None]:
        """Fills the buffer with new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_many_async`. It keeps a reference to the buffer until
        the call ends. If the call is cancelled, the IDs that it has generated remain at the front of the buffer.

        :raises PolyflakeError: the same exceptions as :meth:`fill`, when the coroutine is awaited.
        """

    @property
    def layout(self) -> Layout:
        """The layout of the IDs."""

    def extend_window(self, end: _Time, /) -> None:
        """Moves the end of the window to a later time.

        The call has no effect if ``end`` is not later than the current end, or if the generator has no window.

        :raises OutOfRangeError: if ``end`` is before the start of the window, or past the layout's time range.
        :raises InvalidValueError: ``unknown_field`` if the layout has no timestamp.
        """

    def stats(self) -> Stats:
        """Returns the generator's current statistics."""

    def close(self) -> Snapshot:
        """Closes the generator and returns a snapshot from which it can be restored.

        This also ends calls in progress on other threads. A second call raises an exception instead of returning the
        snapshot again.

        :raises StateError: ``generator_closed`` if the generator is already closed, or ``forked`` in a child process,
            because the generator continues in the parent.
        """

    def __reduce__(self) -> Any: ...

@final
class LayoutArray(_Array[Any]):
    """A packed array of IDs with the same layout.

    The array supports the buffer protocol, but it is read-only. Integer IDs form a one-dimensional array of signed
    64-bit integers, and byte IDs form a table with one row of bytes per ID. ``numpy.asarray(ids)`` does not copy the
    data. The array is also an Arrow column of these integers or bytes: ``pyarrow.array(ids)``, ``polars.Series(ids)``.
    """

    def __new__(cls, ids: _Integers | Iterable[_Buffer], /, size: SupportsIndex | None = None) -> LayoutArray:
        """Creates an array from a list or a column of IDs.

        :param ids: without a ``size``, signed 64-bit integers, as an iterable or as a column that
            :class:`polyflake.randflake.RandflakeArray` accepts. With a ``size``, an iterable of ``bytes``, packed bytes
            as returned by ``bytes(ids)``, or an Arrow column of bytes.
        :param size: the number of bytes in an ID, 1..128; ``None`` for integers.
        :raises InvalidTypeError: if ``ids`` or an item has the wrong type, or if an item is null. ``item`` is the index
            of that item.
        :raises InvalidValueError: ``invalid_length`` if the last ID is incomplete or an item has the wrong length.
            ``item`` is its index.
        :raises OutOfRangeError: if an integer has more than 64 bits. ``item`` is its index.
        """

@final
class Snapshot:
    """The state of a closed generator, from which it can be restored."""

    @staticmethod
    def from_dict(members: dict[str, Any], /) -> Snapshot:
        """Creates a snapshot from a dict with the same members as its JSON representation, for example ``{"tick": 5,
        "next_sequence": 7}``.

        The JSON representation is the same in every language. Integers above 2^53 are decimal strings.

        :raises InvalidValueError: ``invalid_layout`` if the dict is invalid.
        """

    def to_dict(self) -> dict[str, Any]:
        """Returns a dict with the same members as the JSON representation, which is the same in every language."""

    @property
    def tick(self) -> int:
        """The last tick used, counted in ticks since the timestamp's epoch; 0 if the layout has no timestamp."""

    @property
    def next_sequence(self) -> int:
        """The next sequence number in the last tick, or one past the field's maximum if that tick's sequence numbers
        are used up.
        """

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Stats:
    """A generator's statistics at one point in time."""

    @property
    def last_ms(self) -> int | None:
        """The start of the last tick used, in Unix milliseconds; ``None`` before the first ID, and if the layout has no
        timestamp.
        """

    @property
    def len(self) -> int:
        """The number of IDs allocated in the last tick, or in total if the layout has no timestamp."""

    @property
    def closed(self) -> bool:
        """True if the generator is closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
