"""A Python process for the fault tests of leases (`lease/tests/faults/life.rs`).

It records each ID that it makes and each event of its lease. It exits when its input ends, or on SIGTERM.
"""

import os
import random
import select
import signal
import sys
import threading
from pathlib import Path

from polyflake import PolyflakeError, lease, sno

log_path = Path(os.environ["POLYFLAKE_LOG"])
grants = log_path.with_suffix(".grants").open("ab", buffering=0)
is_over = threading.Event()


def note(event: dict[str, object]) -> None:
    match event["name"]:
        case "acquired" | "moved":
            grants.write(b"begin %d %d %d\n" % (event["number"], event["start"], event["end"]))
        case "renewed":
            grants.write(b"extend %d %d\n" % (event["number"], event["end"]))
        case "sealed":
            grants.write(b"end %d %d\n" % (event["number"], event["used_until"] or 0))


def pause(seconds: float) -> None:
    """Sleeps like time.sleep, which fails where a library steps the clock."""
    select.select([], [], [], seconds)


def watch_input() -> None:
    sys.stdin.read()
    is_over.set()


signal.signal(signal.SIGTERM, lambda *_: is_over.set())
threading.Thread(target=watch_input, daemon=True).start()
log = log_path.open("xb", buffering=0)  # once this file exists, signals may be sent


def restarted(partition: int) -> None:
    """Makes a few IDs with each of many generators that have the same worker ID."""
    while not is_over.is_set():
        ids = sno.Generator(partition=partition)
        for _ in range(random.randint(1, 7)):
            log.write(bytes(ids.generate()))


def run_with_lease() -> None:
    kept = lease(
        os.environ["POLYFLAKE_LIFE"],
        os.environ["POLYFLAKE_NAMESPACE"],
        numbers=(0, int(os.environ["POLYFLAKE_LAST"])),
        lease_seconds=int(os.environ["POLYFLAKE_LEASE_MS"]) / 1000,
        wait=1,
        watch=note,
    )
    ids = sno.Generator(lease=kept)
    while not is_over.is_set():
        try:
            log.write(bytes(ids.try_generate()))
        except PolyflakeError:
            pause(0.005)
        pause(0.001)
    kept.close()


explicit = os.environ.get("POLYFLAKE_EXPLICIT")
run_with_lease() if explicit is None else restarted(int(explicit))
