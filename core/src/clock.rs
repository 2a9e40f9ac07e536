//! Clocks: sources of time, and ways to let it pass. Nothing else reads time.
//!
//! ```
//! use polyflake::{clock::ManualClock, sno::Generator};
//!
//! let clock = ManualClock::at_unix_ms(1_767_225_600_000); // for a test; without it, the system's
//! let ids = Generator::builder().partition(7).clock(&clock).build()?;
//! assert_eq!(ids.generate(1)?.unix_ms(), 1_767_225_600_000);
//! # Ok::<(), polyflake::Error>(())
//! ```

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

/// A source of time, and the way to wait in it.
///
/// A generator keeps one clock for its life and calls it without holding any lock, so a clock may fail, lie, be slow or
/// use the generator itself: the worst that follows is an error.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use polyflake::{Result, clock::Clock, sno::Builder};
///
/// /// Runs a day ahead.
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
    /// The time now, in nanoseconds since 1970-01-01T00:00:00Z.
    fn unix_nanos(&self) -> Result<i64>;

    /// Lets about `nanos` nanoseconds pass. It may return early; an error ends the caller's wait.
    fn sleep(&self, nanos: u64) -> Result<()>;

    /// Nanoseconds that have passed since some fixed moment, by a monotonic clock. `max_wait` is measured by it, so a wait under a
    /// wall clock that stands still lasts `max_wait`.
    ///
    /// `None`, the default, if there is no monotonic clock: a wait is then charged the duration of each sleep as it was asked
    /// for, and [`Clock::patience`] bounds the wait as well. The same holds for a sleep during which this clock stood still.
    fn elapsed_nanos(&self) -> Option<u64> {
        None
    }

    /// Number of readings in a row that may show the same time before a wait is given up. It bounds waits under a clock that
    /// does not go on by itself, if [`Clock::elapsed_nanos`] returns `None`.
    fn patience(&self) -> u32 {
        16
    }

    /// The largest step between two readings, in nanoseconds: a generator refuses a clock coarser than its tick.
    fn resolution_nanos(&self) -> u64 {
        1
    }

    /// The largest lag of a reading behind one that another thread has already used, in nanoseconds: 0, the default, for a clock
    /// whose readings never lag.
    ///
    /// A reading that is before the generator's current tick by less than this counts as that tick, so a lagging reading neither
    /// looks like a step back of the clock nor makes a call wait. A step back of less than this goes unnoticed in the same way.
    fn slack_nanos(&self) -> u64 {
        0
    }

    /// Returns whether a generator with an explicit worker ID leaves out the tick of its first call, in which an earlier generator
    /// with the same worker ID may have made IDs: before a restart, or in the process that ran before this one.
    ///
    /// `false` by default, for clocks that are set by hand or replay a recording. The operating system's clocks return `true`. Return
    /// `true` if generators of different processes read the same time by this clock.
    fn skips_first_tick(&self) -> bool {
        false
    }

    /// Returns whether [`Clock::sleep`] keeps the processor busy, since the thread cannot sleep.
    #[doc(hidden)]
    fn spins(&self) -> bool {
        false
    }

    /// The unit in which the source of this clock counts, in nanoseconds: errors about a reading show it in this unit.
    #[doc(hidden)]
    fn unit_nanos(&self) -> u32 {
        1
    }

    /// The default of `max_wait`, in nanoseconds, for a format whose tick lasts `tick_nanos`.
    fn default_max_wait(&self, tick_nanos: u64) -> u64 {
        let _ = tick_nanos;
        1_000_000_000
    }

    /// Called before each sleep of a call that has to wait, on the stalled thread, with no lock held. An error ends the wait.
    fn stalled(&self, stall: &Stall) -> Result<()> {
        let _ = stall;
        Ok(())
    }
}

/// A notice for [`Clock::stalled`] that a call has to wait.
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
///     clock.set_unix_ms(1_767_225_600_004); // time goes on
/// });
/// let ids = ids.build()?;
/// ids.fill(7, &mut [Sno::default(); 65_536])?; // the whole tick
/// ids.generate(7)?;
/// let stall = seen.lock().unwrap().unwrap();
/// assert_eq!((stall.reason.code(), stall.stalled, stall.slept_ms), ("sequence_exhausted", 1, 0));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stall {
    /// The reason: `sequence_exhausted` or `clock_behind`.
    pub reason: ErrorKind,
    /// The clock's reading, in Unix milliseconds.
    pub unix_ms: i64,
    /// Number of calls of this generator that wait now, including this one. They race; there is no queue.
    pub stalled: u32,
    /// Time that this call has slept, in milliseconds, rounded up: 0 in the first notice.
    pub slept_ms: u32,
}

/// Implements all methods of a clock but `stalled` by another clock.
macro_rules! by_clock {
    (|$this:ident| $clock:expr) => {
        #[inline]
        fn unix_nanos(&$this) -> Result<i64> {
            $clock.unix_nanos()
        }
        fn sleep(&$this, nanos: u64) -> Result<()> {
            $clock.sleep(nanos)
        }
        fn elapsed_nanos(&$this) -> Option<u64> {
            $clock.elapsed_nanos()
        }
        fn patience(&$this) -> u32 {
            $clock.patience()
        }
        fn resolution_nanos(&$this) -> u64 {
            $clock.resolution_nanos()
        }
        fn slack_nanos(&$this) -> u64 {
            $clock.slack_nanos()
        }
        fn skips_first_tick(&$this) -> bool {
            $clock.skips_first_tick()
        }
        fn spins(&$this) -> bool {
            $clock.spins()
        }
        fn unit_nanos(&$this) -> u32 {
            $clock.unit_nanos()
        }
        fn default_max_wait(&$this, tick_nanos: u64) -> u64 {
            $clock.default_max_wait(tick_nanos)
        }
    };
}

/// Forwards every call to the clock behind a pointer.
macro_rules! clock_behind_pointer {
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

clock_behind_pointer!(
    &C,
    alloc::boxed::Box<C>,
    #[cfg(target_has_atomic = "ptr")]
    alloc::sync::Arc<C>
);

/// A clock with a callback for stalls, as `on_stall` of a builder makes it.
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
    /// `clock`, with `callback` called before each sleep, on the stalled thread, with no lock held.
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

/// A clock that is set by hand, for tests and replays. Sleeping does not move it.
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
    /// A clock that shows `unix_nanos` nanoseconds since 1970.
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

    /// A clock that shows `unix_ms` milliseconds since 1970. A time that 64-bit nanoseconds cannot hold (before 1677 or after
    /// 2262) becomes the nearest one that they can hold.
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

    /// Sets the time.
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

    /// Sets the time, in milliseconds; a time past the ends of 64-bit nanoseconds becomes the nearest end.
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
}

/// The operating system's wall clock, and the thread's sleep.
///
/// On Linux it reads the processor's counter if the kernel's own clock does, which takes a third of the time;
/// [`SystemClock::source`] tells whether it does. Readings extrapolate from a reading of the wall clock that is at most one
/// millisecond old by that counter, so a step of the wall clock is seen within a millisecond. A thread also takes at most 4,096
/// readings before it renews that one. `POLYFLAKE_CLOCK=exact` in the environment makes every reading a look at the wall clock;
/// [`ExactClock`] does so for one generator.
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
    /// Returns the source that this process reads. It is decided once, at the first reading or the first call of this function.
    ///
    /// ```
    /// use polyflake::clock::SystemClock;
    ///
    /// println!("time is read by {}", SystemClock::source().name());
    /// assert_eq!(SystemClock::source(), SystemClock::source()); // decided once
    /// ```
    pub fn source() -> Source {
        if polyflake_clock::is_counter_used(system::exact) {
            Source::Counter
        } else {
            Source::SystemCall
        }
    }
}

/// The clock of generators without a given clock; without `std`, no clock at all.
#[cfg(feature = "std")]
pub(crate) type DefaultClock = SystemClock;
#[cfg(not(feature = "std"))]
pub(crate) type DefaultClock = core::convert::Infallible;

#[cfg(feature = "std")]
impl Clock for SystemClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        polyflake_clock::now(system::exact, fork::current)
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        std::thread::sleep(core::time::Duration::from_nanos(nanos));
        polyflake_clock::slept();
        Ok(())
    }

    fn elapsed_nanos(&self) -> Option<u64> {
        monotonic::elapsed_nanos()
    }

    fn resolution_nanos(&self) -> u64 {
        system::RESOLUTION_NANOS
    }

    #[inline]
    fn slack_nanos(&self) -> u64 {
        polyflake_clock::slack_nanos(system::exact)
    }

    fn skips_first_tick(&self) -> bool {
        true
    }
}

/// The error for a reading that a format cannot hold, in the unit in which its clock counts; `error` has the format's limits in
/// milliseconds.
#[cold]
pub(crate) fn in_unit(error: &Error, unix_nanos: i64, unit_nanos: u32) -> Error {
    const NANOS_PER_MS: i128 = 1_000_000;
    let (_, least, most) = error.range().unwrap_or_default();
    let unit = i128::from(unit_nanos);
    let (first, end) = (least * NANOS_PER_MS, (most + 1) * NANOS_PER_MS);
    let found = i128::from(unix_nanos).div_euclid(unit);
    Error::time_out_of_range("clock", found, first.div_euclid(unit), (end - 1).div_euclid(unit))
}

/// The error for a reading that 64-bit nanoseconds cannot hold.
#[cold]
fn beyond_nanos(unix_ms: i128) -> Error {
    let ms = |nanos: i64| i128::from(nanos / 1_000_000);
    Error::time_out_of_range("clock", unix_ms, ms(i64::MIN), ms(i64::MAX))
}

/// The nanoseconds of a reading in milliseconds, for clocks that count milliseconds.
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
    const MOST: i64 = i64::MAX / 1_000_000;
    // A checked multiplication would take 128 bits in wasm.
    if (-MOST..=MOST).contains(&unix_ms) {
        Ok(unix_ms * 1_000_000)
    } else {
        Err(beyond_nanos(unix_ms.into()))
    }
}

/// The nanoseconds of a reading in milliseconds as a float, as in scripting languages: floored to whole milliseconds; NaN and
/// infinities are `clock_failed`.
///
/// Not part of the public API: for bindings.
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

/// As [`nanos_from_float_ms`], for a reading that is no whole number.
#[cold]
#[inline(never)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a float with a fraction is below 2^52"
)]
fn nanos_from_fraction(unix_ms: f64) -> Result<i64> {
    if !unix_ms.is_finite() {
        return Err(Error::because(
            ErrorKind::ClockFailed,
            "expected a finite number from the clock, found NaN or infinity",
        ));
    }
    // The cast rounds towards zero, and keeps what is out of range within it.
    let whole = unix_ms as i64;
    nanos_from_ms(whole.saturating_sub(i64::from(whole as f64 > unix_ms)))
}
