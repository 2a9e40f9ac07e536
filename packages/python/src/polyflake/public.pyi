"""Public texts for integers that you have: ``order_1x...`` in a URL for the row 42, the same text each time.

    type | _ | version of the secret | the number, encrypted with SPARX-64/128 | check character

Nothing tells that two numbers are neighbours, the numbers of two types have nothing in common, and a mistyped character
is refused. It hides how many rows there are; it is neither a signature nor a permission: see
https://example.invalid/polyflake/blob/main/docs/public-ids.md
"""

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, final

from polyflake._polyflake import _Buffer, _Integers

__all__ = ["Ids", "Type"]

@final
class Ids:
    """The secrets of a program's public IDs. No text of it shows a secret, and it can be neither copied nor pickled.

    >>> ids = Ids(bytes(range(32)))  # from the environment or a file
    >>> orders = ids.of("order")
    >>> orders.encode(0)
    'order_1abpg7dgwhjba5j'
    """

    def __new__(cls, secret: _Buffer | Mapping[int, _Buffer], /, *, write: SupportsIndex | None = None) -> Ids:
        """A secret of 32 bytes, or secrets by their versions, 0..31: all are read, the highest is written.

        A single secret has version 1. The bytes are copied: later changes to a buffer have no effect.

        :param write: the version that is written in place of the highest: the first step of a rotation, in which every
            process learns to read the new version before any process writes it.
        :raises InvalidValueError: ``invalid_secret`` for another length and for one secret under two versions,
            ``missing_field`` for no secret, ``unknown_version`` for ``write`` without a secret.
        :raises OutOfRangeError: ``out_of_range`` for another version.
        """

    def of(self, name: str, bits: SupportsIndex = 48) -> Type:
        """The IDs of a type. Each has a key of its own.

        :param name: ``[a-z][a-z0-9_]*``, at most 63 characters.
        :param bits: numbers are below 2^bits, 1..64. Of 2^(64 - bits) made-up texts, or texts of another type whose
            name was exchanged, one is taken: at 48 bits 1 in 65,536, at 63 every second one, at 64 all. The key
            depends on the bits, so a type that gets more of them later has other texts.
        :raises InvalidValueError: ``invalid_character`` or ``invalid_length``, of the name.
        :raises OutOfRangeError: ``out_of_range``.
        """

    def __reduce__(self) -> Any: ...

@final
class Type:
    """The public IDs of one type: the texts of numbers. A copy is itself, and it cannot be pickled."""

    @property
    def name(self) -> str:
        """The type's name."""

    def encode(self, number: SupportsIndex, /) -> str:
        """The text of a number: always the same one, under one secret.

        :raises OutOfRangeError: ``out_of_range`` for a negative number, and one of more bits than the type's.
        """

    def encode_many(self, numbers: _Integers, /) -> list[str]:
        """The texts of many numbers: of integers in any iterable, or of a buffer or column of 64-bit integers.

        :raises PolyflakeError: with the :attr:`~polyflake.PolyflakeError.item`, as for one.
        """

    def decode(self, text: str, /) -> int:
        """The number of a text.

        :raises InvalidValueError: ``type_mismatch`` for another type's text, ``invalid_length`` and
            ``invalid_character`` for no ID, ``check_failed`` for a wrong character, ``unknown_version`` for a secret
            that is not here, ``unknown_id`` for a text that was made up, or made with another secret.
        """

    def decode_many(self, texts: Iterable[str], /) -> list[int]:
        """The numbers of many texts.

        :raises PolyflakeError: with the :attr:`~polyflake.PolyflakeError.item`, as for one.
        """

    def __copy__(self) -> Type: ...
    def __deepcopy__(self, memo: object, /) -> Type: ...
    def __reduce__(self) -> Any: ...
