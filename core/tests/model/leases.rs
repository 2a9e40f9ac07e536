//! Generators under leases: sealed while IDs are made, and moved from grant to grant.

use std::{ops::Range, time::Duration};

use crate::checker::{Arc, check, thread};
use polyflake::{
    Result,
    randflake::{self, Grant, Randflake},
    sno::{Builder, Generator, Leased, Sno},
};

use super::{Shared, Source, TWO, assert_distinct, collect, enter_model};

const EPOCH_MS: i64 = 1_262_304_000_000;

fn ms(tick: i64) -> i64 {
    EPOCH_MS + 4 * tick
}

/// A generator of four sequences a tick under a grant of some ticks, in the model.
fn granted(partition: u16, ticks: Range<i64>, readings: &[i64]) -> Generator<Shared> {
    let clock = Shared::new(readings[..1].iter().chain(readings).map(|tick| ms(*tick)));
    let builder = Builder::with_clock(clock).partition(partition).sequence_max(3);
    let builder = builder.window(ms(ticks.start), ms(ticks.end)).max_wait(Duration::ZERO);
    let ids = builder.build().unwrap();
    ids.touch();
    ids
}

/// IDs of calls; a call may be refused as between two grants.
fn singles(ids: &impl Fn() -> Result<Sno>, calls: usize) -> Vec<Sno> {
    let made = (0..calls).map(|_| ids().map_err(|error| error.code()));
    let all: Vec<_> = made.collect();
    let reasons = ["lease_unavailable", "sequence_exhausted", "clock_behind"];
    assert!(all.iter().all(|made| made.is_ok() || reasons.contains(&made.unwrap_err())), "{all:?}");
    all.into_iter().flatten().collect()
}

/// Checks that the next holder of a partition, from the end that the seal returned on, makes no ID of the last holder; also if a
/// clock stepped back, and if blocks hold slots that were not handed out.
fn sealed_while(readings: &'static [i64], preemptions: Option<usize>, in_blocks: bool) {
    check(preemptions, move || {
        let ids = Arc::new(granted(7, 0..1000, readings));
        let other = ids.clone();
        let thread = thread::spawn(move || {
            if in_blocks { collect(2, other.blocks()) } else { collect(2, || other.generate(0)) }
        });
        let mut all = collect(1, || ids.generate(0));
        let highest = ids.seal().unwrap();
        all.extend(thread.join().unwrap());
        assert_eq!(ids.generate(0).unwrap_err().code(), "generator_closed");
        assert_eq!(highest.is_none(), all.is_empty());
        let end = highest.map_or(ms(0), |highest| highest.end);
        assert!(all.iter().all(|id| id.unix_ms() < end));
        let end = (end - EPOCH_MS) / 4;
        let next = granted(7, end..1000, &[end]);
        all.extend(collect(3, || next.generate(0)));
        assert_distinct(all);
    });
}

#[test]
fn sealed_as_time_goes_on() {
    sealed_while(&[100, 101, 101, 102], None, false);
}

#[test]
fn sealed_as_the_clock_steps_back() {
    sealed_while(&[100, 50, 50, 60], None, false);
}

#[test]
fn sealed_while_blocks_are_used() {
    sealed_while(&[100, 101, 100, 102], Some(3), true);
}

#[test]
fn randflake_sealed_as_time_goes_on() {
    const S: i64 = 1_763_650_000;
    check(None, || {
        let grant = Grant::new(7, S, S + 10).unwrap();
        let clock = Shared::new([0, 1, 1, 2].map(|second| (S + second) * 1000));
        let ids = randflake::Builder::with_clock(grant, [7; 16], clock).max_wait(Duration::ZERO);
        let ids = enter_model(ids.build().unwrap());
        let other = ids.clone();
        let thread = thread::spawn(move || {
            let mut handle = randflake::Handle::with_first(other, TWO);
            collect(2, || handle.generate())
        });
        let mut all: Vec<Randflake> = collect(1, || ids.generate());
        let highest = ids.seal().unwrap();
        all.extend(thread.join().unwrap());
        let end = highest.map_or(S, |highest| highest.end / 1000);
        assert!(all.iter().all(|id| ids.inspect(*id).timestamp < end));
        assert_distinct(all);
    });
}

/// A generator under a lease, in the model.
fn leased(first: Generator<Shared>) -> Arc<Leased<Shared>> {
    let ids = Leased::new(first).unwrap();
    ids.grant();
    Arc::new(ids)
}

/// Checks that no two IDs are equal if one thread moves to another number and back while others make IDs.
fn moved_while(preemptions: Option<usize>, readings: &'static [i64], makers: usize, calls: usize) {
    check(preemptions, move || {
        let ids = leased(granted(7, 0..1000, readings));
        let threads: Vec<_> = (0..makers)
            .map(|_| {
                let ids = ids.clone();
                thread::spawn(move || singles(&|| ids.generate(0), calls))
            })
            .collect();
        let mut ends = [0; 2];
        for (number, partition) in [(1, 8), (2, 7)] {
            let moved = ids.move_to(|highest| {
                let tick = |ms: i64| (ms - EPOCH_MS) / 4;
                let from = highest.as_ref().map_or(0, |highest| tick(highest.start));
                ends[number % 2] = highest.map_or(0, |highest| tick(highest.end));
                let start = from.max(if partition == 7 { ends[1] } else { 0 });
                Ok(granted(partition, start..1000, &[start, start + 1]))
            });
            assert_eq!(moved, Ok(u32::try_from(number).unwrap()));
        }
        let mut all = singles(&|| ids.generate(0), 1);
        all.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
        assert_distinct(all);
    });
}

#[test]
fn moved_while_one_thread_makes_ids() {
    moved_while(Some(3), &[100, 101], 1, 2);
}

#[test]
fn moved_while_two_threads_make_ids() {
    moved_while(Some(1), &[100, 99, 101], 2, 1);
}

/// Two threads move: one of them learns that the other was faster, and its generator is never used.
#[test]
fn two_threads_move_at_once() {
    check(Some(3), || {
        let ids = leased(granted(7, 0..1000, &[100]));
        let move_to = |ids: &Leased<Shared>, partition| {
            ids.move_to(|highest| {
                let start = highest.map_or(0, |highest| (highest.start - EPOCH_MS) / 4);
                Ok(granted(partition, start..1000, &[start.max(100)]))
            })
        };
        let other = ids.clone();
        let thread = thread::spawn(move || move_to(&other, 8));
        let mut all = singles(&|| ids.generate(0), 1);
        let moved = [move_to(&ids, 9), thread.join().unwrap()];
        assert!(moved.contains(&Ok(1)));
        let codes = moved.iter().filter_map(|moved| moved.as_ref().err());
        assert!(codes.into_iter().all(|error| error.code() == "lease_mismatch"));
        all.extend(singles(&|| ids.generate(0), 2));
        assert_distinct(all);
    });
}
