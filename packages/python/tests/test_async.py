"""Tests calls that wait in asyncio's event loop. The loop must keep running, and calls can be cancelled."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest

from families import FAMILIES, GRANT, Family, each_family
from polyflake import PolyflakeError, Stall, hotguid, layout, randflake, sno
from support import NOW_NS, TICK_NS, ignore_fork_warnings, raises_code

#: A wait limit that is long enough even on a busy machine.
LONG_WAIT = {"max_wait": 60_000}

SECOND_NS = 10**9
SNO_FAMILY = FAMILIES["sno"]


CALLS: dict[str, Callable[..., Coroutine[Any, Any, Any]]] = {
    "generate": lambda ids, _=SNO_FAMILY: ids.generate_async(),
    "text": lambda ids, _=SNO_FAMILY: ids.generate_text_async(),
    "many": lambda ids, _=SNO_FAMILY: ids.generate_many_async(3),
    "fill": lambda ids, family=SNO_FAMILY: ids.fill_async(family.make_buffer(3)),
}


@pytest.mark.parametrize("call", CALLS)
@each_family
def test_the_event_loop_runs_while_a_call_waits(family: Family, call: str) -> None:
    """The clock advances only while the event loop runs, so a call that blocked the loop would wait forever."""
    now = [NOW_NS]
    ids = family.make_exhausted(test_clock=lambda: now[0], on_exhausted="wait", **LONG_WAIT)
    if call == "text" and not hasattr(ids, "generate_text"):
        return

    async def count_loop_turns() -> int:
        waiting_task = asyncio.create_task(CALLS[call](ids, family))
        count = 0
        while count < 20:
            await asyncio.sleep(0)
            assert not waiting_task.done()
            count += 1
        now[0] += SECOND_NS
        await waiting_task
        return count

    assert asyncio.run(count_loop_turns()) == 20


@each_family
def test_async_results_have_the_types_of_blocking_calls(family: Family) -> None:
    now = [NOW_NS]
    ids = family.make(test_clock=lambda: now[0], **LONG_WAIT)

    async def use_generator() -> None:
        assert type(await ids.generate_async()) is type(ids.try_generate())
        assert type(await ids.generate_many_async(3)) is type(ids.generate_many(1))
        assert len(await ids.generate_many_async(0)) == 0
        buffer = family.make_buffer(3)
        assert await ids.fill_async(buffer) is None
        assert all(np.asarray(buffer).reshape(3, -1).any(1))
        if hasattr(ids, "generate_text"):
            assert len(await ids.generate_text_async()) == len(ids.generate_text())

    asyncio.run(use_generator())


@pytest.mark.parametrize("call", CALLS)
def test_a_cancelled_call_stops_and_the_generator_continues(call: str) -> None:
    now, reported_stalls = [NOW_NS], list[Stall]()
    ids = SNO_FAMILY.make_exhausted(test_clock=lambda: now[0], on_stall=reported_stalls.append, **LONG_WAIT)
    # A traceback references the frames through which the exception passed.
    held_errors = []

    async def use_generator() -> None:
        for _ in range(3):
            waiting_task = asyncio.create_task(CALLS[call](ids))
            stall_count = len(reported_stalls)
            while len(reported_stalls) == stall_count:
                await asyncio.sleep(0)
            waiting_task.cancel()
            with pytest.raises(asyncio.CancelledError) as cancelled:
                await waiting_task
            held_errors.append(cancelled)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(CALLS[call](ids), 0.01)

    asyncio.run(use_generator())
    # Cancelled calls no longer count as waiting.
    assert {stall.stalled for stall in reported_stalls} == {1} and len(held_errors) == 3
    now[0] += TICK_NS
    assert len(ids.generate_many(4)) == 4


def test_a_call_that_is_never_awaited_makes_no_id() -> None:
    ids = sno.Generator(1, test_clock=lambda: NOW_NS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        unawaited_call = ids.generate_async()
        del unawaited_call
    assert ids.stats().len == 0


@pytest.mark.parametrize("options", [{"on_exhausted": "error"}, {"max_wait": 0}])
@pytest.mark.parametrize("call", CALLS)
def test_a_generator_that_does_not_wait_raises_immediately(call: str, options: dict[str, Any]) -> None:
    reported_stalls = list[Stall]()
    ids = SNO_FAMILY.make_exhausted(test_clock=lambda: NOW_NS, on_stall=reported_stalls.append, **options)

    async def use_generator() -> None:
        loop_turn_task = asyncio.create_task(asyncio.sleep(0))
        with raises_code("sequence_exhausted"):
            await CALLS[call](ids)
        assert not loop_turn_task.done()

    asyncio.run(use_generator())
    assert reported_stalls == []


def test_async_calls_wait_for_a_clock_that_is_behind() -> None:
    now, read = [NOW_NS + 10 * SECOND_NS], list[int]()

    def clock() -> int:
        read.append(now[0])
        return now[0]

    ids = FAMILIES["randflake"].make(test_clock=clock, **LONG_WAIT)
    ids.generate()
    now[0] = NOW_NS

    async def use_generator() -> None:
        waiting_task = asyncio.create_task(ids.generate_async())
        await asyncio.sleep(0.02)
        assert not waiting_task.done()
        now[0] += 11 * SECOND_NS
        await waiting_task

    asyncio.run(use_generator())
    # The call slept while it waited. A busy-waiting call would have read the clock thousands of times.
    assert len(read) < 100


@pytest.mark.parametrize("call", CALLS)
def test_async_exceptions_match_those_of_blocking_calls(call: str) -> None:
    def broken_clock() -> int:
        raise OSError("no time")

    with pytest.raises(PolyflakeError) as caught:
        asyncio.run(CALLS[call](sno.Generator(1, test_clock=broken_clock)))
    assert caught.value.code == "clock_failed"
    assert isinstance(caught.value.__cause__, OSError)

    def stop(_: Stall) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        asyncio.run(CALLS[call](SNO_FAMILY.make_exhausted(test_clock=lambda: NOW_NS, on_stall=stop)))
    closed_generator = sno.Generator(1)
    closed_generator.close()
    with raises_code("generator_closed"):
        asyncio.run(CALLS[call](closed_generator))


def test_invalid_arguments_raise_before_the_await() -> None:
    ids, sharded = sno.Generator(1), layout.Generator(layout.Layout.preset("instagram"), test_clock=lambda: NOW_NS)
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

    async def use_generators() -> None:
        assert sno.metabyte(await sno.Generator(3).generate_text_async(metabyte=8)) == 8
        assert {id.metabyte for id in await sno.Generator(4, metabyte=9).generate_many_async(2)} == {9}
        assert hotguid.shard_key(await hotguid.Generator().generate_async(shard_key=5)) == 5
        ids = [await shards.generate_async(bound), *await shards.generate_many_async(2, bound)]
        assert [shards.layout.parse(id).bindables for id in ids] == [bound] * 3

    asyncio.run(use_generators())


@each_family
def test_a_hundred_tasks_repeat_no_id(family: Family) -> None:
    ids = family.make()

    async def generate_ids() -> list[Any]:
        return [await ids.generate_async() for _ in range(5)] + list(await ids.generate_many_async(5))

    async def use_generator() -> list[Any]:
        return [id for made in await asyncio.gather(*(generate_ids() for _ in range(100))) for id in made]

    all_ids = asyncio.run(use_generator())
    assert len(all_ids) == len(set(all_ids)) == 1000


@pytest.mark.parametrize("call", ["many", "fill"])
def test_large_batches_do_not_block_the_event_loop(call: str) -> None:
    # With this many node IDs, all IDs fit in one second. With fewer node IDs, the event loop would also run while a
    # call waits for the next second.
    ids, n = randflake.Generator(randflake.Grant((0, 131_071), GRANT.start, GRANT.end), b"a secret of ours"), 200_000
    buffer = np.zeros(n, np.int64)

    async def use_generator() -> int:
        turns, is_over = 0, asyncio.Event()

        async def count() -> None:
            nonlocal turns
            while not is_over.is_set():
                turns += 1
                await asyncio.sleep(0)

        counting_task = asyncio.create_task(count())
        if call == "many":
            buffer[:] = np.asarray(await ids.generate_many_async(n))
        else:
            await ids.fill_async(buffer)
        is_over.set()
        await counting_task
        return turns

    assert asyncio.run(use_generator()) >= n // 16_384
    assert len(np.unique(buffer)) == n


def run_in_child(work: Callable[[], bytes]) -> bytes:
    """Runs ``work`` in a forked child and returns the resulting bytes."""
    read, write = os.pipe()
    child_pid = os.fork()
    if child_pid == 0:
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
        child_output = pipe.read()
    os.waitpid(child_pid, 0)
    return child_output


@ignore_fork_warnings
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

    child_bytes, parent_bytes = run_in_child(finish), finish()
    id_sets = [{packed[at : at + 16] for at in range(0, len(packed), 16)} for packed in (child_bytes, parent_bytes)]
    assert [len(ids) for ids in id_sets] == [n, n]
    assert id_sets[0].isdisjoint(id_sets[1])
