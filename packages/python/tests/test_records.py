"""Tests that records are values that can be copied, pickled and sent to other processes, unlike generators."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

import polyflake
from polyflake import hotguid, layout, public, randflake, sno, sparx64, uuid7
from support import NOW_NS, raises_code

LAYOUT = layout.Layout.preset("twitter")
TEXT_LAYOUT = layout.Layout(
    {
        "id": "bytes",
        "bits": 96,
        "fields": [
            {"kind": "sequence", "bits": 64},
            {"kind": "constant", "bits": 32, "name": "text", "type": "text", "value": "text"},
        ],
    }
)
GRANT = randflake.Grant((1, 2), 1_730_000_000, 2_803_741_824)


def frozen_clock() -> int:
    return NOW_NS


def used_generator(generator: Any) -> Any:
    generator.generate_many(3)
    return generator


def make_stall() -> polyflake.Stall:
    reported_stalls: list[polyflake.Stall] = []
    readings = iter([NOW_NS] + [NOW_NS + 10_000_000] * 3 + [NOW_NS] * 9)
    generator = sno.Generator(
        1, test_clock=lambda: next(readings, NOW_NS + 20_000_000), on_stall=reported_stalls.append
    )
    generator.generate_many(65_537 * 2)
    return reported_stalls[0]


RECORDS: list[Any] = [
    LAYOUT.describe(),
    TEXT_LAYOUT.describe(),
    *sno.describe().fields,
    hotguid.describe(),
    hotguid.parts(hotguid.generate(7)),
    hotguid.parts(hotguid.Generator(uuid8=True).generate(7), uuid8=True),
    used_generator(hotguid.Generator(test_clock=frozen_clock)).stats(),
    hotguid.Generator().stats(),
    uuid7.parts(uuid7.generate()),
    used_generator(uuid7.Generator(7, test_clock=frozen_clock)).stats(),
    uuid7.Generator().stats(),
    randflake.Codec(bytes(16)).inspect(5),
    used_generator(randflake.Generator(GRANT, bytes(16), test_clock=frozen_clock)).stats(),
    GRANT,
    sno.generate(5),
    sno.Generator(3).close(),
    used_generator(sno.Generator(3, test_clock=frozen_clock)).stats(),
    sno.Generator().stats(),
    LAYOUT,
    LAYOUT.parse(1541815603606036480),
    TEXT_LAYOUT.parse(bytes(8) + b"text"),
    layout.Generator(LAYOUT, bindables={"worker": 1, "datacenter": 2}).close(),
    used_generator(layout.Generator(LAYOUT, bindables={"worker": 1, "datacenter": 2})).stats(),
    make_stall(),
]

each_record = pytest.mark.parametrize(
    "record", RECORDS, ids=lambda record: f"{type(record).__module__}.{type(record).__name__}"
)


def test_every_record_is_tested() -> None:
    modules = [polyflake, sno, randflake, hotguid, uuid7, layout]
    record_names = {
        "Description",
        "FieldDescription",
        "Parsed",
        "Parts",
        "Uuid8Parts",
        "Snapshot",
        "Stall",
        "Stats",
        "Grant",
        "Layout",
        "Sno",
    }
    classes = {getattr(module, name) for module in modules for name in module.__all__ if name in record_names}
    assert classes == {type(record) for record in RECORDS}


@each_record
def test_records_can_be_copied_and_pickled(record: Any) -> None:
    copies = [pickle.loads(pickle.dumps(record, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for same in [copy.copy(record), copy.deepcopy(record), *copies]:
        assert type(same) is type(record)
        assert same == record
        assert repr(same) == repr(record)
        for name in [name for name in dir(record) if not name.startswith("_")]:
            if not callable(getattr(record, name)):
                assert getattr(same, name) == getattr(record, name), name


def type_and_repr(record: Any) -> tuple[Any, str]:
    return record, repr(record)


def test_records_can_be_sent_between_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for record, (back, said) in zip(RECORDS, pool.map(type_and_repr, RECORDS), strict=True):
            assert (back, said) == (record, repr(record))


@pytest.mark.parametrize(
    "unique",
    [
        sno.Generator(),
        hotguid.Generator(),
        uuid7.Generator(),
        randflake.Generator(GRANT, bytes(16)),
        layout.Generator(LAYOUT, bindables={"worker": 1, "datacenter": 2}),
        randflake.Codec(bytes(16)),
        sparx64.Sparx64(bytes(16)),
        public.Keyring(bytes(32)),
    ],
    ids=repr,
)
def test_generators_and_keys_cannot_be_copied(unique: Any) -> None:
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with raises_code("invalid_type"):
            copied(unique)
