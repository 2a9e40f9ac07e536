//! Clocks, which provide the current time and can sleep. No other code reads the time.
//!
//! ```
//! use polyflake::{clock::ManualClock, sno::Generator};
//!
//! let clock = ManualClock::at_unix_ms(1_767_225_600_000); // for a test; the default is the system clock
//! let ids = Generator::builder().partition(7).clock(&clock).build()?;
//! assert_eq!(ids.generate(1)?.unix_ms(), 1_767_225_600_000);
//! # Ok::<(), polyflake::Error>(())
//! ```

use core::time::Duration;

#[cfg(feature = "std")]
use crate::fork;
use crate::{Error, ErrorKind, Result};

#[cfg(feature = "std")]
mod exact;
#[cfg(feature = "std")]
mod monotonic;
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
#[path = "clock/linux.rs"]
mod system;
#[cfg(all(feature = "std", not(all(target_os = "linux", target_pointer_width = "64"))))]
#[path = "clock/portable.rs"]
mod system;
#[cfg(feature = "std")]
mod ticking;
#[cfg(feature = "std")]
pub use exact::{ExactClock, Source};
#[cfg(all(feature = "std", target_os = "linux", target_pointer_width = "64"))]
pub use system::CoarseClock;
#[cfg(feature = "std")]
pub use ticking::TickingClock;

/// Provides the current time, and sleeps when a generator has to wait.
///
/// A generator uses the same clock for its entire lifetime and calls it without holding a lock. Therefore a clock may fail,
/// return the wrong time, be slow, or even use the generator itself. In the worst case, a call to the generator returns an
/// error.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use polyflake::{Result, clock::Clock, sno::Builder};
///
/// /// A clock that runs a day ahead.
/// struct Tomorrow;
///
/// impl Clock for Tomorrow {
///     fn unix_nanos(&self) -> Result<i64> {
///         let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
///         Ok(i64::try_from((now + Duration::from_secs(86_400)).as_nanos()).expect("before 2262"))
///     }
///
///     fn sleep(&self, nanos: u64) -> Result<()> {
///         std::thread::sleep(Duration::from_nanos(nanos));
///         Ok(())
///     }
/// }
///
/// let ids = Builder::with_clock(Tomorrow).partition(42).build()?;
/// assert!(ids.generate(7)?.system_time() > SystemTime::now());
/// # Ok::<(), polyflake::Error>(())
/// ```
pub trait Clock {
    /// Returns the current time in nanoseconds since 1970-01-01T00:00:00Z.
    fn unix_nanos(&self) -> Result<i64>;

    /// Sleeps for about `nanos` nanoseconds. The call may return early. An error ends the caller's wait.
    fn sleep(&self, nanos: u64) -> Result<()>;

    /// Returns the properties of this clock. By default, these are the properties in [`ClockInfo::new`], which describe an
    /// exact clock.
    ///
    /// Generators do not store the result. They call this method again whenever they need it, so it should be cheap.
    #[inline]
    fn info(&self) -> ClockInfo {
        ClockInfo::new()
    }

    /// Returns the time since a fixed moment, according to a monotonic clock. Waits are measured with the monotonic clock,
    /// so a wait ends after `max_wait` even if the wall clock stops.
    ///
    /// The default is `None`, which means that there is no monotonic clock. In this case, each sleep is assumed to last as
    /// long as requested, and the wait also ends if the wall clock does not advance during 16 sleeps in a row. If the
    /// monotonic clock did not advance during a sleep, it is treated as missing for that sleep.
    fn monotonic(&self) -> Option<Duration> {
        None
    }

    /// Handles a stall. While a call waits, the generator calls this method before each sleep, on the waiting thread and
    /// while no lock is held. An error ends the wait.
    fn stalled(&self, stall: &Stall) -> Result<()> {
        let _ = stall;
        Ok(())
    }
}

/// The properties of a clock, as returned by [`Clock::info`].
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use polyflake::{
///     Error, Result,
///     clock::{Clock, ClockInfo, nanos_from_ms},
///     sno::Builder,
/// };
///
/// /// The system's time in whole milliseconds.
/// struct Milliseconds;
///
/// impl Clock for Milliseconds {
///     fn unix_nanos(&self) -> Result<i64> {
///         let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
///         nanos_from_ms(now.as_millis().try_into().expect("before 2262"))
///     }
///
///     fn sleep(&self, nanos: u64) -> Result<()> {
///         std::thread::sleep(Duration::from_nanos(nanos));
///         Ok(())
///     }
///
///     fn info(&self) -> ClockInfo {
///         ClockInfo::new().resolution(Duration::from_millis(1))
///     }
/// }
///
/// let ids = Builder::with_clock(Milliseconds).partition(42).build()?;
/// assert_eq!(ids.generate(7)?.partition(), 42);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClockInfo {
    /// The clock's granularity: the largest amount by which its reading advances at once. A generator rejects a clock whose
    /// resolution is coarser than the generator's tick. The default is one nanosecond.
    pub resolution: Duration,
    /// How far a reading can lag behind a reading that another thread has already used. The default is zero, which means
    /// that readings never lag.
    ///
    /// A reading that precedes the generator's current tick by less than the slack is treated as part of that tick.
    /// Therefore a lagging reading is not mistaken for a clock rollback, and no call waits because of it. The drawback is
    /// that a real rollback by less than the slack also goes undetected.
    pub slack: Duration,
    /// Whether the clock is for tests, where it may be set manually, stand still or replay a recording, as [`ManualClock`]
    /// does. The default is `false`.
    ///
    /// A generator with an explicit worker ID skips the tick in which it is first called, because an earlier generator with
    /// the same worker ID may have created IDs in that tick, for example before a restart. With a clock for tests, it uses
    /// that tick, and may therefore repeat the IDs of the earlier generator.
    pub for_tests: bool,
    /// The time unit of the clock's source, either a nanosecond or a millisecond. Errors state clock readings in this unit.
    ///
    /// This field is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub unit: Duration,
    /// The observed step by which the clock advances, or zero if the clock does not track it. This field is not part of
    /// the public API. It exists for bindings.
    ///
    /// Browsers that resist fingerprinting round the time to steps of 16 to 100 ms. A call cannot generate IDs for the
    /// next tick before the clock's next step. Therefore waits end at that step, and `retry_at` is at least one step after
    /// the last reading.
    #[doc(hidden)]
    pub step: Duration,
    /// Whether [`Clock::sleep`] keeps the processor busy because the thread cannot sleep. This field is not part of the
    /// public API. It exists for bindings.
    #[doc(hidden)]
    pub spins: bool,
    /// Whether a wait blocks an event loop, so that calls wait only briefly by default. This field is not part of the
    /// public API. It exists for bindings.
    #[doc(hidden)]
    pub in_event_loop: bool,
}

impl ClockInfo {
    /// Returns the default properties, which describe an exact clock that is not only for tests. Each field's
    /// documentation states its default.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::clock::{Clock, ClockInfo, ManualClock};
    ///
    /// let info = ClockInfo::new();
    /// assert_eq!((info.resolution, info.slack), (Duration::from_nanos(1), Duration::ZERO));
    /// assert!(!info.for_tests);
    /// assert_eq!(ManualClock::new(0).info(), info.for_tests(true));
    /// ```
    #[inline]
    pub const fn new() -> Self {
        Self {
            resolution: Duration::from_nanos(1),
            slack: Duration::ZERO,
            for_tests: false,
            unit: Duration::from_nanos(1),
            step: Duration::ZERO,
            spins: false,
            in_event_loop: false,
        }
    }

    /// Sets the [resolution](Self#structfield.resolution).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::clock::ClockInfo;
    ///
    /// const MILLISECONDS: ClockInfo = ClockInfo::new().resolution(Duration::from_millis(1));
    /// assert_eq!(MILLISECONDS.resolution.as_nanos(), 1_000_000);
    /// ```
    #[inline]
    #[must_use]
    pub const fn resolution(mut self, resolution: Duration) -> Self {
        self.resolution = resolution;
        self
    }

    /// Sets the [slack](Self#structfield.slack).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::clock::ClockInfo;
    ///
    /// let info = ClockInfo::new().slack(Duration::from_micros(50));
    /// assert_eq!(info.slack.as_nanos(), 50_000);
    /// ```
    #[inline]
    #[must_use]
    pub const fn slack(mut self, slack: Duration) -> Self {
        self.slack = slack;
        self
    }

    /// Sets whether the clock is [for tests](Self#structfield.for_tests).
    ///
    /// ```
    /// use polyflake::clock::{Clock, ClockInfo, ManualClock, SystemClock};
    ///
    /// assert!(ClockInfo::new().for_tests(true).for_tests);
    /// assert!(ManualClock::new(0).info().for_tests && !SystemClock.info().for_tests);
    /// ```
    #[inline]
    #[must_use]
    pub const fn for_tests(mut self, for_tests: bool) -> Self {
        self.for_tests = for_tests;
        self
    }
}

impl Default for ClockInfo {
    fn default() -> Self {
        Self::new()
    }
}

/// Converts a duration to nanoseconds. The result saturates for durations of 584 years or more.
#[inline]
pub(crate) const fn nanos(duration: Duration) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    // `Duration::as_nanos` and a checked multiplication would use 128-bit arithmetic, which wasm does not have.
    if duration.as_secs() < u64::MAX / SECOND {
        duration.as_secs() * SECOND + duration.subsec_nanos() as u64
    } else {
        u64::MAX
    }
}

/// A notification, passed to [`Clock::stalled`], that a call has to wait.
///
/// ```
/// use std::sync::Mutex;
///
/// use polyflake::{
///     clock::ManualClock,
///     sno::{Builder, Sno},
/// };
///
/// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
/// let seen = Mutex::new(None);
/// let ids = Builder::with_clock(&clock).partition(42).on_stall(|stall| {
///     seen.lock().unwrap().get_or_insert(*stall);
///     clock.set_unix_ms(1_767_225_600_004); // time passes
/// });
/// let ids = ids.build()?;
/// ids.fill(7, &mut [Sno::default(); 65_536])?; // all IDs of the tick
/// ids.generate(7)?;
/// let stall = seen.lock().unwrap().unwrap();
/// assert_eq!((stall.reason.code(), stall.stalled, stall.slept_ms), ("sequence_exhausted", 1, 0));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// The reason for the wait: `sequence_exhausted` or `clock_behind`.
    pub reason: ErrorKind,
    /// The clock's current time in Unix milliseconds.
    pub unix_ms: i64,
    /// The number of calls to this generator that are currently waiting, including this one. These calls are not queued but
    /// compete for the next IDs.
    pub stalled: u32,
    /// How long this call has slept so far, in milliseconds, rounded up. It is 0 in the first notification.
    pub slept_ms: u32,
}

/// Implements all methods of a clock except `stalled` by delegating to a different clock.
macro_rules! by_clock {
    (|$this:ident| $clock:expr) => {
        #[inline]
        fn unix_nanos(&$this) -> Result<i64> {
            $clock.unix_nanos()
        }
        fn sleep(&$this, nanos: u64) -> Result<()> {
            $clock.sleep(nanos)
        }
        #[inline]
        fn info(&$this) -> ClockInfo {
            $clock.info()
        }
        fn monotonic(&$this) -> Option<Duration> {
            $clock.monotonic()
        }
    };
}

/// Implements `Clock` for pointers, which forward every call to the clock that they point to.
macro_rules! impl_clock_for_pointers {
    ($($(#[$when:meta])? $pointer:ty),*) => {$(
        $(#[$when])?
        impl<C: Clock + ?Sized> Clock for $pointer {
            by_clock!(|self| (**self));
            fn stalled(&self, stall: &Stall) -> Result<()> {
                (**self).stalled(stall)
            }
        }
    )*};
}

impl_clock_for_pointers!(
    &C,
    alloc::boxed::Box<C>,
    #[cfg(target_has_atomic = "ptr")]
    alloc::sync::Arc<C>
);

/// A clock that calls a callback before each sleep. A builder's `on_stall` method creates one.
///
/// ```
/// use polyflake::{
///     clock::{ManualClock, OnStall},
///     sno::Builder,
/// };
///
/// let clock = OnStall::new(ManualClock::at_unix_ms(1_767_225_600_000), |stall| {
///     eprintln!("waits since {} ms: {}", stall.slept_ms, stall.reason.code());
/// });
/// assert_eq!(Builder::with_clock(clock).partition(42).build()?.generate(7)?.metabyte(), 7);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OnStall<C, F> {
    clock: C,
    callback: F,
}

impl<C: Clock, F: Fn(&Stall)> OnStall<C, F> {
    /// Wraps `clock` so that `callback` is called on the waiting thread before each sleep, while no lock is held.
    ///
    /// ```
    /// use polyflake::clock::{Clock, OnStall, SystemClock};
    ///
    /// let clock = OnStall::new(SystemClock, |_| eprintln!("a call waits"));
    /// assert!(clock.unix_nanos()? > 1_767_225_600_000_000_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new(clock: C, callback: F) -> Self {
        Self { clock, callback }
    }
}

impl<C: Clock, F: Fn(&Stall)> Clock for OnStall<C, F> {
    by_clock!(|self| self.clock);
    fn stalled(&self, stall: &Stall) -> Result<()> {
        (self.callback)(stall);
        self.clock.stalled(stall)
    }
}

/// A clock that is set manually, for tests and replays. Sleeping does not advance it, and generators may use the tick of
/// their first call ([`ClockInfo::for_tests`]).
///
/// ```
/// use polyflake::clock::{Clock, ManualClock};
///
/// let clock = ManualClock::at_unix_ms(1_763_650_000_000);
/// clock.set_unix_nanos(clock.unix_nanos()? + 4_000_000);
/// assert_eq!(clock.unix_nanos()?, 1_763_650_000_004_000_000);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug)]
pub struct ManualClock(portable_atomic::AtomicI64);

impl ManualClock {
    /// Creates a clock that is set to `unix_nanos` nanoseconds since 1970.
    ///
    /// ```
    /// use polyflake::clock::{Clock, ManualClock};
    ///
    /// assert_eq!(ManualClock::new(-1).unix_nanos()?, -1); // just before 1970
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new(unix_nanos: i64) -> Self {
        Self(portable_atomic::AtomicI64::new(unix_nanos))
    }

    /// Creates a clock that is set to `unix_ms` milliseconds since 1970. A time outside the range of 64-bit nanoseconds
    /// (1677 to 2262) is clamped to that range.
    ///
    /// ```
    /// use polyflake::clock::{Clock, ManualClock};
    ///
    /// assert_eq!(ManualClock::at_unix_ms(1_767_225_600_000).unix_nanos()?, 1_767_225_600_000_000_000);
    /// assert_eq!(ManualClock::at_unix_ms(i64::MAX).unix_nanos()?, i64::MAX);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn at_unix_ms(unix_ms: i64) -> Self {
        Self::new(unix_ms.saturating_mul(1_000_000))
    }

    /// Sets the time in nanoseconds since 1970.
    ///
    /// ```
    /// use polyflake::clock::{Clock, ManualClock};
    ///
    /// let clock = ManualClock::new(0);
    /// clock.set_unix_nanos(clock.unix_nanos()? + 4_000_000); // 4 ms pass
    /// assert_eq!(clock.unix_nanos()?, 4_000_000);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn set_unix_nanos(&self, unix_nanos: i64) {
        self.0.store(unix_nanos, portable_atomic::Ordering::Release);
    }

    /// Sets the time in milliseconds since 1970. A time outside the range of 64-bit nanoseconds is clamped to that range.
    ///
    /// ```
    /// use polyflake::{clock::ManualClock, sno::Builder};
    ///
    /// let clock = ManualClock::at_unix_ms(1_767_225_600_000);
    /// let ids = Builder::with_clock(&clock).partition(7).build()?;
    /// let before = ids.generate(1)?;
    /// clock.set_unix_ms(1_767_225_600_004);
    /// assert_eq!(ids.generate(1)?.tick(), before.tick() + 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn set_unix_ms(&self, unix_ms: i64) {
        self.set_unix_nanos(unix_ms.saturating_mul(1_000_000));
    }
}

impl Clock for ManualClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.0.load(portable_atomic::Ordering::Acquire))
    }
    fn sleep(&self, _nanos: u64) -> Result<()> {
        Ok(())
    }
    #[inline]
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// The operating system's wall clock. A call that has to wait puts its thread to sleep.
///
/// On Linux, this clock reads the processor's counter if the kernel's clock also uses that counter. Such a reading takes a
/// third of the time of a system call. [`SystemClock::source`] reports which source is used. The clock uses the counter to
/// extrapolate from a reading of the wall clock that is at most one millisecond old. A change to the wall clock therefore
/// takes effect within a millisecond. In addition, each thread reads the wall clock again after at most 4,096
/// extrapolations. If the environment variable `POLYFLAKE_CLOCK` is `exact`, every reading uses a system call. To do the
/// same for a single generator, use [`ExactClock`].
///
/// ```
/// use polyflake::clock::{Clock, SystemClock};
///
/// assert!(SystemClock.unix_nanos()? > 1_767_225_600_000_000_000); // 2026 has begun
/// # Ok::<(), polyflake::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(feature = "std")]
impl SystemClock {
    /// Returns the source of time that this process uses. It is determined once, when the clock is first read or this
    /// function is first called.
    ///
    /// ```
    /// use polyflake::clock::SystemClock;
    ///
    /// println!("time is read by {}", SystemClock::source().name());
    /// assert_eq!(SystemClock::source(), SystemClock::source()); // determined once
    /// ```
    pub fn source() -> Source {
        if polyflake_clock::is_counter_used(system::exact_unix_nanos) {
            Source::Counter
        } else {
            Source::SystemCall
        }
    }
}

/// The properties that the operating system's clocks have in common.
#[cfg(feature = "std")]
const INFO: ClockInfo = ClockInfo::new().resolution(Duration::from_nanos(system::RESOLUTION_NANOS));

/// The default clock of generators. Without `std`, there is no default clock.
#[cfg(feature = "std")]
pub(crate) type DefaultClock = SystemClock;
#[cfg(not(feature = "std"))]
pub(crate) type DefaultClock = core::convert::Infallible;

#[cfg(feature = "std")]
impl Clock for SystemClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        polyflake_clock::now(system::exact_unix_nanos, fork::process)
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        std::thread::sleep(Duration::from_nanos(nanos));
        polyflake_clock::invalidate_after_sleep();
        Ok(())
    }

    #[inline]
    fn info(&self) -> ClockInfo {
        INFO.slack(Duration::from_nanos(polyflake_clock::slack_nanos(system::exact_unix_nanos)))
    }

    fn monotonic(&self) -> Option<Duration> {
        monotonic::elapsed()
    }
}

/// Returns the error for a clock reading that a format cannot represent. The returned error states the reading and the
/// format's limits in the clock's unit. `error` contains the limits in milliseconds.
#[cold]
pub(crate) fn error_in_unit(error: &Error, unix_nanos: i64, unit: Duration) -> Error {
    const NANOS_PER_MS: i128 = 1_000_000;
    let (_, least, most) = error.range().unwrap_or_default();
    let name = if unit == Duration::from_nanos(1) { "ns" } else { "ms" };
    let unit = i128::from(nanos(unit));
    // Both limits in the error are inclusive and in whole milliseconds. Therefore the range ends just before the next
    // millisecond.
    let (first, end) = (least * NANOS_PER_MS, (most + 1) * NANOS_PER_MS);
    let found = i128::from(unix_nanos).div_euclid(unit);
    Error::time_out_of_range(
        "clock",
        found,
        first.div_euclid(unit),
        (end - 1).div_euclid(unit),
        name,
    )
}

/// Returns the error for a clock reading that 64-bit nanoseconds cannot represent.
#[cold]
fn nanos_out_of_range(unix_ms: i128) -> Error {
    let ms = |nanos: i64| i128::from(nanos / 1_000_000);
    Error::time_out_of_range("clock", unix_ms, ms(i64::MIN), ms(i64::MAX), "ms")
}

/// Converts a clock reading from milliseconds to nanoseconds. Use it to implement a clock that counts milliseconds.
///
/// ```
/// use polyflake::clock::nanos_from_ms;
///
/// assert_eq!(nanos_from_ms(1_767_225_600_000)?, 1_767_225_600_000_000_000);
/// assert_eq!(nanos_from_ms(i64::MAX).unwrap_err().code(), "time_out_of_range");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[inline]
pub fn nanos_from_ms(unix_ms: i64) -> Result<i64> {
    const MAX_MS: i64 = i64::MAX / 1_000_000;
    // A checked multiplication would use 128-bit arithmetic, which wasm does not have.
    if (-MAX_MS..=MAX_MS).contains(&unix_ms) {
        Ok(unix_ms * 1_000_000)
    } else {
        Err(nanos_out_of_range(unix_ms.into()))
    }
}

/// Converts a clock reading from floating-point milliseconds, the unit that scripting languages use, to nanoseconds. The
/// reading is rounded down to whole milliseconds. NaN and infinities result in `clock_failed`.
///
/// This function is not part of the public API. It exists for bindings.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a whole number, or rounded elsewhere"
)]
#[doc(hidden)]
pub fn nanos_from_float_ms(unix_ms: f64) -> Result<i64> {
    let whole = unix_ms as i64;
    if whole as f64 == unix_ms { nanos_from_ms(whole) } else { nanos_from_fraction(unix_ms) }
}

/// Implements [`nanos_from_float_ms`] for clock readings that are not a whole number of milliseconds. A fraction is rounded
/// down, and NaN and infinities are rejected.
#[cold]
#[inline(never)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a float with a fraction is below 2^52"
)]
fn nanos_from_fraction(unix_ms: f64) -> Result<i64> {
    if !unix_ms.is_finite() {
        return Err(Error::with_reason(
            ErrorKind::ClockFailed,
            "expected a finite number from the clock, found NaN or infinity",
        ));
    }
    // The cast rounds toward zero and saturates.
    let whole = unix_ms as i64;
    nanos_from_ms(whole.saturating_sub(i64::from(whole as f64 > unix_ms)))
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use alloc::{boxed::Box, sync::Arc};
    use core::{cell::Cell, time::Duration};

    use super::{Clock, ClockInfo, OnStall, Stall};
    use crate::{Error, ErrorKind, Result};

    /// A clock whose methods all return something other than the default.
    #[derive(Clone)]
    struct NonDefaultClock;

    impl Clock for NonDefaultClock {
        fn unix_nanos(&self) -> Result<i64> {
            Ok(7)
        }
        fn sleep(&self, nanos: u64) -> Result<()> {
            if nanos == 9 { Err(Error::new(ErrorKind::ClockFailed)) } else { Ok(()) }
        }
        fn info(&self) -> ClockInfo {
            ClockInfo::new().slack(Duration::from_nanos(11))
        }
        fn monotonic(&self) -> Option<Duration> {
            Some(Duration::from_nanos(13))
        }
        fn stalled(&self, stall: &Stall) -> Result<()> {
            if stall.stalled == 15 { Err(Error::new(ErrorKind::GeneratorClosed)) } else { Ok(()) }
        }
    }

    #[track_caller]
    fn assert_forwards(clock: impl Clock) {
        let reason = ErrorKind::ClockBehind;
        let stall = Stall { reason, unix_ms: 0, stalled: 15, slept_ms: 0 };
        assert_eq!(clock.unix_nanos(), Ok(7));
        assert_eq!(clock.sleep(9), Err(Error::new(ErrorKind::ClockFailed)));
        assert_eq!(clock.info(), NonDefaultClock.info());
        assert_eq!(clock.monotonic(), Some(Duration::from_nanos(13)));
        assert_eq!(clock.stalled(&stall), Err(Error::new(ErrorKind::GeneratorClosed)));
    }

    #[test]
    fn every_wrapper_forwards_every_method() {
        assert_forwards(&NonDefaultClock);
        assert_forwards(Box::new(NonDefaultClock));
        assert_forwards(Arc::new(NonDefaultClock));
        assert_forwards(&NonDefaultClock as &dyn Clock);
        let heard = Cell::new(0);
        assert_forwards(OnStall::new(NonDefaultClock, |stall| heard.set(stall.stalled)));
        assert_eq!(heard.get(), 15);
    }
}
