//! The loop around a state machine: observe, read the clock, step; wait where the family waits.
//!
//! No lock is held anywhere, the clock's callbacks included.

use core::time::Duration;

use crate::{Error, ErrorKind, Result, clock::Clock};

/// What a generator does when a tick's IDs are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnExhausted {
    /// Sleeps until the next tick, within `max_wait`.
    Wait,
    /// Refuses at once with `sequence_exhausted`.
    Error,
}

/// What one attempt came to.
pub(crate) enum Outcome<T> {
    Taken(T),
    /// Another thread was faster: observe again.
    Raced,
    /// Nothing to be had before this time (Unix nanoseconds), for this reason.
    Wait(i64, ErrorKind),
}

/// How a generator waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) on_exhausted: OnExhausted,
    /// In nanoseconds; none: what the clock says.
    pub(crate) max_wait: Option<u64>,
    pub(crate) tick_nanos: u64,
}

impl Pace {
    pub(crate) const fn new(on_exhausted: OnExhausted, tick_nanos: u64) -> Self {
        Self { on_exhausted, max_wait: None, tick_nanos }
    }

    /// Sets the longest wait of one call; more than 584 years are as good as for ever.
    pub(crate) fn set_max_wait(&mut self, max_wait: Duration) {
        self.max_wait = Some(u64::try_from(max_wait.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// Runs attempts until one succeeds, is refused, or the wait has been long enough.
///
/// `observe` looks at the state; only then is the clock read; `attempt` gets both, and whether this call has already been
/// told to wait because the clock is behind.
#[inline]
pub(crate) fn drive<C: Clock, S, T>(
    clock: &C,
    pace: &Pace,
    observe: impl Fn() -> S,
    attempt: impl Fn(S, i64, bool) -> Result<Outcome<T>>,
) -> Result<T> {
    let mut wait = None;
    let mut was_behind = false;
    loop {
        let seen = observe();
        let now = clock.unix_nanos()?;
        match attempt(seen, now, was_behind)? {
            Outcome::Taken(taken) => return Ok(taken),
            Outcome::Raced => {}
            Outcome::Wait(until, reason) => {
                was_behind |= reason == ErrorKind::ClockBehind;
                if !wait
                    .get_or_insert_with(|| Wait::new(clock, pace))
                    .pass(clock, pace, reason, now, until)?
                {
                    return Err(Error::retry_later(reason, ms_rounded_up(until)));
                }
            }
        }
    }
}

/// The longest single sleep, so that a clock that is set forward is noticed soon.
const LONGEST_SLEEP: u64 = 10_000_000;

/// One call's wait: how much of it is left.
struct Wait {
    left: u64,
    unmoved: u32,
    last: Option<i64>,
}

impl Wait {
    #[cold]
    fn new<C: Clock>(clock: &C, pace: &Pace) -> Self {
        let left = pace.max_wait.unwrap_or_else(|| clock.default_max_wait(pace.tick_nanos));
        Self { left, unmoved: 0, last: None }
    }

    /// Sleeps a little towards `until`; false when the wait has been long enough.
    #[cold]
    fn pass<C: Clock>(
        &mut self,
        clock: &C,
        pace: &Pace,
        reason: ErrorKind,
        now: i64,
        until: i64,
    ) -> Result<bool> {
        if reason == ErrorKind::SequenceExhausted && pace.on_exhausted == OnExhausted::Error {
            return Ok(false);
        }
        self.unmoved = if self.last == Some(now) { self.unmoved + 1 } else { 0 };
        self.last = Some(now);
        if self.left == 0 || self.unmoved >= clock.patience() {
            return Ok(false);
        }
        let nanos =
            until.saturating_sub(now).max(1).cast_unsigned().min(self.left).min(LONGEST_SLEEP);
        self.left -= nanos;
        clock.sleep(nanos)?;
        Ok(true)
    }
}

fn ms_rounded_up(nanos: i64) -> i64 {
    nanos.div_euclid(1_000_000) + i64::from(nanos.rem_euclid(1_000_000) > 0)
}
