//! Proofs that a store lacks grants (R7).
//!
//! A driver reports another name after most restores, but not if the names are equal, as in a reverted volume, or if two
//! stores answer at one address. A holder recognizes such a store if the store cannot have the history in which it
//! acknowledged the holder's grant. The holder then begins an incarnation whose quiet time covers all grants that the store
//! may lack. `lease/tests/model/second_store_model.rs` shows why each condition is needed.
//!
//! A holder also remembers each store and incarnation that it has used. If an earlier one replies again, then two stores
//! answer, or the store was reverted twice. No quiet time can help while both stores grant, so the keeper claims nothing
//! from then on.

use alloc::{string::String, vec::Vec};

use super::Keeper;
use crate::{
    Error, ErrorKind, Result,
    protocol::{Namespace, Random, Record},
    rules::{
        record::clock_error_ms,
        volatile_store::{MAX_VOLATILE_LEASE_MS, is_proposed, is_volatile},
    },
};

/// The stores that have replied to a keeper, each as its name and incarnation. The last one is in use.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownStores {
    known: Vec<(String, Random)>,
    has_conflict: bool,
}

impl<R: FnMut() -> Result<Random>> Keeper<R> {
    /// Returns the longest lease duration, in milliseconds, that any store known to this keeper grants.
    pub(super) fn longest_lease_ms(&self) -> u64 {
        self.longest_ms.max(self.options.lease_ms)
    }

    /// Records which store has replied, and its longest lease.
    pub(super) fn note_store(&mut self, namespace: &Namespace, store: &str) {
        // The first process of a volatile store may have recorded a longer lease before it knew that the store is volatile.
        let limit = if is_volatile(store) { MAX_VOLATILE_LEASE_MS } else { u64::MAX };
        self.longest_ms = self.longest_ms.max(namespace.longest_ms.min(limit));
        if namespace.store == store && !is_proposed(namespace, store) {
            self.stores.note(namespace);
        }
    }

    /// Checks whether the store lacks a grant that was acknowledged. `there` is the record of the holder's worker ID. A
    /// grant that ended long ago proves nothing, because all grants of its time have ended as well.
    pub(super) fn note_proof(&mut self, namespace: &Namespace, there: Option<&Record>) {
        let Some(held) = &self.held else { return };
        let (known, replied_at) = &held.acknowledged;
        let is_current = namespace.incarnation == known.incarnation;
        // No version occurs twice in one history. An eviction increases the version and keeps the incarnation.
        let is_earlier = there.is_none_or(|there| {
            there.version < known.version || (there.version == known.version && there != known)
        });
        let is_other = !is_current && there.is_some_and(|there| !there.is_claim(known));
        let longest = self.longest_lease_ms();
        let wait = longest + clock_error_ms(longest);
        let now = self.store_now.0;
        if !(is_earlier || is_other) || now >= held.end.saturating_add(wait) {
            return;
        }
        let age = self.asked_at.saturating_sub(*replied_at);
        self.older_grants_until = self.older_grants_until.max((now + wait).saturating_sub(age));
        if is_earlier && is_current {
            // The store was reverted under the same name, so its incarnation has ended.
            self.outdated = Some(namespace.incarnation);
        }
    }

    /// Returns whether the namespace's quiet time ends too early for the grants that the store is proved to lack.
    pub(super) fn lacks_quiet_time(&self, namespace: &Namespace) -> bool {
        namespace.quiet_until < self.older_grants_until
    }
}

impl KnownStores {
    fn note(&mut self, namespace: &Namespace) {
        let (store, incarnation) = (&namespace.store, namespace.incarnation);
        let is_same = |it: &(String, Random)| it.0 == *store && it.1 == incarnation;
        if self.known.last().is_some_and(is_same) {
            return;
        }
        if self.known.iter().any(is_same) {
            self.has_conflict = true;
            return;
        }
        // Only an operator who reports a restored backup begins a quiet time without a previous name.
        if namespace.previous_store.is_empty() && namespace.quiet_until > 0 {
            self.has_conflict = false;
        }
        self.known.push((store.clone(), incarnation));
    }

    /// Returns the error for a claim if two stores have answered.
    pub(super) fn conflict_error(&self) -> Option<Error> {
        let reason = "two stores answer at this address, or the store was reverted; \
            make sure that one store remains, and run 'polyflake lease restored'";
        self.has_conflict.then(|| Error::new(ErrorKind::StoreChanged, reason))
    }
}
