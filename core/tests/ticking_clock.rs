//! Tests a clock that a background thread keeps up to date. A reading returns the time of the last tick, or the wall-clock
//! time if the background thread may not have ticked. A reading is never earlier than a reading that another thread has
//! shared.
//!
//! Most of these tests use clocks that tick once a second, so no tick happens during a test. `POLYFLAKE_SECONDS` sets how
//! long threads race.
#![cfg(all(feature = "std", not(miri)))]

use std::{
    env,
    sync::atomic::{AtomicI64, Ordering},
    thread,
    time::{Duration, Instant},
};

use polyflake::{
    clock::{Clock, ExactClock, TickingClock},
    sno::{Generator, Handle, Sno},
};

#[cfg(unix)]
#[allow(unsafe_code, reason = "fork, pipe and wait have no safe door")]
#[path = "forks/mod.rs"]
mod forks;
#[cfg(target_os = "linux")]
#[path = "support/separate_process.rs"]
mod separate_process;

/// The length of a pause in the tests, in nanoseconds. The clock is not expected to tick during the pause.
const PAUSE_NANOS: u32 = 20_000_000;
const PAUSE: Duration = Duration::from_nanos(PAUSE_NANOS as u64);

/// Returns a clock that rarely ticks, and this thread's first reading of that clock.
fn slow_clock() -> (TickingClock, i64) {
    let clock = TickingClock::new(Duration::from_secs(1)).unwrap();
    let first = clock.unix_nanos().unwrap();
    (clock, first)
}

fn wall_nanos() -> i64 {
    ExactClock.unix_nanos().unwrap()
}

#[test]
fn a_reading_returns_the_last_tick() {
    let (clock, first) = slow_clock();
    thread::sleep(PAUSE);
    let again = clock.unix_nanos().unwrap();
    let passed = Duration::from_nanos((wall_nanos() - first).unsigned_abs());
    assert!(passed > Duration::from_millis(900) || again == first, "{first} {again}");
}

#[test]
fn the_clock_advances_by_itself() {
    let clock = TickingClock::new(Duration::from_millis(1)).unwrap();
    let (first, since) = (clock.unix_nanos().unwrap(), Instant::now());
    while clock.unix_nanos().unwrap() == first {
        assert!(since.elapsed() < Duration::from_secs(10), "expected a tick");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_busy_reader_reads_the_wall_clock_if_nothing_ticks() {
    let (clock, first) = slow_clock();
    thread::sleep(PAUSE);
    let readings = (0..=4096).map(|_| clock.unix_nanos().unwrap());
    assert!(readings.into_iter().any(|reading| reading >= first + i64::from(PAUSE_NANOS)));
}

#[test]
fn a_reading_after_a_sleep_reads_the_wall_clock() {
    let (clock, first) = slow_clock();
    clock.sleep(PAUSE_NANOS.into()).unwrap();
    assert!(clock.unix_nanos().unwrap() >= first + i64::from(PAUSE_NANOS));
}

#[test]
fn a_wall_clock_reading_is_shared_with_all_threads() {
    let (clock, _) = slow_clock();
    thread::sleep(PAUSE);
    let looked = thread::scope(|scope| {
        scope.spawn(|| clock.unix_nanos().unwrap()).join().unwrap() // the thread's first reading
    });
    assert!(clock.unix_nanos().unwrap() >= looked);
}

/// A child process does not have the background thread, so it reads the wall clock.
#[cfg(unix)]
#[test]
fn a_child_reads_the_wall_clock() {
    let (clock, first) = slow_clock();
    for fork in [Some(forks::fork_with_hooks as forks::Fork), forks::fork_without_hooks()]
        .into_iter()
        .flatten()
    {
        let work = || {
            let is_right = |_| {
                let (before, reading) = (wall_nanos(), clock.unix_nanos().unwrap());
                (before..=wall_nanos()).contains(&reading)
            };
            vec![u8::from((0..1000).all(is_right))]
        };
        assert_eq!(forks::run_in_child_with(fork, work), [1]);
    }
    assert!(first <= wall_nanos());
}

/// The test runs more threads than there are processors. The threads read as fast as they can, and share each reading.
#[test]
fn no_reading_precedes_one_shared_between_threads() {
    let seconds = env::var("POLYFLAKE_SECONDS").ok().map(|given| given.parse().unwrap());
    let (time, told) = (Duration::from_secs_f64(seconds.unwrap_or(0.3)), AtomicI64::new(0));
    let clock = TickingClock::new(Duration::from_micros(50)).unwrap();
    let race = || {
        let since = Instant::now();
        while since.elapsed() < time {
            for _ in 0..1000 {
                let before = told.load(Ordering::Acquire);
                let reading = clock.unix_nanos().unwrap();
                assert!(reading >= before, "{} ns", before - reading);
                told.fetch_max(reading, Ordering::AcqRel);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(2, usize::from) + 2;
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(race))));
}

/// Counts this process's clock threads by their name. The system truncates thread names to 15 bytes.
#[cfg(target_os = "linux")]
fn count_clock_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names =
        tasks.map(|task| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default());
    names.filter(|name| name.starts_with("polyflake-clock")).count()
}

/// Runs in a separate process, in which no other test creates a clock.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_ends_with_the_last_clone() {
    separate_process::run_in_separate_process(&[], || {
        let clock = TickingClock::new(Duration::from_millis(1)).unwrap();
        let clone = clock.clone();
        drop(clock);
        thread::sleep(PAUSE);
        assert_eq!(count_clock_threads(), 1);
        drop(clone);
        let since = Instant::now();
        while count_clock_threads() > 0 {
            assert!(since.elapsed() < Duration::from_secs(10), "expected that the thread ends");
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Generates more IDs than fit in a few ticks, so that some calls wait.
#[test]
fn threads_never_repeat_an_id() {
    const READINGS: usize = 100_000;
    let clock = TickingClock::new(Duration::from_millis(1)).unwrap();
    let ids = Generator::builder().partition(42).clock(clock).build().unwrap();
    let one_by_one = || (0..READINGS).map(|_| ids.generate(7).unwrap()).collect::<Vec<Sno>>();
    let by_handle = || {
        let mut handle = Handle::new(&ids);
        (0..READINGS).map(|_| handle.generate(7).unwrap()).collect::<Vec<Sno>>()
    };
    let mut all: Vec<Sno> = thread::scope(|scope| {
        let threads = [scope.spawn(one_by_one), scope.spawn(one_by_one), scope.spawn(by_handle)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 3 * READINGS);
}

#[test]
fn out_of_range_intervals_are_rejected() {
    let error = |interval| TickingClock::new(interval).unwrap_err();
    for interval in [
        Duration::ZERO,
        Duration::from_nanos(9_999),
        Duration::from_nanos(1_000_000_001),
        Duration::MAX,
    ] {
        let error = error(interval);
        assert_eq!((error.code(), error.field()), ("out_of_range", Some("interval")));
    }
    let clock = TickingClock::new(Duration::from_millis(5)).unwrap();
    let coarse = Generator::builder().partition(42).clock(clock).build();
    assert_eq!(coarse.unwrap_err().code(), "out_of_range"); // sno's tick is 4 ms
}
