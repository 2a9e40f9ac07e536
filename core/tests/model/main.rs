//! Interleavings of threads on one generator, under clocks that go on, stand still and step back.
//!
//! Two checkers run the same models. loom goes through all interleavings within its reach, stale loads included:
//! `RUSTFLAGS="--cfg loom" cargo test -p polyflake --release --test model`. shuttle draws schedules at random, half of them by
//! priorities (PCT), and so reaches some that loom leaves out:
//! `RUSTFLAGS="--cfg shuttle" SHUTTLE_SCHEDULES=1000000 cargo test -p polyflake --release --test model`.
#![cfg(any(loom, shuttle))]

#[cfg(loom)]
#[path = "loom.rs"]
mod checker;
#[cfg(shuttle)]
#[path = "shuttle.rs"]
mod checker;

mod layout;
mod leases;
mod partitions;
mod per_tick;
mod sno;

use std::{fmt::Debug, num::NonZeroU32};

use checker::{Arc, AtomicUsize, Ordering, check, thread};
use polyflake::{Error, Result, clock::Clock};

/// A clock that gives the readings of a script, in Unix milliseconds, to the next thread that asks; the last reading stays.
struct Shared {
    unix_ms: Vec<i64>,
    read: AtomicUsize,
    slack_ms: u64,
}

impl Shared {
    fn new(unix_ms: impl IntoIterator<Item = i64>) -> Self {
        Self { unix_ms: unix_ms.into_iter().collect(), read: AtomicUsize::new(0), slack_ms: 0 }
    }

    /// The same clock, declaring that readings may lag by less than `slack_ms`.
    fn lagging(self, slack_ms: u64) -> Self {
        Self { slack_ms, ..self }
    }
}

impl Clock for Shared {
    fn unix_nanos(&self) -> Result<i64> {
        let index = self.read.fetch_add(1, Ordering::Relaxed).min(self.unix_ms.len() - 1);
        Ok(self.unix_ms[index] * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn slack_nanos(&self) -> u64 {
        self.slack_ms * 1_000_000
    }
}

/// A generator of any family.
trait Source: Send + Sync + 'static {
    type Id: Ord + Debug + Default + Copy + Send + 'static;

    /// Touches every atomic before there is a second thread: the model learns of an atomic at its first use.
    fn touch(&self);
    fn make(&self) -> Result<Self::Id>;
    fn fill(&self, ids: &mut [Self::Id]) -> Result<()>;
    /// Makes IDs out of blocks; the first block has two IDs.
    fn blocks(&self) -> impl FnMut() -> Result<Self::Id>;
}

const TWO: NonZeroU32 = NonZeroU32::new(2).unwrap();

fn enter_model<S: Source>(ids: S) -> Arc<S> {
    ids.touch();
    Arc::new(ids)
}

/// The IDs of `calls` calls; a call may be refused, but only for a reason that waiting would cure.
fn generate<S: Source>(ids: &S, calls: usize) -> Vec<S::Id> {
    collect(calls, || ids.make())
}

fn collect<I>(calls: usize, mut make: impl FnMut() -> Result<I>) -> Vec<I> {
    (0..calls).filter_map(|_| make().inspect_err(assert_refusable).ok()).collect()
}

fn assert_refusable(error: &Error) {
    let refusable = ["sequence_exhausted", "clock_behind", "generator_closed"];
    assert!(refusable.contains(&error.code()), "{error}");
}

#[track_caller]
fn assert_distinct<I: Ord + Debug>(mut all: Vec<I>) {
    let made = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), made, "an ID was given out twice");
}

/// Checks two threads with `calls` calls each, on one generator.
fn two_threads<S: Source>(
    preemptions: Option<usize>,
    calls: usize,
    build: impl Fn() -> S + Send + Sync + 'static,
) {
    check(preemptions, move || {
        let ids = enter_model(build());
        let other = ids.clone();
        let handle = thread::spawn(move || generate(&*other, calls));
        let mut all = generate(&*ids, calls);
        all.extend(handle.join().unwrap());
        assert_distinct(all);
    });
}

/// Checks a batch of three in one thread against single calls in another.
fn batch_against_singles<S: Source>(
    preemptions: Option<usize>,
    build: impl Fn() -> S + Send + Sync + 'static,
) {
    check(preemptions, move || {
        let ids = enter_model(build());
        let other = ids.clone();
        let handle = thread::spawn(move || {
            let mut batch = [S::Id::default(); 3];
            let written = other
                .fill(&mut batch)
                .map_or_else(|error| error.written().unwrap(), |()| batch.len());
            batch[..written].to_vec()
        });
        let mut all = generate(&*ids, 2);
        all.extend(handle.join().unwrap());
        assert_distinct(all);
    });
}

/// Checks a handle in one thread, which uses up a block and begins another, against single calls in another thread.
fn blocks_against_singles<S: Source>(
    preemptions: Option<usize>,
    build: impl Fn() -> S + Send + Sync + 'static,
) {
    check(preemptions, move || {
        let ids = enter_model(build());
        let other = ids.clone();
        let handle = thread::spawn(move || collect(3, other.blocks()));
        let mut all = generate(&*ids, 2);
        all.extend(handle.join().unwrap());
        assert_distinct(all);
    });
}
