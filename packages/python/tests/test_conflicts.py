"""Tests the warning about two generators of a process that can generate the same IDs."""

from __future__ import annotations

import gc
import itertools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from polyflake import layout, randflake, sno, uuid7
from support import NOW_MS

SONYFLAKE_LAYOUT = layout.Layout.preset("sonyflake")
GRANT_START = 1_730_000_000


def make_randflake_generator(
    nodes: Any = 7,
    start: int = GRANT_START,
    end: int = GRANT_START + 1000,
    secret: bytes = b"a shared secret!",
    **more: Any,
) -> Any:
    return randflake.Generator(randflake.Grant(nodes, start, end), secret, **more)


def make_sonyflake_generator(machine: int = 60_007, **more: Any) -> Any:
    return layout.Generator(SONYFLAKE_LAYOUT, bindables={"machine": machine}, **more)


def make_sno_generator(partition: int = 30_007, **more: Any) -> Any:
    return sno.Generator(partition, **more)


# The warning is emitted once per identity, so each test uses a new identity.
fresh_numbers = itertools.count(40_000)


@contextmanager
def warnings_as_errors() -> Iterator[None]:
    """Turns warnings into errors within the block, so that an unexpected warning fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def make_uuid7_generator(worker_id: int = 30_007, **more: Any) -> Any:
    return uuid7.Generator(worker_id, **more)


@pytest.fixture(params=[make_randflake_generator, make_sonyflake_generator, make_sno_generator, make_uuid7_generator])
def make_generator(request: pytest.FixtureRequest) -> Callable[[], Any]:
    """Returns a function that creates generators with the same identity."""
    number = next(fresh_numbers)
    return lambda: request.param(number)


def test_a_conflicting_generator_warns_where_it_is_made(make_generator: Callable[[], Any]) -> None:
    with warnings_as_errors():
        first_generator = make_generator()
    with pytest.warns(RuntimeWarning, match="another generator of this process has the same") as caught:
        second_generator = make_generator()
    assert [warning.filename for warning in caught] == [__file__]
    assert first_generator is not second_generator
    assert "close it first" in str(caught[0].message)
    assert any(f"{number}" in str(caught[0].message) for number in range(40_000, next(fresh_numbers)))


def test_each_identity_warns_once(make_generator: Callable[[], Any]) -> None:
    with pytest.warns(RuntimeWarning) as caught:
        kept_generators = [make_generator() for _ in range(3)]
        for _ in range(100):
            cycle = [make_generator()]
            cycle.append(cycle)
        gc.collect()
        kept_generators.append(make_generator())
    assert len(caught) == 1
    assert len(kept_generators) == 4


def test_a_warning_as_error_prevents_the_conflicting_generator(make_generator: Callable[[], Any]) -> None:
    first_generator = make_generator()
    with warnings_as_errors():
        for _ in range(2):
            with pytest.raises(RuntimeWarning):
                make_generator()
    first_generator.close()
    with warnings_as_errors():
        make_generator()


def test_closed_or_collected_generators_do_not_conflict(make_generator: Callable[[], Any]) -> None:
    with warnings_as_errors():
        make_generator().close()
        make_generator()
        gc.collect()
        for _ in range(3):
            make_generator()
            gc.collect()


def test_different_grants_do_not_conflict() -> None:
    with warnings_as_errors():
        kept_generators = [
            make_randflake_generator(),
            make_randflake_generator(8),
            make_randflake_generator((7, 8)),
            make_randflake_generator(secret=b"sixteen byte key"),
            make_randflake_generator(start=GRANT_START + 1000, end=GRANT_START + 2000),
            randflake.Generator(randflake.Grant(9, GRANT_START, GRANT_START + 1), b"a shared secret!"),
        ]
    assert len(kept_generators) == 6
    with pytest.warns(RuntimeWarning):
        make_randflake_generator(start=GRANT_START + 999, end=GRANT_START + 1001)


def test_an_extended_grant_conflicts_until_its_new_end() -> None:
    node = next(fresh_numbers)
    generator = make_randflake_generator(node)
    generator.extend_grant(randflake.Grant(node, GRANT_START, GRANT_START + 1500))
    with pytest.warns(RuntimeWarning):
        make_randflake_generator(node, start=GRANT_START + 1400, end=GRANT_START + 2000)


def test_different_bindables_and_windows_do_not_conflict() -> None:
    with warnings_as_errors():
        kept_generators = [
            make_sonyflake_generator(),
            make_sonyflake_generator(60_008),
            layout.Generator(SONYFLAKE_LAYOUT),
            layout.Generator(SONYFLAKE_LAYOUT),
            layout.Generator(layout.Layout.preset("instagram"), bindables={"shard": 7}),
        ]
        windowed_generators = [
            make_sonyflake_generator(60_009, window=(NOW_MS, NOW_MS + 1000)),
            make_sonyflake_generator(60_009, window=(NOW_MS + 1000, NOW_MS + 2000)),
        ]
    assert len(kept_generators) + len(windowed_generators) == 7
    windowed_generators[0].extend_window(NOW_MS + 1500)
    with pytest.warns(RuntimeWarning):
        make_sonyflake_generator(60_009, window=(NOW_MS, NOW_MS + 1))
    with pytest.warns(RuntimeWarning):
        layout.Generator(layout.Layout.from_json(SONYFLAKE_LAYOUT.to_json()), bindables={"machine": 60_007})


def test_ranges_conflict_if_they_overlap() -> None:
    discord = layout.Layout.preset("discord")

    def ranged_generator(first: int, last: int, process: int = 9) -> Any:
        return layout.Generator(discord, bindables={"process": process}, range=("worker", first, last))

    with warnings_as_errors():
        kept_generators = [
            ranged_generator(0, 3),
            ranged_generator(4, 6),
            ranged_generator(8, 8),
            ranged_generator(0, 8, process=10),
        ]
    with pytest.warns(RuntimeWarning, match="bindables .*process.*, some of `worker` 6 to 7 and time"):
        ranged_generator(6, 7)

    def bound_generator(worker: int, process: int) -> Any:
        return layout.Generator(discord, bindables={"process": process, "worker": worker})

    with warnings_as_errors():
        kept_generators += [bound_generator(12, 9), bound_generator(9, 10)]
    with pytest.warns(RuntimeWarning, match="bindables .*process.*worker.* and time"):
        bound_generator(5, 9)
    with pytest.warns(RuntimeWarning, match="some of `process` 8 to 9"):
        layout.Generator(discord, bindables={"worker": 2}, range=("process", 8, 9))
    assert len(kept_generators) == 6


def test_a_snapshot_restored_into_two_generators_conflicts() -> None:
    generator = make_sonyflake_generator(60_010)
    with warnings_as_errors():
        snapshot = generator.close()
        second_generator = layout.Generator.restore(SONYFLAKE_LAYOUT, snapshot, bindables={"machine": 60_010})
    with pytest.warns(RuntimeWarning):
        layout.Generator.restore(SONYFLAKE_LAYOUT, snapshot, bindables={"machine": 60_010})
    second_generator.close()


def test_partitions_conflict_if_sequences_and_windows_overlap() -> None:
    partition, other, windowed = next(fresh_numbers), next(fresh_numbers), next(fresh_numbers)
    with warnings_as_errors():
        kept_generators = [
            make_sno_generator(partition, sequence_max=999),
            make_sno_generator(partition, sequence_min=1000),
            make_sno_generator(other),
            sno.Generator(),
            sno.Generator(),
            make_sno_generator(windowed, window=(NOW_MS, NOW_MS + 1000)),
            make_sno_generator(windowed, window=(NOW_MS + 1000, NOW_MS + 2000)),
        ]
    kept_generators[6].extend_window(NOW_MS + 3000)
    with pytest.warns(RuntimeWarning, match=f"partition {windowed}, time and some of the sequences 7 to 65535"):
        make_sno_generator(windowed, window=(NOW_MS + 2500, NOW_MS + 3000), sequence_min=7)
    with pytest.warns(RuntimeWarning):
        make_sno_generator(partition, sequence_min=999, sequence_max=1002)


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("restore", [sno.Generator.restore, sno.Generator.import_original])
def test_restoring_a_snapshot_twice_warns(is_given: bool, restore: Callable[..., Any]) -> None:
    generator = sno.Generator(next(fresh_numbers) if is_given else None)
    generator.generate()
    snapshot = generator.close()
    with warnings_as_errors():
        second_generator = restore(snapshot)
    with pytest.warns(RuntimeWarning, match="restore each snapshot once"):
        restore(snapshot)
    assert second_generator.partition == snapshot.partition


def test_bounds_are_parsed_as_in_the_go_library() -> None:
    partition = next(fresh_numbers)
    members = sno.Generator(partition, sequence_min=1000).close().to_dict()
    swapped_snapshot = sno.Snapshot.from_dict({**members, "sequenceMin": 2000, "sequenceMax": 1000, "sequence": 1000})
    with warnings_as_errors():
        kept_generators = [
            sno.Generator.import_original(swapped_snapshot),
            make_sno_generator(partition, sequence_max=999),
        ]
    with pytest.warns(RuntimeWarning):
        make_sno_generator(partition, sequence_min=1500)
    assert len(kept_generators) == 2
