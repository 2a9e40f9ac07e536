//! Tests batches, and generators shared between threads.

use std::{collections::HashSet, thread};

use polyflake::clock::SystemClock;

use super::{
    family::{AnyId, FAMILIES, START_MS, exhaust_tick},
    for_each_family,
    support::{assert_code, miri_step, rounds},
};

#[test]
fn batches_equal_the_same_number_of_single_ids() {
    for_each_family(|family, clock, batched| {
        let single = family.generator(clock.clone());
        for size in [0, 1, 2, 63, 64, 65, 127, 128, 129, 200].into_iter().step_by(miri_step(4)) {
            let (batch, filled) = batched.fill(size);
            filled.unwrap();
            let singles: Vec<_> = (0..size).map(|_| single.generate().unwrap()).collect();
            assert_eq!(batch, singles, "{size} of {}", family.name);
        }
    });
}

#[test]
fn a_batch_continues_in_the_next_tick() {
    for_each_family(|family, clock, ids| {
        exhaust_tick(&**ids, family, 4);
        clock.set_readings([START_MS, START_MS, START_MS + family.tick]);
        let (batch, filled) = ids.fill(6);
        filled.unwrap();
        let last = u64::from(family.per_tick);
        let first = (last - 4..last).map(|place| (START_MS, place));
        let next = [0, 1].map(|place| (START_MS + family.tick, place));
        let made = batch.iter().map(|id| (id.unix_ms, id.place));
        assert!(made.eq(first.chain(next)), "{}: {batch:?}", family.name);
        assert!(batch.is_sorted_by_key(|id| id.unix_ms));
    });
}

#[test]
fn a_batch_error_reports_how_many_ids_were_written() {
    for_each_family(|family, _, ids| {
        exhaust_tick(&**ids, family, 4);
        let (batch, filled) = ids.fill(10);
        let error = assert_code(filled, "sequence_exhausted");
        assert_eq!((batch.len(), error.written()), (4, Some(4)), "{}", family.name);
        assert_eq!(error.retry_at(), Some(START_MS + family.tick));
    });
}

/// The threads read the system clock, and mix single calls, batches, and handles with different block sizes.
#[test]
fn threads_that_share_a_generator_never_repeat_an_id() {
    const BATCHES: usize = rounds(20_000);
    for family in FAMILIES {
        let ids = &*family.generator(SystemClock);
        let singles = || (0..BATCHES).map(|_| ids.generate().unwrap()).collect();
        let batches = || (0..BATCHES.div_ceil(100)).flat_map(|_| ids.fill(100).0).collect();
        let blocks = |first| {
            let mut handle = ids.handle(first);
            let made: Vec<AnyId> = (0..BATCHES).map(|_| handle().unwrap()).collect();
            assert!(made.is_sorted_by_key(|id| (id.unix_ms, id.place)), "{}", family.name);
            made
        };
        let all: Vec<AnyId> = thread::scope(|scope| {
            let mut threads: Vec<_> =
                [5, 15].map(|first| scope.spawn(move || blocks(first))).into();
            threads.extend([scope.spawn(singles), scope.spawn(batches), scope.spawn(singles)]);
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.len() >= 5 * BATCHES, "{}", family.name);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{}", family.name);
    }
}
