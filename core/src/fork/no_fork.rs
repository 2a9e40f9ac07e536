//! The process generation on platforms without `fork()`, where it never changes.

#[cfg(feature = "std")]
use super::partitions::{Cells, PARTITION_COUNT};
use crate::{
    Result,
    sync::{Ordering, Tally},
};

static RESTORES: Tally = Tally::new(0);

#[inline]
pub(super) const fn generation() -> u32 {
    super::FIRST_GENERATION
}

pub(super) const fn ensure_generation() -> u32 {
    generation()
}

/// Returns 0, because without forks, no other process continues from this one's memory.
pub(super) const fn process_id() -> u32 {
    0
}

#[inline]
pub(super) fn restores() -> u32 {
    RESTORES.load(Ordering::Acquire)
}

pub(super) fn record_restore() {
    RESTORES.fetch_add(1, Ordering::AcqRel);
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(super) const fn prepare() -> Result<()> {
    Ok(())
}

#[cfg(feature = "std")]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(super) fn shared_table() -> Result<&'static Cells<PARTITION_COUNT>> {
    static TABLE: Cells<PARTITION_COUNT> = Cells::new();
    Ok(&TABLE)
}
