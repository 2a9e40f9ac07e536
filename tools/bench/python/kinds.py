"""Compares two ways to read a JSON object that can have one of several types: `sno.by_metabyte`, which selects the type
by the metabyte of the object's ID, and handwritten code.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from contest import Entry
from polyflake import sno

#: A 400-byte record from a service.
TEXT = json.dumps(
    {
        "id": "9afikjv326nct5if",
        "name": "Ada Lovelace",
        "email": "ada@example.com",
        "visits": 1843,
        "score": 0.875,
        "tags": ["first", "analyst", "poet", "london"],
        "address": {"street": "12 St James's Square", "city": "London", "country": "United Kingdom"},
        "parent": None,
        "note": 'She wrote "the first program", and saw further than others did.',
    }
)


@dataclass
class User:
    id: str
    name: str
    email: str
    visits: int
    score: float
    tags: list[str]
    address: dict[str, str]
    parent: str | None
    note: str


@dataclass
class Order:
    id: str
    total: int


KINDS = {1: User, 2: Order}


def parse_twice(text: str) -> Any:
    kind = KINDS[sno.metabyte(json.loads(text)["id"])]
    return kind(**json.loads(text))


def parse_once(text: str) -> Any:
    members = json.loads(text)
    return KINDS[sno.metabyte(members["id"])](**members)


def parse_entries() -> list[Entry]:
    hook = sno.by_metabyte(KINDS)
    decode = json.JSONDecoder(object_hook=hook).decode
    objects = {"loads": json.loads, "text": TEXT, "hook": hook}
    return [
        Entry("by metabyte", "loads(text, object_hook=hook)", objects, ours=True),
        Entry("by metabyte, a decoder that is kept", "decode(text)", {"decode": decode, "text": TEXT}, ours=True),
        Entry("parsed once, told apart by hand", "read(text)", {"read": parse_once, "text": TEXT}),
        Entry("parsed twice", "read(text)", {"read": parse_twice, "text": TEXT}),
    ]
