//! A clock that a thread of its own keeps: a reading is one load.

use core::{cell::Cell, time::Duration};
use std::{
    sync::{Arc, Weak},
    thread,
};

use polyflake_clock::Ticks;

use super::{Clock, SystemClock, system};
use crate::{Error, ErrorKind, Result, fork};

/// The shortest and the longest interval, in nanoseconds.
const INTERVALS: (u64, u64) = (10_000, 1_000_000_000);

/// Number of readings of a thread before it looks at the wall clock itself, so that a thread that stopped ticking is noticed.
const READINGS: u32 = 4096;

std::thread_local! {
    /// Number of readings of ticks that this thread may take before it looks at the wall clock.
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// The wall clock as a thread of this clock last saw it: the cheapest reading there is, for programs that make many millions of IDs a
/// second one by one.
///
/// Its costs:
/// - The thread wakes up once an interval, as long as a clone of the clock lives.
/// - A reading is as late as the interval, and later without bound while that thread gets no processor or the machine is suspended. So
///   each thread looks at the wall clock itself once in 4,096 readings, and after each wait.
/// - After a step back of the wall clock readings stay ahead until the next tick, or for 10 ms if the step is shorter than that.
/// - In a child of a fork, which has no such thread, each reading is a look at the wall clock.
///
/// A generator checks each tick as under every clock, so none of this repeats an ID. It refuses an interval longer than its tick.
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
pub struct TickingClock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    ticks: Ticks,
    /// The process that has the thread.
    epoch: u32,
    interval: u64,
}

impl TickingClock {
    /// A clock that ticks once an interval.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use polyflake::clock::{Clock, TickingClock};
    ///
    /// let clock = TickingClock::new(Duration::from_millis(1))?;
    /// assert_eq!(clock.resolution_nanos(), 1_000_000);
    /// assert_eq!(TickingClock::new(Duration::ZERO).unwrap_err().code(), "out_of_range");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// `out_of_range` for an interval shorter than 10 microseconds or longer than a second; `clock_failed` if the system has no thread
    /// or no time; `forked` if it has no way to notice forks.
    pub fn new(interval: Duration) -> Result<Self> {
        let (least, most) = INTERVALS;
        let nanos = interval.as_nanos();
        if !(u128::from(least)..=u128::from(most)).contains(&nanos) {
            let found = i128::try_from(nanos).unwrap_or(i128::MAX);
            return Err(Error::out_of_range("interval", found, least.into(), most.into()));
        }
        fork::prepare()?;
        let ticks = Ticks::new(system::exact()?);
        let epoch = fork::process();
        let shared =
            Arc::new(Shared { ticks, epoch, interval: u64::try_from(nanos).unwrap_or(most) });
        let weak = Arc::downgrade(&shared);
        let thread = thread::Builder::new().name("polyflake-clock".into());
        thread.spawn(move || tick(&weak, interval)).map_err(|error| {
            let reason = "expected a thread for the clock, found none";
            Error::because(ErrorKind::ClockFailed, reason).with_source(error)
        })?;
        Ok(Self(shared))
    }
}

/// Ticks until nobody has the clock.
fn tick(shared: &Weak<Shared>, interval: Duration) {
    loop {
        thread::sleep(interval);
        let Some(shared) = shared.upgrade() else { return };
        // If the wall clock fails, readings are late until threads look themselves and get the error.
        let _ = shared.ticks.tick(system::exact);
    }
}

impl Shared {
    #[cold]
    #[inline(never)]
    fn look_here(&self) -> Result<i64> {
        let wall = system::exact()?;
        if fork::process() != self.epoch {
            return Ok(wall);
        }
        LEFT.set(READINGS);
        Ok(self.ticks.look(wall))
    }
}

impl Clock for TickingClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        let left = LEFT.get();
        if left == 0 || fork::epoch() != self.0.epoch {
            return self.0.look_here();
        }
        LEFT.set(left - 1);
        Ok(self.0.ticks.now())
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        LEFT.set(0);
        SystemClock.sleep(nanos)
    }

    fn elapsed_nanos(&self) -> Option<u64> {
        SystemClock.elapsed_nanos()
    }

    fn resolution_nanos(&self) -> u64 {
        self.0.interval
    }

    fn skips_first_tick(&self) -> bool {
        true
    }
}
