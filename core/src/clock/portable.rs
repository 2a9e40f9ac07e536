//! The standard library's wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Result;

/// The resolution of the wall clock that the standard library reads: a tenth of a microsecond on Windows, a microsecond on
/// Apple platforms, and a nanosecond elsewhere.
pub(super) const RESOLUTION_NANOS: u64 = if cfg!(windows) {
    100
} else if cfg!(target_vendor = "apple") {
    1000
} else {
    1
};

/// Reads the exact wall clock.
#[inline]
pub(super) fn exact_unix_nanos() -> Result<i64> {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => nanos(since),
        Err(before) => nanos(before.duration()).map(|nanos| -nanos),
    }
}

#[inline]
fn nanos(since: Duration) -> Result<i64> {
    i64::try_from(since.as_nanos())
        .map_err(|_| super::nanos_out_of_range(i128::from(since.as_secs()) * 1000))
}
