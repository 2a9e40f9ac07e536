"""Replays the actions of real lease keepers, which were recorded in the simulator's worlds and in the fault tests of
`lease/tests/faults`. Asserts that a trace in which one event was changed is rejected.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from faults import FaultyWorld
from printed import LEASE_PACKAGES, run_printing_test
from runs import RejectedError
from traces import Event, World, replay

KINDS = {"simulator": World, "faults": FaultyWorld}


@cache
def trace(of: str) -> list[str]:
    """Returns the trace of the simulator's 200 worlds, which is the same in every run, or the trace of real processes
    under random faults.
    """
    if of == "simulator":
        return run_printing_test(LEASE_PACKAGES, of, "trace::record_world_traces")
    return run_printing_test(LEASE_PACKAGES, of, "trace::record_fault_traces")


def replay_and_count(of: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for world in replay(trace(of), KINDS[of]):
        counts += world.counts
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    return counts


def test_real_keepers_take_only_steps_of_the_model() -> None:
    counts = replay_and_count("simulator")
    # Each kind of step occurred, so each kind was compared with the code.
    assert sorted(kind for kind, number in counts.items() if number >= 3) == sorted(
        [
            "IDs",
            "claims",
            "dead holders",
            "evictions",
            "promotions",
            "proofs",
            "rejected writes",
            "releases",
            "renewals",
            "renewals in a restored store",
            "reported promotions",
            "restored backups",
            "writes",
        ]
    )


def test_real_processes_under_faults_take_only_steps_of_the_model() -> None:
    counts = replay_and_count("faults")
    assert min(counts[kind] for kind in ("claims", "releases")) >= 2, counts
    assert min(counts[kind] for kind in ("IDs", "renewals", "writes")) >= 20, counts


def is_claim(event: Event) -> bool:
    return bool(event["event"] == "sent" and event["old"][3] != event["new"][3] and event["old"][2] > 0)


def is_renewal(event: Event) -> bool:
    return bool(event["event"] == "sent" and event["old"][3] == event["new"][3] and event["old"][2] < event["new"][2])


def start_early(event: Event) -> bool:
    """Moves the start of a claim to one second before the end of the previous grant."""
    is_match = is_claim(event)
    if is_match:
        event["new"][1] = event["old"][2] - 1000
    return is_match


def make_late(event: Event) -> bool:
    """Moves the tick of an ID one week into the future."""
    is_id = bool(event["event"] == "made")
    event["tick"] = event.get("tick", 0) + 7 * 24 * 3_600_000
    return is_id


def accept_stale_write(event: Event) -> bool:
    """Marks a rejected write as accepted."""
    is_rejected = bool(event["event"] == "stored" and event["is_put"] and not event["is_done"])
    event["is_done"] = True
    return is_rejected


def reject_new_write(event: Event) -> bool:
    """Marks an accepted write as rejected, either in the store's event or in the reply that a process receives."""
    is_done = bool(event["event"] in ("stored", "heard") and event.get("is_put") and event["is_done"])
    event["is_done"] = False
    return is_done


def lower_end(event: Event) -> bool:
    """Changes a renewal so that it lowers the end of the grant by one second."""
    is_match = is_renewal(event)
    if is_match:
        event["new"][2] = event["old"][2] - 1000
    return is_match


def extend_too_far(event: Event) -> bool:
    """Extends a window to one second after the acknowledged end."""
    event["end"] = event.get("end", 0) + 1000
    return bool(event["event"] == "extend")


def begin_early(event: Event) -> bool:
    """Lets a generator begin to use a grant one second before the grant's start."""
    event["start"] = event.get("start", 0) - 1000
    return bool(event["event"] == "begin")


def use_another_token(event: Event) -> bool:
    """Lets a holder renew its grant with the token of a claim that has no grant."""
    is_match = is_renewal(event)
    if is_match:
        event["new"][3] = "f" * 32
    return is_match


# Changes that apply to both traces. The trace of the harness may lack the rejection of a write, because a process may
# never receive the rejection.
COMMON_CHANGES = [
    start_early,
    make_late,
    reject_new_write,
    lower_end,
    extend_too_far,
    begin_early,
    use_another_token,
]
CHANGES = [
    *(("simulator", change) for change in [*COMMON_CHANGES, accept_stale_write]),
    *(("faults", change) for change in COMMON_CHANGES),
]


def change_one_event(lines: list[str], change: Callable[[Event], bool]) -> tuple[list[str], int]:
    """Returns a trace with one event changed, and the number of its line."""
    for index, line in enumerate(lines):
        event = json.loads(line)
        if change(event):
            return [*lines[:index], json.dumps(event), *lines[index + 1 :]], index + 1
    raise AssertionError("expected an event to change")


@pytest.mark.parametrize(("of", "change"), CHANGES)
def test_a_trace_with_one_changed_event_is_rejected(of: str, change: Callable[[Event], bool]) -> None:
    lines, number = change_one_event(trace(of), change)
    with pytest.raises(RejectedError, match=f"^line {number}: "):
        for _ in replay(lines, KINDS[of]):
            pass
