//! The process generation on platforms without `fork()`, where it never changes.

#[cfg(feature = "std")]
use super::partitions::{COUNT, Cells};
use crate::{
    Result,
    sync::{Ordering, Tally},
};

static RESTORES: Tally = Tally::new(0);

#[inline]
pub(super) const fn generation() -> u32 {
    1
}

pub(super) const fn current() -> u32 {
    generation()
}

#[inline]
pub(super) fn restores() -> u32 {
    RESTORES.load(Ordering::Acquire)
}

pub(super) fn restored() {
    RESTORES.fetch_add(1, Ordering::AcqRel);
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(super) const fn prepare() -> Result<()> {
    Ok(())
}

#[cfg(feature = "std")]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(super) fn shared_table() -> Result<&'static Cells<COUNT>> {
    static TABLE: Cells<COUNT> = Cells::new();
    Ok(&TABLE)
}
