//! The keeper's timing: when it renews a grant, how long it pauses after a failure, how far clocks may differ, and how it
//! makes random choices.
//!
//! ```text
//! claim     renewal                                                                     end of the grant
//!  |----------|-----------------------------------------------------------------------------|
//!      1/4    '-- failed: retry after a tenth of the remaining time, again and again -----> '-- retries back off
//! ```
//!
//! The uniqueness of IDs does not depend on this timing. The timing determines how well a store copes with many holders:
//!
//! - A renewal leaves three quarters of the lease for retries, so only a long outage of the store stops a generator.
//! - Actions that many holders could perform at the same moment are spread out by random amounts of time: renewals by
//!   holders that started together, and retries by holders that failed together.
//! - After a failure, the pause is proportional to the remaining time, so that the holders with the least remaining time
//!   retry first.
//! - Without a grant, pauses grow with each failure, so that a thousand processes that start at once do not use up all
//!   connections of a busy server.

use alloc::format;

use super::{HeldGrant, Keeper, KeeperState, Moment};
use crate::{Error, ErrorKind, Result, protocol::Random};

/// The longest pause, in milliseconds, when a caller has just started to wait.
const INITIAL_LONGEST_PAUSE_MS: u64 = 500;

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Returns whether the grant must be renewed now, either because the renewal interval has passed or because the end of
    /// the grant is near according to the generator's clock.
    pub(super) fn is_due(&self, now: Moment) -> bool {
        let rest = self.options.lease_ms - self.options.interval();
        self.held.as_ref().filter(|held| !held.is_lost).is_some_and(|held| {
            now.elapsed_ms >= held.renew_at
                || (now.elapsed_ms >= held.soonest && now.wall_ms.saturating_add(rest) >= held.end)
        })
    }

    /// Stores a grant whose record was just acknowledged or read, and schedules its renewal.
    pub(super) fn schedule_renewal(&mut self, held: HeldGrant, now: Moment) {
        let interval = self.options.interval();
        // The interval is shortened by a random amount, so that holders that started together do not renew at the same
        // time.
        let early = self.random_below(interval / 10);
        let (renew_at, soonest) =
            (now.elapsed_ms + interval - early, now.elapsed_ms + interval / 4);
        self.held = Some(HeldGrant { renew_at, soonest, ..held });
        self.at = KeeperState::Idle { until: renew_at };
    }

    /// Returns the longest pause while there is no grant: a tenth of the lease duration, but at most a minute. While a
    /// caller waits for the first grant, the limit is half a second or, if longer, an eighth of the time waited so far.
    /// This limit grows with the waiting time, so that a thousand processes that start at once do not use up all
    /// connections of a busy server. Pauses must be short, because a worker ID may be released before its grant ends.
    pub(super) fn longest_pause(&self, now: Moment) -> u64 {
        let waited = now.elapsed_ms.saturating_sub(self.began.unwrap_or(now.elapsed_ms));
        let is_waited_for = !self.has_held && waited < self.options.wait_ms();
        let longest = if is_waited_for { INITIAL_LONGEST_PAUSE_MS.max(waited / 8) } else { 60_000 };
        (self.options.lease_ms / 10).clamp(50, longest)
    }

    /// Returns the pause after a failure while there is no grant. The pause grows with each failure.
    pub(super) fn pause(&mut self, now: Moment) -> u64 {
        let pause = (25_u64 << self.failures.min(16)).min(self.longest_pause(now));
        self.failures += 1;
        // At least half of the pause is fixed, so the pause grows with each failure. The rest is random, so that holders
        // that failed together do not retry together.
        pause / 2 + self.random_below(pause / 2)
    }

    /// Returns the pause after a failure while there is a grant. The pause is a tenth of the time left until the grant
    /// ends, so that keepers with the least time left retry first. If no time is left, the pause is the same as without a
    /// grant.
    pub(super) fn renewal_retry_pause(&mut self, end: u64, now: Moment) -> u64 {
        let left = end.saturating_sub(now.wall_ms).min(self.options.lease_ms);
        if left == 0 {
            return self.pause(now);
        }
        self.failures = self.failures.saturating_add(1);
        (left / 10).max(50) + self.random_below(left / 40)
    }

    /// Returns a random number below `limit`, or 0 if `limit` is 0 or no random bits are available. The keeper uses the
    /// number to schedule its actions, to choose a free record, and to increase a record's version.
    pub(super) fn random_below(&mut self, limit: u64) -> u64 {
        let random = (self.random)().map_or(0, |random| random.0);
        u64::try_from(random.rotate_left(64) % u128::from(limit.max(1))).unwrap_or(0)
    }

    /// Returns an estimate of the store's time, calculated from the last reply and the time elapsed since then. The
    /// estimate is never later than the actual time, unless the monotonic clock runs fast.
    pub(super) fn store_time(&self, now: Moment) -> u64 {
        let (store, seen) = self.store_now;
        store.saturating_add(now.elapsed_ms.saturating_sub(seen))
    }

    /// Returns an error if the store's time differs too much from the generator's clock.
    pub(super) fn clock_skew_error(&self, time: u64, now: Moment) -> Option<Error> {
        let (skew, most) = (time.abs_diff(now.wall_ms), self.options.skew());
        let reason = format!(
            "this machine's clock differs from the store's by {} s, and {} s are allowed",
            skew.div_ceil(1000),
            most / 1000
        );
        (skew > most).then(|| Error::new(ErrorKind::ClockSkewed, reason))
    }

    /// Returns an error if both clocks moved backward so far that the grant begins far in the future. The grant cannot be
    /// used until it begins.
    pub(super) fn not_started_error(&self, held: &HeldGrant, now: Moment) -> Option<Error> {
        let ahead = held.record.start.saturating_sub(now.wall_ms.max(self.store_time(now)));
        let reason = format!("the clocks stepped back, and the grant begins in {ahead} ms");
        (ahead > self.options.skew())
            .then(|| Error::new(ErrorKind::ClockSkewed, reason).with_until(held.record.start))
    }
}
