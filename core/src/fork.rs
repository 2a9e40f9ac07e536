//! What `fork()` must not copy: which process this is, and which default partitions are taken.
//!
//! A hook in the child raises the process epoch, which every generator checks for every ID. The counter of default partitions
//! lies in a page that parent and children share, so that generators of one fork tree differ. No lock is involved.
//!
//! It does not see a raw `clone()` that bypasses the C library's hooks. Miri, which has neither hooks nor `fork()`, runs
//! what platforms without them do.

#[cfg(not(all(feature = "std", unix, not(miri))))]
mod none;
#[cfg(all(feature = "std", unix, not(miri)))]
mod unix;

#[cfg(not(all(feature = "std", unix, not(miri))))]
use none as imp;
#[cfg(all(feature = "std", unix, not(miri)))]
use unix as imp;

pub(crate) use imp::epoch;

#[cfg(feature = "std")]
pub(crate) mod partitions;

/// Readies this process for forks to come, as the first generator does: for bindings to call when they are loaded, so
/// that children forked before that first generator share the counter of default partitions too.
///
/// It reads no clock and no entropy.
pub fn prepare() {
    imp::prepare();
}
