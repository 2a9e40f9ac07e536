"""For each of several explicit worker IDs, creates many generators with this worker ID, one after another. Each
generator starts after its predecessor has generated its last ID.

``python restarts.py [GENERATORS] [WORKERS]`` prints one JSON line per format, and fails if an ID repeats. The worker
IDs are tested in concurrent threads, so that the waits for the next tick overlap.
"""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

from polyflake import layout, randflake, sno

SECRET = b"sixteen byte key"


def sno_ids(worker: int) -> list[object]:
    ids = sno.Generator(partition=worker)
    return [bytes(ids.generate(7)), bytes(ids.generate(7))]


def layout_ids(worker: int) -> list[object]:
    ids = layout.Generator(layout.Layout.preset("discord", worker=worker % 32, process=worker // 32))
    return [ids.generate(), ids.generate()]


def randflake_ids(worker: int) -> list[object]:
    ids = randflake.Generator(randflake.Grant(worker, 1_730_000_000, 2_803_741_824), SECRET)
    return [ids.generate(), ids.generate()]


def run(name: str, begin: Callable[[int], list[object]], generators: int, workers: int) -> bool:
    generators_per_worker = -(-generators // workers)

    def consecutive_ids(worker: int) -> list[object]:
        return [one for _ in range(generators_per_worker) for one in begin(worker)]

    with ThreadPoolExecutor(workers) as threads:
        generated_ids = list(chain.from_iterable(threads.map(consecutive_ids, range(workers))))
    duplicate_count = len(generated_ids) - len(set(generated_ids))
    print(
        json.dumps(
            {
                "format": name,
                "generators": generators_per_worker * workers,
                "ids": len(generated_ids),
                "twice": duplicate_count,
            }
        ),
        flush=True,
    )
    return duplicate_count == 0 and len(generated_ids) == 2 * generators_per_worker * workers


def main() -> int:
    generators, workers = (int(given) for given in (*sys.argv[1:3], *("10000", "200")[len(sys.argv) - 1 :]))
    results = [
        run("sno", sno_ids, generators, workers),
        run("layout, ticks of 1 ms", layout_ids, generators, workers),
        run("Randflake", randflake_ids, generators // 100, workers),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
