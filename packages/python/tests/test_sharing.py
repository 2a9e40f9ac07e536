"""Tests that a process has one live generator for each explicit worker ID: generators with equal options are one
generator, and all others are rejected.
"""

from __future__ import annotations

import gc
import itertools
import os
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from polyflake import PolyflakeError, layout, randflake, sno, uuid7
from support import NOW_MS, raises_code

SONYFLAKE_LAYOUT = layout.Layout.preset("sonyflake")
GRANT_START, GRANT_END = 1_730_000_000, 2_803_741_824
# A window that has not ended.
WINDOW_START = 1_763_650_000_000
WINDOW_END = 3_000_000_000_000


def make_randflake_generator(nodes: Any, secret: bytes = b"a shared secret!", **more: Any) -> Any:
    return randflake.Generator(randflake.Grant(nodes, GRANT_START, GRANT_END), secret, **more)


def make_sonyflake_generator(machine: int, **more: Any) -> Any:
    return layout.Generator(SONYFLAKE_LAYOUT, bindables={"machine": machine}, **more)


# Each test uses its own worker IDs, because a generator may live until the garbage collector runs.
fresh_numbers = itertools.count(40_000)


@pytest.fixture(params=[make_randflake_generator, make_sonyflake_generator, sno.Generator, uuid7.Generator])
def make_generator(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Returns a function that creates generators with the same worker ID."""
    number = next(fresh_numbers)
    return lambda **options: request.param(number, **options)


def assert_in_use(make: Callable[[], Any], **members: Any) -> None:
    with raises_code("worker_id_in_use", **members):
        make()


def test_generators_with_equal_options_are_one_generator(make_generator: Callable[..., Any]) -> None:
    first, second = make_generator(), make_generator(max_wait=None, clock=None)
    made = first.generate_many(5)
    assert len({*made, *second.generate_many(5)}) == 10
    assert first.stats() == second.stats()
    second.close()
    with raises_code("generator_closed"):
        first.generate()
    assert make_generator().generate() not in made


def test_generators_with_other_options_are_rejected(make_generator: Callable[..., Any]) -> None:
    first = make_generator()
    assert_in_use(lambda: make_generator(max_wait=5), field="max_wait")
    assert_in_use(lambda: make_generator(on_exhausted="error"), field="on_exhausted")
    assert_in_use(lambda: make_generator(clock=time.time_ns), field="clock")
    first.close()
    assert make_generator(max_wait=5000).generate()


def test_callables_are_compared_by_identity(make_generator: Callable[..., Any]) -> None:
    def clock() -> int:
        return time.time_ns()

    first = make_generator(clock=clock)
    assert make_generator(clock=clock).stats() == first.stats()
    assert_in_use(lambda: make_generator(clock=lambda: time.time_ns()))
    cycle: list[Any] = [first, make_generator(clock=clock)]
    cycle.append(cycle)
    gc.collect()
    assert first.generate()


def test_a_freed_worker_id_can_be_used_again(make_generator: Callable[..., Any]) -> None:
    first = make_generator(max_wait=5000)
    made = first.generate()
    del first
    gc.collect()
    assert make_generator(max_wait=6000).generate() != made


def test_generators_with_a_clock_for_tests_take_no_part(make_generator: Callable[..., Any]) -> None:
    kept = [make_generator(test_clock=lambda: NOW_MS * 1_000_000) for _ in range(2)]
    kept[0].close()
    assert kept[1].generate()
    assert make_generator()


def test_a_generator_per_request_repeats_no_id(make_generator: Callable[..., Any]) -> None:
    """A handler creates a generator for each request, as in a server with a pool of threads."""
    barrier = threading.Barrier(8)

    def handle(request: int) -> list[Any]:
        if request < 8:
            barrier.wait()
        return [make_generator().generate() for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        kept = make_generator()
        made = [id for ids in pool.map(handle, range(400)) for id in ids]
    assert len(set(made)) == len(made) == 1200
    assert kept.generate() not in made


def test_worker_ids_that_differ_in_part_do_not_conflict() -> None:
    partition, nodes, machine = next(fresh_numbers), next(fresh_numbers), next(fresh_numbers)
    kept = [
        sno.Generator(partition, sequence_max=999),
        sno.Generator(partition, sequence_min=1000),
        make_randflake_generator(nodes),
        make_randflake_generator(nodes, b"sixteen byte key"),
        make_sonyflake_generator(machine, window=(WINDOW_START, WINDOW_END)),
        make_sonyflake_generator(machine, window=(WINDOW_END, WINDOW_END + 1000)),
    ]
    assert_in_use(lambda: sno.Generator(partition, sequence_min=999))
    assert_in_use(lambda: make_randflake_generator((nodes - 1, nodes)))
    with raises_code("worker_id_in_use"):
        kept[4].extend_window(WINDOW_END + 1)
    assert_in_use(lambda: make_sonyflake_generator(machine))


def test_a_snapshot_is_not_restored_beside_a_live_generator() -> None:
    partition, machine = next(fresh_numbers), next(fresh_numbers)
    snapshot = sno.Generator(partition).close()
    kept: list[Any] = [sno.Generator.restore(snapshot)]
    assert_in_use(lambda: sno.Generator.restore(snapshot))
    assert_in_use(lambda: sno.Generator(partition))
    state = make_sonyflake_generator(machine).close()
    kept.append(layout.Generator.restore(SONYFLAKE_LAYOUT, state, bindables={"machine": machine}))
    assert_in_use(lambda: layout.Generator.restore(SONYFLAKE_LAYOUT, state, bindables={"machine": machine}))


def test_a_snapshot_does_not_repeat_a_generator_that_came_after_it() -> None:
    partition = next(fresh_numbers)
    first = sno.Generator(partition)
    made = [first.generate()]
    snapshot = first.close()
    second = sno.Generator(partition)
    made += second.generate_many(3)
    del second
    gc.collect()
    restored = sno.Generator.restore(snapshot)
    made += restored.generate_many(3)
    assert len(set(made)) == 7


def test_a_storm_of_generators_makes_no_duplicate() -> None:
    """Sixteen threads construct generators with four partitions. They drop some, close some, and restore some from
    snapshots, each once. `POLYFLAKE_STORM` is the number of generators.
    """
    count = int(os.environ.get("POLYFLAKE_STORM", "20000")) // 16
    snapshots: list[sno.Snapshot] = []

    def construct(seed: int) -> list[sno.Sno]:
        choose, made = random.Random(seed), []
        for _ in range(count):
            try:
                snapshot = snapshots.pop() if choose.random() < 0.2 and snapshots else None
                if snapshot is not None:
                    ids = sno.Generator.restore(snapshot)
                else:
                    ids = sno.Generator(60_000 + choose.randrange(4), max_wait=1000 + choose.randrange(2))
                made += ids.generate_many(choose.randrange(3))
                if choose.random() < 0.03:
                    snapshots.append(ids.close())
            except IndexError:
                pass  # Another thread has taken the last snapshot.
            except PolyflakeError as error:
                assert error.code in ("worker_id_in_use", "generator_closed"), error
        return made

    with ThreadPoolExecutor(16) as pool:
        made = [id for ids in pool.map(construct, range(16)) for id in ids]
    assert len(set(made)) == len(made) > 100
