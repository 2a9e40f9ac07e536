"""Lets z3 prove the statements of `words.py` about the steps of state words, and compares the terms in `words.py` with
the real code.

Each *weakening* changes one line of a step, and z3 must find a state in which one of the proved statements fails.
"""

from __future__ import annotations

import pytest
import z3  # type: ignore[import-untyped]

from logic import Term
from printed import CORE_PACKAGES, run_printing_test
from words import BELOW, PerTick, Step, TickTock, constant, exhaust, per_tick, raise_safe_tick, tick_tock

LIMIT_MS = 60_000
SNO_TICKS = 39


def check(*conditions: Term) -> z3.CheckSatResult:
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", LIMIT_MS)
    solver.add(*conditions)
    return solver.check()


def sno_statements(weak: str = "") -> tuple[list[Term], dict[str, Term]]:
    """Returns the assumptions about a step of sno's state machine, and the conclusions by name."""
    word, safe, read, now, floor, want, first, last, flip = z3.BitVecs(
        "word safe read now floor want first last flip", 64
    )
    other = z3.BitVec("other", 64)
    cell = (z3.BitVec("cell_tick", 64), z3.Bool("cell_bit"), z3.BitVec("cell_sequence", 64))
    step = tick_tock(word, read, now, want, first, last, flip, floor, weak)
    safe_after = raise_safe_tick(step, safe, weak)
    tick_limit = constant(1 << SNO_TICKS)
    assumptions = [
        z3.ULT(TickTock.tick(word), tick_limit),
        z3.ULT(now, tick_limit),
        z3.ULT(floor, tick_limit),
        z3.ULE(last, 65_535),
        z3.ULE(first, last),
        z3.ULE(want, 0xFFFF_FFFF),
        z3.ULE(TickTock.next(word), 65_536),
        z3.ULE(flip, 2),
        # A state machine compares the clock with the floor only until it has returned its first cell. The cells up to
        # the floor's last tick belong to an earlier generator.
        z3.Implies(flip == BELOW, z3.And(word == 0, z3.ULT(now, floor))),
    ]
    if weak != "the safe tick is read after the word":
        # The value read from `safe` is at least as high as the value to which earlier steps raised it.
        assumptions.append(z3.UGE(read, safe))
    was_behind = TickTock.is_behind(cell, word, safe)
    # The cells that an earlier generator may have used: the cells up to the floor's last tick.
    was_used = z3.If(flip == BELOW, z3.And(z3.ULE(cell[0], floor), z3.Not(cell[1])), was_behind)
    tick, bit, sequence = cell
    is_returned = z3.And(
        step.taken,
        tick == step.tick,
        bit == step.bit,
        z3.UGE(sequence, step.first),
        z3.ULT(sequence, step.first + step.length),
    )
    is_behind = TickTock.is_behind(cell, step.word, safe_after)
    word_cell = (TickTock.tick(word), TickTock.bit(word), TickTock.next(word))
    exhausted_word = exhaust(word, last)
    return assumptions, {
        "a returned cell is new": z3.Implies(is_returned, z3.Not(was_used)),
        "a returned cell is behind": z3.Implies(is_returned, is_behind),
        "a cell stays behind": z3.Implies(z3.And(step.taken, was_used), is_behind),
        "a cell stays behind when a tick is exhausted": z3.Implies(
            z3.And(was_behind, z3.ULE(TickTock.next(word), last + 1)), TickTock.is_behind(cell, exhausted_word, safe)
        ),
        "a word that is left is behind": z3.Implies(step.taken, TickTock.is_behind(word_cell, step.word, safe_after)),
        "a word that is behind is another word": z3.Implies(
            TickTock.is_behind((TickTock.tick(other), TickTock.bit(other), TickTock.next(other)), word, safe),
            other != word,
        ),
        "the word holds its fields": z3.Implies(
            step.taken,
            z3.And(
                TickTock.tick(step.word) == now,
                TickTock.bit(step.word) == step.bit,
                TickTock.next(step.word) == step.first + step.length,
                z3.ULE(TickTock.next(step.word), 65_536),
                z3.UGE(step.first, first),
                z3.ULE(step.first + step.length, last + 1),
                z3.Not(TickTock.closed(step.word)),
            ),
        ),
        "a step back flips the bit, and nothing else does": z3.Implies(
            step.taken, (step.bit != TickTock.bit(word)) == step.goes_back
        ),
        "no later step goes back into the same tick": z3.Implies(
            z3.And(step.taken, step.goes_back), z3.ULE(now, safe_after)
        ),
        "a closed word returns nothing": z3.Implies(TickTock.closed(word), z3.Not(step.taken)),
        "no cell behind is above the highest tick": z3.Implies(
            was_behind, z3.Or(z3.ULE(tick, TickTock.tick(word)), z3.ULE(tick, safe))
        ),
    }


def per_tick_statements(weak: str = "") -> tuple[list[Term], dict[str, Term]]:
    """Returns the assumptions about a step of the other formats' state machine, and the conclusions by name. A word may
    be split into tick and slot in any way.
    """
    word, now, want, first, last, flip, floor, bits, ticks = z3.BitVecs(
        "word now want first last flip floor bits ticks", 128
    )
    is_held, is_wide = z3.Bools("is_held is_wide")
    cell = tick, slot = z3.BitVecs("cell_tick cell_slot", 128)
    machine = PerTick(bits, is_wide)
    step = per_tick(machine, word, now, want, first, last, is_held, flip, floor, weak)
    one = constant(1, 128)
    assumptions = [
        # `next_bits` and the width of the word have values that `PerTick::restored` can choose.
        z3.ULE(bits, 65),
        z3.UGE(bits, 1),
        z3.ULT(last + 1, one << bits),
        z3.ULE(last, (1 << 64) - 1),
        z3.ULE(first, last),
        z3.ULE(ticks, 64),
        z3.If(is_wide, z3.ULE(bits + ticks, 127), z3.ULE(bits + ticks, 63)),
        z3.ULT(now, one << ticks),
        z3.ULE(want, 0xFFFF_FFFF),
        z3.ULE(flip, 2),
        # The state machine can produce the word.
        z3.ULT(machine.tick(word), one << ticks),
        z3.ULE(machine.next(word), last + 1),
        z3.Or(is_wide, z3.ULT(word, one << 64)),
    ]
    was_behind = machine.is_behind(cell, word)
    is_returned = z3.And(
        step.taken, tick == step.tick, z3.UGE(slot, step.first), z3.ULT(slot, step.first + step.length)
    )
    # The fields of the new word equal the step's fields, as "the word holds its fields" states. Using the step's fields
    # avoids shifts, which make z3 slow.
    end = step.first + step.length
    is_behind = z3.Or(z3.ULT(tick, step.tick), z3.And(tick == step.tick, z3.ULT(slot, end)))
    return assumptions, {
        "a returned slot is new": z3.Implies(is_returned, z3.Not(was_behind)),
        "a returned slot is behind": z3.Implies(is_returned, is_behind),
        "a slot stays behind": z3.Implies(z3.And(step.taken, was_behind), is_behind),
        "the word holds its fields": z3.Implies(
            step.taken,
            z3.And(
                machine.tick(step.word) == step.tick,
                machine.next(step.word) == step.first + step.length,
                z3.ULE(step.first + step.length, last + 1),
                z3.ULT(step.tick, one << ticks),
                z3.Not(machine.closed(step.word)),
                z3.Or(is_wide, z3.ULT(step.word, one << 63)),
            ),
        ),
        "the tick never falls": z3.Implies(step.taken, z3.UGE(step.tick, machine.tick(word))),
        "a closed word gives no slots": z3.Implies(machine.closed(word), z3.Not(step.taken)),
        "no slot behind is above the highest tick": z3.Implies(was_behind, z3.ULE(tick, machine.tick(word))),
    }


MACHINES = {"tick-tock": sno_statements, "per tick": per_tick_statements}
STATEMENTS = [(machine, name) for machine, make in MACHINES.items() for name in make()[1]]

# Each weakening, with the statement that the weakening invalidates.
INVALIDATED_STATEMENTS = {
    ("tick-tock", "the floor takes the place of the last tick"): "a returned cell is new",
    ("tick-tock", "a step back lands above the safe tick"): "a returned cell is new",
    ("tick-tock", "a step back does not land on the safe tick"): "a returned cell is new",
    ("tick-tock", "a tick continues with its next sequence"): "a returned cell is new",
    ("tick-tock", "the sequence ends with its last number"): "the word holds its fields",
    ("tick-tock", "a step back flips the bit"): "a returned cell is new",
    ("tick-tock", "a closed word returns nothing"): "a closed word returns nothing",
    ("tick-tock", "a step back raises the safe tick"): "a cell stays behind",
    ("tick-tock", "the safe tick is the one that was left"): "a cell stays behind",
    ("tick-tock", "the safe tick is read after the word"): "a returned cell is new",
    ("per tick", "a tick never falls"): "a returned slot is new",
    ("per tick", "a clock that is behind stays in the last tick"): "a returned slot is new",
    ("per tick", "a tick continues with its next slot"): "a returned slot is new",
    ("per tick", "the slots end with the last"): "the word holds its fields",
    ("per tick", "a closed word gives no slots"): "a closed word gives no slots",
}


@pytest.mark.parametrize(("machine", "statement"), STATEMENTS)
def test_a_statement_holds_for_all_states(machine: str, statement: str) -> None:
    assumptions, statements = MACHINES[machine]()
    assert check(*assumptions, z3.Not(statements[statement])) == z3.unsat


@pytest.mark.parametrize(("machine", "weak"), INVALIDATED_STATEMENTS)
def test_a_weakened_step_fails(machine: str, weak: str) -> None:
    assumptions, statements = MACHINES[machine](weak)
    assert check(*assumptions, z3.Not(statements[INVALIDATED_STATEMENTS[machine, weak]])) == z3.sat


@pytest.mark.parametrize("machine", MACHINES)
def test_the_assumptions_are_satisfiable(machine: str) -> None:
    assumptions, statements = MACHINES[machine]()
    behind_statement = next(name for name in statements if "stays behind" in name)
    # The assumptions must permit a step that returns cells while some cell is already behind the word.
    assert check(*assumptions, statements[behind_statement].arg(0)) == z3.sat


# ---------------------------------------------------------------------------------------------------------- the code


def format_step(step: Step) -> str:
    """Returns the outcome of a step in the format that the Rust test prints."""

    def to_int(term: Term) -> int:
        return int(z3.simplify(term).as_long())

    def holds(term: Term) -> bool:
        return bool(z3.is_true(z3.simplify(term)))

    if holds(step.closed):
        return "closed"
    if holds(step.full):
        return "full"
    if not holds(step.taken):
        return f"behind {to_int(step.behind)}"
    bit, back = int(holds(step.bit)), int(holds(step.goes_back))
    return f"taken {to_int(step.tick)} {bit} {to_int(step.first)} {to_int(step.length)} {to_int(step.word)} {back}"


def test_the_terms_match_the_code() -> None:
    lines = run_printing_test(CORE_PACKAGES, "lib", "sequence::step_log::print_random_steps")
    for line in lines:
        given, found = line.split(" -> ")
        machine, *numbers = given.split()
        values = [int(number) for number in numbers]
        if machine == "tick-tock":
            step = tick_tock(*(constant(value) for value in values))
        else:
            bits, is_wide, is_held, *rest = values
            word, now, want, first, last, flip, floor = (constant(value, 128) for value in rest)
            parts = PerTick(constant(bits, 128), z3.BoolVal(bool(is_wide)))
            step = per_tick(parts, word, now, want, first, last, z3.BoolVal(bool(is_held)), flip, floor)
        assert format_step(step) == found, line
    kinds = {line.split(" -> ")[1].split()[0] for line in lines}
    assert len(lines) >= 2000 and kinds == {"taken", "full", "behind", "closed"}
