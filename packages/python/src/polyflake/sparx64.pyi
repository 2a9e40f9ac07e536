"""SPARX-64/128: the block cipher behind Randflake, 64-bit blocks under a 128-bit key.

The same block always becomes the same block: it hides and shuffles IDs, and authenticates nothing. Words are
big-endian, in the key and in the block.
"""

from typing import Any, final

from polyflake._polyflake import _Buffer

__all__ = ["Sparx64"]

@final
class Sparx64:
    """The cipher SPARX-64/128 under one key. No text of it shows the key, and it can be neither copied nor
    pickled.

    >>> cipher = Sparx64(bytes.fromhex("00112233445566778899aabbccddeeff"))
    >>> cipher.encrypt(bytes.fromhex("0123456789abcdef")).hex()
    '2bbef15201f55f98'
    """

    def __new__(cls, key: _Buffer, /) -> Sparx64:
        """The cipher under a key of 16 bytes, which are copied: later changes to the buffer have no effect.

        :raises InvalidValueError: ``invalid_secret`` for another length.
        """

    def encrypt(self, block: _Buffer, /) -> bytes:
        """One block of 8 bytes, encrypted.

        :raises InvalidValueError: ``invalid_length``, in bytes.
        """

    def decrypt(self, block: _Buffer, /) -> bytes:
        """One block of 8 bytes, decrypted.

        :raises InvalidValueError: ``invalid_length``, in bytes.
        """

    def encrypt_many(self, blocks: _Buffer, /) -> bytes:
        """Many blocks in one piece, each on its own, encrypted. Other threads run meanwhile.

        :raises InvalidValueError: ``invalid_length`` if the last block is not whole.
        """

    def decrypt_many(self, blocks: _Buffer, /) -> bytes:
        """Many blocks in one piece, each on its own, decrypted. Other threads run meanwhile.

        :raises InvalidValueError: ``invalid_length`` if the last block is not whole.
        """

    def __reduce__(self) -> Any: ...
