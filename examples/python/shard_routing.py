"""Routing and sharding by the shard key of a Hot Guid. An ID identifies the location of its record, so no lookup table
is needed.

The application defines the 32 bits of the shard key. In this example, the upper 10 bits contain the region, and the
lower 22 bits contain the shard.

Run it: ``python examples/python/shard_routing.py``
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from uuid import UUID

from polyflake import hotguid

SHARD_BITS = 22
REGIONS = {"eu": 0, "us": 1, "ap": 2}  # up to 1,024 of them


@dataclass(frozen=True)
class Location:
    """A record's region and shard."""

    region: int
    shard: int

    @classmethod
    def from_id(cls, id: UUID) -> Location:
        return cls(*divmod(hotguid.shard_key(id), 1 << SHARD_BITS))

    def shard_key(self) -> int:
        return self.region << SHARD_BITS | self.shard


class Region:
    """The servers of a region. They store the records of the region's shards, and can read records from the other
    regions.
    """

    def __init__(self, name: str, shards: int, others: dict[int, Region]) -> None:
        self.number = REGIONS[name]
        self.shards: list[dict[UUID, str]] = [{} for _ in range(shards)]
        self.others = others
        others[self.number] = self

    def create(self, customer: str, record: str) -> UUID:
        """Creates a record in this region. All records of a customer are stored in the same shard."""
        shard = zlib.crc32(customer.encode()) % len(self.shards)
        id = hotguid.generate(Location(self.number, shard).shard_key())
        self.shards[shard][id] = record
        return id

    def read(self, path: str) -> str:
        """Returns the response to a request for ``/records/<id>``, regardless of the region that stores the record."""
        id = hotguid.parse(path.removeprefix("/records/"))
        home = Location.from_id(id)
        return self.others[home.region].shards[home.shard][id]


def main() -> None:
    regions: dict[int, Region] = {}
    eu, us = Region("eu", 4096, regions), Region("us", 512, regions)
    order_ids = [eu.create("Ada", "a compass"), us.create("Grace", "a nanosecond"), eu.create("Ada", "a loom")]
    for id in order_ids:
        home = Location.from_id(id)
        print(f"/records/{id}  ->  region {home.region}, shard {home.shard}: {us.read(f'/records/{id}')}")
    assert Location.from_id(order_ids[0]) == Location.from_id(order_ids[2]) != Location.from_id(order_ids[1])


if __name__ == "__main__":
    main()
