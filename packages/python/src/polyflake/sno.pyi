"""sno: time-sortable 10-byte IDs with a type tag called the metabyte. An encoded ID has 16 characters.

    39 timestamp, 4 ms units since 2010 | 1 tick-tock | 8 metabyte | 16 partition | 16 sequence      (big-endian)

The partition is the worker ID: it identifies the generator that created an ID. IDs sort by creation time, both as bytes
and as strings. IDs are predictable and reveal their creation time, the worker ID of their generator and how many IDs it
generates, so do not use them as secrets.

Invalid arguments raise a :class:`polyflake.PolyflakeError`; values are never rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, such as NumPy's integers, but not ``bool`` or ``float``. Times are aware
``datetime`` objects or integer Unix milliseconds; naive datetimes are rejected. Bytes can be any object that supports
the buffer protocol.
"""

import datetime as dt
import uuid as _uuid
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, SupportsIndex, TypeAlias, TypeVar, final

from polyflake._lease import Lease
from polyflake._polyflake import (
    Description,
    Stall,
    _Array,
    _Buffer,
    _OnExhausted,
    _Packed,
    _Texts,
    _Time,
    _WritableBuffer,
)

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
    """Returns a new ID from the default generator, which :func:`set_default_generator` can replace.

    If the environment variable ``POLYFLAKE_LEASE`` is set, the generator leases its partition from the database that
    the variable specifies. The first call then waits for the lease, and a call raises ``LeaseError`` if there is none.

    Otherwise, the generator has a randomly assigned partition. The first call reserves the partition in a table
    that this process shares with its forked children, so no two of their generators use the same partition at the
    same time. Unrelated processes can pick the same partition: with 37 processes, the chance that any two do so is
    1%. Use explicit partitions or a lease if IDs must be unique across processes. In each 4 ms tick, the generator
    can create between 32,769 and 65,536 IDs, depending on its random first sequence number.

    :param metabyte: the ID's type tag, 0..255. You choose its meaning. The default is the generator's metabyte, which
        is 0 unless you set it.
    :raises ExhaustedError: ``sequence_exhausted`` if no ID became available within 1 s, or ``partitions_exhausted`` if
        this process and its forked children use all partitions.
    :raises ClockError: ``clock_behind`` if the clock was set back twice and is still behind after 1 s.
    :raises OutOfRangeError: if the metabyte is out of range, or ``time_out_of_range`` if the time is before 2010 or
        after 2079.
    :raises EntropyError: if the operating system provides no random bytes.
    """

def generate_text(metabyte: SupportsIndex | None = None) -> str:
    """Returns a new ID from the default generator as a string.

    This function behaves like :meth:`Generator.generate_text`.
    """

def generate_many(n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> SnoArray:
    """Returns ``n`` new IDs from the default generator.

    This function behaves like :meth:`Generator.generate_many`.
    """

def generate_async(metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, Sno]:
    """Returns a new ID from the default generator without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_async`.
    """

def generate_text_async(metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, str]:
    """Returns a new ID from the default generator as a string without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_text_async`.
    """

def generate_many_async(n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, SnoArray]:
    """Returns ``n`` new IDs from the default generator without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_many_async`.
    """

def set_default_generator(generator: Generator | None, /) -> None:
    """Sets the default generator for all threads.

    This module's functions, such as :func:`generate`, then use ``generator`` instead of the previous default generator.
    Code that holds a reference to the previous generator can still use it. If ``generator`` is ``None``, the functions
    use a new generator with a new partition.

        >>> set_default_generator(Generator(7, sequence_min=0, test_clock=lambda: 1_750_000_000_000_000_000))
        >>> generate()
        Sno('9559kei22222g222')
        >>> set_default_generator(None)

    This is useful in tests, where the generator can read a mocked clock, and in programs with an explicit partition. In
    a forked child, the inherited generator raises ``forked`` if it has an explicit partition or window.

    :raises InvalidTypeError: if the argument is neither a generator nor ``None``.
    """

def metabyte(text: str, /) -> int:
    """Returns the metabyte of an encoded ID without decoding the rest of the string. The result is in 0..255.

    Only the length and the two characters that hold the metabyte are checked. This is useful when the metabyte
    determines how to parse the rest of a document.

        >>> metabyte("9afikjv326nct5if")
        1

    :raises InvalidValueError: ``invalid_length`` unless the string has 16 characters, or ``invalid_character`` with the
        ``position`` of the first invalid character.
    """

def by_metabyte(
    kinds: Mapping[int, Callable[..., _T]], /, *, name: str = "id"
) -> Callable[[dict[str, Any]], _T | dict[str, Any]]:
    """Chooses the type of each JSON object based on the metabyte of its ID.

    Pass the result to :func:`json.loads` as its ``object_hook``. For each object, the hook looks up the class or
    function for the metabyte, and calls it with the object's members as keyword arguments. An object remains a dict if
    it has no ID, or if ``kinds`` does not contain its ID's metabyte.

        >>> import json
        >>> hook = by_metabyte({24: lambda id, foo, baz: (foo, baz)})
        >>> json.loads('{"id": "9aaaaaaa55aaaaaa", "foo": "bar", "baz": "bar"}', object_hook=hook)
        ('bar', 'bar')

    :param kinds: a mapping from metabytes, 0..255, to classes or functions.
    :param name: the member that holds the ID.
    :raises InvalidTypeError: if ``kinds`` is not a mapping from metabytes to callables.
    :raises OutOfRangeError: if a key is not a metabyte.
    """

def time_range(start: _Time, end: _Time, /) -> tuple[Sno, Sno]:
    """Returns the lowest and the highest ID in the time range ``start <= time < end``, for BETWEEN queries.

    Both IDs belong to the range, so you can use them directly with BETWEEN, as bytes or as strings. An ID is in the
    range if its tick begins in the range.

    :raises OutOfRangeError: ``out_of_range`` if the range is reversed or contains no 4 ms tick, or
        ``time_out_of_range`` if a bound is before 2010 or past 2079-09-07T15:47:35.548Z.
    """

def from_json_value(value: str | None, /, *, null_is_zero: bool = False) -> Sno:
    """Returns the ID for a JSON value from :func:`json.loads`. The value is a string or, with ``null_is_zero``,
    ``None`` for the zero ID.

    :param null_is_zero: whether to read ``None`` as the zero ID, as the original Go library does.
    :raises InvalidTypeError: if the value is not a string. With ``null_is_zero``, ``None`` is accepted, too.
    :raises InvalidValueError: if the string is not an ID, with the same codes as the constructor of :class:`Sno`.
    """

def to_json_value(id: Sno, /, *, null_is_zero: bool = False) -> str | None:
    """Returns an ID as a JSON value for :func:`json.dumps`. The value is a string or, with ``null_is_zero``, ``None``
    for the zero ID.

    :param null_is_zero: whether to write the zero ID as ``None``, as the original Go library does.
    """

def describe() -> Description:
    """Returns the format's size, fields, rate and time span."""

@final
class Sno:
    """A 10-byte ID. An encoded ID has 16 characters from ``[2-9a-x]``.

    IDs are immutable and hashable, and they can be copied and pickled. They sort the same way as their bytes, strings
    and creation times. ``str(id)`` returns the encoded ID, and ``bytes(id)`` returns the 10 bytes.

        >>> id = Sno("93bm44ab22flxhjb")
        >>> id.metabyte
        0
        >>> id.with_metabyte(7) == id
        False
    """

    def __new__(cls, text: str, /) -> Sno:
        """Parses an encoded ID.

        :raises InvalidValueError: ``invalid_length`` unless the string has 16 characters, or ``invalid_character`` with
            the ``position`` of the first invalid character. Each ID has one canonical encoding, so upper case is
            rejected.
        """

    @staticmethod
    def parse(text: str, /) -> Sno:
        """Parses an encoded ID, like the constructor."""

    @staticmethod
    def from_bytes(data: _Buffer, /) -> Sno:
        """Returns the ID that consists of the given 10 bytes. Any 10 bytes are a valid ID.

        :raises InvalidValueError: ``invalid_length`` unless ``data`` has 10 bytes.
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
        """Returns the ID with the given fields.

        :param tick: the number of 4 ms units since 2010-01-01T00:00:00Z, 0..549755813887 (39 bits).
        :param partition: the partition, 0..65535, or its two bytes.
        :param sequence: the sequence number, 0..65535.
        :param metabyte: the metabyte, 0..255.
        :param tick_tock: the tick-tock bit, which flips on each clock rollback.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        """

    @staticmethod
    def from_uuid(uuid: _uuid.UUID, /) -> Sno:
        """Returns the ID for a UUID in the compatible form. The property :attr:`uuid` returns UUIDs in this form.

        :raises InvalidValueError: ``invalid_character`` if the UUID does not have this form, with the ``position`` of
            the first byte that is not in ``[2-9a-x]``.
        """

    @staticmethod
    def from_uuid8(uuid: _uuid.UUID, /) -> Sno:
        """Returns the ID that a version 8 UUID contains.

        :raises InvalidValueError: ``not_canonical`` if the UUID has a different version or variant, or if any of the
            bits after the ID are set.
        """

    @property
    def uuid8(self) -> _uuid.UUID:
        """The ID as a version 8 UUID, which contains all of the ID's bits in the same order.

        Strict validators accept the UUID, and UUIDs sort the same way as their IDs.
        """

    @property
    def uuid(self) -> _uuid.UUID:
        """The ID as a UUID whose 16 bytes are the 16 ASCII characters of the encoded ID.

        UUIDs sort the same way as their IDs.
        """

    @property
    def unix_ms(self) -> int:
        """The creation time, in Unix milliseconds. It is the start of the ID's 4 ms tick."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def tick(self) -> int:
        """The tick: the number of 4 ms units since 2010-01-01T00:00:00Z."""

    @property
    def tick_tock(self) -> bool:
        """The tick-tock bit, which flips on each clock rollback."""

    @property
    def metabyte(self) -> int:
        """The metabyte, 0..255. It is a type tag whose meaning you choose."""

    @property
    def partition(self) -> int:
        """The partition (0..65535) of the generator that created the ID.

        ``partition.to_bytes(2, "big")`` returns its two bytes.
        """

    @property
    def sequence(self) -> int:
        """The sequence number, 0..65535, which distinguishes IDs generated in the same tick."""

    def with_metabyte(self, metabyte: SupportsIndex, /) -> Sno:
        """Returns a copy of this ID with the given metabyte (0..255). For example, the copy can identify a different
        version or type of the object that this ID identifies.

        The new ID cannot collide with any other ID from the same generator, except one that was derived from this ID in
        the same way.
        """

    def with_partition(self, partition: _Partition, /) -> Sno:
        """Returns a copy of this ID with the given partition, which is 0..65535 or two bytes."""

    def with_sequence(self, sequence: SupportsIndex, /) -> Sno:
        """Returns a copy of this ID with the given sequence number (0..65535)."""

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
    """An ID generator that uses one partition as its worker ID.

    Threads can share a generator. Clock jumps are safe: the tick-tock bit flips when the clock moves backwards, and
    calls wait if a second rollback follows too soon. Two generators with the same partition and the same sequence
    bounds would generate duplicate IDs, so a generator cannot be copied or pickled. In a forked child, a generator with
    an explicit partition raises ``forked``, and a generator with a randomly assigned partition picks a new partition.

    Other threads can run while a call waits. The wait ends if a signal handler raises an exception, such as
    ``KeyboardInterrupt``.
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
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator.

        :param partition: the partition, 0..65535, or its two bytes. By default, the generator picks a random partition
            when it generates its first ID. This partition differs from the random partitions of all other generators in
            this process and its forks. An explicit partition may have been used by an earlier generator, so the first
            call waits for the next tick, up to 4 ms. If the clock was set back between two runs, the generator creates
            duplicate IDs unless you restore it from a snapshot. If a default generator in this process or its forks has
            reserved the same partition, calls wait or raise ``sequence_exhausted`` until that reservation expires, up
            to a minute later.
        :param sequence_min: the first sequence number in each tick. The default is 0 for an explicit partition, and a
            random number in 0..32767 for a randomly assigned one.
        :param sequence_max: the last sequence number in each tick; 65535 by default. The bounds must span at least 4
            sequence numbers. Two generators whose bounds do not overlap can share a partition.
        :param metabyte: the metabyte of IDs that are generated without an explicit metabyte.
        :param window: the half-open time span in which IDs can be generated. If you store the end of the window durably
            before you use the window, you can restart safely without a snapshot.
        :param clock: a callable that returns integer Unix nanoseconds, used instead of the system clock. It is called
            without a lock, so it can be slow, raise an exception or use the generator itself.
        :param test_clock: a clock for tests, used in place of ``clock``. It may stand still or move backwards. The
            first call then uses the current tick, so a generator that is created again repeats the IDs of the one
            before it.
        :param on_exhausted: what to do when all sequence numbers in a tick are used up: ``"wait"`` waits for the next
            tick, and ``"error"`` raises an exception.
        :param max_wait: the longest time that one call can wait, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which provides the partition and the time span. The first call waits
            for the lease.
        :param on_stall: a callable that is called on the waiting thread before each sleep. If it raises an exception,
            the wait ends and the exception propagates.
        :warns RuntimeWarning: if the partition is random and ``POLYFLAKE_LEASE`` or ``POLYFLAKE_WORKER_ID`` is set,
            because another process may have leased that partition.
        :raises StateError: ``worker_id_in_use`` if another live generator of this process has the partition and some of
            the sequence numbers. Constructing a generator again with equal options returns another handle on the same
            generator.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        """

    @staticmethod
    def restore(
        snapshot: Snapshot,
        /,
        *,
        metabyte: SupportsIndex = 0,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator that continues from the snapshot of a closed generator, with the same partition and
        bounds.

        Restore a snapshot only once: a second generator restored from it would generate duplicate IDs.

        :raises StateError: ``worker_id_in_use`` if a live generator of this process has the partition and some of the
            sequence numbers, for example if the snapshot has already been restored.
        :raises OutOfRangeError: if no generator could have produced the snapshot.
        """

    @staticmethod
    def import_original(
        snapshot: Snapshot,
        /,
        *,
        metabyte: SupportsIndex = 0,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator that continues from a snapshot of the original Go library.

        This method reproduces that library's quirks: bounds in the wrong order are swapped, and an upper bound of 0 is
        read as 65535.

        :raises StateError: under the same conditions as :meth:`restore`.
        :raises OutOfRangeError: under the same conditions as :meth:`restore`.
        """

    def generate(self, metabyte: SupportsIndex | None = None) -> Sno:
        """Returns a new ID.

        :param metabyte: the type tag of the ID, 0..255. The default is the generator's metabyte.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID became available in time.
        :raises ClockError: ``clock_behind`` with ``retry_at`` if the clock is behind the last ID's time, or
            ``clock_failed`` if the clock fails.
        :raises LeaseError: ``lease_not_started`` with ``retry_at`` before the window starts, or ``lease_expired`` after
            it ends.
        :raises StateError: ``generator_closed`` if the generator is closed, or ``forked`` if it belongs to a parent
            process.
        :raises OutOfRangeError: ``time_out_of_range`` if the time is before 2010 or after 2079.
        """

    def generate_text(self, metabyte: SupportsIndex | None = None) -> str:
        """Returns a new ID as a string, like ``str(generate(metabyte))`` but in one call.

        :raises PolyflakeError: the same exceptions as :meth:`generate`.
        """

    def generate_at(self, time: _Time, /, metabyte: SupportsIndex | None = None) -> Sno:
        """Returns an ID with an explicit creation time, for example for existing records that already have a time.

        These IDs are not guaranteed to be unique, because their sequence numbers come from a separate counter that
        wraps around silently. Generate only a few of them at a time. The generator's window is ignored.

        :raises OutOfRangeError: ``time_out_of_range`` if the format cannot represent the time.
        :raises StateError: ``generator_closed`` if the generator is closed, or ``forked`` if it belongs to a parent
            process.
        """

    def generate_many(self, n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> SnoArray:
        """Returns ``n`` new IDs, in the order in which they were created. Other threads can run during the call.

        The IDs span as many ticks as needed. ``max_wait`` limits the wait for each tick, not the whole call.

        :param n: the number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of IDs that were
            generated before the error. These IDs are lost.
        """

    def fill(self, buffer: _WritableBuffer, /, metabyte: SupportsIndex | None = None) -> None:
        """Fills the buffer with new IDs, in the order in which they were created.

        Reusing one buffer avoids allocating memory for each batch. Other threads can run during the call.

        :param buffer: a writable, C-contiguous buffer of bytes (``bytearray``, or NumPy's ``uint8`` in rows of 10) or
            of 10-byte items (NumPy's ``S10`` and ``V10``).
        :raises InvalidTypeError: if the buffer is read-only or strided, or has the wrong item type.
        :raises InvalidValueError: ``invalid_length`` if the buffer does not hold a whole number of IDs.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of valid IDs at the
            front of the buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self, metabyte: SupportsIndex | None = None) -> Sno:
        """Returns a new ID if one is available without waiting.

        This method never waits. ``on_exhausted`` and ``max_wait`` are ignored.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID is available before the next tick.
        :raises ClockError: ``clock_behind`` with ``retry_at`` if the clock is behind the last ID's time.
        :raises PolyflakeError: in all other cases, the same exceptions as :meth:`generate`.
        """

    def try_generate_text(self, metabyte: SupportsIndex | None = None) -> str:
        """Returns a new ID as a string if one is available without waiting.

        :raises PolyflakeError: the same exceptions as :meth:`try_generate`.
        """

    def try_generate_many(self, n: SupportsIndex, /, metabyte: SupportsIndex | None = None) -> SnoArray:
        """Returns up to ``n`` new IDs without waiting.

        The array is shorter than ``n``, or empty, if fewer IDs are available.

        :param n: the maximum number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, except ``sequence_exhausted`` and
            ``clock_behind``.
        """

    def try_fill(self, buffer: _WritableBuffer, /, metabyte: SupportsIndex | None = None) -> int:
        """Writes as many new IDs to the front of the buffer as are available without waiting, and returns the number of
        IDs written.

        The number can be smaller than the buffer's capacity, or zero. The rest of the buffer is unchanged.

        :param buffer: a buffer that :meth:`fill` accepts.
        :raises PolyflakeError: the same exceptions as :meth:`fill`, except ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, Sno]:
        """Returns a new ID without blocking the thread while it waits.

        This method is a coroutine for asyncio. Where :meth:`generate` would block the thread, the coroutine awaits
        instead. A cancelled call generates no ID.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_text_async(self, metabyte: SupportsIndex | None = None) -> Coroutine[Any, Any, str]:
        """Returns a new ID as a string without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_many_async(
        self, n: SupportsIndex, /, metabyte: SupportsIndex | None = None
    ) -> Coroutine[Any, Any, SnoArray]:
        """Returns ``n`` new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`. It yields to the event loop at least once
        every 16,384 IDs. If the call is cancelled, the IDs that it has generated are lost.

        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, when the coroutine is awaited.
        """

    def fill_async(
        self, buffer: _WritableBuffer, /, metabyte: SupportsIndex | None = None
    ) -> Coroutine[Any, Any, None]:
        """Fills the buffer with new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_many_async`. It keeps a reference to the buffer until
        the call ends. If the call is cancelled, the IDs that it has generated remain at the front of the buffer.

        :raises PolyflakeError: the same exceptions as :meth:`fill`, when the coroutine is awaited.
        """

    @property
    def partition(self) -> int | None:
        """The partition, or ``None`` if none has been assigned yet. A random partition is assigned when the first ID is
        generated.
        """

    def extend_window(self, end: _Time, /) -> None:
        """Moves the end of the window to a later time.

        The call has no effect if ``end`` is not later than the current end, or if the generator has no window.

        :raises OutOfRangeError: if ``end`` is before the start of the window, or past the format's time range.
        """

    def stats(self) -> Stats:
        """Returns the generator's current statistics. The generator cannot be restored from them.

        :raises ClockError: ``clock_failed`` if the clock fails.
        """

    def close(self) -> Snapshot:
        """Closes the generator and returns a snapshot from which it can be restored.

        Closing also ends calls in progress on other threads. Closing the generator a second time raises an exception
        instead of returning the snapshot again.

        :raises StateError: ``generator_closed`` if the generator is already closed, or ``forked`` in a child process,
            because the generator continues in the parent.
        """

    def __reduce__(self) -> Any: ...

@final
class SnoArray(_Array[Sno]):
    """A packed array of IDs, 10 bytes each.

    The array supports the buffer protocol as a read-only two-dimensional array with one row of bytes per ID.
    ``numpy.asarray(ids)`` is a ``uint8`` array of shape ``(n, 10)``, and ``numpy.frombuffer(ids, "V10")`` is an array
    of ``n`` records. Neither call copies data. ``bytes(ids)`` returns a copy of the packed bytes. (Do not use NumPy's
    ``S10``, because it drops zero bytes at the end of an ID.) The array is also an Arrow column of 10-byte values, so
    ``pyarrow.array(ids)`` and ``polars.Series(ids)`` can read it.

    You can select IDs with an index, a slice or a boolean NumPy array, for example ``ids[numpy.asarray(ids.metabytes())
    == 7]``.
    """

    def __new__(cls, ids: _Packed | Iterable[Sno | str], /) -> SnoArray:
        """Creates an array from a list of IDs, from packed bytes or from an Arrow column.

        :param ids: an iterable whose items are :class:`Sno` objects or strings, packed bytes as returned by
            ``bytes(ids)``, or an Arrow column of 10-byte values from pyarrow, polars or another library. An Arrow
            column can be dictionary-encoded.
        :raises InvalidTypeError: if ``ids`` or an item has the wrong type, or if an item is null. ``item`` is the index
            of that item.
        :raises InvalidValueError: ``invalid_length`` if the last ID is incomplete or an item has the wrong length, or
            ``invalid_character`` if an item contains an invalid character. ``item`` is the index of the ID, and
            ``position`` is the index of the character.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> SnoArray:
        """Parses a column of encoded IDs, checking each one as strictly as :class:`Sno`. Nulls and ``None`` are
        rejected.

        :param column: an Arrow column, a buffer, or an iterable of ``str``. An Arrow column contains strings or 16-byte
            values, and can be dictionary-encoded or categorical. It is read through ``__arrow_c_stream__`` or
            ``__arrow_c_array__``, which pyarrow, polars, pandas and others provide. A buffer contains either strings
            (NumPy's ``S`` and ``U``) or 16 bytes per ID, as packed bytes or as a two-dimensional byte array with 16
            bytes per row.
        :raises InvalidTypeError: if the column does not contain strings, or if an item is not a string. ``item`` is the
            index of that item.
        :raises InvalidValueError: ``invalid_length`` if an encoded ID has the wrong length, or ``invalid_character`` if
            it contains an invalid character. ``item`` is the index of the ID, and ``position`` is the index of the
            character.
        """

    @staticmethod
    def from_uuid8(column: _Packed | Iterable[_uuid.UUID], /) -> SnoArray:
        """Creates an array from a column of version 8 UUIDs, which are the recommended form for IDs in a database.

            >>> ids = SnoArray([Sno("9d5ve8222622g222")])
            >>> SnoArray.from_uuid8(ids.uuid8_column()) == ids
            True

        :param column: an Arrow column of UUIDs or of 16-byte values; packed bytes, 16 per UUID; or an iterable of
            ``uuid.UUID``.
        :raises InvalidTypeError: if ``column`` or an item has the wrong type, or if an item is null. ``item`` is the
            index of that item.
        :raises InvalidValueError: ``not_canonical`` if :meth:`Sno.from_uuid8` rejects an item, or ``invalid_length`` if
            an item does not have 16 bytes. ``item`` is its index.
        """

    def uuid8_column(self) -> FieldColumn:
        """Returns the IDs as version 8 UUIDs, 16 bytes each. ``pyarrow.array(column).cast(pyarrow.uuid())`` converts
        the column to PyArrow's UUID type.
        """

    def unix_ms(self) -> FieldColumn:
        """Returns the creation time of each ID, in Unix milliseconds, as 64-bit integers."""

    def metabytes(self) -> FieldColumn:
        """Returns the metabyte of each ID, as unsigned 8-bit integers."""

    def partitions(self) -> FieldColumn:
        """Returns the partition of each ID, as unsigned 16-bit integers."""

    def sequences(self) -> FieldColumn:
        """Returns the sequence number of each ID, as unsigned 16-bit integers."""

    def text_column(self) -> TextColumn:
        """Returns all IDs as a packed column of strings, which is the fastest way to pass them to NumPy, to Arrow and
        to libraries that use either.
        """

    def texts(self) -> list[str]:
        """Returns all IDs as a list of strings."""

@final
class TextColumn(_Array[str]):
    """A packed column of encoded IDs, returned by methods such as :meth:`SnoArray.text_column`. An encoded sno ID has
    16 characters, and a UUID has 36.

    The column is a sequence of ``str``, which pandas accepts as a column (``frame["id"] = column``). It supports the
    buffer protocol (``numpy.asarray(column)`` is a read-only ``S16`` or ``S36`` array, created without a copy) and is
    an Arrow column of strings (``pyarrow.array(column)``, ``polars.Series(column)``). Two columns are equal if their
    contents are equal, and a column can be copied and pickled.
    """

@final
class FieldColumn(_Array[int]):
    """A packed column that holds the values of one field for all IDs in an array.

    The column is a sequence of ``int``. NumPy (``numpy.asarray(column)``), pandas (``frame["made"] = column``), Arrow
    (``pyarrow.array(column)``, ``polars.Series(column)``) and ``memoryview`` read its numbers without copying them. If
    the values are bytes, the column is a sequence of ``bytes``, and its buffer is a two-dimensional array with one row
    of bytes per ID.
    """

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any: ...

@final
class Snapshot:
    """The state of a closed generator, from which it can be restored. Times are ticks: 4 ms units since
    2010-01-01T00:00:00Z.

    The JSON and dict representations use the member names of the original Go library: ``partition`` (two bytes as
    numbers), ``sequenceMin``, ``sequenceMax``, ``sequence``, ``now``, ``wallHi``, ``wallSafe``, ``drifts``.
    """

    @staticmethod
    def from_dict(members: dict[str, Any], /) -> Snapshot:
        """Creates a snapshot from a dict. Its keys must be exactly the member names of the original Go library.

        :raises InvalidValueError: ``missing_field`` if a member is missing, or ``unknown_field`` if a name is unknown.
            ``field`` is the member's name.
        :raises InvalidTypeError: if a value is not an integer.
        :raises OutOfRangeError: if a value is out of range. The error's ``field`` is the name of the member.
        """

    def to_dict(self) -> dict[str, Any]:
        """Returns a dict with the member names of the original Go library."""

    @staticmethod
    def from_json(text: str, /) -> Snapshot:
        """Creates a snapshot from a JSON string with the member names of the original Go library.

        :raises InvalidValueError: under the same conditions as :meth:`from_dict`, and ``invalid_character`` with the
            ``position`` if the string is not JSON.
        """

    def to_json(self) -> str:
        """Returns a JSON string with the member names of the original Go library."""

    @property
    def partition(self) -> int:
        """The partition, 0..65535."""

    @property
    def sequence_min(self) -> int:
        """The first sequence number in each tick."""

    @property
    def sequence_max(self) -> int:
        """The last sequence number in each tick."""

    @property
    def sequence(self) -> int:
        """The last sequence number used in the tick ``wall_hi``."""

    @property
    def now(self) -> int:
        """The tick at which the snapshot was taken. In a snapshot from this library, it equals ``wall_hi``. In a
        snapshot from the original library, it can be later. In that case, the last sequence number is unknown, and the
        tick ``wall_hi`` is treated as exhausted.
        """

    @property
    def wall_hi(self) -> int:
        """The tick of the last ID."""

    @property
    def wall_safe(self) -> int:
        """The highest tick from which the clock moved back. If the clock moves back again, to this tick or an earlier
        one, calls wait.
        """

    @property
    def drifts(self) -> int:
        """The number of clock rollbacks. Its lowest bit is the tick-tock bit."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Stats:
    """A generator's statistics at one point in time. Times are ticks: 4 ms units since 2010-01-01T00:00:00Z."""

    @property
    def partition(self) -> int | None:
        """The partition, or ``None`` if none has been assigned yet."""

    @property
    def sequence_min(self) -> int:
        """The first sequence number in each tick."""

    @property
    def sequence_max(self) -> int:
        """The last sequence number in each tick."""

    @property
    def sequence(self) -> int:
        """The last sequence number used in the current tick, or ``sequence_min`` if the tick is unused."""

    @property
    def len(self) -> int:
        """The number of IDs generated in the current tick."""

    @property
    def now(self) -> int:
        """The current tick, according to the generator's clock."""

    @property
    def wall_hi(self) -> int:
        """The tick of the last ID."""

    @property
    def wall_safe(self) -> int:
        """The highest tick from which the clock moved back. If the clock moves back again, to this tick or an earlier
        one, calls wait.
        """

    @property
    def drifts(self) -> int:
        """The number of clock rollbacks."""

    @property
    def closed(self) -> bool:
        """True if the generator is closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
