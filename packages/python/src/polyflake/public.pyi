"""Public IDs: encrypted strings for the integer keys that you have, such as ``order_1x...`` in a URL for row 42.

    type | _ | version of the secret | the number, encrypted with SPARX-64/128 | check character

A number always gets the same string. The strings of consecutive numbers are unrelated, and so are the strings that two
types give to the same number. A mistyped character is rejected. Public IDs hide how many rows a table has, but they are
not signatures and do not grant access: see https://example.invalid/polyflake/blob/main/docs/public-ids.md
"""

from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, final

from polyflake._polyflake import _Buffer, _Integers

__all__ = ["IdType", "Keyring"]

@final
class Keyring:
    """The secrets with which a program encodes and decodes its public IDs.

    Its ``repr`` does not show the secrets, and it cannot be copied or pickled.

    >>> ids = Keyring(bytes(range(32)))  # from the environment or a file
    >>> orders = ids.of("order")
    >>> orders.encode(0)
    'order_1abpg7dgwhjba5j'
    """

    def __new__(cls, secret: _Buffer | Mapping[int, _Buffer], /, *, write: SupportsIndex | None = None) -> Keyring:
        """Creates the keyring from a secret of 32 bytes, or from several secrets by version, 0..31.

        All versions can be decoded, and the highest one is used for encoding. A single secret has version 1. The bytes
        are copied, so later changes to a buffer have no effect.

        :param write: the version to use for encoding instead of the highest one. This is the first step of a rotation,
            in which every process learns to decode the new version before any process encodes with it.
        :raises InvalidValueError: ``invalid_secret`` for another length or if two versions have the same secret,
            ``missing_field`` without a secret, ``unknown_version`` if ``write`` has no secret.
        :raises OutOfRangeError: ``out_of_range`` if a version is out of range.
        """

    def of(self, name: str, bits: SupportsIndex = 48) -> IdType:
        """Returns the public IDs of one type. Each type has its own key.

        :param name: ``[a-z][a-z0-9_]*``, at most 63 characters.
        :param bits: the width of the numbers, which are below 2^bits, 1..64. Of 2^(64 - bits) forged strings, or
            strings of another type whose name was replaced, one is accepted on average: 1 in 65,536 at 48 bits, every
            second one at 63, all at 64. The key depends on the width, so the strings of a type change if you widen it
            later.
        :raises InvalidValueError: ``invalid_character`` or ``invalid_length`` for the name.
        :raises OutOfRangeError: ``out_of_range`` for the width.
        """

    def __reduce__(self) -> Any: ...

@final
class IdType:
    """The public IDs of one type, which encodes numbers as strings and decodes them.

    Copying returns the same object, and it cannot be pickled.
    """

    @property
    def name(self) -> str:
        """The name of the type."""

    def encode(self, number: SupportsIndex, /) -> str:
        """Returns the string for a number, which is always the same under one secret.

        :raises OutOfRangeError: ``out_of_range`` for a negative number, or one that needs more bits than the type has.
        """

    def encode_many(self, numbers: _Integers, /) -> list[str]:
        """Returns the strings for many numbers: an iterable of integers, or a buffer or column of 64-bit integers.

        :raises PolyflakeError: as :meth:`encode` does, with the :attr:`~polyflake.PolyflakeError.item`.
        """

    def decode(self, text: str, /) -> int:
        """Returns the number of a public ID.

        :raises InvalidValueError: ``type_mismatch`` for the ID of another type, ``invalid_length`` or
            ``invalid_character`` for a string that is not a public ID, ``check_failed`` for a wrong character,
            ``unknown_version`` for a version without a secret, ``unknown_id`` for an ID that was forged or encoded with
            another secret.
        """

    def decode_many(self, texts: Iterable[str], /) -> list[int]:
        """Returns the numbers of many public IDs.

        :raises PolyflakeError: as :meth:`decode` does, with the :attr:`~polyflake.PolyflakeError.item`.
        """

    def __copy__(self) -> IdType: ...
    def __deepcopy__(self, memo: object, /) -> IdType: ...
    def __reduce__(self) -> Any: ...
