"""A catalogue of invalid input, which is passed to every function."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions

import numpy as np


class ValidIndex:
    """A class with ``__index__``, so that its objects can be used as integers."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class RaisingIndex:
    """A class whose ``__index__`` raises the given exception."""

    def __init__(self, raised: BaseException) -> None:
        self.raised = raised

    def __index__(self) -> int:
        raise self.raised


class InvalidIndex:
    def __index__(self) -> int:
        return "7"  # type: ignore[return-value]


class Colour(enum.IntEnum):
    RED = 7


class MyInt(int):
    """A subclass of ``int`` whose overridden methods raise, so only code that reads the integer's value directly
    succeeds.
    """

    def __index__(self) -> int:
        raise AssertionError

    def __rshift__(self, other: int) -> int:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = int.__hash__


HUGE_INTEGERS = [
    2**39,
    2**53 - 1,
    2**53,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
    2**64,
    2**127,
    2**128,
    2**200,
    10**10_000,
]

NON_INTEGERS = [
    True,
    False,
    1.0,
    float("nan"),
    decimal.Decimal(1),
    fractions.Fraction(1),
    1j,
    "1",
    [],
    {},
    object(),
    # Before NumPy 2.3, a NumPy bool could be used as an integer, but with a warning.
    *([] if hasattr(np.bool_, "__index__") else [np.bool_(True)]),
    np.float64(1),
    dt.timedelta(1),
    int,
]

#: Values whose ``__index__`` raises a ``TypeError``.
NON_INDICES = [np.array([1, 2]), InvalidIndex()]

BAD_CHARACTERS = [
    *"\0\n\r\t =-_!01yzAX\x7f\x80\xa0",
    "\uff19",  # full-width 9
    "\u0669",  # Arabic 9
    "\u0430",  # Cyrillic a
    "\u212a",  # Kelvin sign
    "\uff41",  # full-width a
    *"\ufeff\u200b\u0301\ud800\udfff\U0001d7d7\U0010ffff",
]
