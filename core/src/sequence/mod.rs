//! The state machines that give out slots: a tick goes in; a run of slots comes out, or why there is none.
//!
//! They never read a clock and never wait. The caller looks at the state (`observe`), reads its clock, then takes
//! one `step`: the slots that it gets are those which the step itself secured, so a reading can grow stale
//! without harm. All that decides uniqueness is in one atomic word.
//!
//! Reserving `n` slots is the primitive; the slots of one run lie in one tick and may be fewer than asked for.

use crate::Result;

pub(crate) mod per_tick;
pub(crate) mod tick_tock;
mod word;

#[cfg(all(test, not(loom)))]
mod exhaustive;

/// A state machine.
pub(crate) trait Machine {
    /// A reading of the state, to step from.
    type Seen: Copy;
    /// Which slots a tick has, where that is not the machine's own.
    type Limits: Copy;
    type Run: Run;
    /// All that the machine knows, at one moment.
    type State;

    fn observe(&self) -> Self::Seen;

    /// The tick of a reading.
    fn tick(&self, seen: Self::Seen) -> u64;

    fn is_closed_at(&self, seen: Self::Seen) -> bool;

    /// The tick that a step from here at `now` would encode.
    #[inline]
    fn tick_for(&self, seen: Self::Seen, now: u64) -> u64 {
        let _ = seen;
        now
    }

    /// Takes up to `want` slots in the tick that was observed, if there are any and nobody else moved the state: what
    /// [`Machine::step`] does for a clock that showed that tick. Else nothing is changed.
    fn step_within(&self, seen: Self::Seen, want: u32, limits: Self::Limits) -> Option<Self::Run>;

    /// Takes up to `want` slots for a clock that showed `now` after `seen` was observed.
    fn step(
        &self,
        seen: Self::Seen,
        now: u64,
        want: u32,
        limits: Self::Limits,
        flip: Flip,
    ) -> Step<Self::Run>;

    /// Ends the machine: the state returned is the last, and no step succeeds after it.
    ///
    /// # Errors
    /// `generator_closed` if it was.
    fn close(&self) -> Result<Self::State>;

    fn state(&self) -> Self::State;

    #[inline]
    fn is_closed(&self) -> bool {
        self.is_closed_at(self.observe())
    }
}

/// Slots of one tick that follow each other.
pub(crate) trait Run: Copy {
    fn tick(&self) -> u64;
    fn len(&self) -> u32;
}

/// Whether a step may go back in time, where the machine can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flip {
    Allowed,
    /// The clock was behind since the call began, further than the machine can follow: it waits for the last tick.
    Refused,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<R> {
    /// These slots are the caller's.
    Taken(R),
    /// Another thread moved the state on: observe, read the clock, try again.
    Raced,
    /// Every slot of this tick is taken.
    Full,
    /// The tick is behind this one, further than the machine can follow.
    Behind(u64),
    /// The machine is closed for ever.
    Closed,
}
