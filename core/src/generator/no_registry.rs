//! The registry of builds without the standard library and of models, which do not compare generators with each other.

use core::ops::Range;

use super::WorkerIds;
use crate::{Result, sequence::Used};

/// Whether generators are compared.
pub(crate) const IS_ENABLED: bool = false;

/// A generator's place in the registry.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) skips_first_tick: bool,
}

#[allow(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
pub(crate) fn register(
    _: &WorkerIds,
    _: &(Range<u64>, Option<i64>),
    _: Option<u128>,
) -> Result<Registration> {
    Ok(Registration { skips_first_tick: false })
}

impl Registration {
    #[allow(clippy::unused_self, reason = "elsewhere it is used")]
    pub(crate) const fn taken_over(&self) -> Option<Used> {
        None
    }

    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "elsewhere it may fail")]
    pub(crate) const fn extend(&self, _: u64, _: i64) -> Result<()> {
        Ok(())
    }

    #[allow(clippy::unused_self, reason = "elsewhere it is used")]
    pub(crate) const fn end(&self, _: Option<u128>, _: Option<Used>) {}
}
