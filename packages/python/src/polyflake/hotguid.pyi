"""Hot Guid: GUIDs that sort by time, and name their shard.

    32 Unix seconds | 40 machine | 24 counter | 32 shard key, its bytes reversed      (in the order of the text)

An ID is a :class:`uuid.UUID`: its text and its ``bytes`` sort by time; its ``bytes_le`` are what .NET's
``Guid.ToByteArray()`` gives. IDs are predictable and show time, generator and volume: they are no secrets.

Every refused argument raises a :class:`polyflake.PolyflakeError`; nothing is rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, as NumPy's integers, but not ``bool`` or ``float``. Times of ranges
and windows are aware ``datetime`` or integer Unix milliseconds; timestamps of IDs are integer Unix seconds.
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Literal, SupportsIndex, final, overload
from uuid import UUID

from polyflake._lease import Lease
from polyflake._polyflake import Description, Stall, _Array, _Buffer, _OnExhausted, _Packed, _Texts, _Time
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
    """One new ID from the default generator, which :func:`set_default_generator` sets.

    Its 5 random bytes are drawn at the first call, and again in a forked child.

    :param shard_key: the value that you route by, 0..4294967295.
    :raises ExhaustedError: ``sequence_exhausted`` after 16,777,216 IDs in one second, and 1 s of waiting.
    :raises OutOfRangeError: for the shard key, or ``time_out_of_range`` before 1970 and after 2106.
    :raises EntropyError: if the system gives no random bytes.
    """

def generate_text(shard_key: SupportsIndex = 0) -> str:
    """The text of one new ID from the default generator.

    As :meth:`Generator.generate_text`.
    """

def generate_many(n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> HotGuidArray:
    """Many new IDs from the default generator.

    As :meth:`Generator.generate_many`.
    """

def generate_async(shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, UUID]:
    """One new ID from the default generator, waiting without holding the thread.

    As :meth:`Generator.generate_async`.
    """

def generate_text_async(shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, str]:
    """The text of one new ID from the default generator, waiting without holding the thread.

    As :meth:`Generator.generate_text_async`.
    """

def generate_many_async(n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, HotGuidArray]:
    """Many new IDs from the default generator, waiting without holding the thread.

    As :meth:`Generator.generate_many_async`.
    """

def set_default_generator(generator: Generator | None, /) -> None:
    """Sets the default generator; none stands for a new one.

    :func:`generate` uses it in all threads. ``None`` stands for a new generator with new random bytes. The generator
    before is never used again by :func:`generate`, and stays usable by those who hold it.

        >>> set_default_generator(Generator(clock=lambda: 1_893_456_000_000_000_000))
        >>> timestamp(generate())
        1893456000
        >>> set_default_generator(None)

    It serves tests, whose generator reads a mocked clock, and programs that know their window. A forked child has the
    same generator, which refuses with ``forked`` there if its window was given.

    :raises InvalidTypeError: for anything else.
    """

def parse(text: str, /) -> UUID:
    """The ID of a text: hex in either case, with hyphens. (``UUID(text)`` also takes braces, ``urn:uuid:`` and hyphens
    anywhere.)

        >>> parse("691F29D0-BBAA-DDCC-EE01-0203FFFFFF7F")
        UUID('691f29d0-bbaa-ddcc-ee01-0203ffffff7f')

    :raises InvalidValueError: ``invalid_length`` unless it has 36 characters, ``invalid_character`` with the position
        of the first bad one.
    """

@overload
def parts(id: UUID, /, *, uuid8: Literal[False] = False) -> Parts:
    """The fields of an ID.

    Any UUID can be read in the compatible form: plausible fields do not prove that it is a Hot Guid.

        >>> parts(Generator(uuid8=True).generate(7), uuid8=True).shard_key
        7

    :param uuid8: true for an ID that is a UUID of version 8, as a generator with ``uuid8`` makes it.
    :raises InvalidValueError: ``not_canonical`` for another version or variant, if ``uuid8`` is true.
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
    """The ID of given fields; the caller makes sure that no ID is made twice.

    :param timestamp: Unix seconds, 0..4294967295.
    :param machine: 5 bytes; with ``uuid8`` an integer of 34 bits, 0..17179869183.
    :param counter: 0..16777215.
    :param shard_key: 0..4294967295.
    :param uuid8: true for a UUID of version 8.
    :raises OutOfRangeError: ``time_out_of_range`` for the timestamp, ``out_of_range`` with the ``field``.
    :raises InvalidValueError: ``invalid_length`` for the machine.
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
    """The shard key of an ID, 0..4294967295: the value that the application routes by.

    It reads the compatible form; ``parts(id, uuid8=True).shard_key`` reads a UUID of version 8.

        >>> shard_key(generate(7))
        7
    """

def timestamp(id: UUID, /) -> int:
    """The creation time of an ID, in Unix seconds."""

def to_sql(id: UUID, /) -> UUID:
    """The GUID that SQL Server sorts by time, to be stored in a ``uniqueidentifier`` column."""

def from_sql(guid: UUID, /) -> UUID:
    """The ID of a GUID that SQL Server sorts by time; the inverse of :func:`to_sql`."""

def to_dotnet_bytes(id: UUID, /) -> bytes:
    """The 16 bytes in the order of .NET's ``Guid.ToByteArray()``: the same as ``id.bytes_le``."""

def from_dotnet_bytes(data: _Buffer, /) -> UUID:
    """The ID of 16 bytes in the order of .NET's ``Guid.ToByteArray()``.

    :raises InvalidValueError: ``invalid_length``, in bytes.
    """

def time_range(start: _Time, end: _Time, /, *, sql: bool = False) -> tuple[UUID, UUID]:
    """The lowest and highest ID of a half-open time range, for BETWEEN queries.

    Both are inclusive; the range is ``start <= time < end``. An ID is in the range if its own second begins in it.

    :param sql: true for the form that SQL Server sorts by time, as :func:`to_sql` gives it.
    :raises OutOfRangeError: ``out_of_range`` if the range is reversed or holds no second, ``time_out_of_range`` before
        1970 or past 2106-02-07T06:28:16Z.
    """

def describe() -> Description:
    """Size, fields, rate and time span of the format. The fields are in the order of the text."""

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
        """The 5 bytes that tell its generator from all others: random ones; in the original of host and process."""

    @property
    def counter(self) -> int:
        """The ID's number within its second, counted from any start: 0..16777215."""

    @property
    def shard_key(self) -> int:
        """The shard key, 0..4294967295: the value that the application routes by."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Uuid8Parts:
    """The fields of an ID that is a UUID of version 8."""

    @property
    def timestamp(self) -> int:
        """The creation time, in Unix seconds."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def machine(self) -> int:
        """The 34 random bits that tell its generator from all others: 0..17179869183."""

    @property
    def counter(self) -> int:
        """The ID's number within its second, counted from any start: 0..16777215."""

    @property
    def shard_key(self) -> int:
        """The shard key, 0..4294967295: the value that the application routes by."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Generator:
    """A source of IDs under random bytes of its own.

    It has 5 random bytes, and makes up to 16,777,216 IDs a second.

    Threads may share it. The random bytes are drawn at the first ID, and again in a forked child: 148,664 generators
    that are active in the same second share them with a chance of 1 %, and then repeat an ID only if their counters
    meet too. When the clock goes back, the generator stays in the highest second seen. Two copies would repeat each
    other's IDs, so it can be neither copied nor pickled; with a given window it refuses with ``forked`` in a forked
    child.

    Waiting lets other threads run and ends when a signal's handler raises, as ``KeyboardInterrupt`` does.
    """

    def __new__(
        cls,
        *,
        uuid8: bool = False,
        window: tuple[_Time, _Time] | None = None,
        clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A new generator.

        :param uuid8: true to make UUIDs of version 8, which strict validators accept, instead of the compatible form:
            ``parts(id, uuid8=True)`` reads them. Version and variant take 6 of the 40 random bits: among 18,583
            generators that are active in the same second, two share the other 34 with a chance of 1 %.
        :param window: the half-open time span in which IDs may be made: those whose second begins in it.
        :param clock: gives integer Unix nanoseconds, instead of the system's clock; called without a lock, so it may
            be slow, raise or use the generator itself.
        :param on_exhausted: action when a second's counters are used up: ``"wait"`` for the next, or ``"error"``.
        :param max_wait: longest wait of one call, in milliseconds, 0..4294967295; 1000 by default.
        :param lease: a :class:`polyflake.Lease`, which gives the generator its machine and its times;
            the first ID waits for it.
        :param on_stall: called on the waiting thread before each sleep of a call that has to wait; an exception from it
            ends the wait and propagates.
        :raises OutOfRangeError: with the ``field``.
        """

    def generate(self, shard_key: SupportsIndex = 0) -> UUID:
        """One new ID.

        :param shard_key: the value that you route by, 0..4294967295.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``.
        :raises LeaseError: ``lease_not_started`` with ``retry_at``, ``lease_expired``: outside the window.
        :raises StateError: ``generator_closed``, ``forked``.
        :raises OutOfRangeError: ``time_out_of_range`` before 1970 and after 2106.
        :raises ClockError: ``clock_failed``.
        :raises EntropyError: if the system gives no random bytes.
        """

    def generate_text(self, shard_key: SupportsIndex = 0) -> str:
        """The text of one new ID, at once: ``str(generate(shard_key))``. Raises as :meth:`generate`."""

    def generate_many(self, n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> HotGuidArray:
        """Many new IDs, in the order of time. Other threads run meanwhile.

        :param n: number of IDs, 0..16777216.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of IDs that were made and are lost.
        """

    def fill(self, buffer: _Buffer, /, shard_key: SupportsIndex = 0) -> None:
        """Fills the caller's buffer with new IDs.

        As many as the buffer holds, in the order of time. Filling the same memory again and again takes no new pages
        from the system. Other threads run meanwhile.

        :param buffer: writable and C-contiguous: bytes in the order of the text (``bytearray``, NumPy's
            ``uint8`` in rows of 16) or items of 16 bytes (NumPy's ``S16`` and ``V16``).
        :raises InvalidTypeError: for a buffer that is read-only, strided or of anything else.
        :raises InvalidValueError: ``invalid_length`` unless it holds whole IDs.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of valid IDs at the front of the
            buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self, shard_key: SupportsIndex = 0) -> UUID:
        """One new ID if there is one now. It never waits, whatever ``on_exhausted`` and ``max_wait`` say.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``, instead of a wait.
        :raises PolyflakeError: otherwise as :meth:`generate`.
        """

    def try_generate_text(self, shard_key: SupportsIndex = 0) -> str:
        """The text of one new ID if there is one now. Raises as :meth:`try_generate`."""

    def try_generate_many(self, n: SupportsIndex, /, shard_key: SupportsIndex = 0) -> HotGuidArray:
        """The new IDs that there are now, up to a number. It never waits: there may be fewer, or none.

        :param n: largest number of IDs, 0..16777216.
        :raises PolyflakeError: as :meth:`generate_many`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def try_fill(self, buffer: _Buffer, /, shard_key: SupportsIndex = 0) -> int:
        """Fills the front of the caller's buffer with the new IDs that there are now, and returns how many.

        It never waits: there may be fewer than the buffer holds, or none. The rest of the buffer is unchanged.

        :param buffer: as :meth:`fill` takes it.
        :raises PolyflakeError: as :meth:`fill`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, UUID]:
        """One new ID, waiting without holding the thread.

        A coroutine for asyncio: where :meth:`generate` would sleep, it sleeps in the event loop. If cancelled,
        it makes no ID.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_text_async(self, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, str]:
        """The text of one new ID, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_many_async(
        self, n: SupportsIndex, /, shard_key: SupportsIndex = 0
    ) -> Coroutine[Any, Any, HotGuidArray]:
        """Many new IDs, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`. The event loop has a turn at least every 16,384 IDs. A
        cancelled call loses the IDs that it made.

        :raises PolyflakeError: as :meth:`generate_many`, when it is awaited.
        """

    def fill_async(self, buffer: _Buffer, /, shard_key: SupportsIndex = 0) -> Coroutine[Any, Any, None]:
        """New IDs into the caller's buffer, waiting without holding the thread.

        A coroutine, as :meth:`generate_many_async`; the buffer is held until its end. A cancelled call leaves
        some new IDs at the front.

        :raises PolyflakeError: as :meth:`fill`, when it is awaited.
        """

    def extend_window(self, end: _Time, /) -> None:
        """Moves the end of the window later; an earlier or equal end changes nothing, and neither does any end without
        a window.

        :raises OutOfRangeError: for an end before the window's start, or past the format's time.
        """

    def stats(self) -> Stats:
        """Figures of now."""

    def close(self) -> None:
        """Ends the generator, also for calls in flight on other threads. There is nothing to save: the next generator
        draws random bytes of its own.

        :raises StateError: ``generator_closed`` if it was closed before.
        """

    def __reduce__(self) -> Any: ...

@final
class HotGuidArray(_Array[UUID]):
    """Many IDs, packed: 16 bytes each, in the order of the text, as ``UUID.bytes`` has them.

    It has the buffer protocol, as a read-only table of bytes with a row for each ID: ``numpy.asarray(ids)`` is a
    ``uint8`` array of shape ``(n, 16)`` that copies nothing. It is also an Arrow column, of 16 bytes each:
    ``pyarrow.array(ids)``, ``polars.Series(ids)``.
    """

    def __new__(cls, ids: _Packed | Iterable[UUID | str], /) -> HotGuidArray:
        """The IDs of a list, of packed bytes, or of an Arrow column.

        :param ids: any iterable of ``uuid.UUID`` and texts; packed bytes, as ``bytes(ids)`` gives them; or an Arrow
            column of 16 bytes each (pyarrow, also of UUIDs; polars and others; dictionaries of them, too).
        :raises InvalidTypeError: for anything else; for a null or another item, with the ``item``.
        :raises InvalidValueError: ``invalid_length`` if the last ID is not whole, or with the ``item`` of another
            length; ``invalid_character`` with the ``item`` and the ``position``.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> HotGuidArray:
        """The IDs of many texts.

        The IDs of a column of texts, each read as strictly as by :func:`parse`. A null or ``None`` is refused.

        :param column: as :meth:`polyflake.sno.SnoArray.from_texts` takes it, with 36 characters in each text.
        :raises InvalidTypeError: for a value that is not a column of texts; for an item that is not a text, with the
            ``item``.
        :raises InvalidValueError: ``invalid_length``, ``invalid_character`` with the ``item`` and the ``position``.
        """

    def timestamps(self) -> FieldColumn:
        """The creation time of each ID, in Unix seconds: 64-bit integers."""

    def machines(self) -> FieldColumn:
        """The machine of each: 5 bytes, as :func:`parts` reads them."""

    def counters(self) -> FieldColumn:
        """The counter of each: unsigned 32-bit integers."""

    def shard_keys(self) -> FieldColumn:
        """The shard key of each: unsigned 32-bit integers, as :func:`parts` reads them. In UUIDs of version 8 their
        bytes are in another order."""

    def text_column(self) -> TextColumn:
        """The texts of all, packed: the fast way into NumPy, Arrow and libraries that use them."""

    def texts(self) -> list[str]:
        """The texts of all."""

@final
class Stats:
    """Figures of a generator, at one moment."""

    @property
    def machine(self) -> bytes | None:
        """The 5 random bytes, once they are drawn."""

    @property
    def last_second(self) -> int | None:
        """The highest second that an ID was made in, in Unix seconds; ``None`` before the first ID."""

    @property
    def len(self) -> int:
        """Number of IDs made in that second."""

    @property
    def closed(self) -> bool:
        """True if the generator was closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
