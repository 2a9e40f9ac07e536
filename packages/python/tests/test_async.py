"""Tests calls that wait in asyncio's event loop. The loop must keep running, and calls can be cancelled."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest

from families import FAMILIES, GRANT, SECRET, Family, each_family
from polyflake import PolyflakeError, Stall, hotguid, layout, randflake, sno
from support import NOW_NS, TICK_NS, forks, raises_code

#: A wait limit that is long enough even on a busy machine.
LONG_WAIT = {"max_wait": 60_000}

SECOND_NS = 10**9
SNO = FAMILIES["sno"]


CALLS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
    "generate": lambda ids, _=SNO: ids.generate_async(),
    "text": lambda ids, _=SNO: ids.generate_text_async(),
    "many": lambda ids, _=SNO: ids.generate_many_async(3),
    "fill": lambda ids, family=SNO: ids.fill_async(family.room(3)),
}


@pytest.mark.parametrize("call", CALLS)
@each_family
def test_the_event_loop_runs_while_a_call_waits(family: Family, call: str) -> None:
    """The clock advances only while the event loop runs, so a call that blocked the loop would wait forever."""
    now = [NOW_NS]
    ids = family.exhausted(clock=lambda: now[0], on_exhausted="wait", **LONG_WAIT)
    if call == "text" and not hasattr(ids, "generate_text"):
        return

    async def count_loop_turns() -> int:
        waiting = asyncio.create_task(CALLS[call](ids, family))
        count = 0
        while count < 20:
            await asyncio.sleep(0)
            assert not waiting.done()
            count += 1
        now[0] += SECOND_NS
        await waiting
        return count

    assert asyncio.run(count_loop_turns()) == 20


@each_family
def test_async_results_have_the_types_of_blocking_calls(family: Family) -> None:
    now = [NOW_NS]
    ids = family.make(clock=lambda: now[0], **LONG_WAIT)

    async def use() -> None:
        assert type(await ids.generate_async()) is type(ids.try_generate())
        assert type(await ids.generate_many_async(3)) is type(ids.generate_many(1))
        assert len(await ids.generate_many_async(0)) == 0
        buffer = family.room(3)
        assert await ids.fill_async(buffer) is None
        assert all(np.asarray(buffer).reshape(3, -1).any(1))
        if hasattr(ids, "generate_text"):
            assert len(await ids.generate_text_async()) == len(ids.generate_text())

    asyncio.run(use())


@pytest.mark.parametrize("call", CALLS)
def test_a_cancelled_call_stops_and_the_generator_continues(call: str) -> None:
    now, told = [NOW_NS], list[Stall]()
    ids = SNO.exhausted(clock=lambda: now[0], on_stall=told.append, **LONG_WAIT)
    # A traceback references the frames through which the exception passed.
    held = []

    async def use() -> None:
        for _ in range(3):
            waiting = asyncio.create_task(CALLS[call](ids))
            before = len(told)
            while len(told) == before:
                await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError) as cancelled:
                await waiting
            held.append(cancelled)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(CALLS[call](ids), 0.01)

    asyncio.run(use())
    # Cancelled calls no longer count as waiting.
    assert {stall.stalled for stall in told} == {1} and len(held) == 3
    now[0] += TICK_NS
    assert len(ids.generate_many(4)) == 4


def test_a_call_that_is_never_awaited_makes_no_id() -> None:
    ids = sno.Generator(1, clock=lambda: NOW_NS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        del_me = ids.generate_async()
        del del_me
    assert ids.stats().len == 0


@pytest.mark.parametrize("options", [{"on_exhausted": "error"}, {"max_wait": 0}])
@pytest.mark.parametrize("call", CALLS)
def test_a_generator_that_does_not_wait_raises_immediately(call: str, options: dict[str, Any]) -> None:
    told = list[Stall]()
    ids = SNO.exhausted(clock=lambda: NOW_NS, on_stall=told.append, **options)

    async def use() -> None:
        turned = asyncio.create_task(asyncio.sleep(0))
        with raises_code("sequence_exhausted"):
            await CALLS[call](ids)
        assert not turned.done()

    asyncio.run(use())
    assert told == []


def test_async_calls_wait_for_a_clock_that_is_behind() -> None:
    now, read = [NOW_NS + 10 * SECOND_NS], list[int]()

    def clock() -> int:
        read.append(now[0])
        return now[0]

    ids = FAMILIES["randflake"].make(clock=clock, **LONG_WAIT)
    ids.generate()
    now[0] = NOW_NS

    async def use() -> None:
        waiting = asyncio.create_task(ids.generate_async())
        await asyncio.sleep(0.02)
        assert not waiting.done()
        now[0] += 11 * SECOND_NS
        await waiting

    asyncio.run(use())
    # The call slept while it waited. A busy-waiting call would have read the clock thousands of times.
    assert len(read) < 100


@pytest.mark.parametrize("call", CALLS)
def test_async_exceptions_match_those_of_blocking_calls(call: str) -> None:
    def broken_clock() -> int:
        raise OSError("no time")

    with pytest.raises(PolyflakeError) as caught:
        asyncio.run(CALLS[call](sno.Generator(1, clock=broken_clock)))
    assert caught.value.code == "clock_failed"
    assert isinstance(caught.value.__cause__, OSError)

    def stop(_: Stall) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        asyncio.run(CALLS[call](SNO.exhausted(clock=lambda: NOW_NS, on_stall=stop)))
    closed = sno.Generator(1)
    closed.close()
    with raises_code("generator_closed"):
        asyncio.run(CALLS[call](closed))


def test_invalid_arguments_raise_before_the_await() -> None:
    ids, sharded = sno.Generator(1), layout.Generator(layout.Layout.preset("instagram"), clock=lambda: NOW_NS)
    with raises_code("out_of_range", field="metabyte"):
        ids.generate_async(256)
    with raises_code("out_of_range", field="n"):
        ids.generate_many_async(-1)
    with raises_code("invalid_type", field="buffer"):
        ids.fill_async(bytes(10))
    with raises_code("missing_field"):
        asyncio.run(sharded.generate_async())
    with raises_code("unknown_field"):
        asyncio.run(sharded.generate_async({"nothing": 1}))


def test_arguments_set_the_fields_of_the_ids() -> None:
    shards, bound = layout.Generator(layout.Layout.preset("instagram")), {"shard": 3}

    async def use() -> None:
        assert sno.metabyte(await sno.Generator(3).generate_text_async(metabyte=8)) == 8
        assert {id.metabyte for id in await sno.Generator(4, metabyte=9).generate_many_async(2)} == {9}
        assert hotguid.shard_key(await hotguid.Generator().generate_async(shard_key=5)) == 5
        ids = [await shards.generate_async(bound), *await shards.generate_many_async(2, bound)]
        assert [shards.layout.parse(id).bindables for id in ids] == [bound] * 3

    asyncio.run(use())


@each_family
def test_a_hundred_tasks_repeat_no_id(family: Family) -> None:
    ids = family.make()

    async def generate_ids() -> list[Any]:
        return [await ids.generate_async() for _ in range(5)] + list(await ids.generate_many_async(5))

    async def use() -> list[Any]:
        return [id for made in await asyncio.gather(*(generate_ids() for _ in range(100))) for id in made]

    made = asyncio.run(use())
    assert len(made) == len(set(made)) == 1000


@pytest.mark.parametrize("call", ["many", "fill"])
def test_large_batches_do_not_block_the_event_loop(call: str) -> None:
    # With this many node IDs, all IDs fit in one second. With fewer, the event loop would also run while a call waits
    # for the next second.
    ids, n = randflake.Generator(randflake.Grant((0, 131_071), GRANT.start, GRANT.end), SECRET), 200_000
    buffer = np.zeros(n, np.int64)

    async def use() -> int:
        turns, is_over = 0, asyncio.Event()

        async def count() -> None:
            nonlocal turns
            while not is_over.is_set():
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        if call == "many":
            buffer[:] = np.asarray(await ids.generate_many_async(n))
        else:
            await ids.fill_async(buffer)
        is_over.set()
        await counting
        return turns

    assert asyncio.run(use()) >= n // 16_384
    assert len(np.unique(buffer)) == n


def in_child(work: Callable[[], bytes]) -> bytes:
    """Runs the work in a forked child and returns the resulting bytes."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(write, "wb") as pipe:
                try:
                    pipe.write(work())
                except PolyflakeError as error:
                    pipe.write(error.code.encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@forks
@pytest.mark.parametrize("call", ["many", "fill"])
def test_a_child_forked_between_blocks_repeats_no_id(call: str) -> None:
    """The parent and the child continue the same coroutine. The test does not use asyncio, because its loops do not
    work in a child."""
    ids, n = hotguid.Generator(), 40_000
    buffer = np.zeros((n, 16), np.uint8)
    coroutine = ids.generate_many_async(n) if call == "many" else ids.fill_async(buffer)
    assert coroutine.send(None) is None

    def finish() -> bytes:
        while True:
            try:
                coroutine.send(None)
            except StopIteration as done:
                return np.asarray(buffer if done.value is None else done.value).tobytes()

    theirs, mine = in_child(finish), finish()
    both = [{packed[at : at + 16] for at in range(0, len(packed), 16)} for packed in (theirs, mine)]
    assert [len(ids) for ids in both] == [n, n]
    assert both[0].isdisjoint(both[1])
