"""IDs with known times, in chronological order, and the bounds of a time span."""

from __future__ import annotations

from polyflake import hotguid, layout, sno
from polyflake.sno import Sno

NOW_MS = 1_763_650_000_000
HOUR_MS = 3_600_000
FORMS = ("text", "bytes", "uuid8", "uuid")


def snos(metabyte: int = 1) -> list[Sno]:
    """Returns one ID per hour, with decreasing partitions."""
    epoch_ms = 1_262_304_000_000
    ticks = [(NOW_MS + hour * HOUR_MS - epoch_ms) // 4 for hour in range(20)]
    ticks_and_sequences = zip(ticks, range(20, 0, -1), strict=True)
    return [
        Sno.from_parts(tick=tick, partition=k * 3000, sequence=k, metabyte=metabyte) for tick, k in ticks_and_sequences
    ]


IDS = snos()
GUIDS = [
    hotguid.from_parts(
        timestamp=NOW_MS // 1000 + k * 3600, machine=bytes([255 - k] * 5), counter=k, shard_key=2**31 - k
    )
    for k in range(20)
]
UUID8_GUIDS = [
    hotguid.from_parts(timestamp=NOW_MS // 1000 + k * 3600, machine=2**34 - 1 - k, counter=k, shard_key=k, uuid8=True)
    for k in range(20)
]
# The start and end of the time span in which IDs 5 to 9 were generated.
SPAN = (NOW_MS + 5 * HOUR_MS, NOW_MS + 10 * HOUR_MS)
SNO_SPAN, GUID_SPAN = sno.time_range(*SPAN), hotguid.time_range(*SPAN)
INTEGERS = [-(2**63), -1, 0, 4_594_531_474_933_654_033, 2**63 - 1]
LAYOUT = layout.Layout.preset("twitter", datacenter=11, worker=26)
POST_IDS: list[int] = [LAYOUT.pack(timestamp=NOW_MS + k * HOUR_MS, sequence=20 - k) for k in range(20)]
POST_SPAN: tuple[int, int] = LAYOUT.time_range(*SPAN)
GENERATOR = layout.Generator(LAYOUT)


def new_post() -> int:
    """Generates an ID of the layout."""
    return GENERATOR.generate()
