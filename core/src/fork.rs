//! What `fork()` must not copy: which process this is, and which default partitions are taken.
//!
//! Every process of a fork tree has an epoch of its own, which every generator checks for every ID. A hook in the child raises
//! it; on Linux it also lies in a page that the kernel wipes in every child, so that `_Fork()` and a raw `clone()` are seen too,
//! unless the child shares its parent's memory (`CLONE_VM`). The table of default partitions lies in pages that parent and
//! children share, so that generators of one fork tree differ. No lock is involved.
//!
//! Miri, which has neither hooks nor `fork()`, and models, whose atomics are no machine's, run what platforms without them do.

#[cfg(not(all(feature = "std", unix, not(any(miri, loom, shuttle)))))]
mod none;
#[cfg(all(feature = "std", unix, not(any(miri, loom, shuttle))))]
mod unix;

#[cfg(not(all(feature = "std", unix, not(any(miri, loom, shuttle)))))]
use none as imp;
#[cfg(all(feature = "std", unix, not(any(miri, loom, shuttle))))]
use unix as imp;

pub(crate) use imp::{current, epoch};

/// Leases of default partitions from a table that a host brings: for bindings.
#[cfg(feature = "alloc")]
pub mod partitions;

use crate::Result;

/// Readies this process for forks to come, as the first generator does: for bindings to call when they are loaded, so
/// that children forked before that first generator share the table of default partitions too.
///
/// It reads no clock and no entropy.
///
/// # Errors
/// `forked` where the system has no memory for a way to notice forks: generators refuse to be made then.
pub fn prepare() -> Result<()> {
    imp::prepare()
}

/// A number of this process that none of its ancestors had: for bindings that make a batch block by block.
pub fn process() -> u32 {
    current()
}
