//! Clocks that run fast enough to keep generators from ever reaching a format's limit (sno: 65,536 IDs in 4 ms; Randflake:
//! 131,072 in a second; UUID v7: at least 131,072 in a millisecond).

use std::{
    cell::Cell,
    sync::atomic::{AtomicI64, Ordering},
};

use polyflake::{
    Result,
    clock::{Clock, SystemClock},
};

/// Duration of a sno tick, in nanoseconds.
const TICK: i64 = 4_000_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;

/// A clock that gets further ahead of another clock with every reading. Only a single thread may use it.
pub(crate) struct RunawayClock<C = SystemClock> {
    clock: C,
    ahead: Cell<i64>,
    step: i64,
}

impl RunawayClock {
    /// Creates a clock with 4 ms ticks for calls that generate `batch` IDs each. At most 32,768 IDs share a tick, half of
    /// sno's limit.
    pub(crate) const fn for_batch_size(batch: u32) -> Self {
        Self::with_step(SystemClock, batch as i64 * TICK / 32_768)
    }

    /// Creates a clock with millisecond ticks for calls that generate `batch` IDs each. At most 65,536 IDs share a tick,
    /// half of what a UUID v7 generator can generate in any millisecond.
    pub(crate) const fn with_millisecond_ticks(batch: u32) -> Self {
        Self::with_step(SystemClock, batch as i64 * MILLISECOND / 65_536)
    }

    /// Creates a clock with one-second ticks for calls that generate `batch` IDs each. At most 65,536 IDs share a tick,
    /// within every format's limit.
    pub(crate) const fn with_second_ticks(batch: u32) -> Self {
        Self::with_step(SystemClock, batch as i64 * SECOND / 65_536)
    }
}

impl<C> RunawayClock<C> {
    /// Creates a clock with 4 ms ticks for calls that generate one ID each.
    pub(crate) const fn for_single_ids(clock: C) -> Self {
        Self::with_step(clock, TICK / 32_768)
    }

    const fn with_step(clock: C, step: i64) -> Self {
        Self { clock, ahead: Cell::new(0), step }
    }
}

impl<C: Clock> Clock for RunawayClock<C> {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        let ahead = self.ahead.get() + self.step;
        self.ahead.set(ahead);
        Ok(self.clock.unix_nanos()? + ahead)
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.clock.sleep(nanos)
    }
}

/// The system clock, sped up by a factor of 64, so that a 4 ms tick lasts 62.5 us. Threads share this clock without writing
/// to it.
pub(crate) struct AcceleratedClock {
    start: i64,
}

impl AcceleratedClock {
    const SPEED_FACTOR: i64 = 64;

    pub(crate) fn new() -> Self {
        Self { start: SystemClock.unix_nanos().expect("a working clock") }
    }
}

impl Clock for AcceleratedClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.start + (SystemClock.unix_nanos()? - self.start) * Self::SPEED_FACTOR)
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        SystemClock.sleep(nanos / Self::SPEED_FACTOR.unsigned_abs())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}

thread_local! {
    static READINGS: Cell<u32> = const { Cell::new(0) };
}

/// A clock that is independent of real time: it advances by one tick after every `readings` readings by all threads
/// combined.
pub(crate) struct SyntheticClock {
    now: AtomicI64,
    tick_nanos: i64,
    readings: u32,
}

impl SyntheticClock {
    /// Creates a clock with 4 ms ticks for calls that generate `batch` IDs each.
    pub(crate) const fn for_batches(batch: u32) -> Self {
        Self::with_ticks(TICK, batch)
    }

    /// Creates a clock with millisecond ticks for calls that generate `batch` IDs each.
    pub(crate) const fn with_millisecond_ticks(batch: u32) -> Self {
        Self::with_ticks(MILLISECOND, batch)
    }

    /// Creates a clock with one-second ticks for calls that generate `batch` IDs each.
    pub(crate) const fn with_second_ticks(batch: u32) -> Self {
        Self::with_ticks(SECOND, batch)
    }

    const fn with_ticks(tick_nanos: i64, batch: u32) -> Self {
        let now = AtomicI64::new(1_763_650_000_000_000_000);
        Self { now, tick_nanos, readings: 8192 / batch }
    }
}

impl Clock for SyntheticClock {
    #[inline]
    fn unix_nanos(&self) -> Result<i64> {
        let readings = READINGS.get() + 1;
        if readings < self.readings {
            READINGS.set(readings);
            return Ok(self.now.load(Ordering::Relaxed));
        }
        READINGS.set(0);
        Ok(self.now.fetch_add(self.tick_nanos, Ordering::Relaxed) + self.tick_nanos)
    }
    fn sleep(&self, _nanos: u64) -> Result<()> {
        self.now.fetch_add(self.tick_nanos, Ordering::Relaxed);
        Ok(())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}
