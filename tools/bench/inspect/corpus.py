"""Prints IDs from the systems' own libraries, one per line: the format's name, a tab, and the ID.

Argument: the number of IDs per format.
"""

import random
import sys

import timeflake
from sonyflake import SonyFlake
from tsidpy import TSID


def sonyflake() -> int:
    # A random replacement for Sonyflake's default machine ID, which is the lower 16 bits of an IP address.
    machine_id = random.randrange(1, 1 << 16)
    return SonyFlake(machine_id=lambda: machine_id).next_id()


SYSTEMS = {
    "sonyflake": sonyflake,
    "timeflake": lambda: timeflake.random().base62,
    "tsid": lambda: TSID.create().to_string(),
}

for system, generate in SYSTEMS.items():
    for _ in range(int(sys.argv[1])):
        print(system, generate(), sep="\t")
