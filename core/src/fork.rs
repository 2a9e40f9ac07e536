//! State that `fork()` must not copy: the identity of the process, and the default partitions that are taken.
//!
//! Every process of a fork tree has an epoch of its own, which every generator checks for every ID. A hook in the child raises
//! it. On Linux it is also in a page that the kernel wipes in every child, so that `_Fork()` and a raw `clone()` are noticed
//! too, unless the child shares its parent's memory (`CLONE_VM`). The table of default partitions is in pages that parent and
//! children share, so that generators of one fork tree have different partitions. No lock is involved.
//!
//! Miri, which has neither hooks nor `fork()`, and models, which simulate the atomics, run the code of platforms without forks.

#[cfg(not(all(feature = "std", unix, not(any(miri, loom, shuttle)))))]
mod none;
#[cfg(all(feature = "std", unix, not(any(miri, loom, shuttle))))]
mod unix;

#[cfg(not(all(feature = "std", unix, not(any(miri, loom, shuttle)))))]
use none as imp;
#[cfg(all(feature = "std", unix, not(any(miri, loom, shuttle))))]
use unix as imp;

pub(crate) use imp::{current, epoch};

/// Leases of default partitions from a table that a host provides: for bindings.
pub mod partitions;

use crate::Result;

/// Prepares this process for forks, as the first generator does: for bindings to call when they are loaded, so that children
/// forked before that first generator share the table of default partitions too.
///
/// It reads no clock and no entropy.
///
/// # Errors
/// `forked` if the system has no memory for a way to notice forks; then no generator can be made.
pub fn prepare() -> Result<()> {
    imp::prepare()
}

/// A number of this process that none of its ancestors had: for bindings that make a batch block by block.
pub fn process() -> u32 {
    current()
}
