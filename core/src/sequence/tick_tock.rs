//! One sequence for each tick, with a bit that flips when the clock steps back: sno's machine.
//!
//! ```text
//! word: 1 closed | .. | 39 tick | 1 tick-tock | 17 next sequence        safe: tick
//! ```
//!
//! The pair (tick, tick-tock bit) never comes back once it is left, so each of its sequences is given out once:
//!
//! - forward, the tick grows and the bit stays;
//! - back, from `wall` to `now`, the bit flips. `safe` is then at least `wall`, and a later step back must land above
//!   `safe`, so no tick up to `wall` is entered again with the bit that it had.
//!
//! `safe` only rises. It is raised before the word is swapped, and read after the word, so a thread that sees a word that
//! went back also sees the `safe` that belongs to it. If the swap then fails, `safe` was raised too early, and only refuses
//! more.

use super::{Flip, Machine, Run, Step};
use crate::{
    Error, ErrorKind,
    sync::{AtomicU32, AtomicU64, Ordering},
};

const NEXT_BITS: u32 = 17;
const NEXT_MASK: u64 = (1 << NEXT_BITS) - 1;
const FLIPPED: u64 = 1 << NEXT_BITS;
const TICK_SHIFT: u32 = NEXT_BITS + 1;
const CLOSED: u64 = 1 << 63;

/// A reading of the state, to step from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(super) u64);

impl Word {
    const fn new(tick: u64, flipped: bool, next: u32) -> Self {
        Self(tick << TICK_SHIFT | if flipped { FLIPPED } else { 0 } | next as u64)
    }
    const fn closed(self) -> bool {
        self.0 & CLOSED != 0
    }
    const fn tick(self) -> u64 {
        (self.0 & !CLOSED) >> TICK_SHIFT
    }
    const fn flipped(self) -> bool {
        self.0 & FLIPPED != 0
    }
    #[allow(clippy::cast_possible_truncation, reason = "masked to 17 bits")]
    const fn next(self) -> u32 {
        (self.0 & NEXT_MASK) as u32
    }
    /// Returns whether both words are open and in the same tick with the same bit: then only `next` moved between them.
    const fn same_line(self, other: Self) -> bool {
        self.0 >> NEXT_BITS == other.0 >> NEXT_BITS
    }
}

/// The sequences of a tick, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min: u16,
    pub(crate) max: u16,
}

/// The whole state of the machine, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) tick: u64,
    pub(crate) next: u32,
    pub(crate) safe: u64,
    /// Number of steps back of the clock; the lowest bit is the tick-tock bit.
    pub(crate) drifts: u32,
    pub(crate) closed: bool,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct TickTock(Words);

/// The state.
#[derive(Debug)]
struct Words {
    word: AtomicU64,
    safe: AtomicU64,
    /// Counts steps back for the snapshot only; the word's bit decides.
    drifts: AtomicU32,
}

impl TickTock {
    /// A machine that has given out nothing yet.
    pub(crate) const fn new() -> Self {
        Self::at(0, 0, 0, 0)
    }

    /// A machine restored to a state: `next` is the next sequence of `tick`.
    pub(crate) const fn at(tick: u64, next: u32, safe: u64, drifts: u32) -> Self {
        Self(Words {
            word: AtomicU64::new(Word::new(tick, drifts & 1 == 1, next).0),
            safe: AtomicU64::new(safe),
            drifts: AtomicU32::new(drifts),
        })
    }

    /// The words that hold the state, wherever they are stored.
    #[inline]
    const fn words(&self) -> &Words {
        &self.0
    }

    /// Replaces `seen` by `next`, or returns the word that was found instead; it may fail for no reason.
    #[inline]
    fn swap(&self, seen: Word, next: Word) -> Result<(), Word> {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let word = &self.words().word;
        let swapped = word.compare_exchange_weak(seen.0, next.0, ORDERS.0, ORDERS.1);
        swapped.map(|_| ()).map_err(Word)
    }

    /// Uses up the machine's tick, whose highest sequence is `last`, unless `is_done`: no later step takes slots in it, and every
    /// later step sees what this thread wrote before.
    pub(crate) fn end_tick(&self, last: u16, is_done: impl Fn() -> bool) {
        loop {
            let seen = self.observe();
            if seen.closed() || is_done() {
                return;
            }
            // No tick to use up if nothing was taken yet. The word is written all the same, for the steps after it.
            let next = if seen.next() == 0 { 0 } else { u32::from(last) + 1 };
            if self.swap(seen, Word::new(seen.tick(), seen.flipped(), next)).is_ok() {
                return;
            }
        }
    }

    fn state_of(&self, word: Word) -> State {
        let Words { safe, drifts, .. } = self.words();
        let counted = drifts.load(Ordering::Relaxed);
        let drifts =
            if (counted & 1 == 1) == word.flipped() { counted } else { counted.wrapping_add(1) };
        let safe = safe.load(Ordering::Acquire);
        State { tick: word.tick(), next: word.next(), safe, drifts, closed: word.closed() }
    }
}

impl Machine for TickTock {
    type Seen = Word;
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
        seen.closed()
    }

    #[inline]
    fn step_within(&self, seen: Word, want: u32, bounds: Bounds) -> Option<Run> {
        // A step within a tick never goes back, so `safe` is not read.
        match plan(seen, 0, seen.tick(), want, bounds, Flip::Refused) {
            Plan::Take { run, next, .. } => self.swap(seen, next).ok().map(|()| run),
            _ => None,
        }
    }

    #[inline]
    fn step(&self, seen: Word, now: u64, want: u32, bounds: Bounds, flip: Flip) -> Step {
        let Words { safe: raised, drifts, .. } = self.words();
        let safe = raised.load(Ordering::Acquire);
        let mut word = seen;
        loop {
            let (run, next, goes_back) = match plan(word, safe, now, want, bounds, flip) {
                Plan::Take { run, next, goes_back } => (run, next, goes_back),
                Plan::Full => return Step::Full,
                Plan::Behind(wall) => return Step::Behind(wall),
                Plan::Closed => return Step::Closed,
            };
            if goes_back {
                raised.fetch_max(flip.wall(word.tick()), Ordering::AcqRel);
            }
            match self.swap(word, next) {
                Ok(()) => {
                    if goes_back {
                        drifts.fetch_add(1, Ordering::Relaxed);
                    }
                    return Step::Taken(run);
                }
                // Only `next` moved, so the decision from tick, bit and `safe` still holds.
                Err(newer) if newer.same_line(word) => word = newer,
                Err(_) => return Step::Raced,
            }
        }
    }

    fn close(&self) -> crate::Result<State> {
        let word = Word(self.words().word.fetch_or(CLOSED, Ordering::AcqRel));
        if word.closed() {
            return Err(Error::new(ErrorKind::GeneratorClosed));
        }
        Ok(self.state_of(word))
    }

    fn state(&self) -> State {
        self.state_of(self.observe())
    }

    /// A tick that the clock stepped back from is no higher than `safe`, which was raised before.
    fn highest(&self, state: &State) -> Option<u64> {
        let highest = state.tick.max(state.safe);
        (highest > 0 || state.next > 0).then_some(highest)
    }
}

/// The plan of a step, made before anything is changed.
pub(super) enum Plan {
    /// Take these slots by swapping in `next`; `safe` must be raised first if the step goes back.
    Take {
        run: Run,
        next: Word,
        goes_back: bool,
    },
    Full,
    Behind(u64),
    Closed,
}

/// Decides a step from a word, and from the `safe` that was read after it.
#[inline]
pub(super) fn plan(word: Word, safe: u64, now: u64, want: u32, bounds: Bounds, flip: Flip) -> Plan {
    if word.closed() {
        return Plan::Closed;
    }
    let wall = flip.wall(word.tick());
    let goes_back = now < wall;
    if goes_back && (flip == Flip::Refused || now <= safe) {
        return Plan::Behind(wall);
    }
    let least = bounds.min.into();
    let first = if now == word.tick() { word.next().max(least) } else { least };
    let len = want.min((u32::from(bounds.max) + 1).saturating_sub(first));
    if len == 0 {
        return Plan::Full;
    }
    let tick_tock = word.flipped() != goes_back;
    let run = Run { tick: now, tick_tock, first: first.into(), len };
    Plan::Take { run, next: Word::new(now, tick_tock, first + len), goes_back }
}
