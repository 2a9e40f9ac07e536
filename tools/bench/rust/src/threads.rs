//! Throughput by number of threads: one generator shared by all threads, one handle per thread, and peers.

use std::{
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use polyflake::{clock::Clock, sno::Generator};
use uuid::Uuid;

use crate::{
    clocks::AcceleratedClock,
    contest::{Comparison, Entry, EntryKey, Goal},
    peers::{FERROID, Ferroid, SystemMillis},
    samples::sno,
    team::{ThreadWork, sizes, team_work, thread_work},
};

const HANDLES: &str = "sno, a handle for each thread";
const SHARED_GENERATOR: &str = "sno, one generator";

/// Returns the comparison in which every ID requires a separate reading of the system clock.
pub(crate) fn clock_reading_comparison() -> Comparison {
    let ferroid = Arc::new(Ferroid::new(0, SystemMillis));
    let poll = move || {
        let ids = ferroid.clone();
        thread_work(move || ids.next_id(|_| spin_loop()))
    };
    let word = Arc::new(AtomicU64::new(0));
    let swap = move || {
        let word = word.clone();
        thread_work(move || {
            word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| Some(word + 1))
        })
    };
    let peers = entries_by_size(FERROID, false, poll)
        .chain(entries_by_size("uuid v7, fast-rng", false, || thread_work(Uuid::now_v7)))
        .chain(entries_by_size("compare-and-swap of one word alone", false, swap));
    Comparison {
        name: "rust: threads",
        axis: Some("threads"),
        entries: own_entries(AcceleratedClock::new).chain(peers).collect(),
        goals: vec![scaling_goal("rust: two threads, a handle each", 1.6)],
    }
}

/// Returns the goal that two threads reach `times` times the throughput of one thread. The goal's ratio is the reciprocal
/// of `times`, because a goal compares the time per ID.
fn scaling_goal(name: &'static str, times: f64) -> Goal {
    Goal::new(name, EntryKey(HANDLES, Some(2)), EntryKey(HANDLES, Some(1)), 1.0 / times)
}

fn own_entries<C: Clock + Send + Sync + 'static>(clock: fn() -> C) -> impl Iterator<Item = Entry> {
    let shared = move || {
        let ids: &'static Generator<C> = Box::leak(Box::new(sno(clock())));
        move || thread_work(move || ids.generate(1).expect("a clock"))
    };
    let handles = move || {
        let ids: &'static Generator<C> = Box::leak(Box::new(sno(clock())));
        move || {
            let mut ids = ids.handle();
            thread_work(move || ids.generate(1).expect("a clock"))
        }
    };
    entries_by_size(SHARED_GENERATOR, true, shared()).chain(entries_by_size(
        HANDLES,
        true,
        handles(),
    ))
}

/// Returns an entry for each number of threads.
fn entries_by_size(
    name: &'static str,
    ours: bool,
    make: impl Fn() -> ThreadWork,
) -> impl Iterator<Item = Entry> {
    sizes().map(move |size| {
        let threads = u32::try_from(size).expect("a few threads");
        let entry = Entry::own_entry(name, team_work(size, &make));
        Entry { ours, ..entry.with_items(threads).at_axis_position(threads) }
    })
}
