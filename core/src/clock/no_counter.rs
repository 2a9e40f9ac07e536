//! The clock of platforms without a counter: every reading is a look at the wall clock.

use super::system;
use crate::Result;

/// The wall clock.
#[inline]
pub(super) fn now() -> Result<i64> {
    system::exact()
}

pub(super) const fn slept() {}

/// The largest lag of readings: none.
pub(super) const fn slack_nanos() -> u64 {
    0
}

pub(super) const fn is_used() -> bool {
    false
}
