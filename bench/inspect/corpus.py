"""Prints IDs of the systems' own libraries, a line each: the format's name, a tab, the ID.

Argument: how many of each.
"""

import random
import sys

import timeflake
from sonyflake import SonyFlake
from tsidpy import TSID


def sonyflake() -> int:
    # The machine is the lower half of an address.
    machine = random.randrange(1, 1 << 16)
    return SonyFlake(machine_id=lambda: machine).next_id()


SYSTEMS = {
    "sonyflake": sonyflake,
    "timeflake": lambda: timeflake.random().base62,
    "tsid": lambda: TSID.create().to_string(),
}

for system, generate in SYSTEMS.items():
    for _ in range(int(sys.argv[1])):
        print(system, generate(), sep="\t")
