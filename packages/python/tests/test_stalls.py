"""Tests stall callbacks. They run on the waiting thread before each sleep, and may use the generator or end the
wait."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from families import FAMILIES, INTEGERS, Family
from polyflake import Stall, layout, sno
from support import NOW_MS, NOW_NS, raises_code


def restored_generator(**options: Any) -> Any:
    return sno.Generator.restore(sno.Generator(1).close(), **options)


def imported_generator(**options: Any) -> Any:
    return sno.Generator.import_original(sno.Generator(1).close(), **options)


def restored_layout_generator(**options: Any) -> Any:
    return layout.Generator.restore(INTEGERS, layout.Generator(INTEGERS).close(), **options)


OTHER_FORMATS = {
    "restored": FAMILIES["sno"]._replace(make=restored_generator),
    "imported": FAMILIES["sno"]._replace(make=imported_generator),
    "restored layout": FAMILIES["layout"]._replace(make=restored_layout_generator),
}
each = pytest.mark.parametrize("family", [*FAMILIES.values(), *OTHER_FORMATS.values()], ids=[*FAMILIES, *OTHER_FORMATS])
WAITING_CALLS: dict[str, Any] = {"on_exhausted": "wait"}


@each
def test_a_stall_is_reported_before_each_sleep(family: Family) -> None:
    told: list[tuple[Stall, int]] = []
    readings = [NOW_NS]
    ids = family.exhausted(
        **WAITING_CALLS,
        clock=lambda: readings.pop(0) if len(readings) > 1 else readings[0],
        on_stall=lambda stall: told.append((stall, threading.get_ident())),
    )
    later = NOW_NS + min(1_000_000, family.tick_ms * 500_000)
    readings[:] = [NOW_NS, later, later, NOW_NS + 10**9]
    ids.generate()
    stalls = [stall for stall, _ in told]
    assert {thread for _, thread in told} == {threading.get_ident()}
    assert [stall.reason for stall in stalls] == ["sequence_exhausted"] * 3
    assert [stall.unix_ms for stall in stalls] == [NOW_MS, later // 1_000_000, later // 1_000_000]
    assert [stall.stalled for stall in stalls] == [1, 1, 1]
    ticks = [stall.slept_ms for stall in stalls]
    assert ticks[0] == 0 < ticks[1] <= ticks[2]
    # If a tick lasts one millisecond, both sleeps are shorter than a millisecond, so `slept_ms` cannot distinguish
    # them.
    assert ticks[1] < ticks[2] or family.tick_ms == 1
    assert stalls[1] != stalls[0] == stalls[0]
    assert "sequence_exhausted" in repr(stalls[0])


@each
@pytest.mark.parametrize("raised", [ZeroDivisionError("no"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_an_exception_of_the_callback_ends_the_wait(family: Family, raised: BaseException) -> None:
    def on_stall(_: Stall) -> None:
        raise raised

    ids = family.exhausted(**WAITING_CALLS, clock=lambda: NOW_NS, on_stall=on_stall)
    for use in (ids.generate, lambda: ids.generate_many(2)):
        with pytest.raises(type(raised)) as caught:
            use()
        assert caught.value is raised


@each
def test_a_callback_can_call_the_generator(family: Family) -> None:
    def on_stall(_: Stall) -> None:
        ids.close()

    ids = family.exhausted(**WAITING_CALLS, clock=lambda: NOW_NS, on_stall=on_stall)
    with raises_code("generator_closed"):
        ids.generate()


@each
def test_an_infinitely_recursive_callback_is_stopped(family: Family) -> None:
    depth = []

    def on_stall(_: Stall) -> None:
        depth.append(1)
        ids.generate()

    ids = family.exhausted(**WAITING_CALLS, clock=lambda: NOW_NS, on_stall=on_stall)
    with raises_code("clock_failed"):
        ids.generate()
    assert len(depth) == 64 or len(depth) == 63  # the callback or the clock may exceed the nesting limit first
    assert ids.stats()


@each
@pytest.mark.parametrize("option", [{"max_wait": 0}, {"on_exhausted": "error"}], ids=str)
def test_no_stall_is_reported_without_a_wait(family: Family, option: dict[str, Any]) -> None:
    told: list[Stall] = []
    ids = family.exhausted(**{**WAITING_CALLS, "clock": lambda: NOW_NS, "on_stall": told.append, **option})
    with raises_code("sequence_exhausted"):
        ids.generate()
    assert told == []


@each
def test_a_callback_in_a_cycle_with_its_generator_is_collected(family: Family) -> None:
    class Owner:
        def __init__(self) -> None:
            self.generator = family.make(on_stall=self.on_stall)

        def on_stall(self, _: Stall) -> None: ...

    owner = Owner()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None
