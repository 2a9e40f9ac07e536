//! How long calls wait, by a clock whose monotonic side is scripted, and who never waits.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

use polyflake::{
    Error, OnExhausted, Result,
    clock::Clock,
    hotguid::HotGuid,
    randflake::{self, Lease},
    sno::{self, Sno},
};

const MS: u64 = 1_000_000;
const T: i64 = 1_763_650_000_000;

/// A wall clock that stands still, and a monotonic one on which every sleep takes a multiple of what was asked.
struct Slow {
    wall: AtomicI64,
    passed: AtomicU64,
    factor: u64,
    /// How long a reading of the wall clock takes.
    reading: u64,
    /// How far the wall clock goes on at each reading.
    step: i64,
}

impl Slow {
    fn still(factor: u64) -> Self {
        let (wall, passed) = (AtomicI64::new(T * 1_000_000), AtomicU64::new(7));
        Self { wall, passed, factor, reading: 0, step: 0 }
    }
    fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed) - 7
    }
}

impl Clock for Slow {
    fn unix_nanos(&self) -> Result<i64> {
        self.passed.fetch_add(self.reading, Ordering::Relaxed);
        Ok(self.wall.fetch_add(self.step, Ordering::Relaxed))
    }
    fn sleep(&self, nanos: u64) -> Result<()> {
        self.passed.fetch_add(self.factor * nanos, Ordering::Relaxed);
        Ok(())
    }
    fn elapsed_nanos(&self) -> Option<u64> {
        Some(self.passed.load(Ordering::Relaxed))
    }
}

#[track_caller]
fn assert_code<T>(result: Result<T>, code: &str) -> Error {
    let Err(error) = result else { panic!("expected {code}, found an ID") };
    assert_eq!(error.code(), code);
    error
}

/// Four sequences of a tick, all of them used.
fn exhausted<C: Clock>(clock: C, max_wait: Duration) -> sno::Generator<C> {
    let ids = sno::Generator::builder().clock(clock).partition(7).sequence_max(3);
    let ids = ids.max_wait(max_wait).build().unwrap();
    ids.fill(0, &mut [Sno::default(); 4]).unwrap();
    ids
}

#[test]
fn a_wait_is_charged_what_passed_and_not_what_was_asked() {
    for (factor, most) in [(1, 60_000), (15, 1_000), (100, 50)] {
        let clock = Slow::still(factor);
        let ids = exhausted(&clock, Duration::from_millis(most));
        let error = assert_code(ids.generate(0), "sequence_exhausted");
        assert_eq!(error.retry_at(), Some(T + 4));
        let (passed, one_sleep) = (clock.passed(), factor * 4 * MS);
        assert!((most * MS..=most * MS + one_sleep).contains(&passed), "{passed} of {most} ms");
    }
}

#[test]
fn a_notice_says_how_long_the_call_has_slept() {
    let heard = std::sync::Mutex::new(Vec::new());
    let ids = sno::Generator::builder().clock(Slow::still(10)).partition(7).sequence_max(3);
    let ids = ids.max_wait(Duration::from_millis(100));
    let ids = ids.on_stall(|stall| heard.lock().unwrap().push(stall.ticks)).build().unwrap();
    assert_code(ids.fill(0, &mut [Sno::default(); 5]), "sequence_exhausted");
    assert_eq!(*heard.lock().unwrap(), [0, 40, 80]);
}

#[test]
fn lost_races_are_charged() {
    /// Makes an ID of its own generator at each reading, in an ever new tick: whoever asks loses.
    struct Meddler(Slow, std::sync::OnceLock<std::sync::Weak<sno::Generator<&'static Meddler>>>);
    impl Clock for &'static Meddler {
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
        fn elapsed_nanos(&self) -> Option<u64> {
            self.0.elapsed_nanos()
        }
    }
    let slow = Slow { reading: MS, step: 4_000_000, ..Slow::still(1) };
    let clock: &'static Meddler = Box::leak(Box::new(Meddler(slow, std::sync::OnceLock::new())));
    let ids = sno::Generator::builder().clock(clock).partition(7);
    let ids = std::sync::Arc::new(ids.max_wait(Duration::from_millis(50)).build().unwrap());
    clock.1.set(std::sync::Arc::downgrade(&ids)).unwrap();
    clock.0.wall.store(T * 1_000_000 / 8_000_000 * 8_000_000, Ordering::Relaxed);
    let error = assert_code(ids.generate(0), "clock_failed");
    assert!(clock.0.passed() < 120 * MS, "{error} after {} ns", clock.0.passed());
}

#[test]
fn on_exhausted_error_never_sleeps() {
    let clock = Slow::still(1);
    let ids = sno::Generator::builder().clock(&clock).partition(7).sequence_max(3);
    let ids = ids.on_exhausted(OnExhausted::Error).build().unwrap();
    ids.fill(0, &mut [Sno::default(); 4]).unwrap();
    assert_code(ids.generate(0), "sequence_exhausted");
    // Back in time, and then before the point up to which that is safe.
    clock.wall.store((T - 4000) * 1_000_000, Ordering::Relaxed);
    ids.generate(0).unwrap();
    clock.wall.store((T - 8000) * 1_000_000, Ordering::Relaxed);
    assert_eq!(assert_code(ids.generate(0), "clock_behind").retry_at(), Some(T - 4000));
    let lease = Lease::new(7, 1_730_000_000, 2_803_741_824).unwrap();
    let flakes = randflake::Generator::builder(lease, [7; 16]).clock(&clock);
    let flakes = flakes.on_exhausted(OnExhausted::Error).build().unwrap();
    flakes.generate().unwrap();
    clock.wall.store((T - 9000) * 1_000_000, Ordering::Relaxed);
    assert_code(flakes.generate(), "clock_behind");
    assert_eq!(clock.passed(), 0);
}

#[test]
fn every_family_waits_by_default() {
    let clock = Slow::still(1);
    let lease = Lease::new(7, 1_730_000_000, 2_803_741_824).unwrap();
    let flakes = randflake::Generator::builder(lease, [7; 16]).clock(&clock).build().unwrap();
    flakes.generate().unwrap();
    clock.wall.store((T - 9000) * 1_000_000, Ordering::Relaxed);
    assert_code(flakes.generate(), "clock_behind");
    assert_eq!(clock.passed(), 1000 * MS);
    let guids = polyflake::hotguid::Generator::builder().clock(&clock).build().unwrap();
    let error =
        assert_code(guids.fill(0, &mut vec![HotGuid::default(); 17_000_000]), "sequence_exhausted");
    assert_eq!((error.written(), clock.passed()), (Some(1 << 24), 2000 * MS));
}
