"""Models the steps of the generators' state words with z3 bit-vectors, and explains why no cell is returned twice.

WHAT IS PROVED. A generator keeps its state in one atomic word. A step reads the word, decides which sequence numbers it
may return, and swaps in a new word. `tick_tock` and `per_tick` below reimplement the decisions of
`core/src/sequence/tick_tock.rs` and `per_tick.rs` with bit-vectors. A *cell* is a tick, the tick-tock bit and a
sequence number. For all words, clock readings, requests and bounds, `test_words.py` proves:

- a step returns only cells that are not *behind* the word, all cells that it returns are behind the new word, and a
  cell that is behind stays behind. So each cell is returned at most once, after any number of steps;
- the new word holds the tick, the bit and the sequence without loss, and a step never sets the closed bit;
- a step back in time flips the bit, and no later step goes back into the same tick;
- a used cell is not above the tick that a sealed generator reports as its highest.

The proof needs no bound on the number of steps, because "behind" is an invariant, and no quantifier, because the
cell is arbitrary.

THREADS. A swap succeeds only if the word still has the value that the step read. However, other threads may have taken
any number of steps in between. If the word could return to an earlier value, a step could be based on an old reading of
`safe`. This cannot happen, because a word that a step has replaced is behind the new word, like a cell, and therefore
never occurs again. Threads whose swaps failed may also have raised `safe`, which is a separate word. The proof allows
any reading of `safe` that is at least the value to which the successful steps raised `safe`. The order of the accesses
guarantees this minimum. The explorer and loom check this order and the memory orderings in the real code.

THE REAL CODE. `core/src/sequence/step_log.rs` prints what the real functions return for random and boundary inputs, and
a test compares these lines with the terms below. The test fails if only the functions or only the terms are changed.

NOT PROVED HERE. The code around a step: clocks, windows, waiting, forks and worker IDs. Layouts without timestamps,
whose tick is always 0, are the special case of `per_tick` with one tick.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3  # type: ignore[import-untyped]

from logic import Term

# The values of `flip`, which states whether a step may go back in time. They correspond to the variants of `Flip` in
# the Rust code.
ALLOWED, REFUSED, BELOW = range(3)
NEXT_BITS = 17


@dataclass(frozen=True)
class Step:
    """The outcome of a step. If neither `taken` nor `closed` holds, the step returns no cells and does not change the
    word.
    """

    taken: Term
    full: Term
    closed: Term
    tick: Term
    bit: Term
    first: Term
    length: Term
    word: Term
    goes_back: Term
    behind: Term  # the tick that the caller has to wait for, if the clock is too far behind


def constant(value: int, bits: int = 64) -> Term:
    return z3.BitVecVal(value, bits)


def unsigned_min(a: Term, b: Term) -> Term:
    return z3.If(z3.ULT(a, b), a, b)


def unsigned_max(a: Term, b: Term) -> Term:
    return z3.If(z3.UGT(a, b), a, b)


class TickTock:
    """The state word of sno's state machine. From the highest bit to the lowest, it contains the closed bit (1 bit),
    the tick (45 bits, of which sno uses 39), the tick-tock bit (1 bit) and the next sequence number (17 bits).
    """

    @staticmethod
    def tick(word: Term) -> Term:
        return z3.LShR(word & constant((1 << 63) - 1), NEXT_BITS + 1)

    @staticmethod
    def bit(word: Term) -> Term:
        return word & constant(1 << NEXT_BITS) != 0

    @staticmethod
    def next(word: Term) -> Term:
        return word & constant((1 << NEXT_BITS) - 1)

    @staticmethod
    def closed(word: Term) -> Term:
        return word & constant(1 << 63) != 0

    @staticmethod
    def pack(tick: Term, bit: Term, after: Term) -> Term:
        return tick << (NEXT_BITS + 1) | z3.If(bit, constant(1 << NEXT_BITS), constant(0)) | after

    @classmethod
    def is_behind(cls, cell: tuple[Term, Term, Term], word: Term, safe: Term) -> Term:
        """Returns whether a cell can never be returned again."""
        tick, bit, sequence = cell
        is_here = z3.Or(
            z3.ULT(tick, cls.tick(word)),
            z3.And(tick == cls.tick(word), z3.ULT(sequence, cls.next(word))),
        )
        return z3.If(bit == cls.bit(word), is_here, z3.ULE(tick, safe))


def tick_tock(
    word: Term, safe: Term, now: Term, want: Term, first: Term, last: Term, flip: Term, floor: Term, weak: str = ""
) -> Step:
    """Computes a step of sno's state machine, like `plan` in tick_tock.rs. `first` and `last` are the bounds of the
    sequence, and `flip` states whether the step may go back in time.
    """
    tick = TickTock.tick(word)
    wall_tick = z3.If(flip == BELOW, floor, tick)
    if weak == "the floor takes the place of the last tick":
        wall_tick = tick
    goes_back = z3.ULT(now, wall_tick)
    is_used = z3.ULE(now, safe)
    if weak == "a step back lands above the safe tick":
        is_used = z3.BoolVal(False)
    if weak == "a step back does not land on the safe tick":
        is_used = z3.ULT(now, safe)
    is_behind = z3.And(goes_back, z3.Or(flip == REFUSED, is_used))
    start = z3.If(now == tick, unsigned_max(TickTock.next(word), first), first)
    if weak == "a tick continues with its next sequence":
        start = first
    room = z3.If(z3.ULT(last + 1, start), constant(0), last + 1 - start)
    length = unsigned_min(want, room)
    if weak == "the sequence ends with its last number":
        length = want
    bit = TickTock.bit(word) != goes_back
    if weak == "a step back flips the bit":
        bit = TickTock.bit(word)
    closed = TickTock.closed(word)
    if weak == "a closed word returns nothing":
        closed = z3.BoolVal(False)
    is_open = z3.And(z3.Not(closed), z3.Not(is_behind))
    return Step(
        taken=z3.And(is_open, length != 0),
        full=z3.And(is_open, length == 0),
        closed=closed,
        tick=now,
        bit=bit,
        first=start,
        length=length,
        word=TickTock.pack(now, bit, start + length),
        goes_back=goes_back,
        behind=wall_tick,
    )


def raise_safe_tick(step: Step, safe: Term, weak: str = "") -> Term:
    """Returns the value of `safe` after a successful step. A step that goes back in time raises the value."""
    if weak == "a step back raises the safe tick":
        return safe
    if weak == "the safe tick is the one that was left":
        return z3.If(step.goes_back, unsigned_max(safe, step.tick), safe)
    return z3.If(step.goes_back, unsigned_max(safe, step.behind), safe)


def exhaust(word: Term, last: Term) -> Term:
    """Exhausts the current tick of a word, like `end_tick` in tick_tock.rs, and returns the new word."""
    next_sequence = z3.If(TickTock.next(word) == 0, constant(0), last + 1)
    return TickTock.pack(TickTock.tick(word), TickTock.bit(word), next_sequence)


class PerTick:
    """The state word of all formats except sno. From the highest bit to the lowest, it contains the closed bit (1 bit),
    the tick and the next slot. It has 64 or 128 bits. `next_bits` is the width of the next slot, which depends on the
    format.
    """

    BITS = 128

    def __init__(self, next_bits: Term, is_wide: Term) -> None:
        self.next_bits = next_bits
        self.top = z3.If(is_wide, constant(1 << 127, 128), constant(1 << 63, 128))

    def tick(self, word: Term) -> Term:
        return z3.LShR(word & ~self.top, self.next_bits)

    def next(self, word: Term) -> Term:
        return word & ((constant(1, 128) << self.next_bits) - 1)

    def closed(self, word: Term) -> Term:
        return word & self.top != 0

    def pack(self, tick: Term, after: Term) -> Term:
        return tick << self.next_bits | after

    def is_behind(self, cell: tuple[Term, Term], word: Term) -> Term:
        tick, slot = cell
        is_here = z3.And(tick == self.tick(word), z3.ULT(slot, self.next(word)))
        return z3.Or(z3.ULT(tick, self.tick(word)), is_here)


def per_tick(
    machine: PerTick,
    word: Term,
    now: Term,
    want: Term,
    first: Term,
    last: Term,
    is_held: Term,
    flip: Term,
    floor: Term,
    weak: str = "",
) -> Step:
    """Computes a step of the state machine that all formats except sno use, like `plan` in per_tick.rs. All terms have
    128 bits. If `is_held` is true and the clock is behind, the step continues in the last tick.
    """
    tick_before = machine.tick(word)
    tick = z3.If(is_held, unsigned_max(now, tick_before), now)
    if weak == "a clock that is behind stays in the last tick":
        tick = now
    is_behind = z3.ULT(tick, tick_before)
    if weak in ("a tick never falls", "a clock that is behind stays in the last tick"):
        is_behind = z3.BoolVal(False)
    start = z3.If(tick == tick_before, machine.next(word), first)
    if weak == "a tick continues with its next slot":
        start = first
    room = z3.If(z3.ULT(last + 1, start), constant(0, 128), last + 1 - start)
    length = unsigned_min(want, room)
    if weak == "the slots end with the last":
        length = want
    closed = machine.closed(word)
    if weak == "a closed word gives no slots":
        closed = z3.BoolVal(False)
    is_below = z3.And(z3.Not(closed), flip == BELOW)
    is_open = z3.And(z3.Not(closed), flip != BELOW, z3.Not(is_behind))
    return Step(
        taken=z3.And(is_open, room != 0),
        full=z3.Or(z3.And(is_open, room == 0), z3.And(is_below, is_held)),
        closed=closed,
        tick=tick,
        bit=z3.BoolVal(False),
        first=start,
        length=length,
        word=machine.pack(tick, start + length),
        goes_back=z3.BoolVal(False),
        behind=z3.If(is_below, floor + 1, tick_before),
    )
