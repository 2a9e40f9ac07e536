"""Tests Hot Guids as Python UUIDs, and their fields, bytes and datetimes."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from polyflake import hotguid
from polyflake.hotguid import Generator
from support import NOW_MS, NOW_NS, raises_code

UTC = dt.timezone.utc
NOW_SECONDS = NOW_MS // 1000
TEXT = "691f29d0-bbaa-ddcc-ee01-0203ffffff7f"
ID = uuid.UUID(TEXT)


@pytest.mark.parametrize(
    "use",
    [hotguid.parts, hotguid.shard_key, hotguid.timestamp, hotguid.to_sql, hotguid.from_sql, hotguid.to_dotnet_bytes],
)
def test_an_id_must_be_a_uuid(use: Callable[[Any], object]) -> None:
    class UuidSubclass(uuid.UUID):
        pass

    assert use(UuidSubclass(TEXT)) == use(ID)
    for value in (None, TEXT, ID.bytes, ID.int, ID.hex, uuid, uuid.UUID):
        with raises_code("invalid_type"):
            use(value)


def test_a_uuid_with_inconsistent_bytes_is_rejected() -> None:
    class ShortUuid(uuid.UUID):
        @property
        def bytes(self) -> bytes:  # type: ignore[override]
            return b"short"

    with raises_code("invalid_length"):
        hotguid.shard_key(ShortUuid(TEXT))


def test_times_are_datetimes_in_utc() -> None:
    start = dt.datetime.fromtimestamp(NOW_SECONDS, UTC)
    id = Generator(test_clock=lambda: NOW_NS).generate()
    parts = hotguid.parts(id)
    assert parts.datetime == start and parts.datetime.tzinfo is UTC
    assert parts.machine.hex() in repr(parts)
    lowest, highest = hotguid.time_range(start, start + dt.timedelta(seconds=1))
    assert lowest <= id <= highest
    assert hotguid.time_range(start, NOW_MS + 1000, sql=True) == (hotguid.to_sql(lowest), hotguid.to_sql(highest))
    for flag in (0, 1, None, "yes", np.bool_(True)):
        with raises_code("invalid_type", field="sql"):
            hotguid.time_range(0, 1000, sql=flag)  # type: ignore[arg-type]


def test_the_machine_is_bytes_or_34_bits_depending_on_the_form() -> None:
    fields: dict[str, Any] = {"timestamp": NOW_SECONDS, "counter": 0}
    for machine in (-1, 2**34, 2**200):
        with raises_code("out_of_range", field="machine"):
            hotguid.from_parts(machine=machine, **fields, uuid8=True)
    for machine in (b"12345", "1", 1.0, True, None):
        with raises_code("invalid_type", field="machine"):
            hotguid.from_parts(machine=machine, **fields, uuid8=True)
    with raises_code("invalid_type", field="machine"):
        hotguid.from_parts(machine=1, **fields)
    for flag in (0, 1, None, "yes"):
        with raises_code("invalid_type", field="uuid8"):
            hotguid.parts(ID, uuid8=flag)  # type: ignore[call-overload]
        with raises_code("invalid_type", field="uuid8"):
            Generator(uuid8=flag)  # type: ignore[arg-type]


def test_the_uuid8_option_makes_version_8_uuids() -> None:
    ids = Generator(uuid8=True, test_clock=lambda: NOW_NS)
    uuid8_ids = [ids.generate(7), hotguid.parse(ids.generate_text(7)), *ids.generate_many(3, 7)]
    parts = [hotguid.parts(id, uuid8=True) for id in uuid8_ids]
    assert {(id.version, id.variant) for id in uuid8_ids} == {(8, uuid.RFC_4122)}
    assert {(one.timestamp, one.shard_key, one.datetime) for one in parts} == {
        (NOW_SECONDS, 7, dt.datetime.fromtimestamp(NOW_SECONDS, UTC))
    }
    assert str(parts[0].machine) in repr(parts[0])
    assert parts[0] != hotguid.parts(uuid8_ids[0])
    with raises_code("not_canonical", field="id"):
        hotguid.parts(ID, uuid8=True)


def test_ids_contain_their_shard_key() -> None:
    ids = Generator()
    assert hotguid.shard_key(ids.generate()) == hotguid.shard_key(hotguid.generate()) == 0
    assert hotguid.shard_key(ids.generate(7)) == 7
    assert hotguid.shard_key(hotguid.parse(ids.generate_text(shard_key=2**32 - 1))) == 2**32 - 1
    assert {hotguid.shard_key(id) for id in ids.generate_many(3, shard_key=9)} == {9}
    assert hotguid.shard_key(hotguid.generate(shard_key=5)) == 5
