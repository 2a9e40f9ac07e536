//! Gaps between the two clocks of a process, which show that its image was copied or paused, or that a clock was set.
//!
//! Nothing inside a copied image says that it is a copy. However, an image is usually restored some time after it was taken.
//! Then the wall clock shows the time of the restore, while the monotonic clock continues from the value in the image. So the
//! difference between the two clocks has changed. A keeper compares the difference with its value when the last acknowledged
//! write was sent. If the two differ by more than a second, there is a *gap*, and another copy may hold the same grant.
//!
//! The store tells copies apart. After a gap the keeper renews within a second, and only a write that it *sent after the gap*
//! settles the matter: all copies have the writes of the image in common, and a reply to one of those may reach several copies.
//! The store accepts the first write of one copy only, because every other copy then has an outdated version. Those copies find
//! a renewal that they never sent, seal their generators and claim other worker IDs.
//!
//! A step of the wall clock causes a gap as well. It costs one renewal, and the generator continues in the meantime. Therefore
//! clocks that step while the store is unavailable stop nobody.

use super::{At, Held, Keeper, Moment, Purpose};
use crate::{Random, Result};

/// The largest change of the difference between the clocks that is not a gap. Slewing a clock changes it by less.
const GAP_MS: u64 = 1000;
/// The renewal after a gap is sent within this time. The time is random, so that a fleet whose clocks step together does not
/// reach the store at one moment.
const SPREAD_MS: u64 = 1000;

/// The wall clock minus the monotonic clock, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset(u64);

impl Offset {
    pub(super) fn of(now: Moment) -> Self {
        Self(now.wall_ms.wrapping_sub(now.elapsed_ms))
    }

    /// Returns how far the wall clock has moved relative to the monotonic clock since `earlier`, if that is a gap.
    pub(super) fn gap_since(self, earlier: Self) -> Option<i64> {
        let moved = self.0.wrapping_sub(earlier.0).cast_signed();
        (moved.unsigned_abs() > GAP_MS).then_some(moved)
    }
}

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Schedules a renewal if there is a new gap since the last acknowledged write.
    pub(super) fn notice_gap(&mut self, now: Moment) {
        let offset = Offset::of(now);
        let kept = self.held.as_ref().filter(|held| !held.is_lost);
        let Some(moved) = kept.and_then(|held| offset.gap_since(held.offset)) else { return };
        let soon = now.elapsed_ms + 1 + self.chance(SPREAD_MS);
        self.moved_ms = Some(moved);
        if let Some(held) = &mut self.held {
            held.shared_until = held.shared_until.max(held.end).max(held.asked.end());
            (held.offset, held.gap_at) = (offset, Some(now.elapsed_ms));
            held.renew_at = held.renew_at.min(soon);
        }
        if let At::Paused { until, purpose: Purpose::SettleRenewal } = &mut self.at {
            *until = (*until).min(soon);
        }
    }

    /// Returns how far the wall clock moved in a gap that was noticed since the last call.
    #[cfg(feature = "hosted")]
    pub(crate) fn take_gap(&mut self) -> Option<i64> {
        self.moved_ms.take()
    }

    /// Returns the purpose of settling a write, if there was a gap since it was sent: another copy may have received the same
    /// reply.
    pub(super) fn outdated(&self, purpose: &Purpose, now: Moment) -> Option<Purpose> {
        Offset::of(now).gap_since(self.sent_at)?;
        match purpose {
            Purpose::Claim(claim) => Some(Purpose::SettleClaim(claim.clone())),
            Purpose::Renew(_) => Some(Purpose::SettleRenewal),
            _ => None,
        }
    }
}

impl Held {
    /// Returns whether another copy of this process may hold the grant as well, because no write was acknowledged since the last
    /// gap.
    pub(super) fn may_be_shared(&self) -> bool {
        self.gap_at.is_some()
    }
}
