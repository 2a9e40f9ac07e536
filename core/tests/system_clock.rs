//! Tests the system clock on this machine, which reads the CPU's counter where possible. The clock must be accurate and
//! never move backwards, in all threads and in child processes.
//!
//! `POLYFLAKE_SECONDS` sets the duration, and `POLYFLAKE_THREADS` sets the number of threads. With `--nocapture`, the tests
//! print histograms that show how far readings lag behind the exact time and behind another thread's readings.
#![cfg(all(feature = "std", not(miri)))]

use std::{
    collections::BTreeMap,
    env,
    sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use polyflake::{
    ErrorKind,
    clock::{Clock, ExactClock, Source, Stall, SystemClock},
    sno::Generator,
};

#[cfg(unix)]
#[allow(unsafe_code, reason = "fork, pipe and wait have no safe door")]
#[path = "forks/mod.rs"]
mod forks;
#[path = "support/separate_process.rs"]
mod separate_process;

const NANOS_PER_MS: i64 = 1_000_000;

fn test_duration() -> Duration {
    let given = env::var("POLYFLAKE_SECONDS").ok().map(|given| given.parse().unwrap());
    Duration::from_secs_f64(given.unwrap_or(0.3))
}

/// Returns the number of threads. By default, there are more threads than processors, so that some threads are preempted.
fn thread_count() -> usize {
    let given = env::var("POLYFLAKE_THREADS").ok().map(|given| given.parse().unwrap());
    given.unwrap_or_else(default_thread_count)
}

fn default_thread_count() -> usize {
    thread::available_parallelism().map_or(2, usize::from) + 2
}

fn now() -> i64 {
    SystemClock.unix_nanos().unwrap()
}

fn exact_unix_nanos() -> i64 {
    ExactClock.unix_nanos().unwrap()
}

/// The largest error allowed in a clock reading, in nanoseconds. The system clock uses the same limit for its lead over the
/// wall clock: it corrects any smaller lead gradually.
const MAX_ERROR_NANOS: i64 = NANOS_PER_MS / 8;

/// Maps each k to the number of values from 2^(k-1) up to, but excluding, 2^k nanoseconds.
type Histogram = BTreeMap<u32, u64>;

fn count(histogram: &mut Histogram, nanos: i64) {
    *histogram.entry(64 - nanos.max(0).leading_zeros()).or_default() += 1;
}

/// Runs `observe` in several threads until the test duration has elapsed, and returns the sum of their histograms.
fn run_in_threads(observe: impl Fn(&mut Histogram) + Sync) -> Histogram {
    let (start, is_over) = (Instant::now(), AtomicBool::new(false));
    let mut all = Histogram::new();
    thread::scope(|scope| {
        let work = || {
            let mut histogram = Histogram::new();
            while !is_over.load(Ordering::Relaxed) {
                (0..1000).for_each(|_| observe(&mut histogram));
            }
            histogram
        };
        let handles: Vec<_> = (0..thread_count()).map(|_| scope.spawn(work)).collect();
        while start.elapsed() < test_duration() {
            thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        for handle in handles {
            for (bits, times) in handle.join().unwrap() {
                *all.entry(bits).or_default() += times;
            }
        }
    });
    all
}

#[test]
fn readings_are_between_two_exact_readings() {
    let lags = run_in_threads(|lags| {
        let before = exact_unix_nanos();
        let reading = now();
        let after = exact_unix_nanos();
        assert!(
            (before - MAX_ERROR_NANOS..=after + MAX_ERROR_NANOS).contains(&reading),
            "{before} {reading} {after}"
        );
        count(lags, before - reading);
    });
    println!("{:?}: behind an exact reading before, 2^k ns: {lags:?}", SystemClock::source());
}

/// A reading that starts after another thread's reading has ended must not lag behind that reading by the clock's slack or
/// more. A smaller lag is possible because the clock reads the CPU's counter without a fence.
#[test]
fn readings_never_move_backwards_by_the_slack() {
    let latest = AtomicI64::new(0);
    let slack = i64::try_from(SystemClock.info().slack.as_nanos()).unwrap();
    let back = run_in_threads(|back| {
        let seen = latest.load(Ordering::Acquire);
        let reading = now();
        assert!(seen - reading < slack.max(1), "{seen} {reading}");
        count(back, seen - reading);
        latest.fetch_max(reading, Ordering::AcqRel);
    });
    println!("{:?}: behind another thread's, 2^k ns: {back:?}", SystemClock::source());
}

#[test]
fn a_threads_own_readings_never_decrease() {
    let back = run_in_threads(|back| {
        let first = now();
        let second = now();
        assert!(first <= second, "{first} {second}");
        count(back, second - first);
    });
    println!("{:?}: between two readings, 2^k ns: {back:?}", SystemClock::source());
}

#[test]
fn a_reading_after_a_sleep_is_current() {
    for nanos in [1_u64, 50_000, 2_000_000] {
        now();
        let before = exact_unix_nanos();
        SystemClock.sleep(nanos).unwrap();
        let reading = now();
        assert!(reading >= before && reading <= exact_unix_nanos() + MAX_ERROR_NANOS, "{nanos}");
    }
}

#[test]
fn a_shared_generator_never_sees_the_clock_move_backwards() {
    // With one partition, an ID is available every 61 ns on average, so the threads sometimes wait for the next tick.
    let behind = AtomicU64::new(0);
    let on_stall = |stall: &Stall| {
        behind.fetch_add((stall.reason == ErrorKind::ClockBehind).into(), Ordering::Relaxed);
    };
    let ids = Generator::builder().partition(7).on_stall(on_stall).build().unwrap();
    let made = run_in_threads(|made| {
        ids.generate(0).unwrap();
        count(made, 0);
    });
    println!("{:?}: {} IDs, no flip", SystemClock::source(), made[&0]);
    assert_eq!((ids.stats().unwrap().drifts, behind.load(Ordering::Relaxed)), (0, 0));
}

#[cfg(unix)]
#[test]
fn a_child_of_a_threaded_parent_reads_the_time() {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..thread_count() {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    now();
                }
            });
        }
        for _ in 0..50 {
            let is_right = || {
                let (before, reading, after) = (exact_unix_nanos(), now(), exact_unix_nanos());
                (before - MAX_ERROR_NANOS..=after + MAX_ERROR_NANOS).contains(&reading)
            };
            let work = || vec![u8::from((0..1000).all(|_| is_right()))];
            assert_eq!(forks::run_in_child_with(forks::fork_with_hooks, work), [1]);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

const EXPECTED_CLOCK_VARIABLE: &str = "POLYFLAKE_EXPECTED_CLOCK";

/// Runs in a separate process, because each process selects its clock source only once.
#[test]
fn the_environment_selects_the_clock_source() {
    if let Ok(expected) = env::var(EXPECTED_CLOCK_VARIABLE) {
        let slack = SystemClock.info().slack;
        assert_eq!(SystemClock::source().name(), expected);
        assert_eq!(!slack.is_zero(), SystemClock::source() == Source::Counter, "{slack:?}");
        assert!((now() - exact_unix_nanos()).abs() < 1000 * NANOS_PER_MS);
        return;
    }
    let has_counter = cfg!(all(
        target_os = "linux",
        target_pointer_width = "64",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ));
    let counter = if has_counter { "counter" } else { "system_call" };
    for (choice, expected) in [("exact", "system_call"), ("counter", counter)] {
        let variables = [("POLYFLAKE_CLOCK", choice), (EXPECTED_CLOCK_VARIABLE, expected)];
        separate_process::rerun_test("the_environment_selects_the_clock_source", &variables);
    }
}
