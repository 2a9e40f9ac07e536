"""msgspec and orjson."""

from __future__ import annotations

import json
from array import array
from typing import Any

import msgspec
import orjson
import pytest

from ids import GUIDS, IDS
from polyflake import hotguid, layout, randflake, sno
from polyflake.msgspec import Int64, Randflake, dec_hook, enc_hook
from polyflake.orjson import default
from polyflake.sno import Sno

ARRAYS: list[tuple[Any, list[str]]] = [
    (sno.SnoArray(b"".join(map(bytes, IDS))), list(map(str, IDS))),
    (hotguid.HotGuidArray(b"".join(id.bytes for id in GUIDS)), list(map(str, GUIDS))),
    (randflake.RandflakeArray(array("q", [1, 4_594_531_474_933_654_033])), ["1", "3vgoe12ccb8gh"]),
    (layout.LayoutArray(array("q", [1, 2**62])), ["1", str(2**62)]),
    (layout.LayoutArray(b"abcd", size=2), ["6162", "6364"]),
]


class Order(msgspec.Struct):
    id: Sno
    parent: Sno | None = None


class Post(msgspec.Struct):
    flake: Randflake
    post: Int64


def test_msgspec_reads_and_writes_ids_in_json_and_messagepack() -> None:
    order = Order(IDS[0], IDS[1])
    text = msgspec.json.encode(order, enc_hook=enc_hook)
    assert text.decode() == f'{{"id":"{IDS[0]}","parent":"{IDS[1]}"}}'
    assert msgspec.json.decode(text, type=Order, dec_hook=dec_hook) == order
    packed = msgspec.msgpack.encode({"id": bytes(IDS[0]), "parent": None})
    assert msgspec.msgpack.decode(packed, type=Order, dec_hook=dec_hook) == Order(IDS[0])
    for text in (b'{"id":"short"}', b'{"id":7}'):
        with pytest.raises(msgspec.ValidationError, match=r"expected .* - at `\$.id`"):
            msgspec.json.decode(text, type=Order, dec_hook=dec_hook)


def test_types_of_integers_are_texts_that_no_reader_rounds() -> None:
    post = Post(Randflake(4_594_531_474_933_654_033), Int64(-(2**63)))
    text = b'{"flake":"3vgoe12ccb8gh","post":"-9223372036854775808"}'
    assert msgspec.json.encode(post, enc_hook=enc_hook) == text
    assert orjson.dumps(msgspec.structs.asdict(post), default=default, option=orjson.OPT_PASSTHROUGH_SUBCLASS) == text
    read = msgspec.json.decode(text, type=Post, dec_hook=dec_hook)
    assert read == post and [type(read.flake), type(read.post)] == [Randflake, Int64]
    packed = msgspec.msgpack.encode({"flake": 7, "post": 7})
    assert msgspec.msgpack.decode(packed, type=Post, dec_hook=dec_hook) == Post(Randflake(7), Int64("7"))
    for flake, number in [('"-"', "7"), ("1.5", "7"), ('"7"', '"12.0"'), ('"7"', '" 12"'), ('"7"', str(2**63))]:
        with pytest.raises(msgspec.ValidationError, match=r" - at `\$\.(flake|post)`"):
            msgspec.json.decode(f'{{"flake":{flake},"post":{number}}}', type=Post, dec_hook=dec_hook)


@pytest.mark.parametrize(("many", "texts"), ARRAYS, ids=lambda value: type(value).__name__)
def test_arrays_are_texts(many: Any, texts: list[str]) -> None:
    assert json.loads(msgspec.json.encode(many, enc_hook=enc_hook)) == texts
    assert json.loads(orjson.dumps(many, default=default)) == texts
    assert json.loads(json.dumps(many, default=default)) == texts


def test_orjson_writes_ids() -> None:
    assert orjson.dumps([IDS[0], GUIDS[0]], default=default).decode() == f'["{IDS[0]}","{GUIDS[0]}"]'


def test_anything_else_is_refused() -> None:
    for value in (object(), {1, 2}):
        with pytest.raises(NotImplementedError):
            enc_hook(value)
        with pytest.raises(TypeError):
            json.dumps(value, default=default)
    with pytest.raises(NotImplementedError):
        dec_hook(int, "7")
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps(2**60, option=orjson.OPT_STRICT_INTEGER)
