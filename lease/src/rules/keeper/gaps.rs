//! Detection of gaps between a process's two clocks. A gap shows that the process's image was copied, that the process was
//! paused, or that a clock was set.
//!
//! A copied image does not contain any sign that it is a copy. However, an image is usually restored some time after it was
//! taken. At that point, the wall clock shows the time of the restore, while the monotonic clock continues from the value
//! in the image. As a result, the difference between the two clocks has changed. A keeper compares the current difference
//! with the difference at the time when it sent the last acknowledged write. If the two values differ by more than a
//! second, there is a *gap*, and another copy may hold the same grant.
//!
//! The store distinguishes the copies. After a gap, the keeper renews its grant within a second. Only a write that it *sent
//! after the gap* shows which copy holds the grant, because all copies share the writes in the image, and the reply to such
//! a write may reach several copies. The store accepts only one copy's first write, because every other copy then has an
//! outdated version. The other copies find a renewal that they never sent, seal their generators and claim other worker
//! IDs.
//!
//! A step of the wall clock causes a gap as well. Such a gap costs one renewal, and the generator continues in the
//! meantime. Therefore, clocks that step while the store is unavailable do not stop any generator.
//!
//! A keeper compares the clocks only from time to time, so a copy generates IDs until the next comparison. A strict keeper
//! prevents this without a check in each call, as long as the store is available: it gives the generator a window of only a
//! few seconds, and extends the window while the clocks show no gap. In a copy of an older image, the window has already
//! ended. The copy's keeper extends the window once the store has confirmed the grant. If the store does not reply within a
//! second, the keeper extends the window nevertheless.

use super::{Action, HeldGrant, Keeper, KeeperState, Moment, RequestPurpose};
use crate::{Result, protocol::Random};

/// The largest change in the clock difference, in milliseconds, that does not count as a gap. Slewing a clock causes a
/// smaller change.
const GAP_MS: u64 = 1000;
/// The maximum delay, in milliseconds, before a keeper sends the renewal that follows a gap. The actual delay is random, so
/// that a fleet whose clocks step together does not contact the store all at once.
const SPREAD_MS: u64 = 1000;
/// After a gap, a strict holder sends a renewal within `STRICT_SPREAD_MS` and withholds IDs for up to `HOLD_AFTER_GAP_MS`.
/// Both values are in milliseconds.
const STRICT_SPREAD_MS: u64 = 500;
const HOLD_AFTER_GAP_MS: u64 = 1000;
/// While the keeper is not waiting for a reply, a strict generator's window ends `WINDOW_AHEAD_MS` after the current time.
/// The keeper compares the clocks every `BEAT_INTERVAL_MS`. Both values are in milliseconds. The keeper extends a window
/// once the new end is at least a second later than the old end.
const WINDOW_AHEAD_MS: u64 = 3000;
const BEAT_INTERVAL_MS: u64 = 500;

/// The wall clock minus the monotonic clock, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset(u64);

impl Offset {
    pub(super) fn from_moment(now: Moment) -> Self {
        Self(now.wall_ms.wrapping_sub(now.elapsed_ms))
    }

    /// Returns how far the wall clock has moved relative to the monotonic clock since `earlier`, if the movement counts as
    /// a gap.
    pub(super) fn gap_since(self, earlier: Self) -> Option<i64> {
        let moved = self.0.wrapping_sub(earlier.0).cast_signed();
        (moved.unsigned_abs() > GAP_MS).then_some(moved)
    }
}

/// Gap-related events for hosts to report.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "hosted"), allow(dead_code, reason = "for the events of hosts"))]
pub(crate) struct GapEvents {
    /// How far the wall clock moved in a new gap, in milliseconds.
    pub(crate) moved_ms: Option<i64>,
    /// Whether the generator continues although the store did not confirm in time that no other copy renewed the grant.
    pub(crate) is_unconfirmed: bool,
}

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Schedules a renewal if a new gap has occurred since the last acknowledged write.
    pub(super) fn detect_gap(&mut self, now: Moment) {
        let offset = Offset::from_moment(now);
        let held = self.held.as_ref();
        let Some(moved) = held.and_then(|held| offset.gap_since(held.offset)) else { return };
        let spread = if self.options.is_strict { STRICT_SPREAD_MS } else { SPREAD_MS };
        let soon = now.elapsed_ms + 1 + self.random_below(spread);
        self.notes.moved_ms = Some(moved);
        if let Some(held) = &mut self.held {
            held.shared_until = held.shared_until.max(held.end).max(held.asked.end());
            (held.offset, held.gap_at) = (offset, Some(now.elapsed_ms));
            held.is_reported = false;
            held.renew_at = held.renew_at.min(soon);
        }
        if let KeeperState::Paused { until, purpose: RequestPurpose::SettleRenewal } = &mut self.at
        {
            *until = (*until).min(soon);
        }
    }

    /// Extends a strict generator's window so that it ends shortly after the current time, unless IDs are being withheld.
    /// `wait_ms` is how long the host waits before it polls the keeper again.
    pub(super) fn schedule_beat(&mut self, wait_ms: u64, now: Moment) {
        let Some(held) = self.held.as_mut().filter(|_| self.options.is_strict) else { return };
        if matches!(self.at, KeeperState::Sealing) {
            return;
        }
        if let Some(at) = held.gap_at {
            if now.elapsed_ms < at + HOLD_AFTER_GAP_MS {
                return;
            }
            self.notes.is_unconfirmed |= !core::mem::replace(&mut held.is_reported, true);
        }
        let span = (held.record.start, held.end);
        let later = Moment { wall_ms: now.wall_ms.saturating_add(wait_ms), ..now };
        let end = self.window_end(span, later);
        if end >= self.shown + HOLD_AFTER_GAP_MS || (end > self.shown && end == span.1) {
            self.shown = end;
            self.actions.push_back(Action::Extend(end));
        }
    }

    /// Returns the end of the window that the generator receives under a grant from `start` to `end`.
    pub(super) fn window_end(&self, (start, end): (u64, u64), now: Moment) -> u64 {
        if !self.options.is_strict {
            return end;
        }
        let ahead = WINDOW_AHEAD_MS.max(2 * self.grid.interval());
        self.grid.floor(now.wall_ms.max(start).saturating_add(ahead)).min(end)
    }

    /// Returns the time at which a strict keeper must next compare the clocks.
    pub(super) fn next_beat(&self, now: Moment) -> u64 {
        let is_kept = self.held.is_some() && self.options.is_strict;
        if is_kept { now.elapsed_ms + BEAT_INTERVAL_MS } else { u64::MAX }
    }

    /// Returns the gap events since the last call.
    #[cfg(feature = "hosted")]
    pub(crate) fn take_gap_events(&mut self) -> GapEvents {
        core::mem::take(&mut self.notes)
    }

    /// If a gap has occurred since a write was sent, returns the purpose of the next request, which determines whether this
    /// copy of the process holds the grant. The reply to the write is not sufficient, because another copy may have
    /// received the same reply.
    pub(super) fn settle_after_gap(
        &self,
        purpose: &RequestPurpose,
        now: Moment,
    ) -> Option<RequestPurpose> {
        Offset::from_moment(now).gap_since(self.sent_at)?;
        match purpose {
            RequestPurpose::Claim(claim) => Some(RequestPurpose::SettleClaim(claim.clone())),
            RequestPurpose::Renew(_) => Some(RequestPurpose::SettleRenewal),
            _ => None,
        }
    }
}

impl HeldGrant {
    /// Returns whether another copy of this process may hold the same grant, because no write has been acknowledged since
    /// the last gap.
    pub(super) fn may_be_shared(&self) -> bool {
        self.gap_at.is_some()
    }
}
