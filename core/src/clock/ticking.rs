//! A clock that a dedicated thread updates, so that reading it takes a single load.

use core::{cell::Cell, time::Duration};
use std::{
    sync::{Arc, Weak},
    thread,
};

use polyflake_clock::SharedTime;

use super::{Clock, ClockInfo, INFO, SystemClock, system};
use crate::{Error, ErrorKind, Result, fork};

/// The shortest and the longest interval that a clock accepts, in nanoseconds.
const INTERVAL_LIMITS_NANOS: (u64, u64) = (10_000, 1_000_000_000);

/// The number of clock readings after which a thread reads the wall clock itself, so that it notices when the dedicated
/// thread has stopped.
const MAX_READINGS: u32 = 4096;

std::thread_local! {
    /// The number of clock readings that this thread may still take before it reads the wall clock itself.
    static READINGS_LEFT: Cell<u32> = const { Cell::new(0) };
}

/// A clock that returns the wall-clock time most recently read by a dedicated thread. It is the cheapest clock to read, and
/// is meant for programs that generate many millions of IDs per second, one at a time.
///
/// It has the following drawbacks:
///
/// - The thread wakes up once per interval until the last clone of the clock is dropped.
/// - A reading is normally at most one interval old. It can be arbitrarily old if the thread gets no CPU time or the
///   machine is suspended. Therefore each thread that uses this clock reads the wall clock directly once every 4,096
///   readings, and after each wait.
/// - After a clock rollback, readings stay ahead of the wall clock until the next update, or for 10 ms if the rollback is
///   shorter than that.
/// - A forked child process does not have the dedicated thread, so it reads the wall clock every time.
///
/// Generators check each tick, as they do with every clock, so these effects cannot cause duplicate IDs. A generator
/// rejects an interval that is longer than its tick.
///
/// ```
/// use std::time::Duration;
///
/// use polyflake::{clock::TickingClock, sno::Generator};
///
/// let clock = TickingClock::new(Duration::from_millis(1))?;
/// let ids = Generator::builder().partition(42).clock(clock).build()?;
/// assert!(ids.generate(7)? < ids.generate(7)?);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TickingClock(Arc<SharedTicks>);

#[derive(Debug)]
struct SharedTicks {
    ticks: SharedTime,
    /// The generation of the process in which the updating thread runs.
    generation: u32,
    interval: Duration,
}

impl TickingClock {
    /// Creates a clock that is updated once per interval.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::clock::{Clock, TickingClock};
    ///
    /// let clock = TickingClock::new(Duration::from_millis(1))?;
    /// assert_eq!(clock.info().resolution, Duration::from_millis(1));
    /// assert_eq!(TickingClock::new(Duration::ZERO).unwrap_err().code(), "out_of_range");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `out_of_range` if the interval is shorter than 10 microseconds or longer than a second, `clock_failed` if
    /// the system cannot start a thread or provide the time, or `forked` if the system has no way to detect forks.
    pub fn new(interval: Duration) -> Result<Self> {
        let (least, most) = INTERVAL_LIMITS_NANOS;
        let nanos = interval.as_nanos();
        if !(u128::from(least)..=u128::from(most)).contains(&nanos) {
            let found = i128::try_from(nanos).unwrap_or(i128::MAX);
            return Err(
                Error::out_of_range("interval", found, least.into(), most.into()).in_unit("ns")
            );
        }
        fork::prepare()?;
        let ticks = SharedTime::new(system::exact_unix_nanos()?);
        let generation = fork::process();
        let shared = Arc::new(SharedTicks { ticks, generation, interval });
        // A weak reference, so that the thread ends once the last clone of the clock has been dropped.
        let weak = Arc::downgrade(&shared);
        let thread = thread::Builder::new().name("polyflake-clock".into());
        thread.spawn(move || tick(&weak, interval)).map_err(|error| {
            let reason = "the system could not start a thread for the clock";
            Error::with_reason(ErrorKind::ClockFailed, reason).with_source(error)
        })?;
        Ok(Self(shared))
    }
}

/// Updates the clock until its last clone is dropped.
fn tick(shared: &Weak<SharedTicks>, interval: Duration) {
    loop {
        thread::sleep(interval);
        let Some(shared) = shared.upgrade() else { return };
        // If the wall clock fails, the stored time does not advance. Each thread eventually reads the wall clock itself and
        // receives the error.
        let _ = shared.ticks.tick(system::exact_unix_nanos);
    }
}

impl SharedTicks {
    #[cold]
    #[inline(never)]
    fn observe_wall_clock(&self) -> Result<i64> {
        let wall = system::exact_unix_nanos()?;
        // A forked child does not have the thread that updates the time, so it reads the wall clock every time.
        if fork::process() != self.generation {
            return Ok(wall);
        }
        READINGS_LEFT.set(MAX_READINGS);
        Ok(self.ticks.observe(wall))
    }
}

impl Clock for TickingClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        let left = READINGS_LEFT.get();
        if left == 0 || fork::process() != self.0.generation {
            return self.0.observe_wall_clock();
        }
        READINGS_LEFT.set(left - 1);
        Ok(self.0.ticks.now())
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        READINGS_LEFT.set(0);
        SystemClock.sleep(nanos)
    }

    fn info(&self) -> ClockInfo {
        INFO.resolution(self.0.interval)
    }

    fn monotonic(&self) -> Option<Duration> {
        SystemClock.monotonic()
    }
}
