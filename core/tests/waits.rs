//! Tests how long calls wait, with a scripted monotonic clock.

#[path = "support/family.rs"]
mod family;
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use family::{FAMILIES, START_MS, exhaust_tick};
use polyflake::{
    Result,
    clock::{Clock, ClockInfo},
    sno::{self, Sno},
};
use support::assert_code;

const NANOS_PER_MS: u64 = 1_000_000;

/// A wall clock that does not advance, paired with a monotonic clock on which every sleep lasts a multiple of the requested
/// time.
struct SlowClock {
    wall: AtomicI64,
    passed: AtomicU64,
    sleeps: AtomicU64,
    factor: u64,
    /// How much time passes during a wall-clock reading.
    reading: u64,
    /// The amount by which the wall clock advances at each reading.
    step: i64,
}

impl SlowClock {
    fn stopped_clock(factor: u64) -> Self {
        let (wall, passed) = (AtomicI64::new(START_MS * 1_000_000), AtomicU64::new(7));
        Self { wall, passed, sleeps: AtomicU64::new(0), factor, reading: 0, step: 0 }
    }
    fn elapsed_nanos(&self) -> u64 {
        self.passed.load(Ordering::Relaxed) - 7
    }
}

impl Clock for SlowClock {
    fn unix_nanos(&self) -> Result<i64> {
        self.passed.fetch_add(self.reading, Ordering::Relaxed);
        Ok(self.wall.fetch_add(self.step, Ordering::Relaxed))
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.passed.fetch_add(self.factor * nanos, Ordering::Relaxed);
        self.sleeps.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    fn monotonic(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.passed.load(Ordering::Relaxed)))
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true)
    }
}

/// Returns a generator with four sequence numbers per tick, all of which are used in the current tick.
fn exhausted_generator<C: Clock>(clock: C, max_wait: Duration) -> sno::Generator<C> {
    let ids = sno::Generator::builder().clock(clock).partition(7).sequence_max(3);
    let ids = ids.max_wait(max_wait).build().unwrap();
    ids.fill(0, &mut [Sno::default(); 4]).unwrap();
    ids
}

#[test]
fn waits_count_the_elapsed_time() {
    for (factor, most) in [(1, 60_000), (15, 1_000), (100, 50)] {
        let clock = SlowClock::stopped_clock(factor);
        let ids = exhausted_generator(&clock, Duration::from_millis(most));
        let error = assert_code(ids.generate(0), "sequence_exhausted");
        assert_eq!(error.retry_at(), Some(START_MS + 4));
        let (passed, one_sleep) = (clock.elapsed_nanos(), factor * 4 * NANOS_PER_MS);
        assert!(
            (most * NANOS_PER_MS..=most * NANOS_PER_MS + one_sleep).contains(&passed),
            "{passed} of {most} ms"
        );
    }
}

/// Browsers may freeze the monotonic clock while a script runs, and tests may stop time. In that case, the requested sleep
/// durations count as the elapsed time, and the wait also ends after a limited number of equal wall-clock readings.
#[test]
fn a_frozen_monotonic_clock_is_ignored() {
    for (max_wait, most) in [(8, 2), (3_600_000, 17)] {
        let clock = SlowClock::stopped_clock(0);
        let ids = exhausted_generator(&clock, Duration::from_millis(max_wait));
        assert_code(ids.generate(0), "sequence_exhausted");
        let sleeps = clock.sleeps.load(Ordering::Relaxed);
        assert!((2..=most).contains(&sleeps), "{sleeps} sleeps in {max_wait} ms");
    }
}

#[test]
fn a_stall_reports_how_long_the_call_has_slept() {
    let heard = std::sync::Mutex::new(Vec::new());
    let ids =
        sno::Generator::builder().clock(SlowClock::stopped_clock(10)).partition(7).sequence_max(3);
    let ids = ids.max_wait(Duration::from_millis(100));
    let ids = ids.on_stall(|stall| heard.lock().unwrap().push(stall.slept_ms)).build().unwrap();
    assert_code(ids.fill(0, &mut [Sno::default(); 5]), "sequence_exhausted");
    assert_eq!(*heard.lock().unwrap(), [0, 40, 80]);
}

#[test]
fn lost_races_count_towards_max_wait() {
    /// A clock that, during each reading, makes an ID with the generator that requested the reading. Each of these IDs is
    /// in a new tick, so the caller loses every race.
    struct RacingClock(
        SlowClock,
        std::sync::OnceLock<std::sync::Weak<sno::Generator<&'static RacingClock>>>,
    );
    impl Clock for &'static RacingClock {
        fn unix_nanos(&self) -> Result<i64> {
            let now = self.0.unix_nanos()?;
            if now / 1_000_000 % 8 == 0
                && let Some(ids) = self.1.get().and_then(std::sync::Weak::upgrade)
            {
                ids.generate(0)?;
            }
            Ok(now)
        }
        fn sleep(&self, nanos: u64) -> Result<()> {
            self.0.sleep(nanos)
        }
        fn monotonic(&self) -> Option<Duration> {
            self.0.monotonic()
        }
        fn info(&self) -> ClockInfo {
            ClockInfo::new().for_tests(true)
        }
    }
    let slow = SlowClock { reading: NANOS_PER_MS, step: 4_000_000, ..SlowClock::stopped_clock(1) };
    let clock: &'static RacingClock =
        Box::leak(Box::new(RacingClock(slow, std::sync::OnceLock::new())));
    let ids = sno::Generator::builder().clock(clock).partition(7);
    let ids = Arc::new(ids.max_wait(Duration::from_millis(50)).build().unwrap());
    clock.1.set(Arc::downgrade(&ids)).unwrap();
    clock.0.wall.store(START_MS * 1_000_000 / 8_000_000 * 8_000_000, Ordering::Relaxed);
    let error = assert_code(ids.generate(0), "clock_failed");
    assert!(
        clock.0.elapsed_nanos() < 120 * NANOS_PER_MS,
        "{error} after {} ns",
        clock.0.elapsed_nanos()
    );
}

#[test]
fn every_format_waits_one_second_by_default() {
    for family in FAMILIES {
        let clock = Arc::new(SlowClock::stopped_clock(1));
        let ids = family.generator(clock.clone());
        exhaust_tick(&*ids, &family, 0);
        assert_code(ids.generate(), "sequence_exhausted");
        assert_eq!(clock.elapsed_nanos(), 1000 * NANOS_PER_MS, "{}", family.name);
    }
}

/// A clock that advances in steps, like the clock in browsers that resist fingerprinting.
struct SteppingClock {
    clock: SlowClock,
    step_ms: u64,
    spins: bool,
}

impl Clock for SteppingClock {
    fn unix_nanos(&self) -> Result<i64> {
        self.clock.unix_nanos()
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.clock.sleep(nanos)
    }
    fn monotonic(&self) -> Option<Duration> {
        self.clock.monotonic()
    }
    fn info(&self) -> ClockInfo {
        let mut info = ClockInfo::new().for_tests(true);
        (info.step, info.spins) = (Duration::from_millis(self.step_ms), self.spins);
        info
    }
}

#[test]
fn a_stepping_clock_is_retried_at_its_next_step() {
    for (spins, max_wait, passed) in [(false, 0, 0), (false, 50, 50), (true, 0, 0), (true, 50, 0)] {
        let ids = exhausted_generator(
            SteppingClock { clock: SlowClock::stopped_clock(1), step_ms: 100, spins },
            Duration::from_millis(max_wait),
        );
        let error = ids.generate(0).unwrap_err();
        assert_eq!((error.code(), error.retry_at()), ("sequence_exhausted", Some(START_MS + 100)));
        // A thread that cannot sleep does not busy-wait until the clock's next step.
        assert_eq!(ids.clock().clock.elapsed_nanos(), passed * NANOS_PER_MS);
        assert_eq!(error.to_string().contains("asynchronous"), spins && max_wait > 0, "{error}");
        assert_eq!(ids.try_generate(0).unwrap_err().retry_at(), Some(START_MS + 100));
    }
}

#[test]
fn a_retry_is_at_least_one_step_after_the_reading() {
    // The reading is a multiple of 4, 16 and 100 ms, but of none of the others.
    for step_ms in [1, 4, 16, 17, 33, 34, 100, 101] {
        let clock = SteppingClock { clock: SlowClock::stopped_clock(1), step_ms, spins: false };
        let ids = exhausted_generator(clock, Duration::ZERO);
        let retry_at = ids.generate(0).unwrap_err().retry_at().unwrap();
        let step = i64::try_from(step_ms).unwrap();
        // A sno's tick has 4 ms.
        assert!(retry_at >= START_MS + step.max(4), "{step_ms}: {}", retry_at - START_MS);
        assert!(retry_at < START_MS + 4 + 2 * step, "{step_ms}: {}", retry_at - START_MS);
    }
}
