"""Polymorphic JSON: an ID's metabyte states the document's type, so documents need no "type" member.

Run it: ``python examples/python/polymorphic.py``
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar

from polyflake import sno


@dataclass(frozen=True)
class Record:
    """The base class of all records. Each class has a different metabyte."""

    METABYTE: ClassVar[int]
    id: sno.Sno

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)


@dataclass(frozen=True)
class User(Record):
    METABYTE = 1
    name: str


@dataclass(frozen=True)
class Order(Record):
    METABYTE = 2
    buyer: sno.Sno
    total: float


TYPES: dict[int, type[Record]] = {cls.METABYTE: cls for cls in (User, Order)}


def from_json(text: str) -> Record:
    """Parses a record from a JSON string. The metabyte of the record's ID determines the class of the result."""
    members = json.loads(text)
    cls = TYPES[sno.metabyte(members["id"])]
    ids = {name: sno.Sno(members[name]) for name in ("id", "buyer") if name in members}
    return cls(**{**members, **ids})


def main() -> None:
    user = User(sno.generate(User.METABYTE), "Ada")
    order = Order(sno.generate(Order.METABYTE), user.id, 12.5)
    for record in (user, order):
        text = record.to_json()
        parsed_record = from_json(text)
        assert parsed_record == record
        print(f"{text}  ->  {type(parsed_record).__name__}, made {parsed_record.id.datetime:%Y-%m-%d %H:%M:%S}")


if __name__ == "__main__":
    main()
