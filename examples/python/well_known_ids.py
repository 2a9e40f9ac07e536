"""Decodes X and Discord IDs with presets, to show when a message was written and which machine made its ID.

Run it: ``python examples/python/well_known_ids.py``
"""

from __future__ import annotations

import datetime as dt

from polyflake.layout import Layout, Parsed

LAYOUTS = {"x.com": Layout.preset("twitter"), "discord.com": Layout.preset("discord")}

LINKS = [
    "https://x.com/someone/status/1541815603606036480",
    "https://discord.com/channels/1/2/175928847299117063",
]


def parse_link(link: str) -> Parsed:
    """Returns the fields of the ID at the end of a link."""
    host = link.split("/")[2]
    return LAYOUTS[host].parse(int(link.rsplit("/", 1)[1]))


def main() -> None:
    for link in LINKS:
        parsed = parse_link(link)
        print(f"{link}\n    {parsed.datetime}, {parsed.bindables}, sequence {parsed.sequence}")
    day = dt.datetime(2016, 4, 30, tzinfo=dt.timezone.utc)
    lowest, highest = LAYOUTS["discord.com"].time_range(day, day + dt.timedelta(days=1))
    print(f"Discord's IDs of {day:%Y-%m-%d}: {lowest} to {highest}")
    assert lowest <= 175928847299117063 <= highest


if __name__ == "__main__":
    main()
