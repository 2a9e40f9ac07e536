"""Version 7 UUIDs (RFC 9562) that stay sorted across threads, within a millisecond and after clock rollbacks.

    48 Unix milliseconds | 4 version 7 | 12 sequence | 2 variant 10 | 6 sequence | 56 random

With an explicit worker ID or a lease, the upper 16 of the 56 random bits are the worker ID. An ID is a
:class:`uuid.UUID`. Its string form, its ``bytes`` and its ``int`` sort by time. An ID reveals its creation time and,
roughly, how many IDs its generator created before it in the same millisecond. The random bits are hard to guess, but a
UUID does not grant access.

Invalid arguments raise a :class:`polyflake.PolyflakeError`; values are never rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, such as NumPy's integers, but not ``bool`` or ``float``. Times are aware
``datetime`` objects or integer Unix milliseconds; naive datetimes are rejected.
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, SupportsIndex, final
from uuid import UUID

from polyflake._lease import Lease
from polyflake._polyflake import Description, Stall, _Array, _OnExhausted, _Packed, _Texts, _Time, _WritableBuffer
from polyflake.sno import FieldColumn, TextColumn

__all__ = [
    "Generator",
    "Parts",
    "Stats",
    "Uuid7Array",
    "describe",
    "from_parts",
    "generate",
    "generate_async",
    "generate_at",
    "generate_many",
    "generate_many_async",
    "generate_text",
    "generate_text_async",
    "parse",
    "parts",
    "set_default_generator",
    "time_range",
    "unix_ms",
    "worker_id",
]

def generate() -> UUID:
    """Returns a new ID from the default generator, which :func:`set_default_generator` can replace.

    All threads share the default generator, so a call that begins after another call has returned always returns a
    greater ID. If the environment variable ``POLYFLAKE_LEASE`` is set, the generator leases a worker ID from the
    database that the variable specifies. The first call then waits for the lease, and a call raises ``LeaseError`` if
    there is none.

        >>> generate() < generate()
        True

    :raises ExhaustedError: if no ID became available within 1 s. The code is ``sequence_exhausted`` if all IDs of the
        current millisecond are used up, or ``clock_behind`` if the clock moved backwards and all IDs of the last
        millisecond are used up.
    :raises OutOfRangeError: ``time_out_of_range`` if the time is before 1970.
    :raises EntropyError: if the operating system provides no random bytes.
    """

def generate_text() -> str:
    """Returns a new ID from the default generator as a string.

    This function behaves like :meth:`Generator.generate_text`.
    """

def generate_at(time: _Time, /) -> UUID:
    """Returns a new ID with an explicit creation time, for a row that exists already.

    No generator takes part in the call: it changes neither the time nor the sequence of any generator, it never waits,
    and the ID contains no worker ID. The 74 bits after the time are new random bits from the operating system in each
    call. Two IDs of the same millisecond are equal with a probability of 2^-74, and they are in no
    particular order.

        >>> unix_ms(generate_at(1_767_225_600_000))
        1767225600000

    :param time: the creation time. A datetime is rounded down to the millisecond.
    :raises OutOfRangeError: ``time_out_of_range`` if the time is before 1970 or after the year 10889.
    :raises EntropyError: if the operating system provides no random bytes.
    """

def generate_many(n: SupportsIndex, /) -> Uuid7Array:
    """Returns ``n`` new IDs from the default generator.

    This function behaves like :meth:`Generator.generate_many`.
    """

def generate_async() -> Coroutine[Any, Any, UUID]:
    """Returns a new ID from the default generator without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_async`.
    """

def generate_text_async() -> Coroutine[Any, Any, str]:
    """Returns a new ID from the default generator as a string without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_text_async`.
    """

def generate_many_async(n: SupportsIndex, /) -> Coroutine[Any, Any, Uuid7Array]:
    """Returns ``n`` new IDs from the default generator without blocking the thread while it waits.

    This function behaves like :meth:`Generator.generate_many_async`.
    """

def set_default_generator(generator: Generator | None, /) -> None:
    """Sets the default generator for all threads.

    This module's functions, such as :func:`generate`, then use ``generator`` instead of the previous default generator.
    Code that holds a reference to the previous generator can still use it. If ``generator`` is ``None``, the functions
    use a new generator.

        >>> set_default_generator(Generator(test_clock=lambda: 1_893_456_000_000_000_000))
        >>> unix_ms(generate())
        1893456000000
        >>> set_default_generator(None)

    This is useful in tests, where the generator can read a mocked clock, and in programs with an explicit worker ID. In
    a forked child, the inherited generator raises ``forked`` if it has an explicit worker ID or window.

    :raises InvalidTypeError: if the argument is neither a generator nor ``None``.
    """

def parse(text: str, /) -> UUID:
    """Parses an encoded ID, which consists of hexadecimal digits in upper or lower case, with hyphens.

    This function is stricter than ``UUID(text)``, which also accepts other versions, braces, ``urn:uuid:`` and
    misplaced hyphens.

        >>> parse("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")
        UUID('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')

    :raises InvalidValueError: ``invalid_length`` unless the string has 36 characters, ``invalid_character`` with the
        ``position`` of the first invalid character, or ``not_canonical`` if the UUID has a different version or
        variant.
    """

def parts(id: UUID, /) -> Parts:
    """Returns the fields of an ID.

        >>> parts(parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")).unix_ms
        1645557742000

    :raises InvalidValueError: ``not_canonical`` if the UUID has a different version or variant.
    """

def from_parts(*, unix_ms: _Time, sequence: SupportsIndex, random: SupportsIndex) -> UUID:
    """Returns the ID with the given fields. The caller must ensure that no two calls return the same ID.

    :param unix_ms: the creation time, 0..281474976710655 Unix milliseconds.
    :param sequence: the sequence, 0..262143.
    :param random: the 56 bits after the sequence, 0..72057594037927935.
    :raises OutOfRangeError: ``time_out_of_range`` if the time is out of range, or ``out_of_range`` if any other
        argument is. The error's ``field`` names the argument.
    """

def unix_ms(id: UUID, /) -> int:
    """Returns the creation time of an ID, in Unix milliseconds.

    :raises InvalidValueError: ``not_canonical`` if the UUID has a different version or variant.
    """

def worker_id(id: UUID, /) -> int:
    """Returns the worker ID (0..65535) in an ID from a generator that has a worker ID. In all other IDs, these bits are
    random. An ID does not indicate whether these bits are a worker ID or random.

        >>> worker_id(Generator(42).generate())
        42

    :raises InvalidValueError: ``not_canonical`` if the UUID has a different version or variant.
    """

def time_range(start: _Time, end: _Time, /) -> tuple[UUID, UUID]:
    """Returns the lowest and the highest ID in the time range ``start <= time < end``, for BETWEEN queries.

    Both IDs belong to the range, so you can use them directly with BETWEEN. An ID is in the range if its millisecond
    begins in the range. This also applies to IDs that other libraries generate.

    :raises OutOfRangeError: ``out_of_range`` if the range is reversed or contains no millisecond, or
        ``time_out_of_range`` if a bound is before 1970 or past the year 10889.
    """

def describe() -> Description:
    """Returns the format's size, fields, rate and time span. The fields are in the same order as in the string form.

    A generator starts the sequence of each millisecond at a random value, so it can generate at least half as many IDs
    per second as ``per_second`` states. ``per_second_in_all`` applies to generators with worker IDs.
    """

@final
class Parts:
    """The fields of an ID."""

    @property
    def unix_ms(self) -> int:
        """The creation time, in Unix milliseconds."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC. A time after the year 9999 raises ``OverflowError``."""

    @property
    def sequence(self) -> int:
        """The 18-bit sequence, 0..262143, which orders the IDs that a generator creates in the same millisecond. In
        UUIDs from other libraries, these bits may have a different meaning.
        """

    @property
    def random(self) -> int:
        """The 56 bits after the sequence. In IDs of a generator with a worker ID, the upper 16 of them are the worker
        ID, which :func:`worker_id` returns.
        """

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Generator:
    """A generator of version 7 UUIDs that are sorted across threads.

    A call that begins after another call of the same generator has returned always returns a greater ID. This also
    applies across threads and batches. IDs of different generators are sorted only by millisecond. The same applies to
    the IDs that a program generates before and after a restart, unless the new generator has ``resume_after``.

    A generator never uses the same combination of millisecond and sequence twice. IDs of different generators differ by
    56 random bits and by the random start of the sequence in each millisecond. Generators with different worker IDs
    never generate the same ID. At least 131,072 IDs are available per millisecond.

    No ID has a timestamp later than the latest clock reading. When the clock moves backwards, the generator uses up its
    last millisecond. Calls then wait for the clock, or raise ``clock_behind``.

    Threads can share a generator. In a forked child, a generator uses new random bits. If the generator has an explicit
    worker ID or window, its calls in the child raise ``forked`` instead. A generator cannot be copied or pickled.

    Other threads can run while a call waits. The wait ends if a signal handler raises an exception, such as
    ``KeyboardInterrupt``.
    """

    def __new__(
        cls,
        worker_id: SupportsIndex | None = None,
        *,
        resume_after: SupportsIndex | None = None,
        follow_rollbacks: bool = False,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator.

        :param worker_id: an integer, 0..65535, which replaces 16 of the 56 random bits. By default, an ID has no worker
            ID. An earlier run of the process may have generated IDs in the current millisecond, so the first ID belongs
            to the next millisecond, unless ``resume_after`` is set.
        :param resume_after: the last millisecond in which an earlier generator created IDs (0..9223372036854), as
            returned by :meth:`close`. All IDs sort after the earlier generator's IDs, unless the earlier generator
            followed a clock rollback (see ``follow_rollbacks``).
        :param follow_rollbacks: whether to continue at the clock's new time after the clock moves backwards by more
            than 10 seconds. By default, calls raise ``clock_behind`` until the clock has caught up. With this option, a
            single wrong clock reading far in the future does not stop a service. After each rollback that the generator
            follows in this way, new IDs sort before earlier IDs. ``stats().rollbacks`` counts these rollbacks. This
            option cannot be combined with a worker ID.
        :param window: the half-open time span in which IDs can be generated. An ID is in the window if its millisecond
            begins in it.
        :param clock: a callable that returns integer Unix nanoseconds, used instead of the system clock. It is called
            without a lock, so it can be slow, raise an exception or use the generator itself.
        :param test_clock: a clock for tests, used in place of ``clock``. It may stand still or move backwards. The
            first call then uses the current tick, so a generator that is created again repeats the IDs of the one
            before it.
        :param on_exhausted: what to do when all IDs of a millisecond are used up: ``"wait"`` waits for the next
            millisecond, and ``"error"`` raises an exception.
        :param max_wait: the longest time that one call can wait, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which provides the worker ID and the time span. The first call waits
            for the lease. A lease cannot be combined with a worker ID, ``resume_after``, ``follow_rollbacks``, a window
            or a clock.
        :param on_stall: a callable that is called on the waiting thread before each sleep. If it raises an exception,
            the wait ends and the exception propagates.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        :raises LeaseError: ``lease_mismatch`` if a lease is combined with an argument that excludes it.
        :raises StateError: ``worker_id_in_use`` if another live generator of this process has the worker ID.
            Constructing a generator again with equal options returns another handle on the same generator.
        """

    def generate(self) -> UUID:
        """Returns a new ID.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID became available in time, or
            ``clock_behind`` with ``retry_at`` if the reason is that the clock moved backwards.
        :raises LeaseError: ``lease_not_started`` with ``retry_at`` before the window starts, or ``lease_expired`` after
            it ends.
        :raises StateError: ``generator_closed`` if the generator is closed, or ``forked`` if it belongs to a parent
            process.
        :raises OutOfRangeError: ``time_out_of_range`` if the time is before 1970.
        :raises ClockError: ``clock_failed`` if the clock fails.
        :raises EntropyError: if the operating system provides no random bytes.
        """

    def generate_text(self) -> str:
        """Returns a new ID as a string, like ``str(generate())`` but in one call.

        :raises PolyflakeError: the same exceptions as :meth:`generate`.
        """

    def generate_many(self, n: SupportsIndex, /) -> Uuid7Array:
        """Returns ``n`` new IDs, in the order in which they were created. Other threads can run during the call.

        :param n: the number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of IDs that were
            generated before the error. These IDs are lost.
        """

    def fill(self, buffer: _WritableBuffer, /) -> None:
        """Fills the buffer with new IDs, in the order in which they were created.

        Reusing one buffer avoids allocating memory for each batch. Other threads can run during the call.

        :param buffer: a writable, C-contiguous buffer of bytes in the order of the string form (``bytearray``, or
            NumPy's ``uint8`` in rows of 16) or of 16-byte items (NumPy's ``S16`` and ``V16``).
        :raises InvalidTypeError: if the buffer is read-only or strided, or has the wrong item type.
        :raises InvalidValueError: ``invalid_length`` if the buffer does not hold a whole number of IDs.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of valid IDs at the
            front of the buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self) -> UUID:
        """Returns a new ID if one is available without waiting.

        This method never waits. ``on_exhausted`` and ``max_wait`` are ignored.

        :raises ExhaustedError: ``sequence_exhausted`` or ``clock_behind`` with ``retry_at`` if no ID is available now.
        :raises PolyflakeError: in all other cases, the same exceptions as :meth:`generate`.
        """

    def try_generate_text(self) -> str:
        """Returns a new ID as a string if one is available without waiting.

        :raises PolyflakeError: the same exceptions as :meth:`try_generate`.
        """

    def try_generate_many(self, n: SupportsIndex, /) -> Uuid7Array:
        """Returns up to ``n`` new IDs without waiting.

        The array is shorter than ``n``, or empty, if fewer IDs are available.

        :param n: the maximum number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, except ``sequence_exhausted`` and
            ``clock_behind``.
        """

    def try_fill(self, buffer: _WritableBuffer, /) -> int:
        """Writes as many new IDs to the front of the buffer as are available without waiting, and returns the number of
        IDs written.

        The number can be smaller than the buffer's capacity, or zero. The rest of the buffer is unchanged.

        :param buffer: a buffer that :meth:`fill` accepts.
        :raises PolyflakeError: the same exceptions as :meth:`fill`, except ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self) -> Coroutine[Any, Any, UUID]:
        """Returns a new ID without blocking the thread while it waits.

        This method is a coroutine for asyncio. Where :meth:`generate` would block the thread, the coroutine awaits
        instead. A cancelled call generates no ID.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_text_async(self) -> Coroutine[Any, Any, str]:
        """Returns a new ID as a string without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`.

        :raises PolyflakeError: the same exceptions as :meth:`generate`, when the coroutine is awaited.
        """

    def generate_many_async(self, n: SupportsIndex, /) -> Coroutine[Any, Any, Uuid7Array]:
        """Returns ``n`` new IDs without blocking the thread while it waits.

        This method is a coroutine that waits like :meth:`generate_async`. It yields to the event loop at least once
        every 16,384 IDs. If the call is cancelled, the IDs that it has generated are lost.

        :raises PolyflakeError: the same exceptions as :meth:`generate_many`, when the coroutine is awaited.
        """

    def fill_async(self, buffer: _WritableBuffer, /) -> Coroutine[Any, Any, None]:
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

    def close(self) -> int | None:
        """Closes the generator, and returns the last millisecond in which it created an ID, in Unix milliseconds, or
        ``None`` if it created none. Closing also ends calls that are in progress on other threads.

        Pass the result as ``resume_after`` to the next generator, so that the next generator's IDs sort after this
        generator's IDs.

            >>> ids = Generator()
            >>> id = ids.generate()
            >>> ids = Generator(resume_after=ids.close())
            >>> id < ids.generate()
            True

        :raises StateError: ``generator_closed`` if the generator is already closed, or ``forked`` in a child process if
            the generator has a worker ID or a window, because the generator continues in the parent.
        """

    def __reduce__(self) -> Any: ...

@final
class Uuid7Array(_Array[UUID]):
    """A packed array of IDs, 16 bytes each, in the byte order of ``UUID.bytes``.

    The array supports the buffer protocol as a read-only two-dimensional array with one row of bytes per ID.
    ``numpy.asarray(ids)`` is a ``uint8`` array of shape ``(n, 16)``, created without a copy. The array is also an Arrow
    column of 16-byte values, so ``pyarrow.array(ids)`` and ``polars.Series(ids)`` can read it.
    """

    def __new__(cls, ids: _Packed | Iterable[UUID | str], /) -> Uuid7Array:
        """Creates an array from a list of IDs, from packed bytes or from an Arrow column.

        :param ids: an iterable whose items are ``uuid.UUID`` objects or strings, packed bytes as returned by
            ``bytes(ids)``, or an Arrow column from pyarrow, polars or another library. An Arrow column contains 16-byte
            values or has Arrow's UUID type, and can be dictionary-encoded.
        :raises InvalidTypeError: if ``ids`` or an item has the wrong type, or if an item is null. ``item`` is the index
            of that item.
        :raises InvalidValueError: ``invalid_length`` if the last ID is incomplete or an item has the wrong length,
            ``invalid_character`` if an item contains an invalid character, or ``not_canonical`` if a UUID has a
            different version or variant. ``item`` is the index of the ID, and ``position`` is the index of the
            character.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> Uuid7Array:
        """Parses a column of encoded IDs, checking each one as strictly as :func:`parse`. Nulls and ``None`` are
        rejected.

        :param column: any type of column that :meth:`polyflake.sno.SnoArray.from_texts` accepts, with 36 characters per
            ID.
        :raises InvalidTypeError: if the column does not contain strings, or if an item is not a string. ``item`` is the
            index of that item.
        :raises InvalidValueError: the same exceptions as :func:`parse`. ``item`` is the index of the ID, and
            ``position`` is the index of the character.
        """

    def unix_ms(self) -> FieldColumn:
        """Returns the creation time of each ID, in Unix milliseconds, as 64-bit integers."""

    def sequences(self) -> FieldColumn:
        """Returns the sequence of each ID, as unsigned 32-bit integers."""

    def worker_ids(self) -> FieldColumn:
        """Returns the worker ID of each ID, as unsigned 16-bit integers.

        Like :func:`worker_id`, this method returns random bits for IDs of generators without a worker ID.
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
    def worker_id(self) -> int | None:
        """The worker ID, or ``None`` if all bits after the sequence are random."""

    @property
    def last_ms(self) -> int | None:
        """The last millisecond in which an ID was generated, as a Unix timestamp in milliseconds; ``None`` before the
        first ID.
        """

    @property
    def rollbacks(self) -> int:
        """The number of clock rollbacks after which the generator continued at the clock's new time. After each of
        these rollbacks, new IDs sort before earlier IDs. The number is always 0 without ``follow_rollbacks``.
        """

    @property
    def closed(self) -> bool:
        """True if the generator is closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
