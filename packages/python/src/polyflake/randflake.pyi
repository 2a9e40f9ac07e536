"""Randflake: 64-bit IDs that look random to those without the secret.

    30 timestamp, seconds since 2024-10-27T03:33:20Z | 17 node | 17 sequence      (encrypted with SPARX-64/128)

An ID is an ``int``, signed, as a database has it in a BIGINT column; its text is base32hex of the unsigned value. IDs
are unpredictable and nothing more: they are not authentic, no capability, and do not sort by time.

Every refused argument raises a :class:`polyflake.PolyflakeError`; nothing is rounded, wrapped or guessed. Integers are
``int`` or any type with ``__index__``, as NumPy's integers, but not ``bool`` or ``float``. Times are
integer Unix seconds, the last one 2803741823 (2058-11-05T17:10:23Z).
"""

import datetime as dt
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, SupportsIndex, TypeAlias, final, overload

from polyflake._lease import Lease
from polyflake._polyflake import Description, Stall, _Array, _Bools, _Buffer, _Integers, _OnExhausted, _Texts
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
    """The text of an ID: 1 to 13 characters of ``[0-9a-v]``.

        >>> encode_text(4594531474933654033)
        '3vgoe12ccb8gh'

    :param id: -2^63..2^63-1.
    :raises OutOfRangeError: ``out_of_range``, for unsigned values too: see :func:`from_unsigned`.
    """

def decode_text(text: str, /) -> int:
    """The ID of a text.

    There is one spelling for each ID: lower case, without padding and leading zeros.

    :raises InvalidValueError: ``invalid_length`` unless it has 1 to 13 characters, ``invalid_character`` with the
        position of the first bad one, ``not_canonical`` for a leading zero.
    :raises OutOfRangeError: ``out_of_range`` above 2^64-1.
    """

def to_unsigned(id: SupportsIndex, /) -> int:
    """The same 64 bits, without a sign: 0..2^64-1.

    :raises OutOfRangeError: unless the ID is in -2^63..2^63-1.
    """

def from_unsigned(value: SupportsIndex, /) -> int:
    """The ID whose 64 bits are this number without a sign.

    :raises OutOfRangeError: unless the value is in 0..2^64-1.
    """

def describe() -> Description:
    """Size, fields, rate and time span of the format. The fields are those of the raw value, which only the secret
    shows."""

@final
class Grant:
    """The right to use one node, or a range of nodes, for a span of time.

    It lasts from ``start`` until just before ``end``, in Unix seconds.

    The issuer of grants makes sure that no two grants share a node and a second. A grant serves one generator once. It
    is a value: equal to another of the same numbers, hashable, and may be copied and pickled.

        >>> Grant(42, 1_763_650_000, 1_763_653_600).nodes
        (42, 42)
    """

    def __new__(cls, nodes: _Nodes, start: SupportsIndex, end: SupportsIndex) -> Grant:
        """A grant.

        :param nodes: one node, or the first and the last of a range: 0..131071.
        :param start: the first second, at least 1730000000.
        :param end: one past the last second, at most 2803741824.
        :raises OutOfRangeError: with the ``field``.
        """

    @property
    def nodes(self) -> tuple[int, int]:
        """The first and the last node."""

    @property
    def start(self) -> int:
        """The first second, in Unix seconds."""

    @property
    def end(self) -> int:
        """One past the last second, in Unix seconds."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[type[Grant], tuple[tuple[int, int], int, int]]: ...

@final
class Parts:
    """The fields of an ID, which only the secret shows."""

    @property
    def timestamp(self) -> int:
        """The creation time, in Unix seconds."""

    @property
    def datetime(self) -> dt.datetime:
        """The creation time, as an aware datetime in UTC."""

    @property
    def node(self) -> int:
        """The node that made it, 0..131071."""

    @property
    def sequence(self) -> int:
        """The ID's number within its second and node, 0..131071."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class PartsColumns:
    """The fields of many IDs: columns that NumPy and Arrow see without a copy. As a sequence it gives the fields of one
    ID after the other, as :meth:`Codec.inspect` does.
    """

    @property
    def timestamp(self) -> FieldColumn:
        """The creation time of each, in Unix seconds: 64-bit integers."""

    @property
    def node(self) -> FieldColumn:
        """The node of each: unsigned 32-bit integers."""

    @property
    def sequence(self) -> FieldColumn:
        """The sequence of each: unsigned 32-bit integers."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: slice | memoryview | _Bools, /) -> PartsColumns: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Parts: ...
    def __iter__(self) -> Iterator[Parts]: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> Any: ...

@final
class Codec:
    """Reads IDs, and makes IDs of given fields, under a secret. No text of a codec shows the secret, and it can be
    neither copied nor pickled."""

    def __new__(cls, secret: _Buffer, /) -> Codec:
        """A codec for a secret of 16 bytes, which are copied: later changes to the buffer have no effect. Any 16 bytes
        are accepted, even zeros: draw them with ``secrets.token_bytes(16)``.

        :raises InvalidValueError: ``invalid_secret`` for another length.
        """

    def inspect(self, id: SupportsIndex, /) -> Parts:
        """The fields of an ID. Every number decrypts to some fields: plausible ones do not prove that it is an ID.

        :raises OutOfRangeError: unless the ID is in -2^63..2^63-1.
        """

    def inspect_columns(self, ids: RandflakeArray | _Integers | Iterable[SupportsIndex | str], /) -> PartsColumns:
        """The fields of many IDs, a column of each, ten times as fast as one by one. Other threads run meanwhile.

            >>> codec = Codec(b"sixteen byte key")
            >>> ids = RandflakeArray.from_texts(["3vgoe12ccb8gh"])
            >>> codec.inspect_columns(ids)[0] == codec.inspect(ids[0])
            True

        :param ids: an array, or a list or column as :class:`RandflakeArray` takes it.
        :raises InvalidTypeError: for anything else; for a null, with the ``item``.
        """

    def encrypt(self, timestamp: SupportsIndex, node: SupportsIndex, sequence: SupportsIndex) -> int:
        """The ID of given fields; the caller makes sure that no ID is made twice.

        :param timestamp: Unix seconds, 1730000000..2803741823.
        :param node: 0..131071.
        :param sequence: 0..131071.
        :raises OutOfRangeError: ``time_out_of_range`` for the timestamp, ``out_of_range`` with the ``field``.
        """

    def __reduce__(self) -> Any: ...

@final
class Generator:
    """A source of IDs under one grant, up to 131,072 a second for each of its nodes.

    Threads may share it. When a second is used up or the clock is behind the last second used, calls wait or fail, as
    ``on_exhausted`` says. A grant that served one generator must not serve another without ``resume_after``, so a
    generator can be neither copied nor pickled, and in a forked child it refuses with ``forked``. No text of it shows
    the secret.

    Waiting lets other threads run and ends when a signal's handler raises, as ``KeyboardInterrupt`` does.
    """

    def __new__(
        cls,
        grant: Grant | None,
        secret: _Buffer,
        *,
        clock: Callable[[], SupportsIndex] | None = None,
        on_exhausted: _OnExhausted = "wait",
        max_wait: SupportsIndex | None = None,
        resume_after: SupportsIndex | None = None,
        lease: Lease | None = None,
        on_stall: Callable[[Stall], object] | None = None,
    ) -> Generator:
        """A new generator.

        :param grant: the nodes that it may use, and the time span. They may have served an earlier generator, so
            without ``resume_after`` the first ID belongs to the second after the first call, which waits for up to one
            second. If the clock was set back between two runs, IDs repeat.
        :param secret: 16 bytes, which are copied; the same for all nodes. Any bytes are accepted, even zeros.
        :param clock: gives integer Unix nanoseconds, instead of the system's clock; called without a lock, so it may
            be slow, raise or use the generator itself.
        :param on_exhausted: action when a second's IDs are used up, or the clock is behind: ``"wait"`` for it to
            move on, or ``"error"``.
        :param max_wait: longest wait of one call, in milliseconds, 0..4294967295; 1000 by default.
        :param resume_after: the last second that the grant was used in, as :meth:`close` told: no ID is made in it or
            before it. 1730000000..2803741823.
        :param lease: a :class:`polyflake.Lease`, which gives the generator its node and its times;
            the first ID waits for it.
        :param on_stall: called on the waiting thread before each sleep of a call that has to wait; an exception from it
            ends the wait and propagates.
        :warns RuntimeWarning: once for nodes and a secret, if a generator of this process that is still in use has
            both, and an overlapping time: they repeat each other's IDs.
        :raises InvalidValueError: ``invalid_secret`` unless it has 16 bytes.
        :raises OutOfRangeError: with the ``field``.
        """

    def generate(self) -> int:
        """One new ID.

        :raises LeaseError: ``lease_not_started`` with ``retry_at``, ``lease_expired``.
        :raises ClockError: ``clock_behind`` with ``retry_at``, ``clock_failed``.
        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``.
        :raises StateError: ``generator_closed``, ``forked``.
        """

    def generate_text(self) -> str:
        """The text of one new ID, at once: ``encode_text(generate())``. Raises as :meth:`generate`."""

    def generate_many(self, n: SupportsIndex, /) -> RandflakeArray:
        """Many new IDs. Other threads run meanwhile.

        :param n: number of IDs, 0..16777216.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of IDs that were made and are lost.
        """

    def fill(self, buffer: _Buffer, /) -> None:
        """Fills the caller's buffer with new IDs.

        As many as the buffer holds. Filling the same memory again and again takes no new pages from the system. Other
        threads run meanwhile.

        :param buffer: writable and C-contiguous: signed 64-bit integers in the machine's byte order, such
            as a NumPy array of ``int64`` or an ``array("q")``.
        :raises InvalidTypeError: for a buffer that is read-only, strided or of anything else.
        :raises PolyflakeError: as :meth:`generate`, with ``written``, the number of valid IDs at the front of the
            buffer; the rest of the buffer is unchanged.
        """

    def try_generate(self) -> int:
        """One new ID if there is one now. It never waits, whatever ``on_exhausted`` and ``max_wait`` say.

        :raises ExhaustedError: ``sequence_exhausted`` with ``retry_at``, instead of a wait.
        :raises ClockError: ``clock_behind`` with ``retry_at``, instead of a wait.
        :raises PolyflakeError: otherwise as :meth:`generate`.
        """

    def try_generate_text(self) -> str:
        """The text of one new ID if there is one now. Raises as :meth:`try_generate`."""

    def try_generate_many(self, n: SupportsIndex, /) -> RandflakeArray:
        """The new IDs that there are now, up to a number. It never waits: there may be fewer, or none.

        :param n: largest number of IDs, 0..16777216.
        :raises PolyflakeError: as :meth:`generate_many`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def try_fill(self, buffer: _Buffer, /) -> int:
        """Fills the front of the caller's buffer with the new IDs that there are now, and returns how many.

        It never waits: there may be fewer than the buffer holds, or none. The rest of the buffer is unchanged.

        :param buffer: as :meth:`fill` takes it.
        :raises PolyflakeError: as :meth:`fill`, except for ``sequence_exhausted`` and ``clock_behind``.
        """

    def generate_async(self) -> Coroutine[Any, Any, int]:
        """One new ID, waiting without holding the thread.

        A coroutine for asyncio: where :meth:`generate` would sleep, it sleeps in the event loop. If cancelled,
        it makes no ID.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_text_async(self) -> Coroutine[Any, Any, str]:
        """The text of one new ID, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`.

        :raises PolyflakeError: as :meth:`generate`, when it is awaited.
        """

    def generate_many_async(self, n: SupportsIndex, /) -> Coroutine[Any, Any, RandflakeArray]:
        """Many new IDs, waiting without holding the thread.

        A coroutine, as :meth:`generate_async`. The event loop has a turn at least every 16,384 IDs. A
        cancelled call loses the IDs that it made.

        :raises PolyflakeError: as :meth:`generate_many`, when it is awaited.
        """

    def fill_async(self, buffer: _Buffer, /) -> Coroutine[Any, Any, None]:
        """New IDs into the caller's buffer, waiting without holding the thread.

        A coroutine, as :meth:`generate_many_async`; the buffer is held until its end. A cancelled call leaves
        some new IDs at the front.

        :raises PolyflakeError: as :meth:`fill`, when it is awaited.
        """

    def inspect(self, id: SupportsIndex, /) -> Parts:
        """The fields of an ID, of this generator or another under the same secret: see :meth:`Codec.inspect`."""

    @property
    def grant(self) -> Grant:
        """The grant, as far as it was extended."""

    def extend_grant(self, grant: Grant, /) -> None:
        """Extends the grant; one that ends no later changes nothing.

        :raises LeaseError: ``lease_mismatch`` unless both have the same nodes and start.
        """

    def stats(self) -> Stats:
        """Figures of now."""

    def close(self) -> int | None:
        """Ends the generator and tells the last second used.

        Calls in flight on other threads end, too. The result is in Unix seconds: the ``resume_after`` of the grant's
        next generator. ``None`` if nothing was made.

        :raises StateError: ``generator_closed`` if it was closed before; ``forked``, since the parent's generator goes
            on.
        """

    def __reduce__(self) -> Any: ...

@final
class RandflakeArray(_Array[int]):
    """Many IDs, packed: a signed 64-bit integer each.

    It has the buffer protocol, as a read-only list of them: ``numpy.asarray(ids)`` is an ``int64`` array that copies
    nothing. It is also an Arrow column: ``pyarrow.array(ids)``, ``polars.Series(ids)``.
    """

    def __new__(cls, ids: _Integers | Iterable[SupportsIndex | str], /) -> RandflakeArray:
        """The IDs of a list or a column.

        :param ids: any iterable of integers and texts; or a column of signed 64-bit integers: a buffer in the machine's
            byte order (a NumPy array of ``int64``, an ``array("q")``) or an Arrow column (pyarrow, polars and others).
        :raises InvalidTypeError: for a column of anything else, even of unsigned integers; for a null or another item,
            with the ``item``.
        :raises InvalidValueError: for a text, as :func:`decode_text`, with the ``item``.
        :raises OutOfRangeError: for an integer of more than 64 bits, with the ``item``.
        """

    @staticmethod
    def from_texts(column: _Texts, /) -> RandflakeArray:
        """The IDs of many texts.

        Each text is read as strictly as by :func:`decode_text`; a null or ``None`` is refused.

        :param column: an Arrow column of strings, or of bytes of one width, padded with zeros (from pyarrow, polars and
            others, by ``__arrow_c_stream__`` or ``__arrow_c_array__``); a buffer of texts (NumPy's ``S`` and ``U``) or
            of 16 bytes each (a table of 16 columns, or packed bytes); or any iterable of ``str``.
        :raises InvalidTypeError: for any other type; for an item that is not a text, with the ``item``.
        :raises InvalidValueError: ``invalid_character``, ``invalid_length``, ``not_canonical`` with the ``item``;
            ``invalid_length`` for a buffer of another width.
        :raises OutOfRangeError: as :func:`decode_text`, with the ``item``.
        """

    def text_column(self) -> TextColumn:
        """The texts of all, packed: the fast way into NumPy, Arrow and libraries that use them."""

    def texts(self) -> list[str]:
        """The texts of all."""

@final
class TextColumn(_Array[str]):
    """Texts of IDs, packed, as :meth:`RandflakeArray.text_column` gives them.

    It is a sequence of ``str``, which pandas takes as a column. It has the buffer protocol (``numpy.asarray(column)``
    is a read-only ``S16`` array that copies nothing) and is an Arrow column of strings (``pyarrow.array(column)``,
    ``polars.Series(column)``), of up to 165191049 texts. The texts are written on demand: once for NumPy, and each time
    for Arrow.
    """

@final
class Stats:
    """Figures of a generator, at one moment."""

    @property
    def last_second(self) -> int | None:
        """The last second used, in Unix seconds; ``None`` before the first ID."""

    @property
    def len(self) -> int:
        """Number of IDs used up in that second."""

    @property
    def closed(self) -> bool:
        """True if the generator was closed."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
