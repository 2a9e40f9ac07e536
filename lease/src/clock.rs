//! The clocks of the system.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Unix milliseconds; 0 before 1970.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds by a clock that goes on while the machine is suspended.
#[cfg(target_os = "linux")]
pub(crate) fn elapsed_ms(_began: Instant) -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds * 1000 + nanos / 1_000_000
}

/// Milliseconds since `began`; it depends on the system whether they count suspension.
#[cfg(not(target_os = "linux"))]
pub(crate) fn elapsed_ms(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
