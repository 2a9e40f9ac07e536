//! The monotonic clock, which measures waits.
#![allow(unsafe_code, reason = "the C library's clocks have no safe door")]

use core::time::Duration;

/// Returns the time since a fixed moment, or `None` if the system cannot provide it.
#[cfg(unix)]
pub(super) fn elapsed() -> Option<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to `now`, which is a valid, writable `timespec`.
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) } != 0 {
        return None;
    }
    let (seconds, nanos) = (u64::try_from(now.tv_sec).ok()?, u64::try_from(now.tv_nsec).ok()?);
    Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanos))
}

/// Returns the time since the first call. This function may use a lock, because these platforms have no `fork`, so no child
/// process can inherit a held lock.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "other systems may have none")]
pub(super) fn elapsed() -> Option<Duration> {
    use std::{sync::OnceLock, time::Instant};

    static FIRST_READING: OnceLock<Instant> = OnceLock::new();
    Some(FIRST_READING.get_or_init(Instant::now).elapsed())
}
