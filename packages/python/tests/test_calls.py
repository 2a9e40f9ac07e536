"""Tests that different ways to call a generator's methods give the same result."""

from __future__ import annotations

import inspect
import operator
import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from catalogue import Colour, MyInt, ValidIndex
from polyflake import sno
from support import NOW_NS

METHODS = ["generate", "generate_text"]


def metabyte(made: sno.Sno | str) -> int:
    return sno.metabyte(str(made))


@pytest.fixture
def generator() -> sno.Generator:
    return sno.Generator(1, metabyte=9)


@pytest.mark.parametrize("name", METHODS)
def test_the_metabyte_is_optional_and_positional_or_keyword(generator: sno.Generator, name: str) -> None:
    method: Callable[..., sno.Sno | str] = getattr(generator, name)
    plain: Callable[..., sno.Sno | str] = getattr(sno.Generator, name)
    built_keyword = "".join(["meta", "byte"])  # equal to the literal in the source, but a different string object
    for bare in (method, partial(plain, generator), partial(operator.methodcaller(name), generator)):
        assert metabyte(bare()) == 9
    assert metabyte(method(None)) == metabyte(method(metabyte=None)) == 9
    for said in (7, Colour.RED, ValidIndex(7), MyInt(7), np.uint8(7)):
        assert metabyte(method(said)) == 7
        assert metabyte(method(metabyte=said)) == 7
        assert metabyte(method(**{built_keyword: said})) == 7
        assert metabyte(plain(generator, said)) == 7
        assert metabyte(plain(generator, metabyte=said)) == 7
        assert metabyte(operator.methodcaller(name, metabyte=said)(generator)) == 7
    assert [metabyte(made) for made in map(method, range(256))] == [*range(256)]
    assert isinstance(method(), sno.Sno if name == "generate" else str)


def test_a_clock_can_call_back_and_switch_threads() -> None:
    made: list[str] = []

    def clock() -> int:
        other_thread = threading.Thread(target=lambda: made.append(helper.generate_text()))
        other_thread.start()
        other_thread.join()
        return NOW_NS

    helper = sno.Generator(2)
    generator = sno.Generator(1, test_clock=clock)
    assert len({generator.generate_text() for _ in range(20)} | set(made)) == 40


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_a_signature(generator: sno.Generator, name: str) -> None:
    assert str(inspect.signature(getattr(generator, name))) == "(metabyte=None)"
    assert getattr(sno.Generator, name).__qualname__ == f"Generator.{name}"
