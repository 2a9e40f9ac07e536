"""Tests IDs in JSON with msgspec, orjson, and the encoders that libraries use for values without a declared type."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import orjson
import pytest
from django.http import JsonResponse
from fastapi import FastAPI
from fastapi.encoders import ENCODERS_BY_TYPE
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

from conftest import import_or_skip
from ids import GUIDS, IDS, NOW_MS, POST_IDS
from polyflake import hotguid, layout, randflake, sno, uuid7
from polyflake.django import JSONEncoder
from polyflake.msgspec import Int64, Randflake, dec_hook, enc_hook, schema_hook
from polyflake.orjson import default
from polyflake.rest_framework import JSONRenderer
from polyflake.sno import Sno

UUID7 = uuid7.from_parts(unix_ms=NOW_MS, sequence=7, random=2**56 - 1)
ARRAYS: list[tuple[Any, list[str]]] = [
    (sno.SnoArray(b"".join(map(bytes, IDS))), list(map(str, IDS))),
    (hotguid.HotGuidArray(b"".join(id.bytes for id in GUIDS)), list(map(str, GUIDS))),
    (uuid7.Uuid7Array(UUID7.bytes), [str(UUID7)]),
    (randflake.RandflakeArray(array("q", [1, 4_594_531_474_933_654_033])), ["1", "3vgoe12ccb8gh"]),
    (layout.LayoutArray(array("q", [1, 2**62])), ["1", str(2**62)]),
    (layout.LayoutArray(b"abcd", size=2), ["6162", "6364"]),
]


def fastapi_response(value: Any) -> bytes:
    """Returns the response of a FastAPI route without a declared type."""
    app = FastAPI()
    app.get("/")(lambda: value)
    return TestClient(app).get("/").content


class LaxOrder(BaseModel):
    value: Any


ENCODERS: dict[str, Callable[[Any], str | bytes]] = {
    "pydantic": lambda value: TypeAdapter(Any).dump_json(value),
    "pydantic, a model": lambda value: json.dumps(LaxOrder(value=value).model_dump(mode="json")["value"]),
    "pydantic_core": to_json,
    "fastapi": fastapi_response,
    "django": lambda value: JsonResponse(value, encoder=JSONEncoder).content,
    "rest_framework": lambda value: JSONRenderer().render(value),
    "msgspec": lambda value: msgspec.json.encode(value, enc_hook=enc_hook),
    "msgspec, builtins": lambda value: json.dumps(msgspec.to_builtins(value, enc_hook=enc_hook)),
    "orjson": lambda value: orjson.dumps(value, default=default),
    "json": lambda value: json.dumps(value, default=default),
}
# The JSON form of each value. The first value is a standard UUID, which all encoders in `ENCODERS` support without
# polyflake.
ENCODED_VALUES = {UUID(int=1): str(UUID(int=1)), IDS[0]: str(IDS[0]), GUIDS[0]: str(GUIDS[0]), POST_IDS[0]: POST_IDS[0]}


@pytest.mark.parametrize("value", ENCODED_VALUES, ids=["reference", "sno", "hotguid", "layout"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_an_id_is_encoded_at_every_position(encoder: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENCODERS_BY_TYPE, Sno, str)
    encoded = ENCODERS[encoder]({"id": value, "ids": [value, None], "at": {"id": (value,)}})
    text = ENCODED_VALUES[value]
    assert json.loads(encoded) == {"id": text, "ids": [text, None], "at": {"id": [text]}}


@pytest.mark.parametrize("encoder", ["django", "rest_framework", "msgspec", "orjson", "json"])
def test_an_encoder_rejects_unknown_types(encoder: str) -> None:
    with pytest.raises((TypeError, NotImplementedError)):
        ENCODERS[encoder]({"value": object()})


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
    for given in (IDS[0], str(IDS[0]), bytes(IDS[0]), IDS[0].uuid8):
        assert msgspec.convert({"id": given}, type=Order, dec_hook=dec_hook) == Order(IDS[0])
    packed = msgspec.msgpack.encode({"id": bytes(IDS[0]), "parent": None})
    assert msgspec.msgpack.decode(packed, type=Order, dec_hook=dec_hook) == Order(IDS[0])
    for text in (b'{"id":"short"}', b'{"id":7}'):
        with pytest.raises(msgspec.ValidationError, match=r"expected .* - at `\$.id`"):
            msgspec.json.decode(text, type=Order, dec_hook=dec_hook)


def test_integer_types_are_encoded_as_strings() -> None:
    post = Post(Randflake(4_594_531_474_933_654_033), Int64(-(2**63)))
    text = b'{"flake":"3vgoe12ccb8gh","post":"-9223372036854775808"}'
    assert msgspec.json.encode(post, enc_hook=enc_hook) == text
    assert orjson.dumps(msgspec.structs.asdict(post), default=default, option=orjson.OPT_PASSTHROUGH_SUBCLASS) == text
    decoded_post = msgspec.json.decode(text, type=Post, dec_hook=dec_hook)
    assert decoded_post == post and [type(decoded_post.flake), type(decoded_post.post)] == [Randflake, Int64]
    packed = msgspec.msgpack.encode({"flake": 7, "post": 7})
    assert msgspec.msgpack.decode(packed, type=Post, dec_hook=dec_hook) == Post(Randflake(7), Int64("7"))
    for flake, number in [('"-"', "7"), ("1.5", "7"), ('"7"', '"12.0"'), ('"7"', '" 12"'), ('"7"', str(2**63))]:
        with pytest.raises(msgspec.ValidationError, match=r" - at `\$\.(flake|post)`"):
            msgspec.json.decode(f'{{"flake":{flake},"post":{number}}}', type=Post, dec_hook=dec_hook)


@pytest.mark.parametrize(("many", "texts"), ARRAYS, ids=lambda value: type(value).__name__)
def test_arrays_are_encoded_as_strings(many: Any, texts: list[str]) -> None:
    assert json.loads(msgspec.json.encode(many, enc_hook=enc_hook)) == texts
    assert json.loads(orjson.dumps(many, default=default)) == texts
    assert json.loads(json.dumps(many, default=default)) == texts
    assert json.loads(json.dumps(many, cls=JSONEncoder)) == texts


def test_unknown_types_are_rejected() -> None:
    for value in (object(), {1, 2}):
        with pytest.raises(NotImplementedError):
            enc_hook(value)
        with pytest.raises(TypeError):
            json.dumps(value, default=default)
    with pytest.raises(NotImplementedError):
        dec_hook(int, "7")
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps(2**60, option=orjson.OPT_STRICT_INTEGER)


def test_msgspec_writes_a_json_schema_of_ids() -> None:
    class Order(msgspec.Struct):
        id: Sno
        flake: Randflake
        post: Int64

    properties = msgspec.json.schema(Order, schema_hook=schema_hook)["$defs"]["Order"]["properties"]
    texts = {"id": str(IDS[0]), "flake": "3vgoe12ccb8gh", "post": str(-(2**63))}
    for name, text in texts.items():
        validator = Draft202012Validator(properties[name])
        assert validator.is_valid(text) and not validator.is_valid(text + "\n"), name
    with pytest.raises(NotImplementedError):
        schema_hook(bytes)


def test_celery_messages_can_contain_ids() -> None:
    """Follows the instructions on the page about JSON encoders, and also tests a nested value."""
    kombu_json = import_or_skip("kombu.utils.json")
    line = 'kombu.utils.json.register_type(Sno, "sno", str, Sno)'
    page = Path(__file__).parents[2] / "docs/integrations/others.md"
    assert f"| `{line}`" in page.read_text(encoding="utf-8")
    kombu_json.register_type(Sno, "sno", str, Sno)
    sent_arguments = [[IDS[0], GUIDS[0]], {"ids": IDS[:3]}]
    assert kombu_json.loads(kombu_json.dumps(sent_arguments)) == sent_arguments
