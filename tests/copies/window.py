"""Prints how long a lease takes to renew after the wall clock jumps forward, as it does when a process is restored.

Until the renewal, the copies of a process have the same worker ID.

Run it with libfaketime: `LD_PRELOAD=.../libfaketime.so.1 FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1
FAKETIME_TIMESTAMP_FILE=FILE python window.py STORE`, where FILE contains `+0`.
"""

import os
import select
import statistics
import sys
import time
from pathlib import Path

import polyflake
from polyflake import sno

RENEWAL_COUNT = 20


def main() -> None:
    file = Path(os.environ["FAKETIME_TIMESTAMP_FILE"])
    renewed: list[float] = []

    def watch(event: polyflake.LeaseEvent) -> None:
        if event["name"] == "renewed":
            renewed.append(time.monotonic())

    with polyflake.lease(sys.argv[1], "windows", watch=watch) as lease:
        sno.Generator(lease=lease).generate()
        times = []
        for round in range(1, RENEWAL_COUNT + 1):
            select.select([], [], [], round / 2)  # Python's own `sleep` fails under libfaketime
            temporary_file = file.with_suffix(".new")
            temporary_file.write_text(f"+{5 * round}\n")
            moved_at = time.monotonic()
            temporary_file.rename(file)
            while len(renewed) < round:
                select.select([], [], [], 0.001)
            times.append(renewed[-1] - moved_at)
    print(f"{min(times):.1f} to {max(times):.1f} s, median {statistics.median(times):.1f} s")


main()
