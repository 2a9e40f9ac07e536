"""Custom layouts: snowflakes of any shape.

    an integer ID:  | 1 unused | 41 timestamp | 5 constant | 5 bindable | 12 sequence |      64 bits, signed
    a byte ID:      | 48 timestamp | 80 bindable                                      |      8 x N bits, big-endian

Fields are listed from the most significant bit and fill the ID. A layout is checked once, when it is made; then packing
and parsing are shifts and masks.

Every refused argument raises a :class:`polyflake.PolyflakeError`; nothing is rounded, wrapped or guessed. Integers are
``int`` of any size or any type with ``__index__``, as NumPy's integers, but not ``bool`` or ``float``.
Bytes as values of fields are ``bytes``, ``bytearray`` or ``memoryview``. Times are aware ``datetime`` or integer Unix
milliseconds; naive datetimes are not.
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any, SupportsIndex, TypeAlias, final, overload

from polyflake._lease import Lease
from polyflake._polyflake import Description, Stall, _Array, _Bools, _Buffer, _Integers, _OnExhausted, _Packed, _Time
from polyflake.sno import FieldColumn

_Value: TypeAlias = SupportsIndex | bytes | bytearray | memoryview | str
_Values: TypeAlias = Mapping[str, _Value]

__all__ = ["Generator", "Layout", "LayoutArray", "Parsed", "ParsedColumns", "Snapshot", "Stats", "presets"]

def presets() -> list[str]:
    """The names of the services whose layouts are known, which :meth:`Layout.preset` takes.

    >>> "discord" in presets()
    True
    """

@final
class Layout:
    """The shape of an ID: its fields, and the bits of each.

    It is a value: equal to another of the same fields, and may be copied and pickled.

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
        """The layout of a description, which is the same in every language.

        ``id`` is ``"integer"`` (64 bits) or ``"bytes"`` (a multiple of 8, up to 524288). A field has a ``kind`` and its
        ``bits``, and may have ``"invert": True``: all its bits are flipped. ``timestamp`` has a ``tick`` (``"1ms"``,
        ``"10ms"``, ``"1s"``, ``"50us"``) and an ``epoch_ms``; ``sequence`` may have a ``start``; ``constant`` has a
        ``value``; constants and ``bindable`` may have a ``name``, and in byte layouts a ``type``: ``"integer"``,
        ``"bytes"`` (values in hex) or ``"text"``; ``unused`` is zeros. Integers past 2^53 are decimal texts.
        Beside ``fields``, ``"only_read": True`` says that no generator may be made of it.

        :raises InvalidValueError: ``invalid_layout`` for everything wrong with it.
        :raises OutOfRangeError: ``out_of_range`` for a constant or start that does not fit.
        """

    @staticmethod
    def from_json(text: str, /) -> Layout:
        """The layout of a JSON text.

        The text is a description in JSON. Raises as the constructor."""

    @staticmethod
    def preset(name: str, /, **fields: _Value) -> Layout:
        """The layout of a service's IDs: ``"twitter"`` or ``"x"``, ``"discord"``, ``"instagram"``, ``"sonyflake"``,
        ``"mastodon"`` or ``"baidu"``, in any case; the last two have no generator.

            >>> Layout.preset("twitter").parse(1541815603606036480).datetime.isoformat()
            '2022-06-28T16:07:40.105000+00:00'

        :param fields: values of machine fields that are the same in every ID, and need not be given for each.
        :raises InvalidValueError: ``invalid_layout`` for another name, ``unknown_field`` for a field that it does not
            have.
        :raises OutOfRangeError: ``out_of_range`` for a value that does not fit.
        """

    def to_json(self) -> str:
        """The layout as a JSON text, the same for equal layouts and in every language."""

    @property
    def bits(self) -> int:
        """Number of bits in an ID."""

    @property
    def is_integer(self) -> bool:
        """True if IDs are integers; false if they are bytes."""

    def pack(
        self,
        *,
        timestamp: _Time | None = None,
        sequence: SupportsIndex | None = None,
        bindables: _Values | None = None,
        constants: _Values | None = None,
    ) -> Any:
        """The ID of given values: an ``int``, or ``bytes`` in a layout of byte IDs. The caller makes sure that no ID is
        made twice.

        :param timestamp: floored to the layout's tick.
        :param bindables: all of them, by name.
        :param constants: values, by name, that replace constants in this ID.
        :raises InvalidValueError: ``unknown_field``, ``missing_field``, ``invalid_character`` for a text that is not
            valid Unicode, each with the ``field``.
        :raises InvalidTypeError: for a value of another type than its field's.
        :raises OutOfRangeError: ``out_of_range`` for a value that does not fit its field, with the ``field``;
            ``time_out_of_range``.
        """

    def pack_columns(
        self,
        *,
        timestamp: _Time | _Packed | None = None,
        sequence: SupportsIndex | _Packed | None = None,
        bindables: Mapping[str, _Value | _Packed] | None = None,
        constants: Mapping[str, _Value | _Packed] | None = None,
    ) -> LayoutArray:
        """Many IDs of given values and columns of values.

        If a field's value is a column, each ID takes one item of it; all other values are the same in every ID.

            >>> from array import array
            >>> twitter = Layout.preset("twitter", datacenter=11, worker=26)
            >>> ids = twitter.pack_columns(timestamp=1656432460105, sequence=array("q", [0, 1]))
            >>> list(ids)
            [1541815603606036480, 1541815603606036481]

        A column has signed 64-bit integers: a buffer of one dimension in the machine's byte order (a NumPy array of
        ``int64``, an ``array("q")``, a :class:`polyflake.sno.FieldColumn`) or an Arrow column without nulls (pyarrow,
        polars and others). There must be one, and all are equally long.

        :param timestamp: a column of Unix milliseconds, or a time; floored to the layout's tick.
        :param bindables: all of them, by name.
        :param constants: values, by name, that replace constants in these IDs.
        :raises InvalidTypeError: as :meth:`pack`; without a column; for a column of anything else; for one of a field
            of bytes, text or more than 64 bits.
        :raises InvalidValueError: as :meth:`pack`; ``invalid_length`` for columns that are not equally long.
        :raises OutOfRangeError: as :meth:`pack`, with the ``item`` if the value is from a column; ``out_of_range`` for
            more than 268435456 bytes of byte IDs.
        """

    def parse_columns(self, ids: LayoutArray | _Integers | Iterable[_Buffer], /) -> ParsedColumns:
        """The fields of many IDs, a column of each; unused bits are ignored.

            >>> memoryview(twitter.parse_columns(ids).sequence).tolist()
            [0, 1]

        :param ids: a :class:`LayoutArray`, or an argument of its constructor, which is copied: signed 64-bit integers
            in an integer layout, packed bytes in one of byte IDs.
        :raises InvalidTypeError: for bytes in an integer layout, and for integers of an array in one of byte IDs.
        :raises InvalidValueError: ``invalid_length`` for IDs of another length, and if the last one is not whole.
        """

    def parse(self, id: SupportsIndex | str | _Buffer, /) -> Parsed:
        """The fields of an ID; unused bits are ignored.

        An integer ID may be a decimal string, the form in which most web APIs send it.

            >>> Layout.preset("discord").parse("175928847299117063").unix_ms
            1462015105796

        :raises InvalidTypeError: for bytes in an integer layout, for an integer in a layout of byte IDs.
        :raises InvalidValueError: ``invalid_length`` for bytes of another length, ``invalid_character`` for a text that
            is not UTF-8, and for a string that is not a canonical decimal.
        :raises OutOfRangeError: ``out_of_range`` for an integer outside -2^63..2^63-1, ``time_out_of_range`` for a time
            outside 64-bit milliseconds.
        """

    def time_range(self, start: _Time, end: _Time, /, bindables: _Values | None = None) -> tuple[Any, Any]:
        """The lowest and highest ID of a half-open time range, for BETWEEN queries.

        Both are inclusive; the range is ``start <= time < end``. An ID is in the range if its own tick begins in it.

        :param bindables: values of the bindables above the timestamp; the others span all their values.
        :raises OutOfRangeError: ``time_out_of_range`` if the timestamp cannot hold the range, ``out_of_range`` if it is
            reversed, holds no tick or crosses the sign bit, and in a layout with the sequence above the timestamp.
        :raises InvalidValueError: ``missing_field``, ``unknown_field`` with the ``field``.
        """

    def describe(self) -> Description:
        """Size, fields, rate and time span of the layout's IDs."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Callable[[str], Layout], tuple[str]]: ...

@final
class Parsed:
    """The fields of an ID."""

    @property
    def unix_ms(self) -> int | None:
        """The start of its tick, in Unix milliseconds, floored; ``None`` in a layout without a timestamp."""

    @property
    def datetime(self) -> dt.datetime | None:
        """The start of its tick, as an aware datetime in UTC; ``None`` in a layout without a timestamp, and outside the
        years 1 to 9999."""

    @property
    def sequence(self) -> int | None:
        """The sequence; ``None`` in a layout without one."""

    @property
    def bindables(self) -> dict[str, Any]:
        """The bindables, by name, from the top: each an ``int``, ``bytes`` without leading zeros, or a ``str``."""

    @property
    def constants(self) -> dict[str, Any]:
        """The constants, by name, from the top, as this ID has them."""

    def __eq__(self, other: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

@final
class ParsedColumns:
    """The fields of many IDs: columns of signed 64-bit integers, which NumPy and Arrow see without a copy. As a
    sequence it gives the fields of one ID after the other, as :meth:`Layout.parse` does.

    Each is read when it is asked for, without looking at the others. Fields of bytes, text or more than 64 bits have no
    column: they are read ID by ID, with :meth:`Layout.parse`.
    """

    @property
    def unix_ms(self) -> FieldColumn | None:
        """The start of each ID's tick, in Unix milliseconds, floored; ``None`` in a layout without a timestamp.

        :raises OutOfRangeError: ``time_out_of_range`` outside 64-bit milliseconds, with the ``item``.
        """

    @property
    def sequence(self) -> FieldColumn | None:
        """The sequence of each; ``None`` in a layout without one, and if a column cannot hold it."""

    @property
    def bindables(self) -> dict[str, FieldColumn]:
        """The bindables that have columns, by name, from the top."""

    @property
    def constants(self) -> dict[str, FieldColumn]:
        """The constants that have columns, by name, from the top, as the IDs have them."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: slice | memoryview | _Bools, /) -> ParsedColumns: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Parsed: ...
    def __iter__(self) -> Iterator[Parsed]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> Any: ...
    __hash__ = None  # type: ignore[assignment]

@final
class Generator:
    """A source of IDs of one layout, which has a timestamp and a sequence.

    Threads may share it. The sequence begins with its start value in each new tick; at its end calls wait for the next.
    A clock behind the last tick is an error at once. Two generators of the same layout and bindables repeat each
    other's IDs, so a generator can be neither copied nor pickled, and in a forked child it refuses with ``forked``.

    Waiting lets other threads run and ends when a signal's handler raises, as ``KeyboardInterrupt`` does.
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
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        fields: Iterable[str] | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A new generator.

        :param layout: the layout; no other generator of it may have the same bindables.
        :param bindables: values of the bindables that are the same in every ID; the others are given for each.
            They may have served an earlier generator. So the first ID belongs to the tick after the first call, which
            waits for up to one tick, for one second at most by default. If the clock was set back between two runs, IDs
            repeat unless a snapshot was restored. Without a timestamp a restart repeats.
        :param range: a bindable, and the first and the last of its numbers, which no other generator may have: where a
            number's sequence is used up in a tick, the generator goes on with the next number, so it is as fast as its
            range. The bindable is below the timestamp and above the sequence, which starts at 0; neither is inverted.
            Restored, it begins in the tick after the snapshot's.
        :param sequence_only: for a layout without a timestamp, whose sequence is given out once, from start to end.
        :param window: the half-open time span in which IDs may be made: those whose tick begins in it.
        :param clock: gives integer Unix nanoseconds, instead of the system's clock; called without a lock, so it may
            be slow, raise or use the generator itself.
        :param on_exhausted: action when a tick's sequence is used up: ``"wait"`` for the next, or ``"error"``.
        :param max_wait: longest wait of one call, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which gives the generator its number and its times;
            the first ID waits for it.
        :param fields: the names of the constants or bindables that hold the number of the lease, the
            most significant first.
        :param on_stall: called on the waiting thread before each sleep of a call that has to wait; an exception from it
            ends the wait and propagates.
        :warns RuntimeWarning: once for a layout and bindables, if a generator of this process that is still in use has
            both, and an overlapping time: they repeat each other's IDs.
        :raises InvalidValueError: ``invalid_layout`` for a layout that no IDs can be made of, ``unknown_field`` for a
            bindable that it does not have, or a window without a timestamp; ``invalid_layout`` for a range that it
            cannot count on.
        :raises OutOfRangeError: with the ``field``.
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
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A generator that goes on where a closed one of the same layout stopped. Restore a snapshot once: a second
        generator from it repeats the first one's IDs.

        :raises OutOfRangeError: for a snapshot that no generator of the layout can have left.
        """

    def generate(self, bindables: _Values | None = None) -> Any:
        """One new ID: an ``int``, or ``bytes`` in a layout of byte IDs.

        :param bindables: values of the bindables that are not fixed; values of fixed ones hold for this ID alone.
        :raises InvalidValueError: ``missing_field``, ``unknown_field`` with the ``field``.
        :raises InvalidTypeError: for a value of another type than its field's.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``; without it in a layout without a timestamp.
        :raises ClockError: ``clock_behind`` with ``retry_at``, ``clock_failed``.
        :raises LeaseError: ``lease_not_started`` with ``retry_at``, ``lease_expired``: outside the window.
        :raises StateError: ``generator_closed``, ``forked``.
        :raises OutOfRangeError: for a bindable, or ``time_out_of_range`` outside the layout's time.
        """

    def generate_many(self, n: SupportsIndex, /, bindables: _Values | None = None) -> LayoutArray:
        """Many new IDs. Other threads run meanwhile.

        :param n: number of IDs: 0..16777216, and at most 268435456 bytes.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of IDs that were made and are lost.
        """

    def fill(self, buffer: _Buffer, /, bindables: _Values | None = None) -> None:
        """Fills the caller's buffer with new IDs.

        As many as the buffer holds. Filling the same memory again and again takes no new pages from the system. Other
        threads run meanwhile.

        :param buffer: writable and C-contiguous: in an integer layout signed 64-bit integers in the machine's
            byte order, else bytes (NumPy's ``uint8`` in rows of an ID) or items of an ID's length (``S``, ``V``).
        :raises InvalidTypeError: for a buffer that is read-only, strided or of anything else.
        :raises InvalidValueError: ``invalid_length`` unless it holds whole IDs.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of valid IDs at the front of the
            buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self, bindables: _Values | None = None) -> Any:
        """One new ID if there is one now. It never waits, whatever ``on_exhausted`` and ``max_wait`` say.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``, instead of a wait.
        :raises ClockError: ``clock_behind`` with ``retry_at``, instead of a wait.
        :raises PolyflakeError: otherwise as :meth:`generate`.
        """

    def try_generate_many(self, n: SupportsIndex, /, bindables: _Values | None = None) -> LayoutArray:
        """The new IDs that there are now, up to a number. It never waits: there may be fewer, or none.

        :param n: largest number of IDs: 0..16777216, and at most 268435456 bytes.
        :raises PolyflakeError: as :meth:`generate_many`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def try_fill(self, buffer: _Buffer, /, bindables: _Values | None = None) -> int:
        """Fills the front of the caller's buffer with the new IDs that there are now, and returns how many.

        It never waits: there may be fewer than the buffer holds, or none. The rest of the buffer is unchanged.

        :param buffer: as :meth:`fill` takes it.
        :raises PolyflakeError: as :meth:`fill`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self, bindables: _Values | None = None) -> Coroutine[Any, Any, Any]:
        """One new ID, waiting without holding the thread.

        A coroutine for asyncio: where :meth:`generate` would sleep, it sleeps in the event loop. If cancelled,
        it makes no ID.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_many_async(
        self, n: SupportsIndex, /, bindables: _Values | None = None
    ) -> Coroutine[Any, Any, LayoutArray]:
        """Many new IDs, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`. The event loop has a turn at least every 16,384 IDs. A
        cancelled call loses the IDs that it made.

        :raises PolyflakeError: as :meth:`generate_many`, when it is awaited.
        """

    def fill_async(self, buffer: _Buffer, /, bindables: _Values | None = None) -> Coroutine[Any, Any, None]:
        """New IDs into the caller's buffer, waiting without holding the thread.

        A coroutine, as :meth:`generate_many_async`; the buffer is held until its end. A cancelled call leaves
        some new IDs at the front.

        :raises PolyflakeError: as :meth:`fill`, when it is awaited.
        """

    @property
    def layout(self) -> Layout:
        """The layout of its IDs."""

    def extend_window(self, end: _Time, /) -> None:
        """Moves the end of the window later; an earlier or equal end changes nothing, and neither does any end without
        a window.

        :raises OutOfRangeError: for an end before the window's start, or past the layout's time.
        :raises InvalidValueError: ``unknown_field`` in a layout without a timestamp.
        """

    def stats(self) -> Stats:
        """Figures of now."""

    def close(self) -> Snapshot:
        """Ends the generator and gives the snapshot to restore from.

        Calls in flight on other threads end, too. The snapshot is given once.

        :raises StateError: ``generator_closed`` if it was closed before; ``forked``, since the parent's generator goes
            on.
        """

    def __reduce__(self) -> Any: ...

@final
class LayoutArray(_Array[Any]):
    """Many IDs, packed.

    It has the buffer protocol, read-only: integer IDs as a list of signed 64-bit integers, byte IDs as a table of bytes
    with a row for each. ``numpy.asarray(ids)`` copies nothing. It is also an Arrow column, of these integers or
    bytes: ``pyarrow.array(ids)``, ``polars.Series(ids)``.
    """

    def __new__(cls, ids: _Integers | Iterable[_Buffer], /, size: SupportsIndex | None = None) -> LayoutArray:
        """The IDs of a list or a column.

        :param ids: signed 64-bit integers: any iterable, or a column as :class:`polyflake.randflake.RandflakeArray`
            takes it; or, with a ``size``, any iterable of ``bytes``, packed bytes as ``bytes(ids)`` gives them, or an
            Arrow column of bytes.
        :param size: number of bytes in an ID, 1..128; ``None`` for integers.
        :raises InvalidTypeError: for anything else; for a null or another item, with the ``item``.
        :raises InvalidValueError: ``invalid_length`` if the last ID is not whole, or with the ``item`` of another
            length.
        :raises OutOfRangeError: for an integer of more than 64 bits, with the ``item``.
        """

@final
class Snapshot:
    """The state of a closed generator, to restore it from."""

    @staticmethod
    def from_dict(members: dict[str, Any], /) -> Snapshot:
        """The snapshot of a dict, as JSON has it in every language: ``{"tick": 5, "next_sequence": 7}``, integers past
        2^53 as decimal texts.

        :raises InvalidValueError: ``invalid_layout`` for everything wrong with it.
        """

    def to_dict(self) -> dict[str, Any]:
        """A dict, as JSON has it in every language."""

    @property
    def tick(self) -> int:
        """The last tick used, as the timestamp counts them; 0 in a layout without one."""

    @property
    def next_sequence(self) -> int:
        """The sequence that follows in that tick, one past the field's last if it is used up."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Stats:
    """Figures of a generator, at one moment."""

    @property
    def last_ms(self) -> int | None:
        """The start of the last tick used, in Unix milliseconds; ``None`` before the first ID, and in a layout without
        a timestamp."""

    @property
    def len(self) -> int:
        """Number of IDs used up in that tick, or in the whole sequence of a layout without a timestamp."""

    @property
    def closed(self) -> bool:
        """True if the generator was closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
