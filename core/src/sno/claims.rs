//! Claims: the partitions that a generator has held, each with its ticks.
//!
//! A claim never changes, except for its end, which only grows. So a thread that found a claim may use it for any tick that it
//! holds, even if a newer claim has replaced it: the machine's word gives out each tick and sequence once, under all claims of
//! the generator.

use alloc::boxed::Box;

use super::identity::Identity;
use crate::{
    fork::partitions::Lease,
    generator::{Latest, Spare},
    sync::{AtomicU64, Ordering},
};

/// A partition, for the ticks `start .. until`.
#[derive(Debug)]
pub(super) struct Claim {
    identity: AtomicU64,
    start: u64,
    until: AtomicU64,
    /// `true` if the generator may have made IDs in this process under an older claim.
    pub(super) follows_another: bool,
    /// The lease's own span, before the generator's window cuts it, and the time at which it was taken.
    lease_start: u64,
    lease_since: u64,
    lease_until: AtomicU64,
}

impl Claim {
    /// A claim that no other generator ends, for ticks from `start` on. `extend` sets its end.
    pub(super) const fn unending(identity: Identity, start: u64) -> Self {
        Self::spanning(identity, start, 0, 0, u64::MAX)
    }

    /// A claim of a lease's ticks, without those before `start`.
    pub(super) const fn leased(identity: Identity, start: u64, lease: Lease) -> Self {
        let Lease { start: lease_start, since, until, .. } = lease;
        Self::spanning(identity, start, lease_start, since, until)
    }

    const fn spanning(
        identity: Identity,
        start: u64,
        lease_start: u64,
        lease_since: u64,
        lease_until: u64,
    ) -> Self {
        let start = if start < lease_start { lease_start } else { start };
        Self {
            identity: AtomicU64::new(identity.to_word()),
            start,
            until: AtomicU64::new(start),
            follows_another: false,
            lease_start,
            lease_since,
            lease_until: AtomicU64::new(lease_until),
        }
    }

    #[inline]
    pub(super) fn identity(&self) -> Identity {
        Identity::of_word(self.identity.load(Ordering::Acquire))
    }

    /// Replaces the identity, unless another thread was faster.
    pub(super) fn settle(&self, found: Identity, drawn: Identity) {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let (found, drawn) = (found.to_word(), drawn.to_word());
        let _ = self.identity.compare_exchange(found, drawn, ORDERS.0, ORDERS.1);
    }

    #[inline]
    pub(super) fn holds(&self, tick: u64) -> bool {
        (self.start..self.until.load(Ordering::Acquire)).contains(&tick)
    }

    /// Returns whether the claim was ever extended, and so may have IDs.
    pub(super) fn has_begun(&self) -> bool {
        self.until.load(Ordering::Acquire) > self.start
    }

    /// Extends the claim to `window_end`, or to the end of the lease if that is earlier. An earlier end changes nothing.
    pub(super) fn extend(&self, window_end: u64) {
        let end = self.lease_until.load(Ordering::Acquire).min(window_end);
        self.until.fetch_max(end, Ordering::AcqRel);
    }

    /// Returns `true` if no other generator ends the claim.
    pub(super) fn is_unending(&self) -> bool {
        self.lease_until.load(Ordering::Acquire) == u64::MAX
    }

    /// The lease as it is now.
    pub(super) fn lease(&self) -> Lease {
        Lease {
            partition: self.identity().partition,
            start: self.lease_start,
            since: self.lease_since,
            until: self.lease_until.load(Ordering::Acquire),
        }
    }

    /// Touches the claim's atomics, so that a model knows them before another thread uses them.
    #[cfg(loom)]
    pub(super) fn enter_model(&self) {
        self.identity();
        self.extend(0);
    }

    /// Notes that the lease was renewed.
    pub(super) fn renewed(&self, until: u64) {
        self.lease_until.fetch_max(until, Ordering::AcqRel);
    }
}

/// A generator's claims; the newest one counts.
#[derive(Debug)]
pub(super) struct Claims {
    claims: Latest<Claim>,
    /// For the first claim in a child process, where another thread of the parent may have left the heap locked.
    spare: Spare<Claim>,
}

impl Claims {
    pub(super) const fn new(first: Claim) -> Self {
        Self { claims: Latest::new(first), spare: Spare::new() }
    }

    /// The claim that counts.
    #[inline]
    pub(super) fn current(&self) -> &Claim {
        self.claims.get()
    }

    /// Replaces the claim `found` by another, unless another thread was faster.
    pub(super) fn put(&self, found: &Claim, mut claim: Claim) {
        let (before, epoch) = (found.identity().epoch, claim.identity().epoch);
        // A child never uses the parent's claim.
        claim.follows_another = before == epoch;
        #[cfg(loom)]
        claim.enter_model();
        let is_of_child = ![Identity::NEVER, epoch].contains(&before);
        let spare = if is_of_child {
            self.spare.take()
        } else {
            self.spare.fill();
            None
        };
        self.claims.put(found, claim, spare.unwrap_or_else(Box::new_uninit));
    }
}
