//! A clock that starts at a given time and runs faster than real time, so that ticks pass before a process is killed.

use std::{
    thread,
    time::{Duration, Instant},
};

use polyflake::{Result, clock::Clock};

#[derive(Clone, Copy)]
pub(crate) struct FastClock {
    started: Instant,
    from_ms: i64,
    speed: u32,
}

impl FastClock {
    /// Creates a clock that currently shows `from_ms`.
    pub(crate) fn new(from_ms: i64, speed: u32) -> Self {
        Self { started: Instant::now(), from_ms, speed }
    }

    pub(crate) fn unix_ms(&self) -> i64 {
        self.nanos() / 1_000_000
    }

    fn nanos(&self) -> i64 {
        let passed = self.started.elapsed() * self.speed;
        self.from_ms * 1_000_000 + i64::try_from(passed.as_nanos()).expect("less than 292 years")
    }

    /// Returns the number of milliseconds by which this clock advances during a span of real time.
    pub(crate) fn scaled_ms(&self, span: Duration) -> i64 {
        i64::try_from((span * self.speed).as_millis()).expect("a short span")
    }

    /// Waits until the clock reaches a time.
    pub(crate) fn wait_until(&self, unix_ms: i64) {
        let left = Duration::from_millis((unix_ms - self.unix_ms()).max(0).cast_unsigned());
        thread::sleep(left / self.speed);
    }
}

impl Clock for FastClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.nanos())
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        thread::sleep(Duration::from_nanos(nanos) / self.speed);
        Ok(())
    }
}
