"""SPARX-64/128: the block cipher behind Randflake, with 64-bit blocks and a 128-bit key.

The cipher hides and shuffles IDs, but it does not authenticate them. Equal blocks always encrypt to equal blocks. The
words of keys and blocks are big-endian.
"""

from typing import Any, final

from polyflake._polyflake import _Buffer

__all__ = ["Sparx64"]

@final
class Sparx64:
    """The SPARX-64/128 cipher with a fixed key.

    The object cannot be copied or pickled, and its ``repr`` does not show the key.

    >>> cipher = Sparx64(bytes.fromhex("00112233445566778899aabbccddeeff"))
    >>> cipher.encrypt(bytes.fromhex("0123456789abcdef")).hex()
    '2bbef15201f55f98'
    """

    def __new__(cls, key: _Buffer, /) -> Sparx64:
        """Creates the cipher from a 16-byte key. The key is copied, so later changes to the buffer have no effect.

        :raises InvalidValueError: ``invalid_secret`` if the length is wrong.
        """

    def encrypt(self, block: _Buffer, /) -> bytes:
        """Encrypts one 8-byte block.

        :raises InvalidValueError: ``invalid_length`` unless ``block`` has 8 bytes.
        """

    def decrypt(self, block: _Buffer, /) -> bytes:
        """Decrypts one 8-byte block.

        :raises InvalidValueError: ``invalid_length`` unless ``block`` has 8 bytes.
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
