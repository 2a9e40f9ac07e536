"""A warning where two generators of a process would repeat each other's IDs."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from polyflake import layout, randflake
from support import NOW_MS

SONYFLAKE = layout.Layout.preset("sonyflake")
START = 1_730_000_000


def flakes(
    nodes: Any = 7, start: int = START, end: int = START + 1000, secret: bytes = b"secret of twins!", **more: Any
) -> Any:
    return randflake.Generator(randflake.Grant(nodes, start, end), secret, **more)


def sonyflakes(machine: int = 60_007, **more: Any) -> Any:
    return layout.Generator(SONYFLAKE, bindables={"machine": machine}, **more)


@contextmanager
def silence() -> Iterator[None]:
    """No warning is given in the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


each = pytest.mark.parametrize("make", [flakes, sonyflakes])


@each
def test_a_twin_is_warned_of_where_it_is_made(make: Callable[..., Any]) -> None:
    with silence():
        one = make()
    with pytest.warns(RuntimeWarning, match="another generator of this process has the same") as caught:
        two = make()
    assert [warning.filename for warning in caught] == [__file__]
    assert one is not two


@each
def test_where_warnings_are_errors_there_is_no_twin(make: Callable[..., Any]) -> None:
    one = make()
    with silence():
        for _ in range(2):
            with pytest.raises(RuntimeWarning):
                make()
    one.close()
    with silence():
        make()


@each
def test_one_that_was_closed_or_is_gone_has_no_twin(make: Callable[..., Any]) -> None:
    with silence():
        make().close()
        make()
        gc.collect()
        for _ in range(3):
            make()
            gc.collect()


def test_other_grants_are_no_twins() -> None:
    with silence():
        kept = [
            flakes(),
            flakes(8),
            flakes((7, 8)),
            flakes(secret=b"sixteen byte key"),
            flakes(start=START + 1000, end=START + 2000),
            randflake.Generator(randflake.Grant(9, START, START + 1), b"secret of twins!"),
        ]
    assert len(kept) == 6
    with pytest.warns(RuntimeWarning):
        flakes(start=START + 999, end=START + 1001)


def test_an_extended_grant_is_a_longer_one() -> None:
    one = flakes()
    one.extend_grant(randflake.Grant(7, START, START + 1500))
    with pytest.warns(RuntimeWarning):
        flakes(start=START + 1400, end=START + 2000)


def test_other_bindables_and_windows_are_no_twins() -> None:
    with silence():
        kept = [
            sonyflakes(),
            sonyflakes(60_008),
            layout.Generator(SONYFLAKE),
            layout.Generator(SONYFLAKE),
            layout.Generator(layout.Layout.preset("instagram"), bindables={"shard": 7}),
        ]
        windowed = [
            sonyflakes(60_009, window=(NOW_MS, NOW_MS + 1000)),
            sonyflakes(60_009, window=(NOW_MS + 1000, NOW_MS + 2000)),
        ]
    assert len(kept) + len(windowed) == 7
    windowed[0].extend_window(NOW_MS + 1500)
    with pytest.warns(RuntimeWarning):
        sonyflakes(60_009, window=(NOW_MS, NOW_MS + 1))
    with pytest.warns(RuntimeWarning):
        layout.Generator(layout.Layout.from_json(SONYFLAKE.to_json()), bindables={"machine": 60_007})


def test_a_restored_generator_is_the_only_one() -> None:
    one = sonyflakes(60_010)
    with silence():
        snapshot = one.close()
        two = layout.Generator.restore(SONYFLAKE, snapshot, bindables={"machine": 60_010})
    with pytest.warns(RuntimeWarning):
        layout.Generator.restore(SONYFLAKE, snapshot, bindables={"machine": 60_010})
    two.close()


def test_many_generators_are_made_as_fast_as_few() -> None:
    with silence():
        kept = [flakes(node) for node in range(20_000)]
    assert len(kept) == 20_000
