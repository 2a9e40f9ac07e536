"""Uses z3 to prove that the steps of the lease protocol preserve the invariant in `invariant.py`, and that each rule is
needed.

A *weakening* leaves out one rule, which changes exactly one step. z3 must find a state that satisfies the invariant,
and from which this step leads to a state that violates the invariant. This shows that the proof uses the rule. It does
not show that two holders would generate the same ID without the rule, because a state that satisfies the invariant may
be unreachable. For most of the rules, `lease/tests/model` searches for the shortest history in which two holders
generate the same ID, starting from the initial state. For one of the rules, a run at the end of this file is such a
history.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest
import z3  # type: ignore[import-untyped]

from invariant import (
    axioms,
    invariant,
    is_initial,
    is_unique,
    symbolic_contents,
    symbolic_state,
    symbolic_steps,
)
from leases import BURIES, CLAIMS, EVICTS, FREES, RELEASES, RENEWS, Contents, Protocol, State, Step
from logic import CLAIM, MESSAGE, TOKEN, BoundedDomain, Domain, Term, UnboundedDomain
from runs import RejectedError, Run

# z3 needs only milliseconds for each part of the invariant. If z3 reaches this timeout, it has not proved the part, and
# the test fails.
LIMIT_MS = 60_000
FENCE_PART = "the record's end is a fence for windows"
WRITES_PART = "writes are as the rules say"
WINDOW_PART = "a window ends where the store acknowledged"

# Each rule, with the step that it governs and the part of the invariant that fails without it.
RULES = {
    # R1: a grant starts after the previous grant.
    "a grant starts at the end of the last one": ("claim", WRITES_PART),
    "a claim waits for the recorded end": ("claim", WRITES_PART),
    "a claim ends within the longest lease": ("claim", "ends are within the longest lease"),
    # R2: every write is a compare-and-swap, and only acknowledged writes count.
    "a swap compares the version": ("deliver", FENCE_PART),
    "a reply follows only durable writes": ("acknowledge", "what the store has done"),
    "only an acknowledged write proves a grant": ("acquire", WINDOW_PART),
    "a grant is the claimant's own": ("acquire", WINDOW_PART),
    "a claim is found by token and start": ("prove", WRITES_PART),
    "a claim is found in its own incarnation": ("prove", WRITES_PART),
    # R3: tokens.
    "a claim draws a new token": ("claim", "a grant keeps its start"),
    # R4: renewals.
    "a holder renews its own grant": ("renew", WRITES_PART),
    "a renewal never lowers the end": ("renew", WRITES_PART),
    "a renewal ends within the longest lease": ("renew", "ends are within the longest lease"),
    "a window grows after the reply": ("extend", WINDOW_PART),
    "a reply counts for its own request": ("extend", WINDOW_PART),
    # R5 and R6: a generator's checks.
    "a sealed generator makes no ID": ("make", "the record's end is a fence for IDs"),
    "a tick begins within the grant, which has a window of its own": (
        "make",
        "IDs are made within the grant",
    ),
    "a tick ends within the window": ("make", WINDOW_PART),
    # R5: releases, and dead holders.
    "a generator is sealed before its release": ("release", WRITES_PART),
    "a release is of a grant of this incarnation": ("release", WRITES_PART),
    "a release is not below the highest tick": ("release", WRITES_PART),
    "only a dead holder is declared dead": ("bury", WRITES_PART),
    "a dead holder is named by its token": ("bury", WRITES_PART),
    "a dead holder's number stays taken for the clock error": ("bury", WRITES_PART),
    "a dead holder's clock was ahead by at most the clock error": ("bury", WRITES_PART),
    # Other operator commands.
    "an eviction starts at the end of the last grant": ("evict", WRITES_PART),
    "only a reserved number is freed": ("free", WRITES_PART),
    "a number is not freed below its start": ("free", WRITES_PART),
    # R7: incarnations.
    "a swap compares the incarnation": ("deliver", FENCE_PART),
    "a grant starts after the quiet time": ("claim", WRITES_PART),
    "a claim waits for the quiet time": ("claim", WRITES_PART),
    "a restored store has a quiet time": ("restore", FENCE_PART),
    "a quiet time allows for the clock error": (
        "restore",
        "a restored store is quiet until all lost grants have ended",
    ),
    "the new incarnation's clock is behind by at most the clock error": (
        "restore",
        "a restored store is quiet until all lost grants have ended",
    ),
    "in a restored store, a holder renews before its acknowledged end": (
        "renew",
        "a renewal of a restored grant comes before any later claim",
    ),
    "the acknowledged end counts, and not the one found": (
        "renew",
        "a renewal of a restored grant comes before any later claim",
    ),
    "such a renewal allows for the clock error": (
        "renew",
        "a renewal of a restored grant comes before any later claim",
    ),
    "the clock of a restored store is within the clock error": (
        "renew",
        "a renewal of a restored grant comes before any later claim",
    ),
    "a report of a restored backup clears the name before": ("restore", "quiet times"),
    "a promoted replica has what was acknowledged": ("promote", "what the store has done"),
    "a promotion is compared with the record's names": ("declare_promoted", "quiet times"),
    "a promotion ends only the quiet time that it began": ("declare_promoted", "quiet times"),
}


class Proof(NamedTuple):
    """A symbolic state, and a solver that assumes that the state satisfies the invariant of a protocol."""

    domain: Domain
    contents: Contents
    state: State
    parts: dict[str, Term]
    solver: z3.Solver

    def protocol(self, left_out: str = "", is_timed: bool = True) -> Protocol:
        return Protocol(self.domain, self.contents, left_out, is_timed)


def proof(domain: Domain, is_timed: bool, *more: Term) -> Proof:
    contents, state = symbolic_contents(), symbolic_state()
    parts = {name: part() for name, part in invariant(Protocol(domain, contents, is_timed=is_timed), state).items()}
    solver = z3.Solver()
    solver.set("timeout", LIMIT_MS)
    solver.add(axioms(domain, contents), *parts.values(), *more)
    return Proof(domain, contents, state, parts, solver)


@cache
def unbounded_proof(is_timed: bool) -> Proof:
    return proof(UnboundedDomain(), is_timed)


def assert_unsatisfiable(solver: z3.Solver, *conditions: Term) -> None:
    """Fails unless z3 proves that no state satisfies the conditions."""
    solver.push()
    try:
        solver.add(*conditions)
        found = solver.check()
        assert found == z3.unsat, f"expected a proof, found {found}: {solver.reason_unknown()}"
    finally:
        solver.pop()


BOTH_TIMINGS = pytest.mark.parametrize("is_timed", [False, True], ids=["any-clocks", "restored-stores"])
EACH_STEP = [
    pytest.param(is_timed, name, id=f"{'restored-stores' if is_timed else 'any-clocks'}-{name}")
    for is_timed in (False, True)
    for name in symbolic_steps(is_timed)
]


@BOTH_TIMINGS
def test_the_invariant_holds_for_a_new_record(is_timed: bool) -> None:
    proof_setup = unbounded_proof(is_timed)
    solver = z3.Solver()
    solver.set("timeout", LIMIT_MS)
    solver.add(
        axioms(proof_setup.domain, proof_setup.contents),
        is_initial(proof_setup.protocol(is_timed=is_timed), proof_setup.state),
    )
    for part in proof_setup.parts.values():
        assert_unsatisfiable(solver, z3.Not(part))


@pytest.mark.parametrize(("is_timed", "name"), EACH_STEP)
def test_each_step_preserves_the_invariant(is_timed: bool, name: str) -> None:
    proof_setup = unbounded_proof(is_timed)
    protocol = proof_setup.protocol(is_timed=is_timed)
    step = symbolic_steps(is_timed)[name](protocol, proof_setup.state)
    proof_setup.solver.push()
    try:
        proof_setup.solver.add(step.guard)
        for part, holds in invariant(protocol, step.after).items():
            part_after = holds()
            # Prove only the parts that the step affects. All other parts remain true.
            if not z3.eq(part_after, proof_setup.parts[part]):
                assert_unsatisfiable(proof_setup.solver, z3.Not(part_after))
    finally:
        proof_setup.solver.pop()


@BOTH_TIMINGS
def test_the_invariant_implies_the_promise(is_timed: bool) -> None:
    proof_setup = unbounded_proof(is_timed)
    assert_unsatisfiable(proof_setup.solver, z3.Not(is_unique(proof_setup.protocol(), proof_setup.state)))


# ------------------------------------------------------------------------------------------- steps that are possible

LINES, VERSIONS, TICKS, NAMES = range(3), range(1, 4), range(3), range(4)


def is_one_of(value: Term, values: list[Term] | range) -> Term:
    return z3.Or([value == other for other in values])


@cache
def bounded_proof() -> Proof:
    """Returns a proof about states with three claims, three messages, three incarnations, three versions and three
    ticks.
    """
    claims = [z3.Const(f"claim{i}", CLAIM) for i in range(3)]
    messages = [z3.Const(f"message{i}", MESSAGE) for i in range(3)]
    tokens = [z3.Const(f"token{i}", TOKEN) for i in range(4)]
    values = {"claim": claims, "message": messages, "token": tokens}
    numbers = {"incarnation": LINES, "version": VERSIONS, "tick": TICKS, "name": NAMES}
    c, s = symbolic_contents(), symbolic_state()
    # The `constraints` restrict the state and the parameters of a step to the values above.
    constraints = [z3.Distinct(*of) for of in values.values()]
    constraints += [is_one_of(c.token(claim), tokens) for claim in claims]
    constraints += [is_one_of(of(claim), messages) for claim in claims for of in (s.origin, s.awaits)]
    constraints += [is_one_of(s.top(claim), TICKS[:-1]) for claim in claims]
    constraints += [is_one_of(s.place(claim), VERSIONS) for claim in claims]
    constraints += [is_one_of(s.place_line(claim), LINES) for claim in claims]
    constraints += [is_one_of(c.owner(message), claims) for message in messages]
    constraints += [is_one_of(c.put_token(message), tokens) for message in messages]
    constraints += [is_one_of(of(message), VERSIONS) for message in messages for of in (c.read, c.version)]
    constraints += [is_one_of(c.line(message), LINES) for message in messages]
    constraints += [is_one_of(c.has_token(line, version), tokens) for line in LINES for version in VERSIONS]
    constraints += [is_one_of(of, VERSIONS) for of in (s.version, s.base, s.kept, z3.Int("v"))]
    constraints += [is_one_of(of, LINES) for of in (s.line, z3.Int("l"))]
    constraints += [is_one_of(z3.Const("a", CLAIM), claims), is_one_of(z3.Const("m", MESSAGE), messages)]
    constraints += [is_one_of(z3.Int("k"), TICKS[:-1]), s.names < len(NAMES)]
    constraints += [c.begin(len(TICKS)) > c.begin(len(TICKS) - 1)]
    return proof(BoundedDomain({**values, **numbers}), True, *constraints)


def assert_reachable(step: Step, *conditions: Term) -> None:
    """Fails unless z3 finds a state that satisfies the invariant and from which the step leads to a state that
    satisfies the given conditions.
    """
    solver = bounded_proof().solver
    solver.push()
    try:
        solver.add(step.guard, step.after.line < len(LINES), *conditions)
        found = solver.check()
        assert found == z3.sat, f"expected a state, found {found}"
    finally:
        solver.pop()


@pytest.mark.parametrize("name", symbolic_steps(True))
def test_a_step_is_possible(name: str) -> None:
    proof_setup = bounded_proof()
    assert_reachable(symbolic_steps(True)[name](proof_setup.protocol(), proof_setup.state))


# ----------------------------------------------------------------------------------------------- rules that are needed


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_needed(rule: str) -> None:
    proof_setup = bounded_proof()
    name, part = RULES[rule]
    step = symbolic_steps(True)[name](proof_setup.protocol(left_out=rule), proof_setup.state)
    assert_reachable(step, z3.Not(invariant(proof_setup.protocol(), step.after)[part]()))


def test_each_rule_belongs_to_one_step_and_is_listed() -> None:
    proof_setup = bounded_proof()
    rule_steps = []
    for name, take in symbolic_steps(True).items():
        protocol = proof_setup.protocol()
        take(protocol, proof_setup.state)
        rule_steps += [(rule, name) for rule in protocol.rules]
    assert sorted(rule_steps) == sorted((rule, name) for rule, (name, _) in RULES.items())


# ------------------------------------------------------------------------------------------------------ single runs


def begin(tick: int) -> int:
    return 10 * tick


def acquire_grant(run: Run, claim: str, read: int, start: int, until: int) -> int:
    """Takes the steps of a successful claim, whose grant becomes version `read` + 1 of the record. Returns the message
    of the claim.
    """
    message = run.message(CLAIMS, claim, run.state.line, read, read + 1, (claim, start, until))
    run.claim(claim, message, run.state.time)
    run.accept(message)
    run.take(run.protocol.acquire(run.state, claim, message), f"a grant of {claim}")
    return message


def send_renewal(run: Run, claim: str, read: int, until: int, now: int) -> int:
    """Takes the step of a holder that sends a renewal, and returns the message."""
    start = run.contents.start(claim)
    message = run.message(RENEWS, claim, run.state.line, read, read + 1, (claim, start, until))
    run.take(run.protocol.renew(run.state, claim, message, now), f"a renewal of {claim}")
    return message


def read_clock(run: Run, now: int) -> None:
    run.take(run.protocol.read_time(run.state, now), "a reading of the clock")


def make_id(run: Run, claim: str, tick: int) -> None:
    run.take(run.protocol.make(run.state, claim, tick), f"an ID of {claim} in tick {tick}")


def finish_claim(run: Run, claim: str) -> None:
    run.take(run.protocol.finish(run.state, claim), f"the end of {claim}")


def test_a_run_can_take_every_step() -> None:
    run = Run(longest=100, error=5, begin=begin)
    p = run.protocol
    read_clock(run, 50)
    # The reply to a claim is lost, so the claimant proves the claim, and then renews and releases the grant.
    unanswered_claim = run.message(CLAIMS, "a", 0, 1, 2, ("a", 50, 150))
    run.claim("a", unanswered_claim, 50)
    run.deliver(unanswered_claim)
    proof = run.message(CLAIMS, "a", 0, 2, 7, ("a", 50, 150))
    run.take(p.prove(run.state, "a", proof), "a proof")
    run.accept(proof)
    run.take(p.acquire(run.state, "a", proof), "a grant of a")
    make_id(run, "a", 5)
    renewal = send_renewal(run, "a", 7, 150, 50)
    run.accept(renewal)
    run.take(p.extend(run.state, "a", renewal), "an extension")
    make_id(run, "a", 9)
    finish_claim(run, "a")
    release = run.message(RELEASES, "a", 0, 8, 9, ("a", 50, 100))
    run.take(p.release(run.state, "a", release), "a release")
    run.accept(release)
    # An operator reports a promoted replica. The holder renews its lease there, is killed, and is declared dead.
    read_clock(run, 100)
    acquire_grant(run, "b", 9, 100, 200)
    run.promote(run.state.version, 205)
    run.take(p.declare_promoted(run.state, 1, 2), "a report of a promotion")
    assert run.state.quiet == 0
    run.accept(send_renewal(run, "b", 10, 200, 100))
    make_id(run, "b", 12)
    finish_claim(run, "b")
    read_clock(run, 120)
    burial = run.message(BURIES, "b", 1, 11, 12, ("operator 1", 100, 130))
    run.bury("b", burial, 120, 13)
    run.accept(burial)
    # An operator reserves the worker ID, and then frees it.
    reservation = run.message(EVICTS, "nobody", 1, 12, 13, ("operator 2", 130, 10**6), reserved=True)
    run.take(p.evict(run.state, reservation), "a reservation")
    run.accept(reservation)
    freeing = run.message(FREES, "nobody", 1, 13, 14, ("operator 3", 130, 140))
    run.take(p.free(run.state, freeing), "a freed number")
    run.accept(freeing)
    # A backup of the first incarnation is restored, and the next grant waits until the quiet time.
    run.restore(0, 9, now=115, quiet=220, before=0, name=3, name_before=1)
    read_clock(run, 230)
    acquire_grant(run, "c", 9, 225, 300)
    make_id(run, "c", 23)
    assert sorted(run.made_ids()) == [("a", 5), ("a", 9), ("b", 12), ("c", 23)]
    assert run.find_violations() == []


def run_with_a_backup_of_a_lost_renewal(left_out: str) -> Run:
    """Returns a run in which the primary is backed up while it shows a renewal that its replica never received. The
    replica is promoted. An operator reports the promotion, so there is no quiet time, and another holder gets the
    worker ID. Then the backup is restored.
    """
    run = Run(longest=100, error=5, begin=begin, left_out=left_out)
    read_clock(run, 0)
    acquire_grant(run, "a", 1, 0, 50)
    read_clock(run, 40)
    run.deliver(send_renewal(run, "a", 2, 140, 40))
    run.promote(2, 145)
    run.take(run.protocol.declare_promoted(run.state, 1, 2), "a report of a promotion")
    read_clock(run, 50)
    acquire_grant(run, "b", 2, 50, 150)
    make_id(run, "b", 6)
    read_clock(run, 60)
    run.restore(0, 3, now=60, quiet=165, before=0, name=3, name_before=1)
    renewal = send_renewal(run, "a", 3, 160, 60)
    run.accept(renewal)
    run.take(run.protocol.extend(run.state, "a", renewal), "an extension")
    make_id(run, "a", 6)
    return run


def test_renewing_beyond_the_acknowledged_end_would_repeat_an_id() -> None:
    with pytest.raises(RejectedError, match="found a renewal of a"):
        run_with_a_backup_of_a_lost_renewal("")
    run = run_with_a_backup_of_a_lost_renewal("the acknowledged end counts, and not the one found")
    assert "no ID is made twice" in run.find_violations()
