//! Clock readings and random numbers from the operating system.

use alloc::format;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::{Error, ErrorKind, Result, protocol::Random};

/// Returns the current time in Unix milliseconds, or 0 if the clock shows a time before 1970.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time in milliseconds on a clock that continues to run while the system is suspended.
#[cfg(target_os = "linux")]
pub(crate) fn elapsed_ms(_began: Instant) -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds * 1000 + nanos / 1_000_000
}

/// Returns the milliseconds since `began`. Whether the result includes time spent suspended depends on the operating
/// system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn elapsed_ms(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Returns 128 random bits from the operating system.
pub(crate) fn random() -> Result<Random> {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(Random(u128::from_le_bytes(bytes))),
        Err(error) => {
            let reason = format!("expected random bytes from the operating system, found: {error}");
            Err(Error::new(ErrorKind::LeaseUnavailable, reason))
        }
    }
}
