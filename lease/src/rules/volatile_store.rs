//! Volatile stores, such as Redis, which may lose any of their data at any time (R13 in docs/leases.md).
//!
//! A durable store keeps everything that it has acknowledged, unless it is restored, and a restore changes the store's name
//! (R7). A volatile store can also lose all its data while its name stays the same. Because its leases are short, all lost
//! grants end soon. Until these grants have ended, a store that is empty or has a new name grants no worker IDs.
//!
//! The record of a namespace shows whether its waiting time has begun. A request that finds no namespace only *proposes*
//! one, with version 1. The first write that replaces the proposal begins an incarnation, with a waiting time. The store
//! itself rejects such a write if it arrives late. Otherwise, a message that the network repeats after the store was
//! emptied could restore an incarnation whose waiting time has already passed.

use crate::protocol::Namespace;
#[cfg(feature = "hosted")]
use crate::{Result, rules::error::out_of_range};

/// The prefix of a volatile store's name.
const PREFIX: &str = "volatile:";
/// The longest lease in a volatile store, in milliseconds.
pub(crate) const MAX_VOLATILE_LEASE_MS: u64 = 300_000;
/// The time, in milliseconds, during which the store makes no new grants after it may have lost data. It is the sum of the
/// longest lease and the largest clock error.
pub(crate) const WAIT_MS: u64 = MAX_VOLATILE_LEASE_MS + 60_000;
/// The maximum duration, in milliseconds, of the write that starts a waiting time. Keepers never wait longer than this for
/// a reply.
const MAX_WRITE_MS: u64 = 15_000;

/// Returns whether a store name belongs to a volatile store.
pub(crate) fn is_volatile(store: &str) -> bool {
    store.starts_with(PREFIX)
}

/// Rejects a lease duration requested by a program if a volatile store would have to shorten it.
///
/// # Errors
/// Returns `out_of_range` for a lease of more than five minutes.
#[cfg(feature = "hosted")]
pub(crate) fn check_lease(lease_ms: u64) -> Result<()> {
    if lease_ms <= MAX_VOLATILE_LEASE_MS {
        return Ok(());
    }
    Err(out_of_range(
        "expected a lease of at most 300 seconds, because the store may lose its data",
    ))
}

/// Returns whether a namespace has only been proposed, so that its waiting time has not begun.
pub(crate) fn is_proposed(namespace: &Namespace, store: &str) -> bool {
    is_volatile(store) && namespace.version == 1
}

/// Returns the end of a waiting time that begins at `now`.
pub(crate) fn waiting_time_end(now: u64) -> u64 {
    now.saturating_add(WAIT_MS + MAX_WRITE_MS)
}

/// Returns whether replacing a namespace's record `old` with `new` begins a new incarnation.
pub(crate) fn is_new_incarnation(old: &Namespace, new: &Namespace) -> bool {
    old.version == 1 || old.incarnation != new.incarnation
}

/// Returns whether a volatile store accepts a namespace's new record. If the record begins an incarnation, the write must
/// arrive before that incarnation's waiting time begins.
pub(crate) fn accepts(old: &Namespace, new: &Namespace, now: u64) -> bool {
    !is_new_incarnation(old, new) || new.quiet_until >= now.saturating_add(WAIT_MS)
}
