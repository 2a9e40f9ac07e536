//! The monotonic clock, which measures waits.
#![allow(unsafe_code, reason = "the C library's clocks have no safe door")]

/// Returns the nanoseconds since a fixed moment, or `None` if the system cannot provide them.
#[cfg(unix)]
pub(super) fn elapsed_nanos() -> Option<u64> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec to write to.
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) } != 0 {
        return None;
    }
    let (seconds, nanos) = (u64::try_from(now.tv_sec).ok()?, u64::try_from(now.tv_nsec).ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Returns the nanoseconds since the first call. It may use a lock, because these platforms have no fork that could inherit a
/// held lock.
#[cfg(not(unix))]
pub(super) fn elapsed_nanos() -> Option<u64> {
    use std::{sync::OnceLock, time::Instant};

    static FIRST: OnceLock<Instant> = OnceLock::new();
    u64::try_from(FIRST.get_or_init(Instant::now).elapsed().as_nanos()).ok()
}
