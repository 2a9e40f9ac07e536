//! The loop around a state machine: observe, read the clock, step; wait where the family waits.
//!
//! No lock is held anywhere, the clock's callbacks included.

use core::time::Duration;

use crate::{
    Error, ErrorKind, Result,
    clock::{Clock, Stall},
    sync::{Ordering, Tally},
};

/// What a generator does when it has no ID for now: a tick's IDs are used up, or the clock is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnExhausted {
    /// Sleeps until there is one, within `max_wait`.
    Wait,
    /// Refuses at once with `sequence_exhausted` or `clock_behind`.
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

/// How a generator waits, and how many of its calls do.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) on_exhausted: OnExhausted,
    /// In nanoseconds; none: what the clock says.
    max_wait: Option<u64>,
    tick_nanos: u64,
    stalled: Tally,
}

/// For calls that must not wait.
pub(crate) static NO_WAIT: Pace = Pace {
    on_exhausted: OnExhausted::Error,
    max_wait: Some(0),
    tick_nanos: 0,
    stalled: Tally::new(0),
};

impl Pace {
    pub(crate) const fn new(on_exhausted: OnExhausted, tick_nanos: u64) -> Self {
        Self { on_exhausted, max_wait: None, tick_nanos, stalled: Tally::new(0) }
    }

    /// Refuses a clock that is coarser than the format's tick: its readings would skip ticks, and all their IDs.
    pub(crate) fn check_clock<C: Clock>(&self, clock: &C) -> Result<()> {
        let resolution = clock.resolution_nanos();
        if resolution > self.tick_nanos {
            let (found, most) = (resolution.into(), self.tick_nanos.into());
            return Err(Error::out_of_range("resolution_nanos", found, 1, most));
        }
        Ok(())
    }

    /// The longest wait, in nanoseconds.
    fn max_wait<C: Clock>(&self, clock: &C) -> u64 {
        self.max_wait.unwrap_or_else(|| clock.default_max_wait(self.tick_nanos))
    }

    /// Sets the longest wait of one call; more than 584 years are as good as for ever.
    pub(crate) fn set_max_wait(&mut self, max_wait: Duration) {
        self.max_wait = Some(u64::try_from(max_wait.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// The same options; nobody waits yet.
impl Clone for Pace {
    fn clone(&self) -> Self {
        let Self { on_exhausted, max_wait, tick_nanos, .. } = *self;
        Self { on_exhausted, max_wait, tick_nanos, stalled: Tally::new(0) }
    }
}

/// Runs attempts until one succeeds, is refused, or the wait has been long enough.
///
/// `observe` looks at the state; only then is the clock read. `shortcut` gets both first: it takes what nearly every call
/// does, or leaves all as it is. `attempt` gets them and whether this call has already been told to wait because the clock
/// is behind.
#[inline]
pub(crate) fn drive<C: Clock, S: Copy, T>(
    clock: &C,
    pace: &Pace,
    observe: impl Fn() -> S,
    shortcut: impl FnOnce(S, i64) -> Option<T>,
    attempt: impl Fn(S, i64, bool) -> Result<Outcome<T>>,
) -> Result<T> {
    let seen = observe();
    let now = clock.unix_nanos()?;
    match shortcut(seen, now) {
        Some(taken) => Ok(taken),
        None => drive_on(clock, pace, (seen, now), observe, attempt),
    }
}

/// The loop, out of the way of the many calls that need none.
#[cold]
#[inline(never)]
fn drive_on<C: Clock, S, T>(
    clock: &C,
    pace: &Pace,
    first: (S, i64),
    observe: impl Fn() -> S,
    attempt: impl Fn(S, i64, bool) -> Result<Outcome<T>>,
) -> Result<T> {
    let (mut seen, mut now) = first;
    let (mut wait, mut races) = (None, Races::default());
    let mut was_behind = false;
    loop {
        match attempt(seen, now, was_behind)? {
            Outcome::Taken(taken) => return Ok(taken),
            Outcome::Raced => races.lose(clock, pace)?,
            Outcome::Wait(until, reason) => {
                was_behind |= reason == ErrorKind::ClockBehind;
                Wait::pass(&mut wait, clock, pace, reason, now, until)?;
            }
        }
        seen = observe();
        now = clock.unix_nanos()?;
    }
}

/// How often others may be faster in one call. Threads lose a few races at most; a clock that is slow, or makes IDs of this
/// generator itself, may show a tick that is over each time.
const MOST_RACES: u32 = 1000;

/// Races that are free: each means that the tick went on between a reading and its step.
const FREE_RACES: u32 = 16;

/// The races that one call has lost.
#[derive(Default)]
struct Races {
    lost: u32,
    first: Option<u64>,
}

impl Races {
    /// Counts a race; too many, or more than a few in more time than the call may wait, are an error.
    fn lose<C: Clock>(&mut self, clock: &C, pace: &Pace) -> Result<()> {
        self.lost += 1;
        if self.lost == 1 {
            self.first = clock.elapsed_nanos();
        }
        let is_late = || {
            let passed = clock.elapsed_nanos()?.checked_sub(self.first?)?;
            Some(passed > pace.max_wait(clock))
        };
        if self.lost > MOST_RACES || self.lost > FREE_RACES && is_late() == Some(true) {
            return Err(outrun());
        }
        Ok(())
    }
}

#[cold]
fn outrun() -> Error {
    Error::because(
        ErrorKind::ClockFailed,
        "expected a tick to last until its ID is made, found one after the other that ended before",
    )
}

/// The longest single sleep, so that a clock that is set forward is noticed soon.
const LONGEST_SLEEP: u64 = 10_000_000;

/// What a sleep takes at least, however short it was to be: what a wait is charged, lest a clock that lingers right before
/// the next tick make it sleep a billion times.
const SHORTEST_SLEEP: u64 = 50_000;

/// One call's wait for a tick: how much of it is left.
struct Wait<'p> {
    pace: &'p Pace,
    left: u64,
    slept: u64,
    /// What the last sleep was asked to last.
    asked: u64,
    /// When the wait was last charged, by the monotonic clock.
    charged_at: Option<u64>,
    unmoved: u32,
    last: Option<i64>,
}

impl<'p> Wait<'p> {
    fn new<C: Clock>(clock: &C, pace: &'p Pace) -> Self {
        let (left, charged_at) = (pace.max_wait(clock), clock.elapsed_nanos());
        pace.stalled.fetch_add(1, Ordering::Relaxed);
        Self { pace, left, slept: 0, asked: 0, charged_at, unmoved: 0, last: None }
    }

    /// Sleeps a little towards `until`, in the wait that this call is in or begins now.
    ///
    /// # Errors
    /// `reason`, with when to retry, once the wait has been long enough; what the clock says.
    #[cold]
    #[inline(never)]
    fn pass<C: Clock>(
        wait: &mut Option<Self>,
        clock: &C,
        pace: &'p Pace,
        reason: ErrorKind,
        now: i64,
        until: i64,
    ) -> Result<()> {
        if let Some(wait) = wait {
            wait.charge(clock);
        }
        let wait = wait.get_or_insert_with(|| Self::new(clock, pace));
        if wait.is_over(clock, now) {
            return Err(Error::retry_later(reason, ms_rounded_up(until)));
        }
        clock.stalled(&wait.notice(reason, now))?;
        let nanos = until.saturating_sub(now).max(1).cast_unsigned();
        wait.asked = nanos.min(wait.left).min(LONGEST_SLEEP);
        clock.sleep(wait.asked)
    }

    /// Takes what has passed since the last charge from what is left: by the monotonic clock, or else what the sleep was asked to
    /// last.
    fn charge<C: Clock>(&mut self, clock: &C) {
        let now = clock.elapsed_nanos();
        let passed = match (self.charged_at, now) {
            (Some(last), Some(now)) => now.saturating_sub(last),
            _ => self.asked,
        };
        self.charged_at = now;
        self.left = self.left.saturating_sub(passed.max(SHORTEST_SLEEP));
        self.slept = self.slept.saturating_add(passed);
    }

    /// Returns whether to give up, at a reading of `now`.
    fn is_over<C: Clock>(&mut self, clock: &C, now: i64) -> bool {
        self.unmoved = if self.last == Some(now) { self.unmoved + 1 } else { 0 };
        self.last = Some(now);
        let is_stuck = || self.charged_at.is_none() && self.unmoved >= clock.patience();
        self.pace.on_exhausted == OnExhausted::Error || self.left == 0 || is_stuck()
    }

    fn notice(&self, reason: ErrorKind, now: i64) -> Stall {
        Stall {
            reason,
            unix_ms: now.div_euclid(1_000_000),
            stalled: self.pace.stalled.load(Ordering::Relaxed),
            slept_ms: u32::try_from(self.slept.div_ceil(1_000_000)).unwrap_or(u32::MAX),
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.pace.stalled.fetch_sub(1, Ordering::Relaxed);
    }
}

fn ms_rounded_up(nanos: i64) -> i64 {
    nanos.div_euclid(1_000_000) + i64::from(nanos.rem_euclid(1_000_000) > 0)
}
