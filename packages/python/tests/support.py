"""Helpers for the tests: assertions about errors, the repository's files, and scripted clocks."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from polyflake import PolyflakeError


class MissingLibrary:
    """A placeholder for a library that has no build for this Python version. Tests that use the library are skipped."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks up its own private attributes on every object in a module
            raise AttributeError(name)
        pytest.skip(f"no {self._name} for this Python")


def import_or_skip(name: str) -> Any:
    """Imports a library that has no build for some Python versions."""
    is_required = os.environ.get("CI", "false") not in ("", "false") and sys.platform == "linux"
    is_there = is_required or importlib.util.find_spec(name) is not None
    return importlib.import_module(name) if is_there else MissingLibrary(name)


#: Marks tests that fork on purpose. From 3.12 on, Python warns about a fork while other threads exist, and some
# libraries start threads.
ignore_fork_warnings = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded, use of fork:DeprecationWarning"
)

REPOSITORY = Path(__file__).resolve().parents[3]

NOW_MS = 1_763_650_000_000
NOW_NS = NOW_MS * 1_000_000
TICK_NS = 4_000_000


@contextmanager
def raises_code(code: str, **members: Any) -> Iterator[pytest.ExceptionInfo[PolyflakeError]]:
    """Asserts that the block raises a ``PolyflakeError`` with this code and these attributes."""
    __tracebackhide__ = True
    with pytest.raises(PolyflakeError) as caught:
        yield caught
    error = caught.value
    assert error.code == code, error
    assert {name: getattr(error, name) for name in members} == members, error


def scripted_clock(readings_ns: Iterable[int]) -> Callable[[], int]:
    """Returns a clock that returns the given readings one after another, and then repeats the last reading."""
    readings = list(readings_ns)
    return lambda: readings.pop(0) if len(readings) > 1 else readings[0]
