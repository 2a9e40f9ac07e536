"""SPARX-64/128: the block cipher behind Randflake, with 64-bit blocks and a 128-bit key.

Equal blocks always encrypt to equal blocks, so the cipher hides and shuffles IDs but authenticates nothing. Words are
big-endian, in the key and in the block.
"""

from typing import Any, final

from polyflake._polyflake import _Buffer

__all__ = ["Sparx64"]

@final
class Sparx64:
    """The cipher SPARX-64/128 with one key.

    Its ``repr`` does not show the key, and it cannot be copied or pickled.

    >>> cipher = Sparx64(bytes.fromhex("00112233445566778899aabbccddeeff"))
    >>> cipher.encrypt(bytes.fromhex("0123456789abcdef")).hex()
    '2bbef15201f55f98'
    """

    def __new__(cls, key: _Buffer, /) -> Sparx64:
        """Creates the cipher from a key of 16 bytes, which are copied. Later changes to the buffer have no effect.

        :raises InvalidValueError: ``invalid_secret`` for another length.
        """

    def encrypt(self, block: _Buffer, /) -> bytes:
        """Encrypts one block of 8 bytes.

        :raises InvalidValueError: ``invalid_length``, in bytes.
        """

    def decrypt(self, block: _Buffer, /) -> bytes:
        """Decrypts one block of 8 bytes.

        :raises InvalidValueError: ``invalid_length``, in bytes.
        """

    def encrypt_many(self, blocks: _Buffer, /) -> bytes:
        """Encrypts consecutive blocks, each independently. Other threads can run during the call.

        :raises InvalidValueError: ``invalid_length`` if the last block is incomplete.
        """

    def decrypt_many(self, blocks: _Buffer, /) -> bytes:
        """Decrypts consecutive blocks, each independently. Other threads can run during the call.

        :raises InvalidValueError: ``invalid_length`` if the last block is incomplete.
        """

    def __reduce__(self) -> Any: ...
