"""Randflake: 64-bit IDs that are indistinguishable from random numbers without the secret.

    30 timestamp, seconds since 2024-10-27T03:33:20Z | 17 node | 17 sequence      (encrypted with SPARX-64/128)

An ID is a signed ``int``, which databases can store in a BIGINT column. An encoded ID is the unsigned value in
base32hex. The node is the worker ID. IDs are unpredictable, but they are not authenticated, grant no access and do not
sort by time.

Invalid arguments raise a :class:`polyflake.PolyflakeError`; values are never rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, such as NumPy's integers, but not ``bool`` or ``float``. Times are integer Unix
seconds up to 2803741823 (2058-11-05T17:10:23Z).
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable, Iterator
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
    _Texts,
    _WritableBuffer,
)
from polyflake.sno import FieldColumn

_Nodes: TypeAlias = SupportsIndex | tuple[SupportsIndex, SupportsIndex] | list[SupportsIndex]

__all__ = [
    "Codec",
    "Generator",
    "Grant",
    "Parts",
    "PartsColumns",
    "RandflakeArray",
    "Stats",
    "TextColumn",
    "decode_text",
    "describe",
    "encode_text",
    "from_unsigned",
    "to_unsigned",
]

def encode_text(id: SupportsIndex, /) -> str:
    """Returns an ID as a string of 1 to 13 characters from ``[0-9a-v]``.

        >>> encode_text(4594531474933654033)
        '3vgoe12ccb8gh'

    :param id: the ID, -2^63..2^63-1.
    :raises OutOfRangeError: ``out_of_range`` for any other value. Convert unsigned values above 2^63-1 with
        :func:`from_unsigned` first.
    """

def decode_text(text: str, /) -> int:
    """Decodes an encoded ID.

    Only the canonical encoding is accepted: lower case, without padding or leading zeros.

    :raises InvalidValueError: ``invalid_length`` unless the string has 1 to 13 characters, ``invalid_character`` with
        the ``position`` of the first invalid character, or ``not_canonical`` if the string has a leading zero.
    :raises OutOfRangeError: ``out_of_range`` if the value is above 2^64-1.
    """

def to_unsigned(id: SupportsIndex, /) -> int:
    """Returns the 64 bits of an ID as an unsigned integer, 0..2^64-1.

    :raises OutOfRangeError: unless the ID is in -2^63..2^63-1.
    """

def from_unsigned(value: SupportsIndex, /) -> int:
    """Returns the ID with the same 64 bits as the given unsigned integer.

    :raises OutOfRangeError: unless the value is in 0..2^64-1.
    """

def describe() -> Description:
    """Returns the format's size, fields, rate and time span. The fields are those of the unencrypted value."""

@final
class Grant:
    """The right to use one node, or a range of nodes, during a time span.

    The time span includes ``start`` and excludes ``end``. Both are Unix timestamps in seconds.

    The issuer of grants must ensure that no two grants share a node in the same second. Use a grant for only one
    generator, and only once. Grants with the same values are equal. A grant is hashable and can be copied and pickled.

        >>> Grant(42, 1_763_650_000, 1_763_653_600).nodes
        (42, 42)
    """

    def __new__(cls, nodes: _Nodes, start: SupportsIndex, end: SupportsIndex) -> Grant:
        """Creates a grant.

        :param nodes: one node (0..131071), or the first and the last node of a range.
        :param start: the first second of the grant, as a Unix timestamp, at least 1730000000.
        :param end: the first second after the grant, as a Unix timestamp, at most 2803741824.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        """

    @property
    def nodes(self) -> tuple[int, int]:
        """The first and the last node."""

    @property
    def start(self) -> int:
        """The first second of the grant, as a Unix timestamp."""

    @property
    def end(self) -> int:
        """The first second after the grant, as a Unix timestamp."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[type[Grant], tuple[tuple[int, int], int, int]]: ...

@final
class Parts:
    """The fields of an ID, which can be decrypted only with the secret."""

    @property
    def timestamp(self) -> int:
        """The creation time, in Unix seconds."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def node(self) -> int:
        """The node (0..131071) of the generator that created the ID."""

    @property
    def sequence(self) -> int:
        """The sequence number, 0..131071, which distinguishes IDs that a node generated in the same second."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class PartsColumns:
    """The fields of many IDs, as columns that NumPy and Arrow can read without copying.

    The object is also a sequence of :class:`Parts` objects, one for each ID, as :meth:`Codec.inspect` returns them.
    """

    @property
    def timestamp(self) -> FieldColumn:
        """The creation time of each ID, in Unix seconds, as 64-bit integers."""

    @property
    def node(self) -> FieldColumn:
        """The node of each ID, as unsigned 32-bit integers."""

    @property
    def sequence(self) -> FieldColumn:
        """The sequence number of each ID, as unsigned 32-bit integers."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: slice | memoryview | _BoolArray, /) -> PartsColumns: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Parts: ...
    def __iter__(self) -> Iterator[Parts]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> Any: ...

@final
class Codec:
    """A codec that uses a secret to decrypt IDs and to encrypt fields into IDs.

    The object cannot be copied or pickled, and its ``repr`` does not show the secret.
    """

    def __new__(cls, secret: _Buffer, /) -> Codec:
        """Creates a codec from a 16-byte secret.

        The bytes are copied, so later changes to the buffer have no effect. Any 16 bytes are accepted, even all zeros,
        so generate the secret with ``secrets.token_bytes(16)``.

        :raises InvalidValueError: ``invalid_secret`` if the length is wrong.
        """

    def inspect(self, id: SupportsIndex, /) -> Parts:
        """Returns the fields of an ID.

        Every 64-bit number decrypts to something that looks like valid fields, so plausible fields do not prove that
        the number is an ID.

        :raises OutOfRangeError: unless the ID is in -2^63..2^63-1.
        """

    def inspect_columns(self, ids: RandflakeArray | _Integers | Iterable[SupportsIndex | str], /) -> PartsColumns:
        """Returns the fields of many IDs as columns. Other threads can run during the call.

        This method is ten times as fast as inspecting the IDs one at a time.

            >>> codec = Codec(b"sixteen byte key")
            >>> ids = RandflakeArray.from_texts(["3vgoe12ccb8gh"])
            >>> codec.inspect_columns(ids)[0] == codec.inspect(ids[0])
            True

        :param ids: an array, or a list or column that :class:`RandflakeArray` accepts.
        :raises InvalidTypeError: if ``ids`` has the wrong type, or if an item is null. ``item`` is the index of that
            item.
        """

    def encrypt(self, timestamp: SupportsIndex, node: SupportsIndex, sequence: SupportsIndex) -> int:
        """Returns the ID with the given fields. The caller must ensure that no two calls return the same ID.

        :param timestamp: the creation time in Unix seconds, 1730000000..2803741823.
        :param node: the node, 0..131071.
        :param sequence: the sequence number, 0..131071.
        :raises OutOfRangeError: ``time_out_of_range`` if the timestamp is out of range, or ``out_of_range`` if any
            other argument is. The error's ``field`` names the argument.
        """

    def __reduce__(self) -> Any: ...

@final
class Generator:
    """An ID generator for one grant. It generates up to 131,072 IDs per second for each node in the grant.

    Threads can share a generator. When all IDs of a second are used up, or the clock is behind the last second used,
    calls wait or raise an exception, depending on ``on_exhausted``. After one generator has used a grant, another
    generator must not use it without ``resume_after``. For this reason, a generator cannot be copied or pickled, and it
    raises ``forked`` in a forked child. Its ``repr`` does not show the secret.

    Other threads can run while a call waits. The wait ends if a signal handler raises an exception, such as
    ``KeyboardInterrupt``.
    """

    def __new__(
        cls,
        grant: Grant | None,
        secret: _Buffer,
        *,
        clock: Callable[[], SupportsIndex] | None = None,
        test_clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        resume_after: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """Creates a generator.

        :param grant: the nodes and the time span that the generator can use. Without ``resume_after``, the first call
            waits for the next second, because an earlier generator may have used the same grant. If an earlier
            generator did use the grant and the clock has been set back since then, the new generator creates duplicate
            IDs. With a ``lease``, pass ``None``.
        :param secret: the 16-byte secret, which is copied. All nodes use the same secret. Any bytes are accepted, even
            all zeros.
        :param clock: a callable that returns integer Unix nanoseconds, used instead of the system clock. It is called
            without a lock, so it can be slow, raise an exception or use the generator itself.
        :param test_clock: a clock for tests, used in place of ``clock``. It may stand still or move backwards. The
            first call then uses the current tick, so a generator that is created again repeats the IDs of the one
            before it.
        :param on_exhausted: what to do when all IDs of a second are used up or when the clock is behind: ``"wait"``
            waits until the clock has advanced, and ``"error"`` raises an exception.
        :param max_wait: the longest time that one call can wait, in milliseconds, 0..4294967295; 1000 by default.
        :param resume_after: the last second in which the grant was used (1730000000..2803741823), as returned by
            :meth:`close`. All new IDs belong to later seconds.
        :param lease: a :class:`polyflake.Lease`, which provides the node and the time span. The first call waits for
            the lease.
        :param on_stall: a callable that is called on the waiting thread before each sleep. If it raises an exception,
            the wait ends and the exception propagates.
        :raises StateError: ``worker_id_in_use`` if another live generator of this process has some of the
            nodes and the secret. Constructing a generator again with equal options returns another handle on the same
            generator.
        :raises InvalidValueError: ``invalid_secret`` unless the secret has 16 bytes.
        :raises OutOfRangeError: if an argument is out of range. The error's ``field`` names the argument.
        """

    def generate(self) -> int:
        """Returns a new ID.

        :raises LeaseError: ``lease_not_started`` with ``retry_at`` before the grant starts, or ``lease_expired`` after
            it ends.
        :raises ClockError: ``clock_behind`` with ``retry_at`` if the clock is behind the last ID's time, or
            ``clock_failed`` if the clock fails.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID became available in time.
        :raises StateError: ``generator_closed`` if the generator is closed, or ``forked`` if it belongs to a parent
            process.
        """

    def generate_text(self) -> str:
        """Returns a new ID as a string, like ``encode_text(generate())`` but in one call.

        :raises PolyflakeError: the same exceptions as :meth:`generate`.
        """

    def generate_many(self, n: SupportsIndex, /) -> RandflakeArray:
        """Returns ``n`` new IDs. Other threads can run during the call.

        :param n: the number of IDs, 0..16777216.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of IDs that were
            generated before the error. These IDs are lost.
        """

    def fill(self, buffer: _WritableBuffer, /) -> None:
        """Fills the buffer with new IDs.

        Reusing one buffer avoids allocating memory for each batch. Other threads can run during the call.

        :param buffer: a writable, C-contiguous buffer of signed 64-bit integers in native byte order, such as a NumPy
            array of ``int64`` or an ``array("q")``.
        :raises InvalidTypeError: if the buffer is read-only or strided, or has the wrong item type.
        :raises PolyflakeError: the same exceptions as :meth:`generate`. ``written`` is the number of valid IDs at the
            front of the buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self) -> int:
        """Returns a new ID if one is available without waiting.

        This method never waits. ``on_exhausted`` and ``max_wait`` are ignored.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at`` if no ID is available before the next second.
        :raises ClockError: ``clock_behind`` with ``retry_at`` if the clock is behind the last ID's time.
        :raises PolyflakeError: in all other cases, the same exceptions as :meth:`generate`.
        """

    def try_generate_text(self) -> str:
        """Returns a new ID as a string if one is available without waiting.

        :raises PolyflakeError: the same exceptions as :meth:`try_generate`.
        """

    def try_generate_many(self, n: SupportsIndex, /) -> RandflakeArray:
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

    def generate_async(self) -> Coroutine[Any, Any, int]:
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

    def generate_many_async(self, n: SupportsIndex, /) -> Coroutine[Any, Any, RandflakeArray]:
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

    def inspect(self, id: SupportsIndex, /) -> Parts:
        """Returns the fields of an ID that this or any other generator created with the same secret. See
        :meth:`Codec.inspect`.
        """

    @property
    def grant(self) -> Grant:
        """The grant, including its extensions."""

    def extend_grant(self, grant: Grant, /) -> None:
        """Extends the grant. The call has no effect if the new grant does not end later.

        :raises LeaseError: ``lease_mismatch`` unless both grants have the same nodes and start.
        """

    def stats(self) -> Stats:
        """Returns the generator's current statistics."""

    def close(self) -> int | None:
        """Closes the generator and returns the last second used, as a Unix timestamp.

        Pass the result as ``resume_after`` to the next generator for the grant. The result is ``None`` if no ID was
        generated. Closing also ends calls that are in progress on other threads.

        :raises StateError: ``generator_closed`` if the generator is already closed, or ``forked`` in a child process,
            because the generator continues in the parent.
        """

    def __reduce__(self) -> Any: ...

@final
class RandflakeArray(_Array[int]):
    """A packed array of IDs, each a signed 64-bit integer.

    The array supports the buffer protocol as a read-only one-dimensional array of these integers. For example,
    ``numpy.asarray(ids)`` is an ``int64`` array, created without a copy. The array is also an Arrow column, so
    ``pyarrow.array(ids)`` and ``polars.Series(ids)`` can read it.
    """

    def __new__(cls, ids: _Integers | Iterable[SupportsIndex | str], /) -> RandflakeArray:
        """Creates an array from a list or a column of IDs.

        :param ids: either an iterable whose items are integers or strings, or a column of signed 64-bit integers. A
            column is either a buffer in native byte order, such as a NumPy array of ``int64`` or an ``array("q")``, or
            an Arrow column from pyarrow, polars or another library.
        :raises InvalidTypeError: if a column has the wrong type, such as unsigned integers, or if an item is null or
            has the wrong type. ``item`` is the index of that item.
        :raises InvalidValueError: if :func:`decode_text` rejects a string. ``item`` is the string's index.
        :raises OutOfRangeError: if an integer has more than 64 bits. ``item`` is its index.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> RandflakeArray:
        """Parses a column of encoded IDs, checking each one as strictly as :func:`decode_text`. Nulls and ``None`` are
        rejected.

        :param column: an Arrow column, a buffer, or an iterable of ``str``. An Arrow column contains strings, or
            fixed-width bytes padded with zeros. It is read through ``__arrow_c_stream__`` or ``__arrow_c_array__``,
            which pyarrow, polars and others provide. A buffer contains either strings (NumPy's ``S`` and ``U``) or 16
            bytes per ID, as packed bytes or as a two-dimensional byte array with 16 bytes per row.
        :raises InvalidTypeError: if the column has the wrong type, or if an item is not a string. ``item`` is the index
            of that item.
        :raises InvalidValueError: if :func:`decode_text` rejects a string (the exception has the same code, and
            ``item`` is the string's index), or if a buffer does not have 16 bytes per ID (``invalid_length``).
        :raises OutOfRangeError: if an ID is above 2^64-1. ``item`` is its index.
        """

    def text_column(self) -> TextColumn:
        """Returns all IDs as a packed column of strings, which is the fastest way to pass them to NumPy, to Arrow and
        to libraries that use either.
        """

    def texts(self) -> list[str]:
        """Returns all IDs as a list of strings."""

@final
class TextColumn(_Array[str]):
    """A packed column of encoded IDs, returned by :meth:`RandflakeArray.text_column`.

    The column is a sequence of ``str``, which pandas accepts as a column. It supports the buffer protocol
    (``numpy.asarray(column)`` is a read-only ``S16`` array, created without a copy) and is an Arrow column of up to
    165191049 strings (``pyarrow.array(column)``, ``polars.Series(column)``). The strings are created on demand. NumPy
    arrays share strings that are created once, whereas each Arrow conversion creates the strings again.
    """

@final
class Stats:
    """A generator's statistics at one point in time."""

    @property
    def last_second(self) -> int | None:
        """The last second used, as a Unix timestamp; ``None`` before the first ID."""

    @property
    def len(self) -> int:
        """The number of IDs used up in ``last_second``."""

    @property
    def closed(self) -> bool:
        """True if the generator is closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
