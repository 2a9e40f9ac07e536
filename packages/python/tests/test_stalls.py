"""Callbacks for stalls: called on the waiting thread before each sleep, free to use the generator or end the wait."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from polyflake import Stall, hotguid, layout, randflake, sno
from support import NOW_MS, NOW_NS, refused

GRANT = randflake.Grant(1, 1_730_000_000, 2_803_741_824)


def a_sno_generator(**options: Any) -> Any:
    return sno.Generator(1, sequence_max=3, **options)


def a_restored_generator(**options: Any) -> Any:
    return sno.Generator.restore(sno.Generator(1, sequence_max=3).close(), **options)


def an_imported_generator(**options: Any) -> Any:
    return sno.Generator.import_original(sno.Generator(1, sequence_max=3).close(), **options)


def a_randflake_generator(**options: Any) -> Any:
    """A generator that waits at once: its second is used up."""
    second = NOW_NS // 10**9
    return randflake.Generator(GRANT, bytes(16), **{"on_exhausted": "wait", "resume_after": second, **options})


def a_hot_guid_generator(**options: Any) -> Any:
    return hotguid.Generator(**options)


SONYFLAKE = layout.Layout.preset("sonyflake", machine=1)


def a_layouts_generator(**options: Any) -> Any:
    return layout.Generator(SONYFLAKE, **options)


def a_restored_layouts_generator(**options: Any) -> Any:
    return layout.Generator.restore(SONYFLAKE, layout.Generator(SONYFLAKE).close(), **options)


def exhausted(make: Callable[..., Any], **options: Any) -> Any:
    """A generator that has nothing left in this tick."""
    ids = make(**options)
    ids.generate_many(POOLS.get(make, 4))
    return ids


# Numbers of IDs in a tick.
POOLS = {
    a_randflake_generator: 0,
    a_hot_guid_generator: 2**24,
    a_layouts_generator: 256,
    a_restored_layouts_generator: 256,
}


each = pytest.mark.parametrize(
    "make",
    [a_sno_generator, a_restored_generator, an_imported_generator, *POOLS],
)


@each
def test_a_stall_is_told_before_each_sleep(make: Callable[..., Any]) -> None:
    told: list[tuple[Stall, int]] = []
    readings = [NOW_NS]
    ids = exhausted(
        make,
        clock=lambda: readings.pop(0) if len(readings) > 1 else readings[0],
        on_stall=lambda stall: told.append((stall, threading.get_ident())),
    )
    readings[:] = [NOW_NS, NOW_NS + 1_000_000, NOW_NS + 1_000_000, NOW_NS + 10**9]
    ids.generate()
    stalls = [stall for stall, _ in told]
    assert {thread for _, thread in told} == {threading.get_ident()}
    assert [stall.reason for stall in stalls] == ["sequence_exhausted"] * 3
    assert [stall.unix_ms for stall in stalls] == [NOW_MS, NOW_MS + 1, NOW_MS + 1]
    assert [stall.stalled for stall in stalls] == [1, 1, 1]
    ticks = [stall.slept_ms for stall in stalls]
    assert ticks[0] == 0 < ticks[1] < ticks[2]
    assert stalls[1] != stalls[0] == stalls[0]
    assert "sequence_exhausted" in repr(stalls[0])


@each
@pytest.mark.parametrize("raised", [ZeroDivisionError("no"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_what_a_callback_raises_ends_the_wait(make: Callable[..., Any], raised: BaseException) -> None:
    def on_stall(_: Stall) -> None:
        raise raised

    ids = exhausted(make, clock=lambda: NOW_NS, on_stall=on_stall)
    for use in (ids.generate, lambda: ids.generate_many(2)):
        with pytest.raises(type(raised)) as caught:
            use()
        assert caught.value is raised


@each
def test_a_callback_may_use_the_generator(make: Callable[..., Any]) -> None:
    def on_stall(_: Stall) -> None:
        ids.close()

    ids = exhausted(make, clock=lambda: NOW_NS, on_stall=on_stall)
    with refused("generator_closed"):
        ids.generate()


@each
def test_a_callback_that_stalls_for_ever_is_stopped(make: Callable[..., Any]) -> None:
    depth = []

    def on_stall(_: Stall) -> None:
        depth.append(1)
        ids.generate()

    ids = exhausted(make, clock=lambda: NOW_NS, on_stall=on_stall)
    with refused("clock_failed"):
        ids.generate()
    assert len(depth) == 64 or len(depth) == 63  # the clock may be the one too many
    assert ids.stats()


@each
@pytest.mark.parametrize("option", [{"max_wait": 0}, {"on_exhausted": "error"}], ids=str)
def test_nothing_is_told_where_nothing_waits(make: Callable[..., Any], option: dict[str, Any]) -> None:
    told: list[Stall] = []
    ids = exhausted(make, clock=lambda: NOW_NS, on_stall=told.append, **option)
    with refused("sequence_exhausted"):
        ids.generate()
    assert told == []


@each
def test_a_callback_in_a_cycle_with_its_generator_is_collected(make: Callable[..., Any]) -> None:
    class Owner:
        def __init__(self) -> None:
            self.generator = make(on_stall=self.hear)

        def hear(self, _: Stall) -> None: ...

    owner = Owner()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None
