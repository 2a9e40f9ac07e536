"""Two generators that share a partition by using disjoint sequence ranges. Two processes on one host then need only one
partition.

Run it: ``python examples/python/shared_partition.py``
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from polyflake import sno

PARTITION = 7  # assigned to this host only

# The web server gets three quarters of each 4 ms tick, and the background jobs get the rest.
BOUNDS = {"web": (0, 49_151), "jobs": (49_152, 65_535)}


def generate_ids(process: str) -> sno.SnoArray:
    """Generates IDs in one of the processes."""
    least, most = BOUNDS[process]
    return sno.Generator(PARTITION, sequence_min=least, sequence_max=most).generate_many(200_000)


def main() -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        ids_by_process = dict(zip(BOUNDS, pool.map(generate_ids, BOUNDS), strict=True))
    for process, ids in ids_by_process.items():
        sequences = [id.sequence for id in ids]
        print(f"{process}: {len(ids)} IDs from {ids[0]}, sequences {min(sequences)} to {max(sequences)}")
    assert {id.partition for ids in ids_by_process.values() for id in ids} == {PARTITION}
    assert len({id for ids in ids_by_process.values() for id in ids}) == 400_000


if __name__ == "__main__":
    main()
