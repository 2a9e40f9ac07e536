//! Platforms without `fork()`.

#[cfg(feature = "std")]
use super::partitions::{COUNT, Cells};
use crate::Result;

#[inline]
pub(crate) const fn generation() -> u32 {
    1
}

pub(crate) const fn current() -> u32 {
    generation()
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
