//! The wall clock of the standard library.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Result;

/// The exact wall clock.
#[inline]
pub(super) fn exact() -> Result<i64> {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => nanos(before.duration()).map(|nanos| -nanos),
    }
}

#[inline]
fn nanos(since: Duration) -> Result<i64> {
    i64::try_from(since.as_nanos())
        .map_err(|_| super::beyond_nanos(i128::from(since.as_secs()) * 1000))
}
