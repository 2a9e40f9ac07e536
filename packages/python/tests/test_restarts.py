"""Tests that a generator with an explicit worker ID skips its first tick, in which an earlier generator may have
generated IDs.
"""

import time

import pytest

from polyflake import ExhaustedError, hotguid, layout, randflake, sno, uuid7

GRANT = (7, 1_730_000_000, 2_803_741_824)
SECRET = b"sixteen byte key"


def test_consecutive_generators_repeat_no_id() -> None:
    snos = [sno.Generator(partition=7001).generate(7) for _ in range(50)]
    assert len(set(snos)) == 50
    with_clock = [sno.Generator(partition=7008, clock=time.time_ns).generate(7) for _ in range(50)]
    assert len(set(with_clock)) == 50
    discord = layout.Layout.preset("discord", worker=1, process=2)
    layout_ids = [layout.Generator(discord).generate() for _ in range(50)]
    assert len(set(layout_ids)) == 50


def test_max_wait_limits_the_first_wait() -> None:
    ids = sno.Generator(partition=7002, max_wait=0)
    with pytest.raises(ExhaustedError) as raised:
        ids.generate()
    assert raised.value.code == "sequence_exhausted"
    assert raised.value.retry_at is not None
    with pytest.raises(ExhaustedError):
        uuid7.Generator(7007, max_wait=0).generate()
    # `on_exhausted` applies to an exhausted tick, not to the first tick.
    assert sno.Generator(partition=7003, on_exhausted="error").generate().partition == 7003


def test_a_running_grant_also_waits_for_the_next_second() -> None:
    start_time = time.time()
    ids = randflake.Generator(randflake.Grant(*GRANT), SECRET)
    with pytest.raises(ExhaustedError):
        randflake.Generator(randflake.Grant(8, *GRANT[1:]), SECRET, max_wait=0).generate()
    assert ids.inspect(ids.generate()).timestamp > int(start_time)


def test_generators_without_a_predecessor_start_immediately() -> None:
    now = 1_763_650_000_000_000_000
    assert sno.Generator(max_wait=0).generate()
    assert hotguid.Generator(max_wait=0).generate()
    assert uuid7.Generator(max_wait=0).generate()
    assert uuid7.Generator(7006, resume_after=1, max_wait=0).generate()
    assert sno.Generator(partition=7004, test_clock=lambda: now, max_wait=0).generate()
    ids = sno.Generator(partition=7005)
    ids.generate()
    assert sno.Generator.restore(ids.close(), max_wait=0).generate()
