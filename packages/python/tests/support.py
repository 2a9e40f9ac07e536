"""Helpers of the tests: a way to say "this is refused", the repository's files, clocks that follow a script."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from polyflake import PolyflakeError


class Absent:
    """Stand-in for a library that this Python has no build of: a test is skipped where it uses it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks all that it finds in a file for its own attributes
            raise AttributeError(name)
        pytest.skip(f"no {self._name} for this Python")


def if_built(name: str) -> Any:
    """A library that has no build for some Pythons."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else Absent(name)


#: For tests that fork on purpose: from 3.12 on Python warns of it if there are threads, and libraries have some.
forks = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork:DeprecationWarning")

REPOSITORY = Path(__file__).resolve().parents[3]

NOW_MS = 1_763_650_000_000
NOW_NS = NOW_MS * 1_000_000
TICK_NS = 4_000_000


@contextmanager
def refused(code: str, **members: Any) -> Iterator[pytest.ExceptionInfo[PolyflakeError]]:
    """The block is refused with this code, and with these members."""
    __tracebackhide__ = True
    with pytest.raises(PolyflakeError) as caught:
        yield caught
    error = caught.value
    assert error.code == code, error
    assert {name: getattr(error, name) for name in members} == members, error


def script(readings_ns: Iterable[int]) -> Callable[[], int]:
    """A clock that shows these times one after the other; the last one stays."""
    readings = list(readings_ns)
    return lambda: readings.pop(0) if len(readings) > 1 else readings[0]
