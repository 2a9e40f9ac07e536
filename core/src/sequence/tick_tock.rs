//! The tick-tock state machine, with one sequence per tick and a bit that flips when the clock moves backwards. sno uses
//! this state machine.
//!
//! ```text
//! word: 1 closed | 6 unused | 39 tick | 1 tick-tock | 17 next sequence        safe: a tick, in a separate word
//! ```
//!
//! `next` is the sequence number of the next ID. It needs one bit more than a sequence number, because it is 65,536 once
//! all sequence numbers of the tick are used.
//!
//! # Why no ID repeats
//!
//! Clocks move backwards: NTP corrects them, operators set them, virtual machines resume. A generator that simply follows
//! such a clock enters ticks that it has already used. A generator that waits until the clock has caught up may stall for
//! minutes. A sno therefore stores one bit in addition to its tick, so that there are two copies of each tick. After a
//! rollback, the generator uses the second copy.
//!
//! A second rollback could lead back into the first copy. The machine prevents that by remembering `safe`, which is at
//! least the highest tick that it has ever stepped back from. A step back is allowed only to a tick above `safe`:
//!
//! ```text
//!         calls, from left to right
//!
//! bit 0   5 6 7 8                    9 10 11 12
//!                \                  /
//! bit 1           5 6 7 8 9 10 11 12
//!
//! safe    0       8                  12
//! ```
//!
//! The clock moved back from 8 to 5, so the bit flipped and `safe` became 8. Later, the clock moved back from 12 to 9. Tick
//! 9 is above 8, and no tick above 8 has been used with bit 0, so the bit could flip again. If the clock had moved back
//! from 12 to 7 instead, the pair (7, bit 0) would already have been used. In this case, the step returns [`Step::Behind`],
//! and the call waits until the clock has reached tick 12 again. A later call may flip the bit as soon as the clock has
//! reached tick 9.
//!
//! In general, once the machine has left a pair (tick, bit), it never enters that pair again. Within a pair, `next` only
//! grows. Each combination (tick, bit, sequence number) is therefore returned only once, and an ID of this generator also
//! contains its partition. The metabyte plays no part in this. To see why a pair is never entered again, suppose that the
//! machine leaves tick `t` with bit 0. The argument for bit 1 is the same.
//!
//! 1. The machine leaves `t` by moving forward or by stepping back. Forward steps lead only to ticks above `t`, so the
//!    machine can return to `t` only after a step back. The first step back starts at a tick `w`, which is `t` itself or a
//!    later tick.
//! 2. That step raises `safe` to at least `w`, and sets the bit to 1. While the bit is 1, the machine may enter any tick,
//!    including `t`, because the pairs with bit 1 are different pairs.
//! 3. Only a further step back sets the bit to 0 again. That step leads to a tick above `safe`, and therefore above `t`.
//!    From there, the machine moves forward. Because `safe` never falls, the same is true of every later return to bit 0.
//!
//! An earlier generator may have used any tick up to the last tick of the floor, which is computed from the first clock
//! reading (`floor.rs`). If the clock moves back to before the floor while the first call still waits for a later tick, the
//! word does not hold any tick yet ([`Flip::Below`]). In that case, the floor's last tick takes the place of `w`.
//!
//! # What the bit cannot do
//!
//! The bit and `safe` last as long as the generator, or longer if it is restored from a snapshot. A generator that starts
//! without a snapshot begins above the ticks of its predecessor, provided that the clock at its first call is not earlier
//! than the time of any of the predecessor's IDs (see `floor.rs`). However, it begins with bit 0, because it has no record
//! of the bits that the predecessor used. One rollback is harmless: if the clock moves back to before the start, the new
//! generator uses the second copy of its predecessor's ticks. If the predecessor's clock had also moved back, that copy may
//! already be used, and IDs can repeat. The tests in `restarts.rs` show both cases.
//!
//! # Two words without a lock
//!
//! The tick, the bit and `next` change together in one atomic word. `safe` is a separate word, and the order of the
//! accesses connects the two:
//!
//! ```text
//! 1. read the word
//! 2. read `safe`
//! 3. raise `safe`, only in a step back
//! 4. swap the word, if it is still the one that was read
//! ```
//!
//! A thread that reads a word whose bit has flipped therefore also reads the `safe` that belongs to the flip. If the word
//! changes after it was read, the swap fails, so no thread acts on an old `safe`. There is one exception: if only `next`
//! has changed, the step is planned again with the `safe` that was read before. This is an induction over the swaps: up to
//! this swap, no pair has been entered twice, so an unchanged pair means that no flip has happened in between. For the same
//! reason, a word that has been replaced never reappears, and a compare-and-swap cannot mistake a newer state for an older
//! one.
//!
//! If the swap of a step back fails, `safe` was raised too early. This can only reject a step back that would have been
//! allowed, never allow one that must be rejected.
//!
//! The explorer in this folder runs the real code through every interleaving of small programs, and loom checks the memory
//! orders. Both must catch weaker variants of each access.

use super::{Flip, Machine, SlotRange, Step, Used};
use crate::{
    Error, ErrorKind, narrow,
    sync::{AtomicU32, AtomicU64, Ordering},
};

const NEXT_BITS: u32 = 17;
const NEXT_MASK: u64 = (1 << NEXT_BITS) - 1;
const FLIPPED_BIT: u64 = 1 << NEXT_BITS;
const TICK_SHIFT: u32 = NEXT_BITS + 1;
const CLOSED_BIT: u64 = 1 << 63;

/// An observation: the packed state as read at the start of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(super) u64);

impl Word {
    const fn new(tick: u64, flipped: bool, next: u32) -> Self {
        Self(tick << TICK_SHIFT | if flipped { FLIPPED_BIT } else { 0 } | next as u64)
    }
    const fn is_closed(self) -> bool {
        self.0 & CLOSED_BIT != 0
    }
    const fn tick(self) -> u64 {
        (self.0 & !CLOSED_BIT) >> TICK_SHIFT
    }
    const fn is_flipped(self) -> bool {
        self.0 & FLIPPED_BIT != 0
    }
    const fn next(self) -> u32 {
        narrow::u32(self.0 & NEXT_MASK)
    }
    /// Returns whether the two words can differ only in `next`, that is, whether they have the same closed flag, the same
    /// tick and the same tick-tock bit.
    const fn is_same_line(self, other: Self) -> bool {
        self.0 >> NEXT_BITS == other.0 >> NEXT_BITS
    }
}

/// The first and the last sequence number of a tick, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min: u16,
    pub(crate) max: u16,
}

/// The complete state at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) tick: u64,
    pub(crate) next: u32,
    pub(crate) safe: u64,
    /// The number of clock rollbacks. Its lowest bit is the tick-tock bit.
    pub(crate) drifts: u32,
    pub(crate) closed: bool,
}

/// The tick-tock state machine.
#[derive(Debug)]
pub(crate) struct TickTock(Words);

/// The atomic words that contain the state.
#[derive(Debug)]
struct Words {
    word: AtomicU64,
    safe: AtomicU64,
    /// The number of clock rollbacks, used only by snapshots and statistics. The tick-tock bit in the word is
    /// authoritative.
    drifts: AtomicU32,
}

impl TickTock {
    /// Creates a state machine that has not assigned any slot yet.
    pub(crate) const fn new() -> Self {
        Self::restore(0, 0, 0, 0)
    }

    /// Creates a state machine in a restored state. `next` is the next sequence number in `tick`.
    pub(crate) const fn restore(tick: u64, next: u32, safe: u64, drifts: u32) -> Self {
        Self(Words {
            word: AtomicU64::new(Word::new(tick, drifts & 1 == 1, next).0),
            safe: AtomicU64::new(safe),
            drifts: AtomicU32::new(drifts),
        })
    }

    /// Returns the atomic words that contain the state.
    #[inline]
    const fn words(&self) -> &Words {
        &self.0
    }

    /// Atomically replaces `seen` with `next`. On failure, returns the current word. The swap may fail spuriously.
    #[inline]
    fn compare_exchange_weak(&self, seen: Word, next: Word) -> Result<(), Word> {
        // A successful swap has release semantics, so that a thread that reads the new word also reads the value to which
        // `safe` was raised before the swap. A failed swap has acquire semantics, because the next attempt starts from the
        // word that the swap returns.
        const ORDERINGS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let word = &self.words().word;
        let swapped = word.compare_exchange_weak(seen.0, next.0, ORDERINGS.0, ORDERINGS.1);
        swapped.map(|_| ()).map_err(Word)
    }

    /// Exhausts the current tick, whose highest sequence number is `last`. Afterward, no step reserves slots in that tick,
    /// and every step observes this thread's earlier writes. If `is_done` returns true, another thread has already done so.
    /// Exhausting a tick again would repeat no ID, but would lose the rest of the tick.
    pub(crate) fn end_tick(&self, last: u16, is_done: impl Fn() -> bool) {
        loop {
            let seen = self.observe();
            if seen.is_closed() || is_done() {
                return;
            }
            // If no slot has been reserved yet, there is no tick to exhaust. The word is written anyway, so that every
            // later step observes this thread's earlier writes.
            let next = if seen.next() == 0 { 0 } else { u32::from(last) + 1 };
            if self
                .compare_exchange_weak(seen, Word::new(seen.tick(), seen.is_flipped(), next))
                .is_ok()
            {
                return;
            }
        }
    }

    fn state_of(&self, word: Word) -> State {
        let Words { safe, drifts, .. } = self.words();
        let counted = drifts.load(Ordering::Relaxed);
        // The count is incremented after the swap, so it may lag behind the word. Its lowest bit is corrected here, because
        // a restored machine uses that bit as its tick-tock bit.
        let drifts =
            if (counted & 1 == 1) == word.is_flipped() { counted } else { counted.wrapping_add(1) };
        // As in `step`, `safe` is loaded after the word, so that the loaded value is at least as recent as the word's last
        // flip.
        let safe = safe.load(Ordering::Acquire);
        State { tick: word.tick(), next: word.next(), safe, drifts, closed: word.is_closed() }
    }
}

impl Machine for TickTock {
    type Word = Word;
    type Limits = Bounds;
    type State = State;

    #[inline]
    fn observe(&self) -> Word {
        Word(self.words().word.load(Ordering::Acquire))
    }

    #[inline]
    fn tick(&self, seen: Word) -> u64 {
        seen.tick()
    }

    #[inline]
    fn is_closed_at(&self, seen: Word) -> bool {
        seen.is_closed()
    }

    #[inline]
    fn step_within(&self, seen: Word, want: u32, bounds: Bounds) -> Option<SlotRange> {
        // A step within a tick never goes back in time, so the value of `safe` does not matter, and 0 is passed instead.
        match plan(seen, 0, seen.tick(), want, bounds, Flip::Forbidden) {
            Plan::Take { range, next, .. } => {
                self.compare_exchange_weak(seen, next).ok().map(|()| range)
            }
            _ => None,
        }
    }

    #[inline]
    fn step(&self, seen: Word, now: u64, want: u32, bounds: Bounds, flip: Flip) -> Step {
        let Words { safe: raised, drifts, .. } = self.words();
        let safe = raised.load(Ordering::Acquire);
        let mut word = seen;
        loop {
            let (range, next, goes_back) = match plan(word, safe, now, want, bounds, flip) {
                Plan::Take { range, next, goes_back } => (range, next, goes_back),
                Plan::Full => return Step::Full,
                Plan::Behind(wall) => return Step::Behind(wall),
                Plan::Closed => return Step::Closed,
            };
            if goes_back {
                raised.fetch_max(flip.wall_tick(word.tick()), Ordering::AcqRel);
            }
            match self.compare_exchange_weak(word, next) {
                Ok(()) => {
                    if goes_back {
                        // The ordering is relaxed, because only snapshots and statistics read the count, and `state_of`
                        // corrects its lowest bit.
                        drifts.fetch_add(1, Ordering::Relaxed);
                    }
                    return Step::Reserved(range);
                }
                // Only `next` differs, so the decision based on the tick, the tick-tock bit and `safe` is still valid.
                Err(newer) if newer.is_same_line(word) => word = newer,
                Err(_) => return Step::Raced,
            }
        }
    }

    fn close(&self) -> crate::Result<State> {
        // Unlike a compare-and-swap, an unconditional `or` cannot lose a race against busy threads. Steps in progress then
        // fail, because the word has changed since they read it.
        let word = Word(self.words().word.fetch_or(CLOSED_BIT, Ordering::AcqRel));
        if word.is_closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(self.state_of(word))
    }

    fn state(&self) -> State {
        self.state_of(self.observe())
    }

    /// Returns the higher of the state's tick and `safe`, or `None` if no slots were reserved. Each step raises `safe`
    /// before it goes back in time, so `safe` is at least as high as every tick from which the clock moved back.
    fn highest_tick(&self, state: &State) -> Option<u64> {
        let highest = state.tick.max(state.safe);
        (highest > 0 || state.next > 0).then_some(highest)
    }

    fn used(&self) -> Option<Used> {
        let state = self.state();
        let State { tick, safe, drifts, .. } = state;
        self.highest_tick(&state).map(|_| Used { tick, safe, drifts })
    }

    fn take_over(&mut self, used: Used) {
        let State { tick, next, safe, drifts, .. } = self.state();
        *self = if used.highest() >= tick.max(safe) {
            Self::restore(used.tick, u32::from(u16::MAX) + 1, used.safe, used.drifts)
        } else {
            Self::restore(tick, next, safe.max(used.highest()), drifts)
        };
    }
}

/// The plan for a step, which is made before the step changes anything.
pub(super) enum Plan {
    /// Reserve these slots by swapping in `next`. If the step goes back in time, `safe` must be raised first.
    Take {
        range: SlotRange,
        next: Word,
        goes_back: bool,
    },
    Full,
    Behind(u64),
    Closed,
}

/// Plans a step that starts from `word`. `safe` must have been read after `word`.
#[inline]
pub(super) fn plan(word: Word, safe: u64, now: u64, want: u32, bounds: Bounds, flip: Flip) -> Plan {
    if word.is_closed() {
        return Plan::Closed;
    }
    let wall = flip.wall_tick(word.tick());
    let goes_back = now < wall;
    // A step to `safe` itself is rejected, too. The earlier clock rollback from that tick flipped the tick-tock bit, and
    // this step would flip it back to the value already used in that tick.
    if goes_back && (flip == Flip::Forbidden || now <= safe) {
        return Plan::Behind(wall);
    }
    let least = bounds.min.into();
    let first = if now == word.tick() { word.next().max(least) } else { least };
    let len = want.min((u32::from(bounds.max) + 1).saturating_sub(first));
    if len == 0 {
        return Plan::Full;
    }
    let tick_tock = word.is_flipped() != goes_back;
    let range = SlotRange { tick: now, tick_tock, first: first.into(), len };
    Plan::Take { range, next: Word::new(now, tick_tock, first + len), goes_back }
}
