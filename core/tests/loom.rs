//! Every interleaving of threads on one generator, under clocks that go on, stand still and step back.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p polyflake --release --test loom`.
#![cfg(loom)]

use std::time::Duration;

use loom::{
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use polyflake::{
    Result,
    clock::Clock,
    sno::{Generator, Sno},
};

const EPOCH_MS: i64 = 1_262_304_000_000;

/// Gives the readings of a script to whichever thread asks next; the last one stays. The very first reading goes to
/// [`enter_model`].
struct Shared {
    ticks: &'static [i64],
    read: AtomicUsize,
}

impl Clock for Shared {
    fn unix_nanos(&self) -> Result<i64> {
        let index =
            self.read.fetch_add(1, Ordering::Relaxed).saturating_sub(1).min(self.ticks.len() - 1);
        Ok((EPOCH_MS + 4 * self.ticks[index]) * 1_000_000)
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
}

type Ids = Generator<Shared>;

fn generator(ticks: &'static [i64]) -> Arc<Ids> {
    let clock = Shared { ticks, read: AtomicUsize::new(0) };
    let builder = Generator::builder().clock(clock).partition(7).sequence_min(0).sequence_max(3);
    enter_model(builder.max_wait(Duration::ZERO).build().unwrap())
}

/// Touches every atomic before there is a second thread: the model learns of them at their first use.
fn enter_model(ids: Ids) -> Arc<Ids> {
    ids.stats().unwrap();
    ids.window();
    Arc::new(ids)
}

/// As many IDs as the calls got; a call may be refused, but only for one of the reasons that waiting would cure.
fn generate(ids: &Ids, calls: usize) -> Vec<Sno> {
    let refusable = ["sequence_exhausted", "clock_behind", "generator_closed"];
    let checked = |result: Result<Sno>| {
        result.inspect_err(|error| assert!(refusable.contains(&error.code()), "{error}"))
    };
    (0..calls).filter_map(|_| checked(ids.generate(0)).ok()).collect()
}

#[track_caller]
fn assert_distinct(mut all: Vec<Sno>) {
    let made = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), made, "an ID was given out twice");
}

/// Two threads with `calls` calls each, over one script.
fn two_threads(preemptions: Option<usize>, calls: usize, ticks: &'static [i64]) {
    let mut model = Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let ids = generator(ticks);
        let other = ids.clone();
        let handle = thread::spawn(move || generate(&other, calls));
        let mut all = generate(&ids, calls);
        all.extend(handle.join().unwrap());
        assert_distinct(all);
    });
}

#[test]
fn two_threads_two_calls_in_one_tick() {
    two_threads(None, 2, &[100]);
}

#[test]
fn two_threads_two_calls_as_time_goes_on() {
    two_threads(None, 2, &[100, 101, 101, 102]);
}

#[test]
fn two_threads_two_calls_as_the_clock_steps_back() {
    two_threads(Some(3), 2, &[100, 50, 50, 100, 101]);
}

#[test]
fn two_threads_two_calls_as_the_clock_steps_back_twice() {
    two_threads(Some(3), 2, &[100, 50, 120, 110, 110]);
}

#[test]
fn two_threads_three_calls_on_an_unsteady_clock() {
    two_threads(Some(3), 3, &[100, 99, 101, 100, 102, 98]);
}

#[test]
fn batches_against_single_calls() {
    loom::model(|| {
        let ids = generator(&[100, 100, 101]);
        let other = ids.clone();
        let handle = thread::spawn(move || {
            let mut batch = [Sno::default(); 3];
            let written = other
                .fill(0, &mut batch)
                .map_or_else(|error| error.written().unwrap(), |()| batch.len());
            batch[..written].to_vec()
        });
        let mut all = generate(&ids, 2);
        all.extend(handle.join().unwrap());
        assert_distinct(all);
    });
}

#[test]
fn nothing_is_made_after_close() {
    loom::model(|| {
        let ids = generator(&[100, 100, 101]);
        let other = ids.clone();
        let handle = thread::spawn(move || generate(&other, 2));
        let snapshot = ids.close().unwrap();
        let made = handle.join().unwrap();
        assert_eq!(ids.generate(0).unwrap_err().code(), "generator_closed");
        let clock = Shared { ticks: &[100, 101], read: AtomicUsize::new(0) };
        let again =
            Generator::builder().clock(clock).max_wait(Duration::ZERO).restore(snapshot).unwrap();
        let mut all = generate(&again, 2);
        all.extend(made);
        assert_distinct(all);
    });
}
