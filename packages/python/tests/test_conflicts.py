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

SONYFLAKE = layout.Layout.preset("sonyflake")
START = 1_730_000_000


def flakes(
    nodes: Any = 7, start: int = START, end: int = START + 1000, secret: bytes = b"a shared secret!", **more: Any
) -> Any:
    return randflake.Generator(randflake.Grant(nodes, start, end), secret, **more)


def sonyflakes(machine: int = 60_007, **more: Any) -> Any:
    return layout.Generator(SONYFLAKE, bindables={"machine": machine}, **more)


def snos(partition: int = 30_007, **more: Any) -> Any:
    return sno.Generator(partition, **more)


# The warning is emitted once per identity, so each test uses a new identity.
fresh = itertools.count(40_000)


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Turns warnings into errors, so that a block that emits a warning fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def uuids(worker_id: int = 30_007, **more: Any) -> Any:
    return uuid7.Generator(worker_id, **more)


@pytest.fixture(params=[flakes, sonyflakes, snos, uuids])
def make_generator(request: pytest.FixtureRequest) -> Callable[[], Any]:
    """Returns a function that creates generators with the same identity."""
    number = next(fresh)
    return lambda: request.param(number)


def test_a_conflicting_generator_warns_where_it_is_made(make_generator: Callable[[], Any]) -> None:
    with silence_warnings():
        first = make_generator()
    with pytest.warns(RuntimeWarning, match="another generator of this process has the same") as caught:
        two = make_generator()
    assert [warning.filename for warning in caught] == [__file__]
    assert first is not two
    assert "close it first" in str(caught[0].message)
    assert any(f"{number}" in str(caught[0].message) for number in range(40_000, next(fresh)))


def test_each_identity_warns_once(make_generator: Callable[[], Any]) -> None:
    with pytest.warns(RuntimeWarning) as caught:
        kept = [make_generator() for _ in range(3)]
        for _ in range(100):
            cycle = [make_generator()]
            cycle.append(cycle)
        gc.collect()
        kept.append(make_generator())
    assert len(caught) == 1
    assert len(kept) == 4


def test_a_warning_as_error_prevents_the_conflicting_generator(make_generator: Callable[[], Any]) -> None:
    first = make_generator()
    with silence_warnings():
        for _ in range(2):
            with pytest.raises(RuntimeWarning):
                make_generator()
    first.close()
    with silence_warnings():
        make_generator()


def test_closed_or_collected_generators_do_not_conflict(make_generator: Callable[[], Any]) -> None:
    with silence_warnings():
        make_generator().close()
        make_generator()
        gc.collect()
        for _ in range(3):
            make_generator()
            gc.collect()


def test_different_grants_do_not_conflict() -> None:
    with silence_warnings():
        kept = [
            flakes(),
            flakes(8),
            flakes((7, 8)),
            flakes(secret=b"sixteen byte key"),
            flakes(start=START + 1000, end=START + 2000),
            randflake.Generator(randflake.Grant(9, START, START + 1), b"a shared secret!"),
        ]
    assert len(kept) == 6
    with pytest.warns(RuntimeWarning):
        flakes(start=START + 999, end=START + 1001)


def test_an_extended_grant_conflicts_until_its_new_end() -> None:
    node = next(fresh)
    generator = flakes(node)
    generator.extend_grant(randflake.Grant(node, START, START + 1500))
    with pytest.warns(RuntimeWarning):
        flakes(node, start=START + 1400, end=START + 2000)


def test_different_bindables_and_windows_do_not_conflict() -> None:
    with silence_warnings():
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


def test_ranges_conflict_if_they_overlap() -> None:
    discord = layout.Layout.preset("discord")

    def ranged_generator(first: int, last: int, process: int = 9) -> Any:
        return layout.Generator(discord, bindables={"process": process}, range=("worker", first, last))

    with silence_warnings():
        kept = [
            ranged_generator(0, 3),
            ranged_generator(4, 6),
            ranged_generator(8, 8),
            ranged_generator(0, 8, process=10),
        ]
    with pytest.warns(RuntimeWarning, match="bindables .*process.*, some of `worker` 6 to 7 and time"):
        ranged_generator(6, 7)

    def sonyflake_generator(worker: int, process: int) -> Any:
        return layout.Generator(discord, bindables={"process": process, "worker": worker})

    with silence_warnings():
        kept += [sonyflake_generator(12, 9), sonyflake_generator(9, 10)]
    with pytest.warns(RuntimeWarning, match="bindables .*process.*worker.* and time"):
        sonyflake_generator(5, 9)
    with pytest.warns(RuntimeWarning, match="some of `process` 8 to 9"):
        layout.Generator(discord, bindables={"worker": 2}, range=("process", 8, 9))
    assert len(kept) == 6


def test_a_snapshot_restored_into_two_generators_conflicts() -> None:
    generator = sonyflakes(60_010)
    with silence_warnings():
        snapshot = generator.close()
        two = layout.Generator.restore(SONYFLAKE, snapshot, bindables={"machine": 60_010})
    with pytest.warns(RuntimeWarning):
        layout.Generator.restore(SONYFLAKE, snapshot, bindables={"machine": 60_010})
    two.close()


def test_partitions_conflict_if_sequences_and_windows_overlap() -> None:
    partition, other, windowed = next(fresh), next(fresh), next(fresh)
    with silence_warnings():
        kept = [
            snos(partition, sequence_max=999),
            snos(partition, sequence_min=1000),
            snos(other),
            sno.Generator(),
            sno.Generator(),
            snos(windowed, window=(NOW_MS, NOW_MS + 1000)),
            snos(windowed, window=(NOW_MS + 1000, NOW_MS + 2000)),
        ]
    kept[6].extend_window(NOW_MS + 3000)
    with pytest.warns(RuntimeWarning, match=f"partition {windowed}, time and some of the sequences 7 to 65535"):
        snos(windowed, window=(NOW_MS + 2500, NOW_MS + 3000), sequence_min=7)
    with pytest.warns(RuntimeWarning):
        snos(partition, sequence_min=999, sequence_max=1002)


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("restore", [sno.Generator.restore, sno.Generator.import_original])
def test_restoring_a_snapshot_twice_warns(is_given: bool, restore: Callable[..., Any]) -> None:
    generator = sno.Generator(next(fresh) if is_given else None)
    generator.generate()
    snapshot = generator.close()
    with silence_warnings():
        two = restore(snapshot)
    with pytest.warns(RuntimeWarning, match="restore each snapshot once"):
        restore(snapshot)
    assert two.partition == snapshot.partition


def test_bounds_are_parsed_as_in_the_go_library() -> None:
    partition = next(fresh)
    members = sno.Generator(partition, sequence_min=1000).close().to_dict()
    swapped = sno.Snapshot.from_dict({**members, "sequenceMin": 2000, "sequenceMax": 1000, "sequence": 1000})
    with silence_warnings():
        kept = [sno.Generator.import_original(swapped), snos(partition, sequence_max=999)]
    with pytest.warns(RuntimeWarning):
        snos(partition, sequence_min=1500)
    assert len(kept) == 2
