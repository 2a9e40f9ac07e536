//! The state machines that give out slots: a tick goes in; a run of slots comes out, or why there is none.
//!
//! They never read a clock and never wait. The caller looks at the state (`observe`), reads its clock, then takes
//! one `step`: the slots that it gets are those which the step itself secured, so a reading can grow stale
//! without harm. All that decides uniqueness is in one atomic word.
//!
//! Reserving `n` slots is the primitive; the slots of one run lie in one tick and may be fewer than asked for.

pub(crate) mod per_tick;
pub(crate) mod tick_tock;
mod word;

#[cfg(all(test, not(loom)))]
mod exhaustive;

/// What a step came to.
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
