//! A clock, shared by all threads, that stalls and jumps at random.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicI64, Ordering},
};

use polyflake::{Result, clock::Clock};

/// A clock with a limited number of ticks, so that a bitmap can cover all of them. It stalls for long periods, sometimes
/// advances by one tick, sometimes jumps forward or backward, and sometimes returns an incorrect tick to a single caller.
pub(crate) struct ChaosClock {
    tick: AtomicI64,
    /// The latest tick that any caller has read.
    latest: AtomicI64,
    last: i64,
    tick_ms: i64,
    start_ms: i64,
}

thread_local! {
    static RANDOM: RefCell<fastrand::Rng> = RefCell::new(fastrand::Rng::new());
}

/// The exclusive upper bound of the random number that selects an event at each clock reading. The bound is large, so that
/// events are rare and a tick sometimes lasts long enough to be exhausted.
const READINGS: u32 = 1 << 20;

impl ChaosClock {
    /// Creates a clock that starts at `start_ms` and has `ticks` ticks of `tick_ms` milliseconds each.
    pub(crate) fn new(start_ms: i64, tick_ms: i64, ticks: i64) -> Self {
        let (tick, latest) = (AtomicI64::new(100), AtomicI64::new(0));
        Self { tick, latest, last: ticks - 1, tick_ms, start_ms }
    }

    /// Advances by one tick.
    pub(crate) fn advance(&self) {
        self.tick.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the latest tick that any caller has read.
    pub(crate) fn latest(&self) -> u64 {
        self.latest.load(Ordering::Relaxed).cast_unsigned()
    }

    fn read(&self, random: &mut fastrand::Rng) -> i64 {
        let now = self.tick.load(Ordering::Relaxed);
        match random.u32(..READINGS) {
            0..8 => self.tick.fetch_add(1, Ordering::Relaxed),
            8..10 => self.tick.fetch_add(random.i64(1..8), Ordering::Relaxed),
            10..12 => self.tick.fetch_sub(random.i64(1..32), Ordering::Relaxed),
            12..28 => now - random.i64(0..4),
            28..44 => now + 1,
            _ => now,
        }
    }

    /// Records a clock reading. Few readings exceed `latest`, so `latest` is loaded first and updated only if necessary.
    fn record(&self, tick: i64) {
        if tick > self.latest.load(Ordering::Relaxed) {
            self.latest.fetch_max(tick, Ordering::Relaxed);
        }
    }
}

impl Clock for ChaosClock {
    fn unix_nanos(&self) -> Result<i64> {
        let tick = RANDOM.with_borrow_mut(|random| self.read(random)).clamp(0, self.last);
        self.record(tick);
        Ok((self.start_ms + tick * self.tick_ms) * 1_000_000)
    }

    /// Advances the clock by one tick instead of sleeping.
    fn sleep(&self, _nanos: u64) -> Result<()> {
        self.advance();
        Ok(())
    }
    fn info(&self) -> polyflake::clock::ClockInfo {
        polyflake::clock::ClockInfo::new().for_tests(true)
    }
}
