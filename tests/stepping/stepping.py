"""Generates IDs while the system clock is stepped. See README.md."""

import json
import sys
import time
from collections import Counter
from typing import Any

from polyflake import PolyflakeError, hotguid, layout, randflake, sno, uuid7

grant = randflake.Grant(7, 1_730_000_000, 2_803_741_824)
discord = layout.Layout.preset("discord", worker=1, process=2)
generators: dict[str, Any] = {
    "sno": sno.Generator(max_wait=20),
    "hotguid": hotguid.Generator(max_wait=20),
    "layout": layout.Generator(discord, max_wait=20),
    "randflake": randflake.Generator(grant, bytes(16), on_exhausted="wait", max_wait=20),
    "uuid7": uuid7.Generator(max_wait=20),
}

seen: set[tuple[str, object]] = set()
rejected: Counter[str] = Counter()
duplicate_count = steps_back = 0


def record(family: str, made: object) -> None:
    """Records an ID, or counts it as a duplicate."""
    global duplicate_count
    duplicate_count += (family, made) in seen
    seen.add((family, made))


def generate(family: str, ids: Any) -> None:
    """Generates one ID, and then a batch of IDs."""
    try:
        record(family, ids.generate())
        for made in ids.generate_many(10):
            record(family, made)
    except PolyflakeError as error:
        rejected[error.code] += 1


end = time.monotonic() + float(sys.argv[1])
last_time = time.time()
while time.monotonic() < end:
    for family, ids in generators.items():
        generate(family, ids)
    now = time.time()
    steps_back += now < last_time
    last_time = now
print(
    json.dumps(
        {"ids": len(seen) + duplicate_count, "twice": duplicate_count, "stepsBack": steps_back, "rejected": rejected}
    )
)
