//! The behavior of a call while no ID is available, and the limits of its wait.
//!
//! ```text
//!   .---- attempt ---- slots -------------------------> done
//!   |      ^   |
//!   |      |   '-- full, behind, floor, or no grant
//!   |      |                |
//!   |      |       charge the last sleep ---- no time is left ---> the cause's error, with the time to retry
//!   |      |                |
//!   |      '---- sleep for at most 10 ms
//!   |
//!   '-- lost a race: count it, and attempt again ---- too many ---> clock_failed
//! ```
//!
//! Neither sleeps nor clocks are reliable, so several limits are needed:
//!
//! - **The time that a call has waited** is measured with a monotonic clock, because sleeps take longer than requested. If
//!   that clock did not advance during a sleep, the requested duration counts instead. In that case, the wait also ends
//!   after [`MAX_EQUAL_READINGS`] equal readings of the wall clock, because a stopped wall clock would never reach the next
//!   tick.
//! - **A single sleep** is short ([`MAX_SLEEP_NANOS`]), so that a call soon detects a clock that has been set forward.
//!   Each sleep shortens the remaining wait by at least [`MIN_SLEEP_NANOS`], because the number of sleeps must be
//!   limited as well.
//! - **Lost races** involve no sleep, so the number of races is limited separately ([`MAX_LOST_RACES`]). Without this
//!   limit, a call would loop endlessly if each clock reading generated an ID with the same generator, each time in a new
//!   tick.
//! - **The floor** has a separate limit ([`FLOOR_WAIT_NANOS`]), since a generator waits for its floor only once per
//!   process, and the default maximum in an event loop is shorter than most ticks.
//!
//! This module never sleeps. It computes how long the host of the call should sleep.

use core::time::Duration;

use super::first_reading::granularity_nanos;
use crate::{
    Error, ErrorKind, Result,
    clock::{self, Clock, ClockInfo, Stall},
    format::Scale,
    sequence::Flip,
    sync::{Ordering, Tally},
};

/// What a generator does when no ID is available, because the current tick has no IDs left or the clock is behind.
///
/// ```
/// use polyflake::{OnExhausted, sno::Generator};
///
/// // For a server that prefers to answer 503 instead of waiting.
/// let ids = Generator::builder().partition(42).on_exhausted(OnExhausted::Error).build()?;
/// assert_eq!(ids.generate(7)?.partition(), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnExhausted {
    /// Sleeps until an ID is available, but no longer than `max_wait`.
    Wait,
    /// Fails immediately with `sequence_exhausted` or `clock_behind`.
    Error,
}

/// A generator's wait policy, and the number of calls that are waiting.
#[derive(Debug)]
pub(crate) struct WaitPolicy {
    on_exhausted: OnExhausted,
    /// The maximum wait in nanoseconds, or `None` for the clock's default.
    max_wait: Option<u64>,
    tick_nanos: u64,
    stalled: Tally,
}

/// The policy of calls that must not wait.
pub(crate) static NO_WAIT: WaitPolicy = WaitPolicy {
    on_exhausted: OnExhausted::Error,
    max_wait: Some(0),
    tick_nanos: 0,
    stalled: Tally::new(0),
};

impl WaitPolicy {
    /// Creates a policy. If `max_wait` in nanoseconds does not fit in 64 bits, it is capped at the 64-bit maximum of 584
    /// years.
    pub(crate) const fn new(
        on_exhausted: OnExhausted,
        max_wait: Option<Duration>,
        tick_nanos: u64,
    ) -> Self {
        let max_wait = match max_wait {
            Some(wait) => Some(clock::nanos(wait)),
            None => None,
        };
        Self { on_exhausted, max_wait, tick_nanos, stalled: Tally::new(0) }
    }

    /// Returns the default policy for a format with the given time scale.
    pub(crate) const fn for_scale(scale: &Scale) -> Self {
        Self::new(OnExhausted::Wait, None, scale.tick_nanos())
    }

    /// Rejects a clock that is coarser than the format's tick, because its readings would skip ticks and waste all their
    /// IDs.
    pub(crate) fn check_clock<C: Clock>(&self, clock: &C) -> Result<()> {
        let resolution = clock::nanos(clock.info().resolution);
        if resolution > self.tick_nanos {
            let (found, most) = (resolution.into(), self.tick_nanos.into());
            return Err(Error::out_of_range("resolution", found, 1, most).in_unit("ns"));
        }
        Ok(())
    }

    /// Returns whether calls may wait for an ID.
    fn waits(&self) -> bool {
        self.on_exhausted == OnExhausted::Wait
    }

    /// Returns the maximum wait in nanoseconds.
    fn max_wait<C: Clock>(&self, clock: &C) -> u64 {
        self.max_wait.unwrap_or_else(|| default_max_wait(&clock.info(), self.tick_nanos))
    }
}

/// The default `max_wait` in nanoseconds, for calls that do not block an event loop.
const DEFAULT_MAX_WAIT_NANOS: u64 = 1_000_000_000;

/// Returns the default `max_wait` in nanoseconds. A call in an event loop waits for at most one tick, because no other code
/// runs on the thread during the wait. A browser may delay each step of its clock by a random time, so if the clock's steps
/// are long, the call waits for up to two steps.
fn default_max_wait(info: &ClockInfo, tick_nanos: u64) -> u64 {
    if !info.in_event_loop {
        return DEFAULT_MAX_WAIT_NANOS;
    }
    let two_steps = clock::nanos(info.step).saturating_mul(2);
    if two_steps > MAX_SLEEP_NANOS { two_steps } else { tick_nanos.min(MAX_SLEEP_NANOS) }
}

/// The cause of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The slots of the tick are exhausted.
    Full,
    /// The clock is behind the last tick.
    Behind,
    /// An earlier generator may have generated IDs in this tick, and this generator has not generated any yet.
    Floor,
    /// There is currently no grant.
    Grant,
}

impl Cause {
    pub(crate) const fn reason(self) -> ErrorKind {
        match self {
            Self::Full | Self::Floor => ErrorKind::SequenceExhausted,
            Self::Behind => ErrorKind::ClockBehind,
            Self::Grant => ErrorKind::LeaseUnavailable,
        }
    }
}

/// The default maximum wait for the end of the floor, in nanoseconds, not counting the time by which the clock may lag.
/// This limit is separate from the default for other waits, because a generator waits for its floor only once per process,
/// and because the default in an event loop is shorter than most ticks.
const FLOOR_WAIT_NANOS: u64 = 1_000_000_000;

/// Returns the default maximum wait for the end of the floor, in nanoseconds, including the time by which the clock may
/// lag. The slack and the resolution may extend the floor beyond its first tick, and later clock readings may lag as well.
fn floor_wait(info: &ClockInfo) -> u64 {
    let late = clock::nanos(info.slack).saturating_add(granularity_nanos(info));
    FLOOR_WAIT_NANOS.saturating_add(late.saturating_mul(2)).saturating_add(MAX_SLEEP_NANOS)
}

/// The wait state of one call to a generator: its current wait, and the races that it has lost.
pub(crate) struct Waits<'p> {
    policy: &'p WaitPolicy,
    wait: Option<Wait<'p>>,
    races: LostRaces,
    was_behind: bool,
    /// Whether the call blocks its thread while it waits, using the generator's clock to sleep.
    is_sync: bool,
}

impl<'p> Waits<'p> {
    pub(crate) const fn new(policy: &'p WaitPolicy, is_sync: bool) -> Self {
        let races = LostRaces { lost: 0, first: None };
        Self { policy, wait: None, races, was_behind: false, is_sync }
    }

    /// Returns whether the call's next step may move the state machine back to an earlier tick. This is forbidden once the
    /// call has had to wait for a clock that is behind.
    pub(crate) const fn flip(&self) -> Flip {
        if self.was_behind { Flip::Forbidden } else { Flip::Allowed }
    }

    /// Returns how long the call has slept during its current wait, in nanoseconds.
    pub(super) fn slept_nanos(&self) -> u64 {
        self.wait.as_ref().map_or(0, |wait| wait.slept)
    }

    /// Counts a race that the call lost.
    ///
    /// # Errors
    /// Returns `clock_failed` if the call has lost more than [`MAX_LOST_RACES`] races. Also returns `clock_failed` if the
    /// call has lost more than [`UNTIMED_RACES`] races and its maximum wait has passed since the first lost race.
    pub(crate) fn record_lost_race<C: Clock>(&mut self, clock: &C) -> Result<()> {
        self.races.record_loss(clock, self.policy)
    }

    /// Returns how long to sleep next, in nanoseconds, given the clock reading `now` and a wait that should last until
    /// `until`. The sleep continues the call's current wait, or begins a new one.
    ///
    /// # Errors
    /// Returns the error for the cause, with the time to retry, once the wait has reached its limit. Also returns any error
    /// from the clock.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait<C: Clock>(
        &mut self,
        clock: &C,
        cause: Cause,
        now: i64,
        until: i64,
    ) -> Result<u64> {
        let reason = cause.reason();
        self.was_behind |= cause == Cause::Behind;
        if let Some(wait) = &mut self.wait {
            wait.charge(clock);
        }
        // The wait for the floor has its own limit, so a change between the floor and any other cause begins a new wait.
        let is_other = |wait: &mut Wait| (wait.cause == Cause::Floor) != (cause == Cause::Floor);
        self.wait.take_if(is_other);
        let info = clock.info();
        let step = clock::nanos(info.step);
        let until = next_reading(now, until, step);
        let nanos = until.saturating_sub(now).max(1).cast_unsigned();
        let cannot_wait = || self.is_sync && nanos > MAX_SLEEP_NANOS && info.spins;
        // A clock is coarse if its steps are longer than the maximum busy-wait of a thread that cannot sleep.
        let is_coarse = step > MAX_SLEEP_NANOS && self.policy.waits();
        let is_long = cause == Cause::Floor || is_coarse;
        if is_long && self.policy.max_wait != Some(0) && cannot_wait() {
            return Err(Error::wait_until_error(reason, ceil_to_ms(until)));
        }
        let wait = self.wait.get_or_insert_with(|| Wait::new(clock, self.policy, cause));
        if wait.is_over(now) {
            let error = if wait.is_for_stopped_clock() {
                Error::stopped_clock_error
            } else {
                Error::retry_later
            };
            return Err(error(reason, ceil_to_ms(until)));
        }
        clock.stalled(&wait.to_stall(reason, now))?;
        wait.asked = nanos.min(wait.left).min(MAX_SLEEP_NANOS);
        Ok(wait.asked)
    }
}

/// The maximum number of races that one call may lose. Threads that merely compete lose only a few races in a row. However,
/// if a clock is slow, or if it generates IDs with this generator, every attempt may come too late and lose its race.
const MAX_LOST_RACES: u32 = 1000;

/// The number of races that a call may lose without a time limit. Each lost race means that the tick changed between a
/// clock reading and the reservation.
const UNTIMED_RACES: u32 = 16;

/// The races that one call has lost.
struct LostRaces {
    lost: u32,
    first: Option<Duration>,
}

impl LostRaces {
    /// Counts a lost race. Fails if the call has lost more than [`MAX_LOST_RACES`] races, or if it has lost more than
    /// [`UNTIMED_RACES`] races and its maximum wait has passed since the first lost race.
    fn record_loss<C: Clock>(&mut self, clock: &C, policy: &WaitPolicy) -> Result<()> {
        self.lost += 1;
        if self.lost == 1 {
            // Only calls that lose a race read this clock, so the common path does not pay for it.
            self.first = clock.monotonic();
        }
        let is_late = || {
            let passed = clock.monotonic()?.checked_sub(self.first?)?;
            Some(clock::nanos(passed) > policy.max_wait(clock))
        };
        if self.lost > MAX_LOST_RACES || self.lost > UNTIMED_RACES && is_late() == Some(true) {
            return Err(too_many_lost_races_error());
        }
        Ok(())
    }
}

#[cold]
fn too_many_lost_races_error() -> Error {
    Error::with_reason(ErrorKind::ClockFailed, "the clock moved past the tick on every attempt")
}

/// The longest single sleep, in nanoseconds. It is short so that a call soon detects a clock that has been set forward. It
/// also limits busy-waiting on a thread that cannot sleep. If a generator's first call, or a clock that advances in longer
/// steps, requires a longer wait on such a thread, the call fails instead.
const MAX_SLEEP_NANOS: u64 = 10_000_000;

/// The number of consecutive equal clock readings after which a call without a monotonic clock stops waiting, because the
/// wall clock appears to have stopped.
const MAX_EQUAL_READINGS: u32 = 16;

/// The minimum time, in nanoseconds, by which each sleep shortens a wait. Without this minimum, a clock that stays just
/// before the next tick could make a call sleep a billion times.
const MIN_SLEEP_NANOS: u64 = 50_000;

/// One call's wait for a tick, including the time for which the wait may still last.
struct Wait<'p> {
    policy: &'p WaitPolicy,
    cause: Cause,
    left: u64,
    slept: u64,
    /// The requested duration of the last sleep.
    asked: u64,
    /// The reading of the monotonic clock at the start of the wait, or at the last call to `charge`.
    charged_at: Option<Duration>,
    /// Whether the monotonic clock has advanced since the previous call to `charge`.
    is_timed: bool,
    unmoved: u32,
    last: Option<i64>,
}

impl<'p> Wait<'p> {
    fn new<C: Clock>(clock: &C, policy: &'p WaitPolicy, cause: Cause) -> Self {
        let left = match cause {
            Cause::Floor => policy.max_wait.unwrap_or_else(|| floor_wait(&clock.info())),
            _ => policy.max_wait(clock),
        };
        policy.stalled.fetch_add(1, Ordering::Relaxed);
        let charged_at = clock.monotonic();
        let (is_timed, last) = (charged_at.is_some(), None);
        Self { policy, cause, left, slept: 0, asked: 0, charged_at, is_timed, unmoved: 0, last }
    }

    /// Subtracts the time that has passed since the last charge from the remaining time. The time is measured with the
    /// monotonic clock. If that clock is missing or did not advance, the requested duration of the last sleep is used
    /// instead.
    fn charge<C: Clock>(&mut self, clock: &C) {
        let now = clock.monotonic();
        let passed =
            self.charged_at.zip(now).map_or(Duration::ZERO, |(last, now)| now.saturating_sub(last));
        let passed = clock::nanos(passed);
        // Sleeps take longer than requested. When an earlier version subtracted only the requested durations, a wait
        // limited to 50 ms lasted 777 ms. A monotonic clock that did not advance is treated as absent, because edge workers
        // stop the clock during a request, browsers round it, and tests replace it.
        (self.charged_at, self.is_timed) = (now, passed > 0);
        let passed = if self.is_timed { passed } else { self.asked };
        self.left = self.left.saturating_sub(passed.max(MIN_SLEEP_NANOS));
        self.slept = self.slept.saturating_add(passed);
    }

    /// Returns whether the wait ends at the clock reading `now`.
    fn is_over(&mut self, now: i64) -> bool {
        self.unmoved = if self.last == Some(now) { self.unmoved + 1 } else { 0 };
        self.last = Some(now);
        let is_stuck = || !self.is_timed && self.unmoved >= MAX_EQUAL_READINGS;
        let may_wait = self.policy.waits() || self.cause == Cause::Floor;
        !may_wait || self.left == 0 || is_stuck()
    }

    /// Returns whether the first ID waited for a wall clock that did not advance, such as a mocked one.
    const fn is_for_stopped_clock(&self) -> bool {
        matches!(self.cause, Cause::Floor) && self.unmoved >= MAX_EQUAL_READINGS
    }

    fn to_stall(&self, reason: ErrorKind, now: i64) -> Stall {
        Stall {
            reason,
            unix_ms: now.div_euclid(1_000_000),
            stalled: self.policy.stalled.load(Ordering::Relaxed),
            slept_ms: u32::try_from(self.slept.div_ceil(1_000_000)).unwrap_or(u32::MAX),
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.policy.stalled.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the first clock reading after `now` that is certainly at or after `until`, for a clock that advances in steps.
/// The readings of some clocks are multiples of the step. Those of others have any offset, so the result is at least one
/// step after `now`.
fn next_reading(now: i64, until: i64, step: u64) -> i64 {
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    let past_multiple = until.rem_euclid(step.max(1));
    let multiple = until.saturating_add((step.max(1) - past_multiple) % step.max(1));
    multiple.max(now.saturating_add(step))
}

pub(super) fn ceil_to_ms(nanos: i64) -> i64 {
    nanos.div_euclid(1_000_000) + i64::from(nanos.rem_euclid(1_000_000) > 0)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use core::time::Duration;

    use super::default_max_wait;
    use crate::clock::ClockInfo;

    #[test]
    fn the_default_wait_in_an_event_loop_is_short() {
        const NANOS_PER_MS: u64 = 1_000_000;
        let wait = |in_event_loop, step, tick| {
            let step = Duration::from_millis(step);
            let info = ClockInfo { step, in_event_loop, ..ClockInfo::new() };
            default_max_wait(&info, tick * NANOS_PER_MS)
        };
        assert_eq!([4, 1000].map(|tick| wait(false, 100, tick)), [1000 * NANOS_PER_MS; 2]);
        assert_eq!(
            [4, 1000].map(|tick| wait(true, 0, tick)),
            [4 * NANOS_PER_MS, 10 * NANOS_PER_MS]
        );
        assert_eq!(
            [4, 1000].map(|tick| wait(true, 5, tick)),
            [4 * NANOS_PER_MS, 10 * NANOS_PER_MS]
        );
        assert_eq!([4, 1000].map(|tick| wait(true, 100, tick)), [200 * NANOS_PER_MS; 2]);
    }
}
