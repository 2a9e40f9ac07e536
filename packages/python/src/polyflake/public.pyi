"""Public IDs: encrypted strings for existing integer keys, such as ``order_1x...`` in a URL for row 42.

    type | _ | version of the secret | the number, encrypted with SPARX-64/128 | check character

A number always gets the same string. The strings of consecutive numbers are unrelated, and so are the strings that two
types use for the same number. A string with a mistyped character is rejected. Public IDs hide how many rows a table
has, but they are not signatures and do not grant access: see
https://example.invalid/polyflake/blob/main/docs/public-ids.md
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
        """Creates the keyring from a 32-byte secret, or from several secrets by version, 0..31.

        All versions can be decoded, and the highest one is used for encoding. A single secret has version 1. The bytes
        are copied, so later changes to a buffer have no effect.

        :param write: the version to use for encoding instead of the highest one. This is the first step of a rotation,
            in which every process learns to decode the new version before any process encodes with it.
        :raises InvalidValueError: ``invalid_secret`` if a secret does not have 32 bytes or two versions have the same
            secret, ``missing_field`` if no secret is passed, or ``unknown_version`` if the version ``write`` has no
            secret.
        :raises OutOfRangeError: ``out_of_range`` if a version is out of range.
        """

    def of(self, name: str, bits: SupportsIndex = 48) -> IdType:
        """Returns a type of public IDs by its name. Each type has its own key.

        :param name: the name of the type, which matches ``[a-z][a-z0-9_]*`` and has at most 63 characters.
        :param bits: the width of the numbers, which are below 2^bits, 1..64. On average, one of 2^(64 - bits) forged
            strings is accepted: 1 in 65,536 at 48 bits, every second one at 63 bits, all at 64 bits. The same applies
            to strings of another type whose name was replaced. The key depends on the width, so the strings of a type
            change if you widen it later.
        :raises InvalidValueError: ``invalid_character`` or ``invalid_length`` if the name is invalid.
        :raises OutOfRangeError: ``out_of_range`` if the width is out of range.
        """

    def __reduce__(self) -> Any: ...

@final
class IdType:
    """A type of public IDs, which encodes numbers as strings and decodes the strings.

    Copying the object returns the same object, and it cannot be pickled.
    """

    @property
    def name(self) -> str:
        """The name of the type."""

    def encode(self, number: SupportsIndex, /) -> str:
        """Returns the public ID of a number, which is always the same for one secret.

        :raises OutOfRangeError: ``out_of_range`` if the number is negative or needs more bits than the type has.
        """

    def encode_many(self, numbers: _Integers, /) -> list[str]:
        """Returns the public IDs of many numbers, which are an iterable of integers, or a buffer or column of 64-bit
        integers.

        :raises PolyflakeError: the same exceptions as :meth:`encode`, with the :attr:`~polyflake.PolyflakeError.item`.
        """

    def decode(self, text: str, /) -> int:
        """Returns the number of a public ID.

        :raises InvalidValueError: ``type_mismatch`` if the ID belongs to another type, ``invalid_length`` or
            ``invalid_character`` if the string is not a public ID, ``check_failed`` if a character was mistyped,
            ``unknown_version`` if its version has no secret, or ``unknown_id`` if the ID was forged or encoded with
            another secret.
        """

    def decode_many(self, texts: Iterable[str], /) -> list[int]:
        """Returns the numbers of many public IDs.

        :raises PolyflakeError: the same exceptions as :meth:`decode`, with the :attr:`~polyflake.PolyflakeError.item`.
        """

    def __copy__(self) -> IdType: ...
    def __deepcopy__(self, memo: object, /) -> IdType: ...
    def __reduce__(self) -> Any: ...
