"""Public IDs: encrypted strings that represent existing integer keys, such as ``order_1x...`` in a URL for row 42.

    type | _ | secret version | the number, encrypted with SPARX-64/128 | check character

For a given type and secret, a number is always encoded as the same string. Consecutive numbers are encoded as unrelated
strings, and different types encode the same number as unrelated strings. A string with one mistyped character is
rejected. Public IDs hide how many rows a table has, but they are not signatures and do not grant access: see
https://example.invalid/polyflake/blob/main/docs/public-ids.md
"""

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, final

from polyflake._polyflake import _Buffer, _Integers

__all__ = ["IdType", "Keyring"]

@final
class Keyring:
    """The secrets that a program uses to encode and decode its public IDs.

    The object cannot be copied or pickled, and its ``repr`` does not show the secrets.

    >>> ids = Keyring(bytes(range(32)))  # from the environment or a file
    >>> orders = ids.of("order")
    >>> orders.encode(0)
    'order_1abpg7dgwhjba5j'
    """

    def __new__(cls, secret: _Buffer | Mapping[int, _Buffer], /, *, write: SupportsIndex | None = None) -> Keyring:
        """Creates the keyring from one 32-byte secret, or from a mapping whose keys are versions (0..31) and whose
        values are secrets.

        Public IDs that were encoded with any of these versions can be decoded. New public IDs are encoded with the
        highest version. A single secret has version 1. The bytes are copied, so later changes to a buffer have no
        effect.

        :param write: the version to use for encoding instead of the highest one. Set it in the first step of a
            rotation, so that every process can decode the new version before any process encodes with it.
        :raises InvalidValueError: ``invalid_secret`` if a secret does not have 32 bytes or two versions have the same
            secret, ``missing_field`` if the mapping is empty, or ``unknown_version`` if there is no secret for version
            ``write``.
        :raises OutOfRangeError: ``out_of_range`` if a version is out of range.
        """

    def of(self, name: str, bits: SupportsIndex = 48) -> IdType:
        """Returns the type of public ID with the given name. Each type has its own key.

        :param name: the name of the type, which matches ``[a-z][a-z0-9_]*`` and has at most 63 characters.
        :param bits: the width of the numbers in bits, 1..64. All numbers must be below 2^bits. On average, one in 2^(64
            - bits) forged strings is accepted: one in 65,536 at 48 bits, one in two at 63 bits, and all of them at 64
            bits. An ID of a different type or width is accepted with the same probability if its type name is replaced.
            The key depends on the width, so changing a type's width changes all of its public IDs.
        :raises InvalidValueError: ``invalid_character`` or ``invalid_length`` if the name is invalid.
        :raises OutOfRangeError: ``out_of_range`` if the width is out of range.
        """

    def __reduce__(self) -> Any: ...

@final
class IdType:
    """A type of public ID, which encodes numbers as strings and decodes those strings.

    Copying the object returns the same object. It cannot be pickled.
    """

    @property
    def name(self) -> str:
        """The name of the type."""

    @property
    def bits(self) -> int:
        """The width of the numbers in bits."""

    def encode(self, number: SupportsIndex, /) -> str:
        """Returns the public ID of a number. With the same secret, a number always has the same public ID.

        :raises OutOfRangeError: ``out_of_range`` if the number is negative or needs more bits than the type has.
        """

    def encode_many(self, numbers: _Integers, /) -> list[str]:
        """Returns the public IDs of many numbers.

        :param numbers: an iterable of integers, or a buffer or column of 64-bit integers.

        :raises PolyflakeError: the same exceptions as :meth:`encode`. The error's
            :attr:`~polyflake.PolyflakeError.item` is the index of the number.
        """

    def decode(self, text: str, /) -> int:
        """Returns the number that a public ID represents.

        :raises InvalidValueError: ``type_mismatch`` if the ID belongs to a different type, ``invalid_length`` or
            ``invalid_character`` if the string is not a public ID, ``check_failed`` if a character was mistyped,
            ``unknown_version`` if there is no secret for the ID's version, or ``unknown_id`` if the ID was forged or
            encoded with a different secret.
        """

    def decode_many(self, texts: Iterable[str], /) -> list[int]:
        """Returns the numbers that many public IDs represent.

        :raises PolyflakeError: the same exceptions as :meth:`decode`. The error's
            :attr:`~polyflake.PolyflakeError.item` is the index of the string.
        """

    def __copy__(self) -> IdType: ...
    def __deepcopy__(self, memo: object, /) -> IdType: ...
    def __reduce__(self) -> Any: ...
