"""Follows the package's README recipe for mocked time, with freezegun and time-machine."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import time_machine
from freezegun import freeze_time

from polyflake import hotguid, sno

NEW_YEAR = dt.datetime(2030, 1, 1, tzinfo=dt.timezone.utc)
STARTED_AT = time.time()


def check(mock: Callable[[], AbstractContextManager[Any]], move: Callable[[Any], None]) -> None:
    with mock():
        unmocked_id = sno.generate()
        assert abs(unmocked_id.unix_ms / 1000 - STARTED_AT) < 3600, "a generator without a clock sees none of it"
        sno.set_default_generator(sno.Generator(7, sequence_min=0, test_clock=lambda: time.time_ns()))
        hotguid.set_default_generator(hotguid.Generator(test_clock=lambda: time.time_ns()))
    with mock() as mocked:
        assert sno.generate().datetime == NEW_YEAR
        assert hotguid.timestamp(hotguid.generate()) == NEW_YEAR.timestamp()
        move(mocked)
        assert sno.generate().datetime == NEW_YEAR + dt.timedelta(seconds=8)
    sno.set_default_generator(None)
    hotguid.set_default_generator(None)
    assert abs(sno.generate().unix_ms / 1000 - STARTED_AT) < 3600
    assert abs(hotguid.timestamp(hotguid.generate()) - STARTED_AT) < 3600


check(lambda: freeze_time("2030-01-01"), lambda frozen: frozen.tick(8))
check(lambda: time_machine.travel(NEW_YEAR, tick=False), lambda traveller: traveller.shift(8))
