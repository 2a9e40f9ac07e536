"""sno: 10 bytes, 16 characters, and a metabyte for the kind of the ID.

    39 timestamp, 4 ms units since 2010 | 1 tick-tock | 8 metabyte | 16 partition | 16 sequence      (big-endian)

Byte order, text order and time order are one. IDs are predictable and show time, place and volume: they are no
secrets.

Every refused argument raises a :class:`polyflake.PolyflakeError`; nothing is rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, as NumPy's integers, but not ``bool`` or ``float``. Times are
aware ``datetime`` or integer Unix milliseconds; naive datetimes are not. Bytes are anything with the buffer protocol.
"""

import datetime as dt
import uuid as _uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, SupportsIndex, TypeAlias, TypeVar, final

from polyflake._lease import Lease
from polyflake._polyflake import Description, Stall, _Array, _Buffer, _OnExhausted, _Packed, _Texts, _Time

_Partition: TypeAlias = SupportsIndex | bytes | bytearray | memoryview
_T = TypeVar("_T")

__all__ = [
    "FieldColumn",
    "Generator",
    "Snapshot",
    "Sno",
    "SnoArray",
    "Stats",
    "TextColumn",
    "by_metabyte",
    "describe",
    "from_json_value",
    "generate",
    "generate_async",
    "generate_many",
    "generate_many_async",
    "generate_text",
    "generate_text_async",
    "metabyte",
    "set_default_generator",
    "time_range",
    "to_json_value",
]

def generate(metabyte: SupportsIndex | None = None) -> Sno:
    """One new ID from the default generator, which :func:`set_default_generator` sets.

    The generator leases a partition at the first call and while it makes IDs, from a table of this process and its
    forks, so that no two generators have the same one at a time. Generators of other processes and machines have it by
    chance: 1 % likely at 37 processes. Give partitions if IDs must be unique for sure.

    :param metabyte: the kind of the ID, 0..255, with a meaning of your own; by default the generator's, which is 0
        unless it was set.
    :raises ExhaustedError: ``sequence_exhausted`` after 1 s of waiting (a tick of 4 ms holds 65,536 IDs at most, and
        at least half as many), ``partitions_exhausted``.
    :raises ClockError: ``clock_behind``, if the clock was set back twice and stays so for 1 s.
    :raises OutOfRangeError: for the metabyte, or ``time_out_of_range`` before 2010 and after 2079.
    :raises EntropyError: if the system gives no random bytes.
    """

def generate_text(metabyte: SupportsIndex | None = None) -> str:
    """The text of one new ID from the default generator.

    As :meth:`Generator.generate_text`.
    """

def generate_many(n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> SnoArray:
    """Many new IDs from the default generator.

    As :meth:`Generator.generate_many`.
    """

def generate_async(metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, Sno]:
    """One new ID from the default generator, waiting without holding the thread.

    As :meth:`Generator.generate_async`.
    """

def generate_text_async(metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, str]:
    """The text of one new ID from the default generator, waiting without holding the thread.

    As :meth:`Generator.generate_text_async`.
    """

def generate_many_async(n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, SnoArray]:
    """Many new IDs from the default generator, waiting without holding the thread.

    As :meth:`Generator.generate_many_async`.
    """

def set_default_generator(generator: Generator | None, /) -> None:
    """Sets the default generator; none stands for a new one.

    :func:`generate` uses it in all threads. ``None`` stands for a new generator with a new partition. The generator
    before is never used again by :func:`generate`, and stays usable by those who hold it.

        >>> set_default_generator(Generator(7, sequence_min=0, clock=lambda: 1_750_000_000_000_000_000))
        >>> generate()
        Sno('9559kei22222g222')
        >>> set_default_generator(None)

    It serves tests, whose generator reads a mocked clock, and programs that know their partition. A forked child has
    the same generator, which refuses with ``forked`` there if its partition or window was given.

    :raises InvalidTypeError: for anything else.
    """

def metabyte(text: str, /) -> int:
    """The metabyte of a text, without parsing the rest of it.

    It is 0..255. Only the length and the two characters that hold it are checked: to pick a type for a document whose
    ID is parsed later.

        >>> metabyte("9afikjv326nct5if")
        1

    :raises InvalidValueError: ``invalid_length``, ``invalid_character`` with its position.
    """

def by_metabyte(
    kinds: Mapping[int, Callable[..., _T]], /, *, name: str = "id"
) -> Callable[[dict[str, Any]], _T | dict[str, Any]]:
    """Turns JSON objects into the kinds that the metabytes of their IDs select.

    It returns an ``object_hook`` for :func:`json.loads`. A kind is a class, or a function, that takes an object's
    members by their names; objects without an ID of one of the kinds stay dicts.

        >>> import json
        >>> hook = by_metabyte({24: lambda id, foo, baz: (foo, baz)})
        >>> json.loads('{"id": "9aaaaaaa55aaaaaa", "foo": "bar", "baz": "bar"}', object_hook=hook)
        ('bar', 'bar')

    :param kinds: the kinds by their metabytes, 0..255.
    :param name: the member that holds the ID.
    :raises InvalidTypeError: for anything but a mapping of metabytes to callables.
    :raises OutOfRangeError: for a key that is not a metabyte.
    """

def time_range(start: _Time, end: _Time, /) -> tuple[Sno, Sno]:
    """The lowest and highest ID of a half-open time range, for BETWEEN queries.

    Both are inclusive; the range is ``start <= time < end``. The query may compare the bytes or the text. An ID is in
    the range if its own tick begins in it.

    :raises OutOfRangeError: ``out_of_range`` if the range is reversed or holds no tick of 4 ms, ``time_out_of_range``
        before 2010 or past 2079-09-07T15:47:35.548Z.
    """

def from_json_value(value: str | None, /, *, null_is_zero: bool = False) -> Sno:
    """The ID of a JSON value, on request with the original's null for the zero ID.

    The value is as ``json.loads`` gives it: the ID's text.

    :param null_is_zero: true to read ``None`` as the zero ID, a habit of the original.
    :raises InvalidTypeError: for anything but a text, and for ``None`` without ``null_is_zero``.
    :raises InvalidValueError: as the constructor of :class:`Sno`.
    """

def to_json_value(id: Sno, /, *, null_is_zero: bool = False) -> str | None:
    """An ID as a JSON value, on request with the original's null for the zero ID.

    The value is for ``json.dumps``: the ID's text.

    :param null_is_zero: true to write the zero ID as ``None``, a habit of the original.
    """

def describe() -> Description:
    """Size, fields, rate and time span of the format."""

@final
class Sno:
    """An ID: 10 bytes, 16 characters of ``[2-9a-x]``.

    It is a value: immutable, hashable, ordered as its bytes, its text and its time are, and may be copied and pickled.
    ``str(id)`` is the text, ``bytes(id)`` the 10 bytes.

        >>> id = Sno("93bm44ab22flxhjb")
        >>> id.metabyte
        0
        >>> id.with_metabyte(7) == id
        False
    """

    def __new__(cls, text: str, /) -> Sno:
        """The ID of a text.

        :raises InvalidValueError: ``invalid_length`` (in characters), or ``invalid_character`` with the position of
            the first bad one. There is one spelling for each ID: upper case is refused.
        """

    @staticmethod
    def parse(text: str, /) -> Sno:
        """The ID of a text, as the constructor gives it."""

    @staticmethod
    def from_bytes(data: _Buffer, /) -> Sno:
        """The ID of its 10 bytes; every 10 bytes are one.

        :raises InvalidValueError: ``invalid_length``, in bytes.
        """

    @staticmethod
    def from_parts(
        *,
        tick: SupportsIndex,
        partition: _Partition,
        sequence: SupportsIndex,
        metabyte: SupportsIndex = 0,
        tick_tock: bool = False,
    ) -> Sno:
        """The ID of given fields.

        :param tick: 4 ms units since 2010-01-01T00:00:00Z, 39 bits: 0..549755813887.
        :param partition: 0..65535, or two bytes.
        :param sequence: 0..65535.
        :param metabyte: 0..255.
        :param tick_tock: the bit that flips when the clock steps back.
        :raises OutOfRangeError: with the ``field``.
        """

    @staticmethod
    def from_uuid(uuid: _uuid.UUID, /) -> Sno:
        """The ID in a UUID column's value.

        :raises InvalidValueError: ``invalid_character`` with the position of the first byte that is not in
            ``[2-9a-x]``.
        """

    @staticmethod
    def from_uuid8(uuid: _uuid.UUID, /) -> Sno:
        """The ID of a UUID of version 8.

        :raises InvalidValueError: ``not_canonical`` for another version or variant, and for bits behind the ID.
        """

    @property
    def uuid8(self) -> _uuid.UUID:
        """The UUID of version 8 that holds all bits of the ID, in its order.

        Strict validators accept it, and it sorts as the ID does."""

    @property
    def uuid(self) -> _uuid.UUID:
        """The UUID column's value: the 16 characters of the text are the 16 bytes.

        The characters are ASCII. The UUID sorts as the ID does."""

    @property
    def unix_ms(self) -> int:
        """The creation time, in Unix milliseconds: the start of the ID's tick of 4 ms."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def tick(self) -> int:
        """The 4 ms units since 2010-01-01T00:00:00Z."""

    @property
    def tick_tock(self) -> bool:
        """The bit that flips when the clock steps back."""

    @property
    def metabyte(self) -> int:
        """The metabyte, 0..255: the kind of the ID."""

    @property
    def partition(self) -> int:
        """The partition, 0..65535, of the generator that made it.

        ``partition.to_bytes(2, "big")`` gives its two bytes."""

    @property
    def sequence(self) -> int:
        """The sequence, 0..65535: the ID's place within its tick."""

    def with_metabyte(self, metabyte: SupportsIndex, /) -> Sno:
        """The same ID with another metabyte, 0..255: a version of a record, another type. The new ID can
        equal no other ID of its generator, except one derived from the same ID in the same way."""

    def with_partition(self, partition: _Partition, /) -> Sno:
        """The same ID with another partition: 0..65535, or two bytes."""

    def with_sequence(self, sequence: SupportsIndex, /) -> Sno:
        """The same ID with another sequence, 0..65535."""

    def __bytes__(self) -> bytes: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Sno, /) -> bool: ...
    def __le__(self, other: Sno, /) -> bool: ...
    def __gt__(self, other: Sno, /) -> bool: ...
    def __ge__(self, other: Sno, /) -> bool: ...
    def __reduce__(self) -> tuple[type[Sno], tuple[str]]: ...
    def __conform__(self, protocol: object, /) -> str | None: ...
    @property
    def __pydantic_serializer__(self) -> Any: ...
    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any: ...
    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, _handler: Any) -> Any: ...

@final
class Generator:
    """A source of IDs under one partition.

    Threads may share it. Any sequence of clock readings is safe: if the clock steps back, the tick-tock bit flips; if
    it does so again too soon, calls wait. Two generators that are given the same partition and the same sequence
    bounds repeat each other's IDs, so a generator can be neither copied nor pickled, and in a forked child it refuses
    with ``forked`` (one with a default partition draws a new one there).

    Waiting lets other threads run and ends when a signal's handler raises, as ``KeyboardInterrupt`` does.
    """

    def __new__(
        cls,
        partition: _Partition | None = None,
        *,
        sequence_min: SupportsIndex | None = None,
        sequence_max: SupportsIndex | None = None,
        metabyte: SupportsIndex = 0,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A new generator.

        :param partition: 0..65535, or two bytes; by default drawn at the first ID, and different from the partition of
            every other default generator in this process and its forks.
            An explicit partition may have served an earlier generator, so the first ID belongs to the tick after the
            first call, which waits for up to 4 ms. If the clock was set back between two runs, IDs repeat unless a
            snapshot was restored.
        :param sequence_min: the first sequence of a tick, inclusive; 0, or random in 0..32767 under a default
            partition.
        :param sequence_max: the last sequence of a tick, inclusive; 65535. The bounds hold at least 4 sequences. Two
            generators with bounds that do not overlap may share a partition.
        :param metabyte: the metabyte of IDs for which none is given.
        :param window: the half-open time span in which IDs may be made. An end that was made durable before use makes
            restarts safe without a snapshot.
        :param clock: gives integer Unix nanoseconds, instead of the system's clock; called without a lock, so it may
            be slow, raise or use the generator itself.
        :param on_exhausted: action when a tick's sequences are used up: ``"wait"`` for the next, or ``"error"``.
        :param max_wait: longest wait of one call, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which gives the generator its partition and its times;
            the first ID waits for it.
        :param on_stall: called on the waiting thread before each sleep of a call that has to wait; an exception from it
            ends the wait and propagates.
        :warns RuntimeWarning: once for a partition, if a generator of this process that is still in use has the same
            given or restored partition, with sequences and a time that overlap: they repeat each other's IDs.
        :raises OutOfRangeError: with the ``field``.
        """

    @staticmethod
    def restore(
        snapshot: Snapshot,
        /,
        *,
        metabyte: SupportsIndex = 0,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A generator that goes on where a closed one stopped, with its partition and bounds. Restore a snapshot
        once: a second generator from it repeats the first one's IDs.

        :warns RuntimeWarning: as for a given partition, for example if the snapshot was restored before.
        :raises OutOfRangeError: for a snapshot that no generator can have left.
        """

    @staticmethod
    def import_original(
        snapshot: Snapshot,
        /,
        *,
        metabyte: SupportsIndex = 0,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A generator that resumes from a snapshot of the Go library, with that library's quirks: bounds in the wrong
        order are swapped, and an upper bound of 0 is read as 65535.

        :warns RuntimeWarning: as :meth:`restore`.
        :raises OutOfRangeError: as :meth:`restore`.
        """

    def generate(self, metabyte: SupportsIndex | None = None) -> Sno:
        """One new ID.

        :param metabyte: 0..255; the generator's own by default.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``.
        :raises ClockError: ``clock_behind`` with ``retry_at``, ``clock_failed``.
        :raises LeaseError: ``lease_not_started`` with ``retry_at``, ``lease_expired``: outside the window.
        :raises StateError: ``generator_closed``, ``forked``.
        :raises OutOfRangeError: ``time_out_of_range`` before 2010 and after 2079.
        """

    def generate_text(self, metabyte: SupportsIndex | None = None) -> str:
        """The text of one new ID, at once: ``str(generate(metabyte))``. Raises as :meth:`generate`."""

    def generate_at(self, time: _Time, /, metabyte: SupportsIndex | None = None) -> Sno:
        """An ID of a given time, which uniqueness is not promised for: its sequence is a separate counter that wraps
        around silently, and the generator's window does not apply. For records with a time of their own, few at once.

        :raises OutOfRangeError: ``time_out_of_range``.
        :raises StateError: ``generator_closed``, ``forked``.
        """

    def generate_many(self, n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> SnoArray:
        """Many new IDs, in the order of time. Other threads run meanwhile.

        They span as many ticks as they need, and ``max_wait`` bounds the wait for each of them.

        :param n: number of IDs, 0..16777216.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of IDs that were made and are lost.
        """

    def fill(self, buffer: _Buffer, /, metabyte: SupportsIndex | None = None) -> None:
        """Fills the caller's buffer with new IDs.

        As many as the buffer holds, in the order of time. Filling the same memory again and again takes no new pages
        from the system. Other threads run meanwhile.

        :param buffer: writable and C-contiguous: bytes (``bytearray``, NumPy's ``uint8`` in rows of 10) or
            items of 10 bytes (NumPy's ``S10`` and ``V10``).
        :raises InvalidTypeError: for a buffer that is read-only, strided or of anything else.
        :raises InvalidValueError: ``invalid_length`` unless it holds whole IDs.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of valid IDs at the front of the
            buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self, metabyte: SupportsIndex | None = None) -> Sno:
        """One new ID if there is one now. It never waits, whatever ``on_exhausted`` and ``max_wait`` say.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``, instead of a wait.
        :raises ClockError: ``clock_behind`` with ``retry_at``, instead of a wait.
        :raises PolyflakeError: otherwise as :meth:`generate`.
        """

    def try_generate_text(self, metabyte: SupportsIndex | None = None) -> str:
        """The text of one new ID if there is one now. Raises as :meth:`try_generate`."""

    def try_generate_many(self, n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> SnoArray:
        """The new IDs that there are now, up to a number. It never waits: there may be fewer, or none.

        :param n: largest number of IDs, 0..16777216.
        :raises PolyflakeError: as :meth:`generate_many`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def try_fill(self, buffer: _Buffer, /, metabyte: SupportsIndex | None = None) -> int:
        """Fills the front of the caller's buffer with the new IDs that there are now, and returns how many.

        It never waits: there may be fewer than the buffer holds, or none. The rest of the buffer is unchanged.

        :param buffer: as :meth:`fill` takes it.
        :raises PolyflakeError: as :meth:`fill`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, Sno]:
        """One new ID, waiting without holding the thread.

        A coroutine for asyncio: where :meth:`generate` would sleep, it sleeps in the event loop. If cancelled,
        it makes no ID.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_text_async(self, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, str]:
        """The text of one new ID, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_many_async(
        self, n: SupportsIndex, /, metabyte: SupportsIndex | None = None
    ) -> Coroutine[Any, Any, SnoArray]:
        """Many new IDs, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`. The event loop has a turn at least every 16,384 IDs. A
        cancelled call loses the IDs that it made.

        :raises PolyflakeError: as :meth:`generate_many`, when it is awaited.
        """

    def fill_async(self, buffer: _Buffer, /, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, None]:
        """New IDs into the caller's buffer, waiting without holding the thread.

        A coroutine, as :meth:`generate_many_async`; the buffer is held until its end. A cancelled call leaves
        some new IDs at the front.

        :raises PolyflakeError: as :meth:`fill`, when it is awaited.
        """

    @property
    def partition(self) -> int | None:
        """The partition, once the generator has one: a default one is drawn at the first ID."""

    def extend_window(self, end: _Time, /) -> None:
        """Moves the end of the window later; an earlier or equal end changes nothing, and neither does any end without
        a window.

        :raises OutOfRangeError: for an end before the window's start, or past the format's time.
        """

    def stats(self) -> Stats:
        """Figures of now, which nothing can be restored from.

        :raises ClockError: ``clock_failed`` if the clock fails.
        """

    def close(self) -> Snapshot:
        """Ends the generator and gives the snapshot to restore from.

        Calls in flight on other threads end, too. The snapshot is given once.

        :raises StateError: ``generator_closed`` if it was closed before; ``forked``, since the parent's generator goes
            on.
        """

    def __reduce__(self) -> Any: ...

@final
class SnoArray(_Array[Sno]):
    """Many IDs, packed: 10 bytes each.

    It has the buffer protocol, as a read-only table of bytes with a row for each ID: ``numpy.asarray(ids)`` is a
    ``uint8`` array of shape ``(n, 10)``, ``numpy.frombuffer(ids, "V10")`` one of ``n`` records, ``bytes(ids)`` the
    packed bytes. Nothing is copied by the first two. (NumPy's ``S10`` drops zero bytes at the end of an ID: do not
    use it.) It is also an Arrow column, of 10 bytes each: ``pyarrow.array(ids)``, ``polars.Series(ids)``.

    An index, a slice and a NumPy array of bool choose IDs: ``ids[numpy.asarray(ids.metabytes()) == 7]``.
    """

    def __new__(cls, ids: _Packed | Iterable[Sno | str], /) -> SnoArray:
        """The IDs of a list, of packed bytes, or of an Arrow column.

        :param ids: any iterable of :class:`Sno` and texts; packed bytes, as ``bytes(ids)`` gives them; or an Arrow
            column of 10 bytes each (pyarrow, polars and others; dictionaries of them, too).
        :raises InvalidTypeError: for anything else; for a null or another item, with the ``item``.
        :raises InvalidValueError: ``invalid_length`` if the last ID is not whole, or with the ``item`` of another
            length; ``invalid_character`` with the ``item`` and the ``position``.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> SnoArray:
        """The IDs of many texts.

        The IDs of a column of texts, each read as strictly as by :class:`Sno`. A null or ``None`` is refused.

        :param column: an Arrow column of texts or of 16 bytes each, or a dictionary of them (``__arrow_c_stream__``,
            ``__arrow_c_array__``: pyarrow, polars, pandas and others, categories too); a buffer of 16 bytes each
            (NumPy's ``S`` and ``U``, a table of bytes with 16 in a row, packed bytes); or any iterable of ``str``.
        :raises InvalidTypeError: for a value that is not a column of texts; for an item that is not a text, with the
            ``item``.
        :raises InvalidValueError: ``invalid_length``, ``invalid_character`` with the ``item`` and the ``position``.
        """

    def unix_ms(self) -> FieldColumn:
        """The creation time of each ID, in Unix milliseconds: 64-bit integers."""

    def metabytes(self) -> FieldColumn:
        """The metabyte of each: bytes."""

    def partitions(self) -> FieldColumn:
        """The partition of each: unsigned 16-bit integers."""

    def sequences(self) -> FieldColumn:
        """The sequence of each: unsigned 16-bit integers."""

    def text_column(self) -> TextColumn:
        """The texts of all, packed: the fast way into NumPy, Arrow and libraries that use them."""

    def texts(self) -> list[str]:
        """The texts of all."""

@final
class TextColumn(_Array[str]):
    """Texts of IDs, packed: 16 characters each, as :meth:`SnoArray.text_column` gives them, or 36 of a Hot Guid.

    It is a sequence of ``str``, which pandas takes as a column (``frame["id"] = column``). It has the buffer protocol
    (``numpy.asarray(column)`` is a read-only ``S16`` or ``S36`` array that copies nothing) and is an Arrow column of
    strings (``pyarrow.array(column)``, ``polars.Series(column)``). Like the columns below it is a value: it is compared
    by its content, and may be copied and pickled.
    """

@final
class FieldColumn(_Array[int]):
    """A field of many IDs, packed: a sequence of ``int``, and numbers that NumPy (``numpy.asarray(column)``), pandas
    (``frame["made"] = column``), Arrow (``pyarrow.array(column)``, ``polars.Series(column)``) and ``memoryview`` see
    without a copy. A column of bytes, as Hot Guid's machines, is a sequence of ``bytes``, and a table with a row for
    each ID.
    """

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any: ...

@final
class Snapshot:
    """The state of a closed generator, to restore it from. Times are ticks: 4 ms units since 2010-01-01T00:00:00Z.

    As JSON and as a dict it has the original's member names: ``partition`` (two bytes as numbers), ``sequenceMin``,
    ``sequenceMax``, ``sequence``, ``now``, ``wallHi``, ``wallSafe``, ``drifts``.
    """

    @staticmethod
    def from_dict(members: dict[str, Any], /) -> Snapshot:
        """The snapshot of a dict with the original's member names: all of them and no others.

        :raises InvalidValueError: ``missing_field``, ``unknown_field`` with the ``field``.
        :raises InvalidTypeError: for a value that is not an integer.
        :raises OutOfRangeError: with the ``field``.
        """

    def to_dict(self) -> dict[str, Any]:
        """A dict with the original's member names."""

    @staticmethod
    def from_json(text: str, /) -> Snapshot:
        """The snapshot of a JSON text with the original's member names.

        :raises InvalidValueError: as :meth:`from_dict`, and ``invalid_character`` with the position if the text is
            not JSON.
        """

    def to_json(self) -> str:
        """A JSON text with the original's member names."""

    @property
    def partition(self) -> int:
        """The partition, 0..65535."""

    @property
    def sequence_min(self) -> int:
        """The first sequence of a tick."""

    @property
    def sequence_max(self) -> int:
        """The last sequence of a tick."""

    @property
    def sequence(self) -> int:
        """The last sequence given out in tick ``wall_hi``."""

    @property
    def now(self) -> int:
        """The time at which the snapshot was taken, in ticks. Our snapshots are exact and have ``wall_hi`` here; a
        snapshot of the original with a later time has lost the sequence."""

    @property
    def wall_hi(self) -> int:
        """The tick of the last ID."""

    @property
    def wall_safe(self) -> int:
        """The last tick at which calls wait after a step back of the clock."""

    @property
    def drifts(self) -> int:
        """Number of times that the clock stepped back; the lowest bit is the tick-tock bit."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Stats:
    """Figures of a generator, at one moment. Times are ticks: 4 ms units since 2010-01-01T00:00:00Z."""

    @property
    def partition(self) -> int | None:
        """The partition, once the generator has one."""

    @property
    def sequence_min(self) -> int:
        """The first sequence of a tick."""

    @property
    def sequence_max(self) -> int:
        """The last sequence of a tick."""

    @property
    def sequence(self) -> int:
        """The last sequence given out in this tick; the first one if none was."""

    @property
    def len(self) -> int:
        """Number of IDs made in this tick."""

    @property
    def now(self) -> int:
        """This tick, by the generator's clock."""

    @property
    def wall_hi(self) -> int:
        """The tick of the last ID."""

    @property
    def wall_safe(self) -> int:
        """The last tick at which calls wait after a step back of the clock."""

    @property
    def drifts(self) -> int:
        """Number of times that the clock stepped back."""

    @property
    def closed(self) -> bool:
        """True if the generator was closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
