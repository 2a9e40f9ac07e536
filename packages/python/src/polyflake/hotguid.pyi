"""Hot Guid: GUIDs that sort by time and contain a shard key.

    32 Unix seconds | 40 machine | 24 counter | 32 shard key, its bytes reversed      (in the order of the string form)

An ID is a :class:`uuid.UUID`. Its string form and its ``bytes`` sort by time; its ``bytes_le`` are the bytes that
.NET's ``Guid.ToByteArray()`` returns. The machine bits are the worker ID and are random by default. IDs are predictable
and reveal their creation time, the worker ID of their generator and how many IDs it generates, so do not use them as
secrets.

Invalid arguments raise a :class:`polyflake.PolyflakeError`; values are never rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, such as NumPy's integers, but not ``bool`` or ``float``. Times of ranges and
windows are aware ``datetime`` objects or integer Unix milliseconds; timestamps of IDs are integer Unix seconds.
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Literal, SupportsIndex, final, overload
from uuid import UUID

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
from polyflake.sno import FieldColumn, TextColumn

__all__ = [
    "Generator",
    "HotGuidArray",
    "Parts",
    "Stats",
    "Uuid8Parts",
    "describe",
    "from_dotnet_bytes",
    "from_parts",
    "from_sql",
    "generate",
    "generate_async",
    "generate_many",
    "generate_many_async",
    "generate_text",
    "generate_text_async",
    "parse",
    "parts",
    "set_default_generator",
    "shard_key",
    "time_range",
    "timestamp",
    "to_dotnet_bytes",
    "to_sql",
]

def generate(shard_key: SupportsIndex = 0) -> UUID:
    """Returns a new ID from the default generator, which :func:`set_default_generator` can replace.

    The default generator picks 5 random bytes on the first call, and picks new random bytes in a forked child. If the
    environment variable ``POLYFLAKE_LEASE`` is set, it leases 3 of these bytes from the database that the variable
    specifies. The first call then waits for the lease, and a call raises ``LeaseError`` if there is none.

    :param shard_key: the key that your application uses to route requests to a shard, 0..4294967295.
    :raises ExhaustedError: ``sequence_exhausted`` if the counter reached its last value in the current second and no ID
        became available within 1 s.
    :raises OutOfRangeError: if the shard key is out of range, or ``time_out_of_range`` if the time is before 1970 or
        after 2106.
    :raises EntropyError: if the operating system provides no random bytes.
    """

def generate_text(shard_key: SupportsIndex = 0) -> str:
    """Returns a new ID from the default generator as a string.

    This function behaves like :meth:`Generator.generate_text`.
    """

def generate_many(n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> HotGuidArray:
    """Returns ``n`` new IDs from the default generator.

    This function behaves like :meth:`Generator.generate_many`.
    """

def generate_async(shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, UUID]:
    """Returns a new ID from the default generator without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_async`.
    """

def generate_text_async(shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, str]:
    """Returns a new ID from the default generator as a string without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_text_async`.
    """

def generate_many_async(n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, HotGuidArray]:
    """Returns ``n`` new IDs from the default generator without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_many_async`.
    """

def set_default_generator(generator: Generator | None, /) -> None:
    """Sets the default generator for all threads.

    This module's functions, such as :func:`generate`, then use ``generator`` instead of the previous default generator.
    Code that holds a reference to the previous generator can still use it. If ``generator`` is ``None``, the functions
    use a new generator with new random bytes.

        >>> set_default_generator(Generator(test_clock=lambda: 1_893_456_000_000_000_000))
        >>> timestamp(generate())
        1893456000
        >>> set_default_generator(None)

    This is useful in tests, where the generator can read a mocked clock, and in programs with an explicit window. In a
    forked child, the inherited generator raises ``forked`` if it has an explicit window.

    :raises InvalidTypeError: if the argument is neither a generator nor ``None``.
    """

def parse(text: str, /) -> UUID:
    """Parses an encoded ID, which consists of hexadecimal digits in upper or lower case, with hyphens.

    This function is stricter than ``UUID(text)``, which also accepts braces, ``urn:uuid:`` and misplaced hyphens.

        >>> parse("691F29D0-BBAA-DDCC-EE01-0203FFFFFF7F")
        UUID('691f29d0-bbaa-ddcc-ee01-0203ffffff7f')

    :raises InvalidValueError: ``invalid_length`` unless the string has 36 characters, or ``invalid_character`` with the
        ``position`` of the first invalid character.
    """

@overload
def parts(id: UUID, /, *, uuid8: Literal[False] = False) -> Parts:
    """Returns the fields of an ID.

    Every UUID can be read in the compatible form, so plausible fields do not prove that it is a Hot Guid.

        >>> parts(Generator(uuid8=True).generate(7), uuid8=True).shard_key
        7

    :param uuid8: whether the ID is a version 8 UUID, as generated with ``Generator(uuid8=True)``.
    :raises InvalidValueError: ``not_canonical`` if ``uuid8`` is true and the UUID has a different version or variant.
    """

@overload
def parts(id: UUID, /, *, uuid8: Literal[True]) -> Uuid8Parts: ...
@overload
def parts(id: UUID, /, *, uuid8: bool) -> Parts | Uuid8Parts: ...
@overload
def from_parts(
    *,
    timestamp: SupportsIndex,
    machine: _Buffer,
    counter: SupportsIndex,
    shard_key: SupportsIndex = 0,
    uuid8: Literal[False] = False,
) -> UUID:
    """Returns the ID with the given fields. The caller must ensure that no two calls return the same ID.

    :param timestamp: the creation time in Unix seconds, 0..4294967295.
    :param machine: 5 bytes or, with ``uuid8``, a 34-bit integer, 0..17179869183.
    :param counter: the counter, 0..16777215.
    :param shard_key: the shard key, 0..4294967295.
    :param uuid8: whether to return a version 8 UUID.
    :raises OutOfRangeError: ``time_out_of_range`` if the timestamp is out of range, or ``out_of_range`` if any other
        argument is. The error's ``field`` names the argument.
    :raises InvalidValueError: ``invalid_length`` unless ``machine`` has 5 bytes.
    """

@overload
def from_parts(
    *,
    timestamp: SupportsIndex,
    machine: SupportsIndex,
    counter: SupportsIndex,
    shard_key: SupportsIndex = 0,
    uuid8: Literal[True],
) -> UUID: ...
def shard_key(id: UUID, /) -> int:
    """Returns the shard key (0..4294967295) of an ID. The application uses the shard key to route requests to a shard.

    This function reads the compatible form. For a version 8 UUID, use ``parts(id, uuid8=True).shard_key``.

        >>> shard_key(generate(7))
        7
    """

def timestamp(id: UUID, /) -> int:
    """Returns the creation time of an ID, in Unix seconds."""

def to_sql(id: UUID, /) -> UUID:
    """Returns the GUID to store in an SQL Server ``uniqueidentifier`` column, so that the column sorts by time."""

def from_sql(guid: UUID, /) -> UUID:
    """Returns the ID for a GUID from a ``uniqueidentifier`` column. This is the inverse of :func:`to_sql`."""

def to_dotnet_bytes(id: UUID, /) -> bytes:
    """Returns the ID's 16 bytes in the order of .NET's ``Guid.ToByteArray()``, like ``id.bytes_le``."""

def from_dotnet_bytes(data: _Buffer, /) -> UUID:
    """Returns the ID for 16 bytes in the order of .NET's ``Guid.ToByteArray()``. This is the inverse of
    :func:`to_dotnet_bytes`.

    :raises InvalidValueError: ``invalid_length`` unless ``data`` has 16 bytes.
    """

def time_range(start: _Time, end: _Time, /, *, sql: bool = False) -> tuple[UUID, UUID]:
    """Returns the lowest and the highest ID in the time range ``start <= time < end``, for BETWEEN queries.

    Both IDs belong to the range, so you can use them directly with BETWEEN. An ID is in the range if its second begins
    in the range.

    :param sql: whether to return GUIDs that SQL Server sorts by time, as :func:`to_sql` does.
    :raises OutOfRangeError: ``out_of_range`` if the range is reversed or contains no second, or ``time_out_of_range``
        if a bound is before 1970 or past 2106-02-07T06:28:16Z.
    """

def describe() -> Description:
    """Returns the format's size, fields, rate and time span. The fields are in the same order as in the string form."""

@final
class Parts:
    """The fields of an ID."""

    @property
    def timestamp(self) -> int:
        """The creation time, in Unix seconds."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def machine(self) -> bytes:
        """The 5 bytes that identify the generator. This library picks them at random; the original library derives them
        from the host and the process.
        """

    @property
    def counter(self) -> int:
        """The counter, 0..16777215, which distinguishes IDs generated in the same second. It can start at any value."""

    @property
    def shard_key(self) -> int:
        """The shard key, 0..4294967295, which the application uses to route requests to a shard."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Uuid8Parts:
    """The fields of an ID that is a version 8 UUID."""

    @property
    def timestamp(self) -> int:
        """The creation time, in Unix seconds."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def machine(self) -> int:
        """The 34 random bits that identify the generator, 0..17179869183."""

    @property
    def counter(self) -> int:
        """The counter, 0..16777215, which distinguishes IDs generated in the same second. It can start at any value."""

    @property
    def shard_key(self) -> int:
        """The shard key, 0..4294967295, which the application uses to route requests to a shard."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Generator:
    """A generator with 5 random bytes as its worker ID. It generates 8,388,608 to 16,777,216 IDs per second.

    The counter starts at a random value in each second and never wraps around, so the IDs sort in the order in which
    they were generated.

    Threads can share a generator. It picks its random bytes when it generates its first ID, and new ones in a forked
    child. With 148,664 generators that are active in the same second, the chance that any two have the same random
    bytes is 1%. Two such generators generate a duplicate ID only if their counters collide, too. When the clock moves
    backwards, the generator continues in the latest second that it has used. Two copies would generate duplicate IDs,
    so a generator cannot be copied or pickled. A generator with an explicit window raises ``forked`` in a forked child.

    Other threads can run while a call waits. The wait ends if a signal handler raises an exception, such as
    ``KeyboardInterrupt``.
    """

    def __new__(
        cls,
        *,
        uuid8: bool = False,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator.

        :param uuid8: whether to generate version 8 UUIDs, which strict validators accept, instead of the compatible
            form. Read them with ``parts(id, uuid8=True)``. The version and the variant take up 6 of the 40 random bits.
            With 18,583 generators that are active in the same second, the chance that any two have the same remaining
            34 bits is 1%.
        :param window: the half-open time span in which IDs can be generated. An ID is in the window if the ID's second
            begins within the window.
        :param clock: a callable that returns integer Unix nanoseconds, used instead of the system clock. It is called
            without a lock, so it can be slow, raise an exception or use the generator itself.
        :param test_clock: a clock for tests, used in place of ``clock``. It may stand still or move backwards. The
            first call then uses the current tick, so a generator that is created again repeats the IDs of the one
            before it.
        :param on_exhausted: what to do when all counter values in a second are used up: ``"wait"`` waits for the next
            second, and ``"error"`` raises an exception.
        :param max_wait: the longest time that one call can wait, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which provides the machine bits and the time span. The first call
            waits for the lease.
        :param on_stall: a callable that is called on the waiting thread before each sleep. If it raises an exception,
            the wait ends and the exception propagates.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        """

    def generate(self, shard_key: SupportsIndex = 0) -> UUID:
        """Returns a new ID.

        :param shard_key: the key that your application uses to route requests to a shard, 0..4294967295.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID became available in time.
        :raises LeaseError: ``lease_not_started`` with ``retry_at`` before the window starts, or ``lease_expired`` after
            it ends.
        :raises StateError: ``generator_closed`` if the generator is closed, or ``forked`` if it belongs to a parent
            process.
        :raises OutOfRangeError: ``time_out_of_range`` if the time is before 1970 or after 2106.
        :raises ClockError: ``clock_failed`` if the clock fails.
        :raises EntropyError: if the operating system provides no random bytes.
        """

    def generate_text(self, shard_key: SupportsIndex = 0) -> str:
        """Returns a new ID as a string, like ``str(generate(shard_key))`` but in one call.

        :raises PolyflakeError: the same exceptions as :meth:`generate`.
        """

    def generate_many(self, n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> HotGuidArray:
        """Returns ``n`` new IDs, in the order in which they were created. Other threads can run during the call.

        :param n: the number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of IDs that were
            generated before the error. These IDs are lost.
        """

    def fill(self, buffer: _WritableBuffer, /, shard_key: SupportsIndex = 0) -> None:
        """Fills the buffer with new IDs, in the order in which they were created.

        Reusing one buffer avoids allocating memory for each batch. Other threads can run during the call.

        :param buffer: a writable, C-contiguous buffer of bytes in the order of the string form (``bytearray``, or
            NumPy's ``uint8`` in rows of 16) or of 16-byte items (NumPy's ``S16`` and ``V16``).
        :raises InvalidTypeError: if the buffer is read-only or strided, or has the wrong item type.
        :raises InvalidValueError: ``invalid_length`` if the buffer does not hold a whole number of IDs.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of valid IDs at the
            front of the buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self, shard_key: SupportsIndex = 0) -> UUID:
        """Returns a new ID if one is available without waiting.

        This method never waits. ``on_exhausted`` and ``max_wait`` are ignored.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID is available before the next second.
        :raises PolyflakeError: in all other cases, the same exceptions as :meth:`generate`.
        """

    def try_generate_text(self, shard_key: SupportsIndex = 0) -> str:
        """Returns a new ID as a string if one is available without waiting.

        :raises PolyflakeError: the same exceptions as :meth:`try_generate`.
        """

    def try_generate_many(self, n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> HotGuidArray:
        """Returns up to ``n`` new IDs without waiting.

        The array is shorter than ``n``, or empty, if fewer IDs are available.

        :param n: the maximum number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, except ``sequence_exhausted`` and
            ``clock_behind``.
        """

    def try_fill(self, buffer: _WritableBuffer, /, shard_key: SupportsIndex = 0) -> int:
        """Writes as many new IDs to the front of the buffer as are available without waiting, and returns the number of
        IDs written.

        The number can be smaller than the buffer's capacity, or zero. The rest of the buffer is unchanged.

        :param buffer: a buffer that :meth:`fill` accepts.
        :raises PolyflakeError: the same exceptions as :meth:`fill`, except ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, UUID]:
        """Returns a new ID without blocking the thread while it waits.

        This method is a coroutine for asyncio. Where :meth:`generate` would block the thread, the coroutine awaits
        instead. A cancelled call generates no ID.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_text_async(self, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, str]:
        """Returns a new ID as a string without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_many_async(
        self, n: SupportsIndex, /, shard_key: SupportsIndex = 0
    ) -> Coroutine[Any, Any, HotGuidArray]:
        """Returns ``n`` new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`. It yields to the event loop at least once
        every 16,384 IDs. If the call is cancelled, the IDs that it has generated are lost.

        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, when the coroutine is awaited.
        """

    def fill_async(self, buffer: _WritableBuffer, /, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, None]:
        """Fills the buffer with new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_many_async`. It keeps a reference to the buffer until
        the call ends. If the call is cancelled, the IDs that it has generated remain at the front of the buffer.

        :raises PolyflakeError: the same exceptions as :meth:`fill`, when the coroutine is awaited.
        """

    def extend_window(self, end: _Time, /) -> None:
        """Moves the end of the window to a later time.

        The call has no effect if ``end`` is not later than the current end, or if the generator has no window.

        :raises OutOfRangeError: if ``end`` is before the start of the window, or past the format's time range.
        """

    def stats(self) -> Stats:
        """Returns the generator's current statistics."""

    def close(self) -> None:
        """Closes the generator. This also ends calls in progress on other threads.

        You do not have to save any state, because the next generator picks new random bytes.

        :raises StateError: ``generator_closed`` if the generator is already closed.
        """

    def __reduce__(self) -> Any: ...

@final
class HotGuidArray(_Array[UUID]):
    """A packed array of IDs, 16 bytes each, in the byte order of ``UUID.bytes``.

    It supports the buffer protocol as a read-only table with one row of bytes per ID: ``numpy.asarray(ids)`` is a
    ``uint8`` array of shape ``(n, 16)``, created without a copy. The array is also an Arrow column of 16-byte values:
    ``pyarrow.array(ids)``, ``polars.Series(ids)``.
    """

    def __new__(cls, ids: _Packed | Iterable[UUID | str], /) -> HotGuidArray:
        """Creates an array from a list of IDs, from packed bytes or from an Arrow column.

        :param ids: packed bytes as returned by ``bytes(ids)``, an Arrow column (from pyarrow, polars or another
            library), or an iterable whose items are ``uuid.UUID`` objects or strings. An Arrow column must contain
            16-byte values or have Arrow's UUID type, and can be dictionary-encoded.
        :raises InvalidTypeError: if ``ids`` or an item has the wrong type, or if an item is null. ``item`` is the index
            of that item.
        :raises InvalidValueError: ``invalid_length`` if the last ID is incomplete or an item has the wrong length, or
            ``invalid_character`` if an item contains an invalid character. ``item`` is the index of the ID, and
            ``position`` is the index of the character.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> HotGuidArray:
        """Parses a column of encoded IDs, checking each one as strictly as :func:`parse`. Nulls and ``None`` are
        rejected.

        :param column: any type of column that :meth:`polyflake.sno.SnoArray.from_texts` accepts, with 36 characters per
            ID.
        :raises InvalidTypeError: if the column does not contain strings, or if an item is not a string. ``item`` is the
            index of that item.
        :raises InvalidValueError: ``invalid_length`` if an encoded ID has the wrong length, or ``invalid_character`` if
            it contains an invalid character. ``item`` is the index of the ID, and ``position`` is the index of the
            character.
        """

    def timestamps(self) -> FieldColumn:
        """Returns the creation time of each ID, in Unix seconds, as 64-bit integers."""

    def machines(self) -> FieldColumn:
        """Returns the 5 machine bytes of each ID, in the same order as in :class:`Parts`."""

    def counters(self) -> FieldColumn:
        """Returns the counter of each ID, as unsigned 32-bit integers."""

    def shard_keys(self) -> FieldColumn:
        """Returns the shard key of each ID, as unsigned 32-bit integers.

        This method reads the compatible form, like :func:`parts`. In version 8 UUIDs, the bytes of the shard key are in
        a different order.
        """

    def text_column(self) -> TextColumn:
        """Returns all IDs as a packed column of strings, which is the fastest way to pass them to NumPy, to Arrow and
        to libraries that use either.
        """

    def texts(self) -> list[str]:
        """Returns all IDs as a list of strings."""

@final
class Stats:
    """A generator's statistics at one point in time."""

    @property
    def machine(self) -> bytes | None:
        """The 5 random bytes, or ``None`` if the generator has not picked them yet."""

    @property
    def last_second(self) -> int | None:
        """The latest second in which an ID was generated, as a Unix timestamp; ``None`` before the first ID."""

    @property
    def len(self) -> int:
        """The number of IDs generated in ``last_second``."""

    @property
    def closed(self) -> bool:
        """True if the generator is closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
