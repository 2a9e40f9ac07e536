//! The state machines that assign slots. Their input is a tick, and their output is a range of slots or the reason why no
//! slot is available.
//!
//! They never read a clock and never wait. The caller reads the state (`observe`), reads its clock, and then performs one
//! `step`. The caller receives only slots that the step itself reserved, so a stale clock reading is harmless. The
//! tick and the next slot change together in one atomic word. The tick-tock machine has a second word, which only grows.
//!
//! The basic operation reserves `n` slots. All slots in a range belong to the same tick, and the range may contain fewer
//! slots than requested.

use crate::Result;

pub(crate) mod floor;
pub(crate) mod per_tick;
pub(crate) mod tick_tock;
mod word;

#[cfg(all(test, not(loom)))]
mod exhaustive;
#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod explorer;
#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod restarts;
#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod step_log;

/// A state machine that assigns slots.
pub(crate) trait Machine {
    /// An observation of the state, from which a step starts.
    type Word: Copy + PartialEq;
    /// The slot limits of a tick, which are passed to each step unless the state machine stores them itself.
    type Limits: Copy;
    /// The complete state at one point in time.
    type State;

    fn observe(&self) -> Self::Word;

    /// Returns the tick that the state machine was in when `seen` was observed.
    fn tick(&self, seen: Self::Word) -> u64;

    fn is_closed_at(&self, seen: Self::Word) -> bool;

    /// Returns the tick in which a step would reserve slots, given the observation `seen` and a clock reading in tick
    /// `now`.
    #[inline]
    fn tick_for(&self, seen: Self::Word, now: u64) -> u64 {
        let _ = seen;
        now
    }

    /// Reserves up to `want` slots in the observed tick, like [`Machine::step`] for a clock reading in that tick. If no
    /// slots are left, or another thread changed the state, returns `None` and changes nothing.
    fn step_within(&self, seen: Self::Word, want: u32, limits: Self::Limits) -> Option<SlotRange>;

    /// Reserves up to `want` slots. `now` is the tick that the clock showed after `seen` was observed.
    fn step(&self, seen: Self::Word, now: u64, want: u32, limits: Self::Limits, flip: Flip)
    -> Step;

    /// Closes the state machine and returns its final state. No later step succeeds.
    ///
    /// # Errors
    /// Returns `generator_closed` if the state machine was already closed.
    fn close(&self) -> Result<Self::State>;

    fn state(&self) -> Self::State;

    /// Returns the highest tick in which slots had been reserved when `state` was read, or `None` if no slots had been
    /// reserved.
    fn highest_tick(&self, state: &Self::State) -> Option<u64>;

    /// Returns the ticks in which slots have been reserved, or `None` if no slots have been reserved.
    fn used(&self) -> Option<Used>;

    /// Treats the ticks that another state machine has used as ticks of this one. No thread uses this state machine yet.
    fn take_over(&mut self, used: Used);

    #[inline]
    fn is_closed(&self) -> bool {
        self.is_closed_at(self.observe())
    }
}

/// The ticks that a state machine has used, as far as a successor needs to know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// The current tick. All of its slots count as used.
    pub(crate) tick: u64,
    /// The highest tick from which the clock has moved back.
    pub(crate) safe: u64,
    /// The number of clock rollbacks.
    pub(crate) drifts: u32,
}

impl Used {
    /// Returns the highest tick that was used.
    pub(crate) fn highest(self) -> u64 {
        self.tick.max(self.safe)
    }
}

/// Slots `first .. first + len` of one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotRange {
    pub(crate) tick: u64,
    /// The tick-tock bit, which only the tick-tock state machine uses.
    pub(crate) tick_tock: bool,
    pub(crate) first: u64,
    pub(crate) len: u32,
}

/// Whether a step may go back in time, if the state machine supports doing so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flip {
    Allowed,
    /// The step must not go back in time, because the clock was behind earlier in this call, and the state machine could
    /// not move back to the clock's tick. The call therefore waits until the clock reaches the last tick.
    Forbidden,
    /// The state machine is unused, and the clock moved backward from this tick, which is the last tick of the generator's
    /// floor. The step uses this tick as the state machine's tick.
    Below(u64),
}

impl Flip {
    /// Returns the tick against which a clock reading is checked to detect a rollback. `tick` is the current tick of the
    /// state machine.
    #[inline]
    const fn wall_tick(self, tick: u64) -> u64 {
        match self {
            Self::Below(floor) => floor,
            Self::Allowed | Self::Forbidden => tick,
        }
    }
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The step reserved these slots for the caller.
    Reserved(SlotRange),
    /// Another thread changed the state. The caller should observe the state again, read the clock, and retry.
    Raced,
    /// All slots of this tick are used up.
    Full,
    /// The clock is behind the state's tick, and the state machine cannot move back to the clock's tick. The value is the
    /// tick to wait for.
    Behind(u64),
    /// The state machine is closed permanently.
    Closed,
}
