//! Linux's wall clocks, read without going through a `SystemTime` and its difference from 1970, which would cost 4 ns.
#![allow(unsafe_code, reason = "the C library's clocks have no safe door")]

use super::{Clock, SystemClock};
use crate::{Error, ErrorKind, Result};

/// Linux's `CLOCK_REALTIME_COARSE`: cheaper to read than the exact clock, and as coarse as the kernel's timer interrupt
/// (1 to 10 ms). A generator only accepts it if that is at most the format's tick.
///
/// Don't let a generator on it share a partition, node or window with a generator on the exact clock: it lags behind.
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
    resolution: u64,
}

impl CoarseClock {
    /// The clock, if the system has it.
    ///
    /// ```
    /// use polyflake::clock::{Clock, CoarseClock};
    ///
    /// let clock = CoarseClock::new()?;
    /// assert!(clock.resolution_nanos() > 1); // a millisecond or more: see whether your tick is longer
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `clock_failed`.
    pub fn new() -> Result<Self> {
        let mut resolution = ZERO;
        // SAFETY: `resolution` is a timespec to write to.
        let failed =
            unsafe { libc::clock_getres(libc::CLOCK_REALTIME_COARSE, &raw mut resolution) };
        if failed != 0 {
            return Err(Error::because(
                ErrorKind::ClockFailed,
                "expected a coarse clock of the system, found none",
            ));
        }
        Ok(Self { resolution: nanos(resolution)?.cast_unsigned() })
    }
}

/// The kernel's clocks count nanoseconds.
pub(super) const RESOLUTION_NANOS: u64 = 1;

const ZERO: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

/// The exact wall clock.
#[inline]
pub(super) fn exact() -> Result<i64> {
    read(libc::CLOCK_REALTIME)
}

#[inline]
fn read(clock: libc::clockid_t) -> Result<i64> {
    let mut now = ZERO;
    // SAFETY: `now` is a timespec to write to.
    if unsafe { libc::clock_gettime(clock, &raw mut now) } != 0 {
        return Err(Error::new(ErrorKind::ClockFailed));
    }
    nanos(now)
}

#[inline]
fn nanos(time: libc::timespec) -> Result<i64> {
    let nanos =
        time.tv_sec.checked_mul(1_000_000_000).and_then(|nanos| nanos.checked_add(time.tv_nsec));
    nanos.ok_or_else(|| super::beyond_nanos(i128::from(time.tv_sec) * 1000))
}

impl Clock for CoarseClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        read(libc::CLOCK_REALTIME_COARSE)
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos)
    }

    fn elapsed_nanos(&self) -> Option<u64> {
        SystemClock.elapsed_nanos()
    }

    fn resolution_nanos(&self) -> u64 {
        self.resolution
    }

    fn skips_first_tick(&self) -> bool {
        true
    }
}
