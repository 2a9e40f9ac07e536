//! Claims to partitions. A claim consists of a partition that a generator has held and the range of ticks in which the
//! generator held it.
//!
//! A claim never changes, except for its end, which only moves forward. A thread that has loaded a claim may therefore use
//! it for any tick that it covers, even if a newer claim has replaced it. The state machine assigns each combination of
//! tick, tick-tock bit and sequence number only once, regardless of which claim the generator uses.

use super::identity::Identity;
use crate::{
    fork::partitions::PartitionReservation,
    sync::{AtomicU64, Ordering},
};

/// A claim to a partition for the ticks `start .. until`.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) identity: Identity,
    start: u64,
    until: AtomicU64,
    /// `true` if the generator may already have used an older claim to generate IDs in this process.
    pub(super) follows_another: bool,
    /// The reservation as acquired, without the limits of the generator's window.
    taken: PartitionReservation,
    reserved_until: AtomicU64,
}

/// Returns a reservation for an explicit partition. The reservation begins at the claim's first tick and never expires.
/// No generator with a default partition can end this reservation.
pub(super) const fn unending_reservation(partition: u16, start: u64) -> PartitionReservation {
    PartitionReservation { partition, start, since: 0, until: u64::MAX }
}

impl Claim {
    /// Creates a claim to the ticks of a reservation, beginning at tick `start` or at the start of the reservation,
    /// whichever is later. Call `extend` to set the claim's end.
    pub(super) const fn new(
        identity: Identity,
        start: u64,
        reservation: PartitionReservation,
    ) -> Self {
        let start = if start < reservation.start { reservation.start } else { start };
        Self {
            identity,
            start,
            until: AtomicU64::new(start),
            follows_another: false,
            taken: reservation,
            reserved_until: AtomicU64::new(reservation.until),
        }
    }

    /// Creates an empty claim without a partition, for a generator whose window begins at `start`.
    pub(super) const fn without_partition(min: u16, start: u64) -> Self {
        Self::new(Identity::without_partition(min), start, unending_reservation(0, 0))
    }

    #[inline]
    pub(super) fn contains(&self, tick: u64) -> bool {
        (self.start..self.until.load(Ordering::Acquire)).contains(&tick)
    }

    /// Returns whether the claim was ever extended. If so, the generator may have generated IDs under the claim.
    pub(super) fn has_begun(&self) -> bool {
        self.until.load(Ordering::Acquire) > self.start
    }

    /// Extends the claim to `window_end`, or to the end of the reservation if the reservation ends earlier. Does
    /// nothing if the claim already ends later.
    pub(super) fn extend(&self, window_end: u64) {
        let end = self.reservation().until.min(window_end);
        self.until.fetch_max(end, Ordering::AcqRel);
    }

    /// Returns `true` if the claim's reservation never ends, so that only the window limits the claim.
    pub(super) fn is_unending(&self) -> bool {
        self.reservation().until == u64::MAX
    }

    /// Returns the current state of the reservation.
    pub(super) fn reservation(&self) -> PartitionReservation {
        PartitionReservation { until: self.reserved_until.load(Ordering::Acquire), ..self.taken }
    }

    /// Records that the reservation was renewed until `until`.
    pub(super) fn record_renewal(&self, until: u64) {
        self.reserved_until.fetch_max(until, Ordering::AcqRel);
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;
    use crate::sync::explorer::{Scenario, choose, explore};

    impl Scenario for Claim {
        type Record = [u64; 2];

        /// Extends the claim or records a renewal of its reservation, then reads the new end.
        fn call(&self, _: usize, _: u8, ends: &mut [u64; 2]) -> bool {
            let (end, which) = (10 + u64::from(choose(4)), choose(2));
            let seen = if which == 0 {
                self.extend(end);
                self.until.load(Ordering::Acquire)
            } else {
                self.record_renewal(end);
                self.reservation().until
            };
            let before = &mut ends[usize::from(which)];
            assert!(seen >= *before, "{seen} after {before}");
            *before = seen;
            true
        }
    }

    #[test]
    fn the_ends_of_a_claim_and_its_lease_never_decrease() {
        let reservation = PartitionReservation { partition: 7, start: 0, since: 5, until: 11 };
        let claim = Claim::new(Identity::without_partition(0), 5, reservation);
        assert!(explore(&claim, &[2, 1]).states > 100);
    }
}
