"""Tests stall callbacks. They run on the waiting thread before each sleep, and may use the generator or end the
wait."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from families import FAMILIES, INTEGER_LAYOUT, Family
from polyflake import Stall, layout, sno
from support import NOW_MS, NOW_NS, raises_code


def restored_generator(**options: Any) -> Any:
    return sno.Generator.restore(sno.Generator(1).close(), **options)


def imported_generator(**options: Any) -> Any:
    return sno.Generator.import_original(sno.Generator(1).close(), **options)


def restored_layout_generator(**options: Any) -> Any:
    # A generator with the system's clock would continue after the last tick of the process.
    unused = layout.Generator(INTEGER_LAYOUT, test_clock=lambda: NOW_NS).close()
    return layout.Generator.restore(INTEGER_LAYOUT, unused, **options)


OTHER_FORMATS = {
    "restored": FAMILIES["sno"]._replace(make=restored_generator),
    "imported": FAMILIES["sno"]._replace(make=imported_generator),
    "restored layout": FAMILIES["layout"]._replace(make=restored_layout_generator),
}
each_family = pytest.mark.parametrize(
    "family", [*FAMILIES.values(), *OTHER_FORMATS.values()], ids=[*FAMILIES, *OTHER_FORMATS]
)
WAITING_CALLS: dict[str, Any] = {"on_exhausted": "wait"}


@each_family
def test_a_stall_is_reported_before_each_sleep(family: Family) -> None:
    reports: list[tuple[Stall, int]] = []
    readings = [NOW_NS]
    generator = family.make_exhausted(
        **WAITING_CALLS,
        test_clock=lambda: readings.pop(0) if len(readings) > 1 else readings[0],
        on_stall=lambda stall: reports.append((stall, threading.get_ident())),
    )
    later_ns = NOW_NS + min(1_000_000, family.tick_ms * 500_000)
    readings[:] = [NOW_NS, later_ns, later_ns, NOW_NS + 10**9]
    generator.generate()
    stalls = [stall for stall, _ in reports]
    assert {thread for _, thread in reports} == {threading.get_ident()}
    assert [stall.reason for stall in stalls] == ["sequence_exhausted"] * 3
    assert [stall.unix_ms for stall in stalls] == [NOW_MS, later_ns // 1_000_000, later_ns // 1_000_000]
    assert [stall.stalled for stall in stalls] == [1, 1, 1]
    slept_ms_values = [stall.slept_ms for stall in stalls]
    assert slept_ms_values[0] == 0 < slept_ms_values[1] <= slept_ms_values[2]
    # If a tick lasts one millisecond, both sleeps are shorter than a millisecond, so `slept_ms` cannot distinguish
    # them.
    assert slept_ms_values[1] < slept_ms_values[2] or family.tick_ms == 1
    assert stalls[1] != stalls[0] == stalls[0]
    assert "sequence_exhausted" in repr(stalls[0])


@each_family
@pytest.mark.parametrize("raised", [ZeroDivisionError("no"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_an_exception_of_the_callback_ends_the_wait(family: Family, raised: BaseException) -> None:
    def on_stall(_: Stall) -> None:
        raise raised

    generator = family.make_exhausted(**WAITING_CALLS, test_clock=lambda: NOW_NS, on_stall=on_stall)
    for use in (generator.generate, lambda: generator.generate_many(2)):
        with pytest.raises(type(raised)) as caught:
            use()
        assert caught.value is raised


@each_family
def test_a_callback_can_call_the_generator(family: Family) -> None:
    def on_stall(_: Stall) -> None:
        generator.close()

    generator = family.make_exhausted(**WAITING_CALLS, test_clock=lambda: NOW_NS, on_stall=on_stall)
    with raises_code("generator_closed"):
        generator.generate()


@each_family
def test_an_infinitely_recursive_callback_is_stopped(family: Family) -> None:
    nested_calls = []

    def on_stall(_: Stall) -> None:
        nested_calls.append(1)
        generator.generate()

    generator = family.make_exhausted(**WAITING_CALLS, test_clock=lambda: NOW_NS, on_stall=on_stall)
    with raises_code("clock_failed"):
        generator.generate()
    # the callback or the clock may exceed the nesting limit first
    assert len(nested_calls) == 64 or len(nested_calls) == 63
    assert generator.stats()


@each_family
@pytest.mark.parametrize("option", [{"max_wait": 0}, {"on_exhausted": "error"}], ids=str)
def test_no_stall_is_reported_without_a_wait(family: Family, option: dict[str, Any]) -> None:
    reported_stalls: list[Stall] = []
    generator = family.make_exhausted(
        **{**WAITING_CALLS, "test_clock": lambda: NOW_NS, "on_stall": reported_stalls.append, **option}
    )
    with raises_code("sequence_exhausted"):
        generator.generate()
    assert reported_stalls == []


@each_family
def test_a_callback_in_a_cycle_with_its_generator_is_collected(family: Family) -> None:
    class Owner:
        def __init__(self) -> None:
            self.generator = family.make(on_stall=self.on_stall)

        def on_stall(self, _: Stall) -> None: ...

    owner = Owner()
    owner_ref = weakref.ref(owner)
    del owner
    gc.collect()
    assert owner_ref() is None
