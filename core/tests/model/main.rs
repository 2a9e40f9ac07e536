//! Models threads that share a generator, with clocks that advance, stop and move backwards.
//!
//! Two checkers run the same models. loom explores all interleavings within its bounds, including those in which a load
//! returns an outdated value: `RUSTFLAGS="--cfg loom" cargo test -p polyflake --release --test model`. shuttle runs random
//! schedules, half of them based on priorities (PCT), so it reaches some interleavings beyond loom's bounds:
//! `RUSTFLAGS="--cfg shuttle" SHUTTLE_SCHEDULES=1000000 cargo test -p polyflake --release --test model`.
#![cfg(any(loom, shuttle))]

#[cfg(loom)]
#[path = "loom.rs"]
mod checker;
#[cfg(shuttle)]
#[path = "shuttle.rs"]
mod checker;

#[path = "../support/family.rs"]
mod family;
mod layout;
mod leases;
mod partitions;
mod per_tick;
mod sno;

use std::{fmt::Debug, time::Duration};

use checker::{Arc, AtomicUsize, Ordering, check, thread};
use family::{AnyClock, AnyGenerator, AnyId};
use polyflake::{
    Result,
    clock::{Clock, ClockInfo},
};

/// A clock that returns scripted readings, in Unix milliseconds. The threads that read it share one script, and the last
/// reading repeats.
struct SharedReadingsClock {
    unix_ms: Vec<i64>,
    read: AtomicUsize,
    slack_ms: u64,
}

fn clock(unix_ms: impl IntoIterator<Item = i64>) -> AnyClock {
    lagging_clock(0, unix_ms)
}

/// Returns a clock that declares that its readings lag by less than `slack_ms`.
fn lagging_clock(slack_ms: u64, unix_ms: impl IntoIterator<Item = i64>) -> AnyClock {
    let (unix_ms, read) = (unix_ms.into_iter().collect(), AtomicUsize::new(0));
    std::sync::Arc::new(SharedReadingsClock { unix_ms, read, slack_ms })
}

impl Clock for SharedReadingsClock {
    fn unix_nanos(&self) -> Result<i64> {
        let index = self.read.fetch_add(1, Ordering::Relaxed).min(self.unix_ms.len() - 1);
        Ok(self.unix_ms[index] * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true).slack(Duration::from_millis(self.slack_ms))
    }
}

/// Returns the start of the given sno tick, in Unix milliseconds.
fn tick_to_ms(tick: i64) -> i64 {
    EPOCH_MS + 4 * tick
}

/// The start of sno's first tick.
const EPOCH_MS: i64 = 1_262_304_000_000;

fn register_with_model<I: AnyGenerator>(ids: I) -> Arc<I> {
    register_atomics(&ids);
    Arc::new(ids)
}

/// Accesses every atomic before a second thread exists, because loom registers an atomic at its first use.
fn register_atomics(ids: &impl AnyGenerator) {
    ids.stats();
    ids.extend_window(ids.window().1).ok();
}

/// Runs `here` in this thread and `there` in another thread, with the same generator.
fn run_concurrently<I: Send + Sync + 'static, A, B: Send + 'static>(
    ids: &Arc<I>,
    here: impl FnOnce(&I) -> A,
    there: impl FnOnce(&I) -> B + Send + 'static,
) -> (A, B) {
    let other = ids.clone();
    let thread = thread::spawn(move || there(&other));
    (here(ids), thread.join().unwrap())
}

/// Generates IDs one at a time. A call may fail, but only with an error after which a retry can succeed.
fn generate(ids: &impl AnyGenerator, calls: usize) -> Vec<AnyId> {
    collect(calls, &TEMPORARY_ERRORS, || ids.generate())
}

/// Works like `generate`, but uses a handle whose first block has two IDs.
fn generate_in_blocks(ids: &impl AnyGenerator, calls: usize) -> Vec<AnyId> {
    collect(calls, &TEMPORARY_ERRORS, ids.handle(2))
}

const TEMPORARY_ERRORS: [&str; 3] = ["sequence_exhausted", "clock_behind", "generator_closed"];

/// Makes `calls` calls and collects the IDs. A call may fail, but only with one of the given codes.
fn collect<I>(calls: usize, refusable: &[&str], mut make: impl FnMut() -> Result<I>) -> Vec<I> {
    let made = (0..calls).map(|_| make());
    made.filter_map(|made| {
        made.inspect_err(|error| assert!(refusable.contains(&error.code()), "{error}")).ok()
    })
    .collect()
}

#[track_caller]
fn assert_distinct<I: Ord + Debug>(all: impl IntoIterator<Item = I>) {
    let mut all: Vec<I> = all.into_iter().collect();
    let made = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), made, "an ID was given out twice");
}

/// Checks two threads that use the same generator in different ways.
fn check_concurrent_calls<I: AnyGenerator + 'static>(
    preemptions: Option<usize>,
    build: impl Fn() -> I + Send + Sync + 'static,
    here: impl Fn(&I) -> Vec<AnyId> + Send + Sync + 'static,
    there: impl Fn(&I) -> Vec<AnyId> + Copy + Send + Sync + 'static,
) {
    check(preemptions, move || {
        let (one, other) = run_concurrently(&register_with_model(build()), &here, there);
        assert_distinct([one, other].concat());
    });
}

/// Checks two threads that make `calls` calls each.
fn check_single_calls<I: AnyGenerator + 'static>(
    preemptions: Option<usize>,
    calls: usize,
    build: impl Fn() -> I + Send + Sync + 'static,
) {
    let work = move |ids: &I| generate(ids, calls);
    check_concurrent_calls(preemptions, build, work, work);
}

/// Checks that single calls in one thread and a batch of three IDs in another thread generate no duplicate IDs.
fn check_batch_against_single_calls<I: AnyGenerator + 'static>(
    preemptions: Option<usize>,
    build: impl Fn() -> I + Send + Sync + 'static,
) {
    check_concurrent_calls(preemptions, build, |ids| generate(ids, 2), |ids| ids.fill(3).0);
}

/// Checks that single calls in one thread and a handle in another thread generate no duplicate IDs. The handle uses up a
/// block and reserves the next block.
fn check_blocks_against_single_calls<I: AnyGenerator + 'static>(
    preemptions: Option<usize>,
    build: impl Fn() -> I + Send + Sync + 'static,
) {
    check_concurrent_calls(
        preemptions,
        build,
        |ids| generate(ids, 2),
        |ids| generate_in_blocks(ids, 3),
    );
}
