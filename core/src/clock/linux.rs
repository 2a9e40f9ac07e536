//! Linux's wall clocks. They are read directly, because creating a `SystemTime` and computing the duration since the Unix
//! epoch would take 4 ns.
#![allow(unsafe_code, reason = "the C library's clocks have no safe door")]

use core::time::Duration;

use super::{Clock, ClockInfo, INFO, SystemClock};
use crate::{Error, ErrorKind, Result};

/// Linux's `CLOCK_REALTIME_COARSE` clock. It is cheaper to read than the exact clock, but advances only at each of the
/// kernel's timer interrupts (every 1 to 10 ms). A generator accepts this clock only if the clock's resolution is at most
/// one tick of the ID format.
///
/// Do not assign the same partition, node ID or window to a generator with this clock and to a generator with the exact
/// clock, because this clock lags behind.
///
/// ```
/// use polyflake::{clock::CoarseClock, hotguid::Generator};
///
/// let ids = Generator::builder().clock(CoarseClock::new()?).build()?;
/// ids.generate(1)?;
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CoarseClock {
    resolution: Duration,
}

impl CoarseClock {
    /// Creates the clock, if the system supports it.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::clock::{Clock, CoarseClock};
    ///
    /// let clock = CoarseClock::new()?;
    /// // It must not exceed your tick.
    /// assert!(clock.info().resolution >= Duration::from_millis(1));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `clock_failed` if the system does not support it.
    pub fn new() -> Result<Self> {
        let mut resolution = ZERO;
        // SAFETY: the call writes only to `resolution`, which is a valid, writable `timespec`.
        let failed =
            unsafe { libc::clock_getres(libc::CLOCK_REALTIME_COARSE, &raw mut resolution) };
        if failed != 0 {
            return Err(Error::with_reason(
                ErrorKind::ClockFailed,
                "the system has no coarse clock; use the SystemClock",
            ));
        }
        Ok(Self { resolution: Duration::from_nanos(nanos(resolution)?.cast_unsigned()) })
    }
}

/// The Linux kernel's clocks count nanoseconds.
pub(super) const RESOLUTION_NANOS: u64 = 1;

const ZERO: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

/// Reads the exact wall clock.
#[inline]
pub(super) fn exact_unix_nanos() -> Result<i64> {
    read_clock(libc::CLOCK_REALTIME)
}

#[inline]
fn read_clock(clock: libc::clockid_t) -> Result<i64> {
    let mut now = ZERO;
    // SAFETY: the call writes only to `now`, which is a valid, writable `timespec`.
    if unsafe { libc::clock_gettime(clock, &raw mut now) } != 0 {
        return Err(Error::new(ErrorKind::ClockFailed));
    }
    nanos(now)
}

#[inline]
fn nanos(time: libc::timespec) -> Result<i64> {
    let nanos =
        time.tv_sec.checked_mul(1_000_000_000).and_then(|nanos| nanos.checked_add(time.tv_nsec));
    nanos.ok_or_else(|| super::nanos_out_of_range(i128::from(time.tv_sec) * 1000))
}

impl Clock for CoarseClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        read_clock(libc::CLOCK_REALTIME_COARSE)
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }

    fn info(&self) -> ClockInfo {
        INFO.resolution(self.resolution)
    }

    fn monotonic(&self) -> Option<Duration> {
        SystemClock.monotonic()
    }
}
