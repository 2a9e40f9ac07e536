"""Tests JSON objects whose types are distinguished by the metabytes of their IDs."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from polyflake import sno
from support import raises_code

TEXT = '{"id": "aaaaaaaa55aaaaaa", "foo": "bar", "baz": "bar"}'
USER_ID = sno.Sno("aaaaaaaa55aaaaaa")
ORDER_ID = USER_ID.with_metabyte(2)
UNKNOWN_ID = USER_ID.with_metabyte(3)


@dataclass(frozen=True)
class User:
    id: str
    foo: str
    baz: str


def order(*, id: str, total: object) -> tuple[str, object]:
    return id, total


OBJECT_HOOK = sno.by_metabyte({24: User, 2: order})


def test_the_id_selects_the_type_of_an_object() -> None:
    assert json.loads(TEXT, object_hook=OBJECT_HOOK) == User(str(USER_ID), "bar", "bar")
    assert OBJECT_HOOK({"id": str(ORDER_ID), "total": 2}) == (str(ORDER_ID), 2)


def test_nested_objects_are_converted_and_others_kept() -> None:
    text = (
        f'[{{"id": "{ORDER_ID}", "total": {TEXT}}}, {{"id": "{UNKNOWN_ID}"}}, {{"id": "none"}}, {{"id": 1}}, {{}}, 1]'
    )
    first, *rest = json.loads(text, object_hook=OBJECT_HOOK)
    assert first == (str(ORDER_ID), User(str(USER_ID), "bar", "bar"))
    assert rest == [{"id": str(UNKNOWN_ID)}, {"id": "none"}, {"id": 1}, {}, 1]


def test_the_member_name_is_configurable() -> None:
    hook = sno.by_metabyte({24: dict}, name="_id")
    assert hook({"_id": str(USER_ID), "id": 1}) == {"_id": str(USER_ID), "id": 1}
    assert sno.by_metabyte({24: lambda **members: len(members)}, name="_id")({"_id": str(USER_ID)}) == 1


def test_invalid_types_are_rejected() -> None:
    for kinds in (None, 1, [User]):
        with raises_code("invalid_type", field="kinds"):
            sno.by_metabyte(kinds)  # type: ignore[arg-type]
    with raises_code("invalid_type", field="kinds"):
        sno.by_metabyte({1: "User"})  # type: ignore[dict-item]
    for metabyte in (-1, 256):
        with raises_code("out_of_range", field="metabyte"):
            sno.by_metabyte({metabyte: User})
    with raises_code("invalid_type", field="metabyte"):
        sno.by_metabyte({"1": User})  # type: ignore[dict-item]
    with raises_code("invalid_type", field="members"):
        OBJECT_HOOK([])  # type: ignore[arg-type]


def test_exceptions_of_a_constructor_propagate() -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        OBJECT_HOOK({"id": str(USER_ID), "foo": "", "baz": "", "more": 1})
