//! State that `fork()` must not copy: the identity of the process, and the default partitions that are in use.
//!
//! Every process has a process generation that none of its ancestors has, and every generator checks it for every ID. A hook in
//! the child increments it. On Linux it is also stored in a page that the kernel wipes in every child, so that `_Fork()` and a
//! raw `clone()` are detected too, unless the child shares its parent's memory (`CLONE_VM`). The table of default partitions is
//! stored in pages that parent and children share, so that the generators of one fork tree have different partitions. No lock
//! is involved, because a child could inherit it held.
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

pub(crate) use imp::{current, generation};

/// Functions that lease default partitions from a table that the host provides. Bindings use this module.
pub mod partitions;

use crate::Result;

/// Prepares this process for forks. Without this call, the first generator does so. Bindings call this function when they are
/// loaded, so that child processes share the table of default partitions even if they are forked before the first generator
/// exists.
///
/// It neither reads a clock nor requests random bytes.
///
/// # Errors
/// Returns `forked` if the system cannot provide the memory that is needed to detect forks. In this case, no generator can be
/// created.
pub fn prepare() -> Result<()> {
    imp::prepare()
}

/// Returns a number that distinguishes this process from all its ancestors. Bindings use it when they generate a batch in
/// several blocks.
pub fn process() -> u32 {
    current()
}
