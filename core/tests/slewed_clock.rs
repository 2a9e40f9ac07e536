//! Tests the system clock while the kernel slews it, as happens when a time daemon adjusts the clock. Readings follow the
//! slewed clock, and never go backwards within a thread.
//!
//! The test changes the clock rate of the host for a second at a time, which requires permission to set the time. The test
//! is ignored by default. To run it, use `cargo test --release -p polyflake --test slewed_clock -- --ignored --nocapture`.
#![cfg(all(feature = "std", target_os = "linux", not(miri)))]
#![allow(unsafe_code, reason = "the C library's adjtimex has no safe door")]

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

use polyflake::{
    ErrorKind,
    clock::{Clock, ExactClock, Stall, SystemClock},
    sno::Generator,
};

const NANOS_PER_MS: i64 = 1_000_000;
/// The duration of the kernel's tick, in microseconds, while the clock is not slewed.
const NOMINAL_TICK_MICROS: i64 = 10_000;

/// A guard for the kernel setting that changes the clock's rate. Dropping the guard restores the previous setting.
struct ClockRateGuard(libc::timex);

impl ClockRateGuard {
    /// Returns the current setting.
    fn from_current_rate() -> Self {
        // SAFETY: `timex` consists of integers, so all-zero bytes are valid. With `modes` set to 0, the call only reads.
        let mut timex: libc::timex = unsafe { std::mem::zeroed() };
        // SAFETY: `timex` is valid and writable.
        assert_ne!(unsafe { libc::adjtimex(&raw mut timex) }, -1, "expected to read the slew");
        Self(timex)
    }

    /// Makes the clock run faster by `millionths` parts per million, or slower if the number is negative.
    fn set_rate(&self, millionths: i64) {
        // Changing the length of the kernel's tick changes the clock rate in steps of 100 parts per million. The frequency
        // offset covers the remainder, in units of 1/65,536 of a part per million.
        let (ticks, rest) = (millionths / 100, millionths % 100);
        self.apply(NOMINAL_TICK_MICROS + ticks, rest << 16);
    }

    fn apply(&self, tick: i64, freq: i64) {
        let mut timex =
            libc::timex { modes: libc::ADJ_TICK | libc::ADJ_FREQUENCY, tick, freq, ..self.0 };
        // SAFETY: `timex` is valid and writable.
        let set = unsafe { libc::adjtimex(&raw mut timex) };
        assert_ne!(set, -1, "expected the right to slew the clock: {}", last_os_error());
    }
}

impl Drop for ClockRateGuard {
    fn drop(&mut self) {
        self.apply(self.0.tick, self.0.freq);
    }
}

fn last_os_error() -> std::io::Error {
    std::io::Error::last_os_error()
}

/// The observations of one thread during one second of readings.
#[derive(Debug, Default)]
struct Observations {
    readings: u64,
    /// Each reading is taken between two exact readings. `lag` is the largest amount by which a reading was behind the
    /// exact reading before it. `lead` is the largest amount by which a reading was ahead of the exact reading after it.
    /// Both are in nanoseconds.
    lag: i64,
    lead: i64,
    /// A histogram of the readings' errors. The error of a reading is the larger of its lag and its lead. Entry k counts
    /// the errors from 2^(k-1) up to but excluding 2^k ns, and entry 0 counts the readings without an error.
    histogram: BTreeMap<u32, u64>,
}

impl Observations {
    /// Reads the clock until `is_over` is set. Asserts that this thread's readings never go backwards.
    fn observe_until(is_over: &AtomicBool) -> Self {
        let (mut seen, mut last) = (Self::default(), i64::MIN);
        while !is_over.load(Ordering::Relaxed) {
            let before = ExactClock.unix_nanos().unwrap();
            let reading = SystemClock.unix_nanos().unwrap();
            let after = ExactClock.unix_nanos().unwrap();
            assert!(reading >= last, "{last} {reading}");
            last = reading;
            seen.count(before - reading, reading - after);
        }
        seen
    }

    fn count(&mut self, lag: i64, lead: i64) {
        self.readings += 1;
        (self.lag, self.lead) = (self.lag.max(lag), self.lead.max(lead));
        *self.histogram.entry(64 - lag.max(lead).max(0).leading_zeros()).or_default() += 1;
    }

    fn merge(mut self, other: Self) -> Self {
        self.readings += other.readings;
        (self.lag, self.lead) = (self.lag.max(other.lag), self.lead.max(other.lead));
        for (bits, times) in other.histogram {
            *self.histogram.entry(bits).or_default() += times;
        }
        self
    }
}

/// Observes readings in two threads for `time`, while a third thread generates IDs.
fn observe_readings(time: Duration, ids: &Generator<impl Clock + Sync>) -> Observations {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(|| Observations::observe_until(&is_over)));
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                ids.generate(0).unwrap();
            }
        });
        thread::sleep(time);
        is_over.store(true, Ordering::Relaxed);
        let seen = readers.map(|reader| reader.join().unwrap());
        seen.into_iter().fold(Observations::default(), Observations::merge)
    })
}

#[test]
#[ignore = "changes the rate of the machine's clock"]
fn readings_follow_a_slew_without_moving_backwards() {
    let slew = ClockRateGuard::from_current_rate();
    let behind = AtomicU64::new(0);
    let on_stall = |stall: &Stall| {
        behind.fetch_add((stall.reason == ErrorKind::ClockBehind).into(), Ordering::Relaxed);
    };
    let ids = Generator::builder().partition(7).on_stall(on_stall).build().unwrap();
    // Each slew is followed by its opposite, so that the clock ends up as accurate as before.
    for millionths in [0, 50, -50, 500, -500, 10_000, -10_000, 100_000, -100_000] {
        // The slew is reset to zero in between, because a direct change from the largest slew to its opposite would exceed
        // the tolerance for readings.
        slew.set_rate(0);
        thread::sleep(Duration::from_millis(20));
        slew.set_rate(millionths);
        let seen = observe_readings(Duration::from_secs(1), &ids);
        println!("{millionths} millionths, by {}: {seen:?}", SystemClock::source().name());
        // The limit is the amount by which the slew can move the clock in the millisecond before the next anchor, plus a
        // few microseconds for interrupted readings.
        let most = millionths.abs() * NANOS_PER_MS / 1_000_000 * 5 / 4 + 10_000;
        assert!(seen.lag <= most && seen.lead <= most, "{millionths}: {most} {seen:?}");
    }
    assert_eq!((ids.stats().unwrap().drifts, behind.load(Ordering::Relaxed)), (0, 0));
}
