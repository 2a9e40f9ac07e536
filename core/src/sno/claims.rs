//! Claims: the partitions that a generator has held, each with its ticks.
//!
//! A claim never changes, except for its end, which only grows. So a thread that found a claim may use it for any tick that it
//! holds, even if a newer claim has replaced it: the machine's word gives out each tick and sequence once, under all claims of
//! the generator.
#![allow(unsafe_code, reason = "claims are read without a lock and freed with the generator")]

use alloc::boxed::Box;
use core::ptr;

use super::identity::Identity;
use crate::sync::{AtomicU64, Ordering};
use crate::{fork::partitions::Lease, sync::AtomicPtr};

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
    /// The claim that counts while there is no newer one.
    first: Claim,
    newest: AtomicPtr<Newer>,
    /// A place for the first claim in a child process, where another thread of the parent may have left the heap locked.
    #[cfg(not(any(loom, shuttle)))]
    spare: AtomicPtr<Newer>,
}

/// A claim, and the older one that it replaced. It is freed with the generator, since other threads may read it until then.
#[derive(Debug)]
struct Newer {
    claim: Claim,
    older: *mut Newer,
}

impl Claims {
    pub(super) const fn new(first: Claim) -> Self {
        Self {
            first,
            newest: AtomicPtr::new(ptr::null_mut()),
            #[cfg(not(any(loom, shuttle)))]
            spare: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The claim that counts.
    #[inline]
    pub(super) fn current(&self) -> &Claim {
        {
            let newest = self.newest.load(Ordering::Acquire);
            // SAFETY: null, or a box that `put` leaked and only `drop` frees.
            if let Some(newer) = unsafe { newest.as_ref() } {
                return &newer.claim;
            }
        }
        &self.first
    }

    /// Gives the first claim its identity, if it still has the identity `found` and is the claim that counts.
    pub(super) fn settle(&self, found: Identity, drawn: Identity) -> bool {
        const ORDERS: (Ordering, Ordering) = (Ordering::AcqRel, Ordering::Acquire);
        let (found, drawn) = (found.to_word(), drawn.to_word());
        ptr::eq(self.current(), &raw const self.first)
            && self.first.identity.compare_exchange(found, drawn, ORDERS.0, ORDERS.1).is_ok()
    }

    /// Replaces the claim `found` by another, unless another thread was faster. Returns the claim that counts then.
    pub(super) fn put(&self, found: &Claim, mut claim: Claim) -> &Claim {
        // A child never uses the parent's claim.
        claim.follows_another = found.identity().epoch == claim.identity().epoch;
        let older = self.newest.load(Ordering::Acquire);
        if !ptr::eq(self.current(), found) {
            return self.current();
        }
        #[cfg(loom)]
        claim.enter_model();
        let is_of_child =
            ![Identity::NEVER, claim.identity().epoch].contains(&found.identity().epoch);
        let added = self.place(Newer { claim, older }, is_of_child);
        let put = self.newest.compare_exchange(older, added, Ordering::AcqRel, Ordering::Acquire);
        if put.is_err() {
            // SAFETY: `added` was just leaked, and no other thread has seen it.
            drop(unsafe { Box::from_raw(added) });
        }
        self.current()
    }

    /// A place in the heap for a claim: in a child the spare one, if there is one.
    #[cfg(not(any(loom, shuttle)))]
    fn place(&self, newer: Newer, is_of_child: bool) -> *mut Newer {
        if is_of_child {
            let spare = self.spare.swap(ptr::null_mut(), Ordering::AcqRel);
            if !spare.is_null() {
                // SAFETY: a box that this function leaked, and that no other thread has any more.
                unsafe { spare.write(newer) };
                return spare;
            }
        } else if self.spare.load(Ordering::Acquire).is_null() {
            let empty = Claim::unending(newer.claim.identity(), 0);
            let fresh = Box::into_raw(Box::new(Newer { claim: empty, older: ptr::null_mut() }));
            let unused = self.spare.swap(fresh, Ordering::AcqRel);
            if !unused.is_null() {
                // SAFETY: another thread leaked it here meanwhile, and this thread has taken it out.
                drop(unsafe { Box::from_raw(unused) });
            }
        }
        Box::into_raw(Box::new(newer))
    }

    /// A place in the heap: models have no children.
    #[cfg(any(loom, shuttle))]
    #[allow(clippy::unused_self, reason = "outside models it has a spare place")]
    fn place(&self, newer: Newer, _: bool) -> *mut Newer {
        Box::into_raw(Box::new(newer))
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        let mut newest = self.newest.load(Ordering::Acquire);
        while !newest.is_null() {
            // SAFETY: `put` leaked each of them once, and nothing can read them any more.
            newest = unsafe { Box::from_raw(newest) }.older;
        }
        #[cfg(not(any(loom, shuttle)))]
        {
            let spare = self.spare.load(Ordering::Acquire);
            if !spare.is_null() {
                // SAFETY: `place` leaked it, and nothing can take it any more.
                drop(unsafe { Box::from_raw(spare) });
            }
        }
    }
}
