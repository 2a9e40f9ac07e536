"""A Python process for the fault tests of leases (`lease/tests/faults/life.rs`).

It records each ID that it generates and each event of its lease. It exits when its input ends, or on SIGTERM.
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
grants_file = log_path.with_suffix(".grants").open("ab", buffering=0)
stop_event = threading.Event()


def note(event: dict[str, object]) -> None:
    match event["name"]:
        case "acquired" | "switched":
            grants_file.write(b"begin %d %d %d\n" % (event["worker_id"], event["start"], event["end"]))
        case "renewed":
            grants_file.write(b"extend %d %d\n" % (event["worker_id"], event["end"]))
        case "sealed":
            grants_file.write(b"end %d %d\n" % (event["worker_id"], event["used_until"] or 0))


def pause(seconds: float) -> None:
    """Sleeps like time.sleep, which fails if a preloaded library steps the clock."""
    select.select([], [], [], seconds)


def watch_input() -> None:
    sys.stdin.read()
    stop_event.set()


signal.signal(signal.SIGTERM, lambda *_: stop_event.set())
threading.Thread(target=watch_input, daemon=True).start()
log = log_path.open("xb", buffering=0)  # once this file exists, signals may be sent


def run_with_restarts(partition: int) -> None:
    """Generates a few IDs with each of many generators that have the same worker ID."""
    while not stop_event.is_set():
        generator = sno.Generator(partition=partition)
        for _ in range(random.randint(1, 7)):
            log.write(bytes(generator.generate()))


def run_with_lease() -> None:
    held_lease = lease(
        os.environ["POLYFLAKE_LIFE"],
        os.environ["POLYFLAKE_NAMESPACE"],
        worker_ids=(0, int(os.environ["POLYFLAKE_LAST"])),
        lease_seconds=int(os.environ["POLYFLAKE_LEASE_MS"]) / 1000,
        wait=1,
        watch=note,
    )
    generator = sno.Generator(lease=held_lease)
    while not stop_event.is_set():
        try:
            log.write(bytes(generator.try_generate()))
        except PolyflakeError:
            pause(0.005)
        pause(0.001)
    held_lease.close()


explicit_partition = os.environ.get("POLYFLAKE_EXPLICIT")
run_with_lease() if explicit_partition is None else run_with_restarts(int(explicit_partition))
