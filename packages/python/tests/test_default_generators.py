"""Tests the default generators, which functions such as ``generate`` use. Each format's default generator can be
replaced.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from uuid import UUID

import pytest

from polyflake import hotguid, sno, uuid7
from support import NOW_MS, NOW_NS, raises_code

NOW_SECONDS = NOW_MS // 1000


@pytest.fixture(autouse=True)
def reset_default_generators() -> Iterator[None]:
    yield
    sno.set_default_generator(None)
    hotguid.set_default_generator(None)
    uuid7.set_default_generator(None)


def clock() -> int:
    return NOW_NS


def test_the_default_generator_makes_the_ids() -> None:
    own_generator = sno.Generator(7, metabyte=3, test_clock=clock)
    sno.set_default_generator(own_generator)
    default_id = sno.generate()
    assert (default_id.unix_ms, default_id.partition, default_id.metabyte) == (NOW_MS, 7, 3)
    assert sno.generate(0).metabyte == 0
    assert sno.generate(metabyte=4).metabyte == 4
    own_generator.close()
    with raises_code("generator_closed"):
        sno.generate()


def test_every_function_uses_the_default_generator() -> None:
    sno.set_default_generator(sno.Generator(7, metabyte=3, test_clock=clock))
    hotguid.set_default_generator(hotguid.Generator(test_clock=clock))

    async def generate_later() -> tuple[list[sno.Sno], list[UUID]]:
        ids = [await sno.generate_async(), sno.Sno(await sno.generate_text_async()), *await sno.generate_many_async(2)]
        guids = [await hotguid.generate_async(), UUID(await hotguid.generate_text_async())]
        return ids, [*guids, *await hotguid.generate_many_async(2)]

    ids, guids = asyncio.run(generate_later())
    ids += [sno.generate(), sno.Sno(sno.generate_text()), *sno.generate_many(2)]
    guids += [hotguid.generate(), UUID(hotguid.generate_text()), *hotguid.generate_many(2)]
    assert {(id.unix_ms, id.partition, id.metabyte) for id in ids} == {(NOW_MS, 7, 3)}
    assert {hotguid.timestamp(guid) for guid in guids} == {NOW_SECONDS}
    assert [len(set(made)) for made in (ids, guids)] == [8, 8]


def test_every_uuid7_function_uses_the_default_generator() -> None:
    uuid7.set_default_generator(uuid7.Generator(7, test_clock=clock))

    async def generate_later() -> list[UUID]:
        ids = [await uuid7.generate_async(), UUID(await uuid7.generate_text_async())]
        return [*ids, *await uuid7.generate_many_async(2)]

    ids = asyncio.run(generate_later())
    ids += [uuid7.generate(), UUID(uuid7.generate_text()), *uuid7.generate_many(2)]
    assert {(uuid7.unix_ms(id), uuid7.worker_id(id)) for id in ids} == {(NOW_MS, 7)}
    assert ids == sorted(set(ids))


def test_every_function_accepts_the_arguments_of_its_method() -> None:
    async def generate_later() -> tuple[list[int], list[int]]:
        ids = [
            await sno.generate_async(5),
            sno.Sno(await sno.generate_text_async(5)),
            *await sno.generate_many_async(1, 5),
        ]
        guids = [await hotguid.generate_async(5), UUID(await hotguid.generate_text_async(5))]
        guids += await hotguid.generate_many_async(1, 5)
        return [id.metabyte for id in ids], [hotguid.shard_key(guid) for guid in guids]

    assert asyncio.run(generate_later()) == ([5, 5, 5], [5, 5, 5])
    assert [sno.metabyte(sno.generate_text(5)), *sno.generate_many(2, 5).metabytes()] == [5, 5, 5]
    guids = [UUID(hotguid.generate_text(5)), *hotguid.generate_many(2, 5)]
    assert [hotguid.shard_key(guid) for guid in guids] == [5, 5, 5]
    with raises_code("out_of_range", field="n"):
        sno.generate_many(-1)


def test_none_installs_a_new_default_generator() -> None:
    partitions, machines = set(), set()
    for _ in range(20):
        sno.set_default_generator(None)
        hotguid.set_default_generator(None)
        partitions.add(sno.generate().partition)
        machines.add(hotguid.parts(hotguid.generate()).machine)
    assert len(partitions) == len(machines) == 20
    assert abs(sno.generate().unix_ms - time.time() * 1000) < 60_000
    assert sno.generate().metabyte == 0


def test_invalid_default_generators_are_rejected() -> None:
    sno.set_default_generator(sno.Generator(7))
    for wrong in (0, "7", sno.Generator, hotguid.Generator(), object()):
        with raises_code("invalid_type", field="generator"):
            sno.set_default_generator(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        sno.set_default_generator()  # type: ignore[call-arg]
    assert sno.generate().partition == 7


def test_the_previous_default_generator_is_released() -> None:
    class Clock:
        def __call__(self) -> int:
            return NOW_NS

    own_clock = Clock()
    clock_ref = weakref.ref(own_clock)
    sno.set_default_generator(sno.Generator(7, test_clock=own_clock))
    del own_clock
    gc.collect()
    assert clock_ref() is not None
    sno.set_default_generator(None)
    gc.collect()
    assert clock_ref() is None


def test_a_clock_can_replace_the_default_generator() -> None:
    def replacing_clock() -> int:
        sno.set_default_generator(sno.Generator(9))
        gc.collect()
        return NOW_NS

    sno.set_default_generator(sno.Generator(7, test_clock=replacing_clock))
    assert sno.generate().partition == 7
    assert sno.generate().partition == 9


def test_threads_can_set_and_use_the_default_generator() -> None:
    made: list[sno.Sno] = []

    def generate_in_thread(partition: int) -> None:
        ids = []
        for _ in range(300):
            sno.set_default_generator(sno.Generator(partition))
            ids += [sno.generate() for _ in range(5)]
        made.extend(ids)

    threads = [threading.Thread(target=generate_in_thread, args=(partition,)) for partition in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6000
    assert {id.partition for id in made} <= set(range(4))


FORK_PROGRAM = """
import os
from polyflake import PolyflakeError, sno

sno.set_default_generator(sno.Generator(7) if given else None)
parent = sno.generate().partition
if os.fork() == 0:
    try:
        child = sno.generate().partition
        print("same" if child == parent else "another", flush=True)
    except PolyflakeError as error:
        print(error.code, flush=True)
        sno.set_default_generator(None)
        assert sno.generate().partition != parent
    os._exit(0)
os.wait()
"""


@pytest.mark.parametrize(("given", "said"), [(True, "forked"), (False, "another")])
def test_the_default_generator_follows_the_fork_rules(given: bool, said: str) -> None:
    command = [sys.executable, "-c", f"given = {given}\n{FORK_PROGRAM}"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert (result.stdout.strip(), result.stderr) == (said, "")
