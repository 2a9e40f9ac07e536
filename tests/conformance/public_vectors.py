"""Generates tests/vectors/public.json with the cipher of randflake 2.1.0.

    python public_vectors.py > ../vectors/public.json

HKDF is implemented directly from its definition, and the check character is computed with logarithms in a finite field.
The core implements both of them differently.
"""

import hashlib
import hmac
import json
import random

from randflake.sparx64 import Sparx64

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
POWERS = [1]
for _ in range(30):
    POWERS.append(POWERS[-1] << 1 ^ (0b100101 if POWERS[-1] & 16 else 0))


def derive_key(secret: bytes, name: str, bits: int) -> bytes:
    pseudorandom_key = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    info = f"polyflake/public/{name}/{bits}".encode()
    return hmac.new(pseudorandom_key, info + b"\x01", hashlib.sha256).digest()[:16]


def check_value(values: list[int]) -> int:
    total = 0
    for at, value in enumerate(values):
        total ^= POWERS[(POWERS.index(value) + 14 - at) % 31] if value else 0
    return total


def encode_text(secret: bytes, name: str, bits: int, version: int, number: int) -> str:
    block = bytearray(8)
    Sparx64(derive_key(secret, name, bits)).encrypt(block, number.to_bytes(8, "big"))
    values = [version] + [int.from_bytes(block, "big") >> (60 - 5 * at) & 31 for at in range(13)]
    return f"{name}_" + "".join(ALPHABET[value] for value in [*values, check_value(values)])


random.seed(36)
cases = [
    {
        "secret": secret.hex(),
        "type": name,
        "bits": bits,
        "version": version,
        "number": str(number),
        "text": encode_text(secret, name, bits, version, number),
    }
    for secret in (bytes(range(32)), bytes([7]) * 32)
    for name, bits in (("order", 48), ("invoice", 48), ("a", 64), ("line_item2", 63), ("x" * 63, 1))
    for version in (0, 1, 31)
    for number in sorted({0, 1, (1 << bits) - 1, random.getrandbits(bits)})
]
lines = ",\n".join("  " + json.dumps(case) for case in cases)
SOURCE = "public_vectors.py: HKDF-SHA-256 and the check in plain Python, SPARX-64 of randflake 2.1.0"
print(f'{{\n "source": "{SOURCE}",\n "cases": [\n{lines}\n ]\n}}')
