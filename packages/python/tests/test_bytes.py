"""Tests every parameter that accepts bytes. Any buffer must be accepted and copied, and no secret may be revealed."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from families import GRANT
from polyflake import PolyflakeError, hotguid, layout, public, randflake, sno
from polyflake.sparx64 import Sparx64
from support import NOW_MS, NOW_NS, raises_code

SECRET = b"\xde\xad\xbe\xef" + b"tell no one!"


class Parameter(NamedTuple):
    """A parameter that accepts bytes. The result of ``call`` depends on each byte. ``size`` is the supported number of
    bytes, and ``code`` is the error code for any other number.
    """

    call: Callable[[Any], object]
    size: int
    code: str = "invalid_length"


ID = sno.Sno("93bm44ab22flxhjb")
CIPHER = Sparx64(bytes(range(16)))
KEYRING = public.Keyring(SECRET * 2)
TAGGED_LAYOUT = layout.Layout(
    {"id": "bytes", "bits": 24, "fields": [{"kind": "bindable", "bits": 24, "type": "bytes"}]}
)
WIDE_LAYOUT = layout.Layout({"id": "bytes", "bits": 24, "fields": [{"kind": "sequence", "bits": 24}]})


def make_randflake(secret: Any) -> object:
    return randflake.Generator(GRANT, secret, test_clock=lambda: NOW_NS).generate()


PARAMETERS = {
    "sno.Sno.from_bytes": Parameter(sno.Sno.from_bytes, 10),
    "sno.Sno.with_partition": Parameter(ID.with_partition, 2),
    "sno.Generator": Parameter(lambda partition: sno.Generator(partition).partition, 2),
    "hotguid.from_parts": Parameter(lambda machine: hotguid.from_parts(timestamp=1, machine=machine, counter=2), 5),
    "hotguid.from_dotnet_bytes": Parameter(hotguid.from_dotnet_bytes, 16),
    "randflake.Codec": Parameter(lambda key: randflake.Codec(key).encrypt(NOW_MS // 1000, 1, 2), 16, "invalid_secret"),
    "randflake.Generator": Parameter(make_randflake, 16, "invalid_secret"),
    "sparx64.Sparx64": Parameter(lambda key: Sparx64(key).encrypt(bytes(8)), 16, "invalid_secret"),
    "public.Keyring": Parameter(lambda secret: public.Keyring(secret).of("order").encode(1), 32, "invalid_secret"),
    "public.Keyring of versions": Parameter(
        lambda secret: public.Keyring({1: secret}).of("a").encode(1), 32, "invalid_secret"
    ),
    "sparx64.Sparx64.encrypt": Parameter(CIPHER.encrypt, 8),
    "sparx64.Sparx64.decrypt": Parameter(CIPHER.decrypt, 8),
    "sparx64.Sparx64.encrypt_many": Parameter(CIPHER.encrypt_many, 8),
    "sparx64.Sparx64.decrypt_many": Parameter(CIPHER.decrypt_many, 8),
    "layout.Layout.pack": Parameter(
        lambda tag: TAGGED_LAYOUT.pack(bindables={"bindable-0-24": tag}), 3, "out_of_range"
    ),
    "layout.Layout.parse": Parameter(lambda id: WIDE_LAYOUT.parse(id).sequence, 3),
}
each_parameter = pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=PARAMETERS)


@each_parameter
def test_buffers_are_read_in_logical_order(parameter: Parameter) -> None:
    data = bytes(range(1, parameter.size + 1))
    interleaved_view = memoryview(bytes(b for byte in data for b in (byte, 0)))
    for same in (bytearray(data), memoryview(data), interleaved_view[::2]):
        assert parameter.call(same) == parameter.call(data)
    assert parameter.call(memoryview(data)[::-1]) == parameter.call(data[::-1]) != parameter.call(data)


@each_parameter
def test_bytes_of_another_length_are_rejected(parameter: Parameter) -> None:
    for length in (parameter.size + 1, 2 * parameter.size + 1, (1 << 20) + 1):
        for kind in (bytes, bytearray, memoryview):
            with raises_code(parameter.code):
                parameter.call(kind(b"\1" * length))
    if parameter.code != "out_of_range":  # a parameter with `out_of_range` accepts fewer bytes as a smaller number
        with raises_code(parameter.code):
            parameter.call(bytes(parameter.size - 1))


@each_parameter
@pytest.mark.parametrize("kind", ["sixteen byte key", 1.5, True, [1] * 16, (1,) * 16, object()], ids=repr)
def test_non_bytes_are_rejected(parameter: Parameter, kind: object) -> None:
    with raises_code("invalid_type"):
        parameter.call(kind)


@each_parameter
def test_a_released_memoryview_is_rejected(parameter: Parameter) -> None:
    view = memoryview(bytes(parameter.size))
    view.release()
    with pytest.raises(ValueError, match="released"):
        parameter.call(view)


def test_numpy_arrays_of_bytes_are_accepted_but_keys_of_wide_items_are_rejected() -> None:
    data = bytes(ID)
    for same in (np.frombuffer(data, np.uint8), np.frombuffer(data, np.int8), np.void(data), np.array([data], "V")):
        assert sno.Sno.from_bytes(same) == ID
    assert Sparx64(np.arange(16, dtype=np.uint8)).encrypt(data[:8]) == CIPHER.encrypt(data[:8])
    for other in (np.zeros(16), np.zeros(2, np.int64)):
        for use in (Sparx64, randflake.Codec, make_randflake):
            with raises_code("invalid_type"):
                use(other)


def test_bytes_are_copied() -> None:
    data, key = bytearray(bytes(ID)), bytearray(bytes(range(16)))
    id, array, partition = sno.Sno.from_bytes(data), sno.SnoArray(data), sno.Generator(memoryview(data)[:2])
    cipher, codec = Sparx64(key), randflake.Codec(key)
    encrypted_before = codec.encrypt(NOW_MS // 1000, 0, 0)
    for given in (data, key):
        given[:] = bytes(len(given))
        given.clear()  # fails while a view of the bytes exists
    assert id == array[0] == ID
    assert partition.partition == int.from_bytes(bytes(ID)[:2], "big")
    assert cipher.encrypt(bytes(8)) == CIPHER.encrypt(bytes(8))
    assert codec.encrypt(NOW_MS // 1000, 0, 0) == encrypted_before


def test_a_secret_of_another_length_is_rejected_with_its_length() -> None:
    for length in (0, 15, 17, 1 << 20):
        with raises_code("invalid_secret") as caught:
            Sparx64(bytes(length))
        assert str(caught.value) == f"expected a secret of 16 bytes, found {length}"


def test_secrets_never_appear_in_strings() -> None:
    objects = [
        Sparx64(SECRET),
        randflake.Codec(SECRET),
        randflake.Generator(GRANT, SECRET),
        KEYRING,
        KEYRING.of("order"),
    ]
    texts = [text for value in objects for text in (repr(value), str(value))]
    for call in (
        lambda: Sparx64(SECRET + b"x"),
        lambda: randflake.Codec(memoryview(SECRET)[1:]),
        lambda: randflake.Codec(SECRET.decode("latin-1")),  # type: ignore[arg-type]
        lambda: randflake.Codec(list(SECRET)),  # type: ignore[arg-type]
        objects[0].__reduce__,
        objects[1].__reduce__,
        objects[2].__reduce__,
        objects[3].__reduce__,
        objects[4].__reduce__,
        lambda: public.Keyring(SECRET),
        lambda: public.Keyring({32: SECRET}),
    ):
        with pytest.raises(PolyflakeError) as caught:
            call()
        error = caught.value
        texts += [
            str(error),
            repr(error),
            str(vars(error)),
            "".join(traceback.format_exception_only(type(error), error)),
        ]
        texts += [str(error.__cause__), *getattr(error, "__notes__", [])]
    for text in texts:
        for shown in ("tell no one", "deadbeef", "\\xde", "222, 173", "\xde\xad"):
            assert shown not in text, text
