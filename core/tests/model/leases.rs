//! Models leased generators that are sealed, or switched between grants, while they generate IDs.

use std::{ops::Range, time::Duration};

use polyflake::{
    Result,
    randflake::{self, Grant},
    sno::{Builder, Generator, Leased, Sno},
};

use super::{
    EPOCH_MS, assert_distinct,
    checker::{Arc, check, thread},
    clock, collect,
    family::{AnyClock, AnyGenerator},
    generate, generate_in_blocks, register_atomics, run_concurrently, tick_to_ms,
};

/// Returns a generator that the model tracks, with four sequence numbers per tick and a grant of a few ticks.
fn granted_generator(partition: u16, ticks: Range<i64>, readings: &[i64]) -> Generator<AnyClock> {
    let clock = clock(readings[..1].iter().chain(readings).map(|tick| tick_to_ms(*tick)));
    let builder = Builder::with_clock(clock).partition(partition).sequence_max(3);
    let builder =
        builder.window(tick_to_ms(ticks.start), tick_to_ms(ticks.end)).max_wait(Duration::ZERO);
    let ids = builder.build().unwrap();
    register_atomics(&ids);
    ids
}

/// Generates IDs one at a time. A call may fail, but only with an error that can occur between two grants.
fn make_single_ids(calls: usize, ids: impl FnMut() -> Result<Sno>) -> Vec<Sno> {
    collect(calls, &["lease_unavailable", "sequence_exhausted", "clock_behind"], ids)
}

/// Checks that the next holder of a worker ID generates no duplicate IDs if the holder's grant starts at the end of the
/// time span that `seal` returned. There must be no duplicates even after a clock rollback, or if reserved blocks contain
/// unused slots.
fn check_seal_during_calls<I: AnyGenerator + 'static>(
    preemptions: Option<usize>,
    in_blocks: bool,
    first: impl Fn() -> I + Send + Sync + 'static,
    next: impl Fn(i64) -> I + Send + Sync + 'static,
) {
    let make = if in_blocks { generate_in_blocks } else { generate };
    check(preemptions, move || {
        let ids = Arc::new(first());
        let begin = ids.window().0;
        let make_and_seal = |ids: &I| (generate(ids, 1), ids.seal().unwrap());
        let ((mut all, highest), others) =
            run_concurrently(&ids, make_and_seal, move |ids| make(ids, 2));
        all.extend(others);
        assert_eq!(ids.generate().unwrap_err().code(), "generator_closed");
        assert_eq!(highest.is_none(), all.is_empty());
        let end = highest.map_or(begin, |highest| highest.end);
        assert!(all.iter().all(|id| id.unix_ms < end));
        all.extend(generate(&next(end), 3));
        assert_distinct(all);
    });
}

fn check_sno_seal_during_calls(
    preemptions: Option<usize>,
    in_blocks: bool,
    readings: &'static [i64],
) {
    let first = || granted_generator(7, 0..1000, readings);
    check_seal_during_calls(preemptions, in_blocks, first, |end| {
        let end = (end - EPOCH_MS) / 4;
        granted_generator(7, end..1000, &[end])
    });
}

#[test]
fn sealing_loses_no_id_as_time_advances() {
    check_sno_seal_during_calls(None, false, &[100, 101, 101, 102]);
}

#[test]
fn sealing_loses_no_id_after_a_clock_rollback() {
    check_sno_seal_during_calls(None, false, &[100, 50, 50, 60]);
}

#[test]
fn sealing_loses_no_id_of_reserved_blocks() {
    check_sno_seal_during_calls(Some(3), true, &[100, 101, 100, 102]);
}

#[test]
fn randflake_sealing_loses_no_id_as_time_advances() {
    const START_SECONDS: i64 = 1_763_650_000;
    let granted_generator = |start: i64, readings: &[i64]| {
        let clock = clock(readings.iter().map(|second| second * 1000));
        let grant = Grant::new(7, start, START_SECONDS + 10).unwrap();
        let builder = randflake::Builder::with_clock(grant, [7; 16], clock);
        let ids = builder.max_wait(Duration::ZERO).build().unwrap();
        register_atomics(&ids);
        ids
    };
    let first = move || {
        granted_generator(
            START_SECONDS,
            &[START_SECONDS, START_SECONDS + 1, START_SECONDS + 1, START_SECONDS + 2],
        )
    };
    check_seal_during_calls(None, true, first, move |end| {
        granted_generator(end / 1000, &[end / 1000])
    });
}

/// Returns a leased generator that the model tracks.
fn leased_generator(first: Generator<AnyClock>) -> Arc<Leased<AnyClock>> {
    let ids = Leased::new(first).unwrap();
    ids.grant();
    assert!(!ids.is_closed());
    Arc::new(ids)
}

/// Checks that IDs stay unique while one thread switches to another worker ID and back, and other threads generate IDs.
fn check_switch_during_calls(
    preemptions: Option<usize>,
    readings: &'static [i64],
    makers: usize,
    calls: usize,
) {
    check(preemptions, move || {
        let ids = leased_generator(granted_generator(7, 0..1000, readings));
        let threads: Vec<_> = (0..makers)
            .map(|_| {
                let ids = ids.clone();
                thread::spawn(move || make_single_ids(calls, || ids.generate(0)))
            })
            .collect();
        let mut ends = [0; 2];
        for (number, partition) in [(1, 8), (2, 7)] {
            let moved = ids.move_to(|highest| {
                let tick = |ms: i64| (ms - EPOCH_MS) / 4;
                let from = highest.as_ref().map_or(0, |highest| tick(highest.start));
                ends[number % 2] = highest.map_or(0, |highest| tick(highest.end));
                let start = from.max(if partition == 7 { ends[1] } else { 0 });
                Ok(granted_generator(partition, start..1000, &[start, start + 1]))
            });
            assert_eq!(moved, Ok(u32::try_from(number).unwrap()));
        }
        let mut all = make_single_ids(1, || ids.generate(0));
        all.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
        assert_distinct(all);
    });
}

#[test]
fn a_grant_switch_repeats_no_id_of_one_thread() {
    check_switch_during_calls(Some(3), &[100, 101], 1, 2);
}

#[test]
fn a_grant_switch_repeats_no_id_of_two_threads() {
    check_switch_during_calls(Some(1), &[100, 99, 101], 2, 1);
}

/// If two threads switch at the same time, the thread that loses the race must discard its new generator.
#[test]
fn only_one_of_two_concurrent_switches_wins() {
    check(Some(3), || {
        let ids = leased_generator(granted_generator(7, 0..1000, &[100]));
        let move_to = |ids: &Leased<AnyClock>, partition| {
            ids.move_to(|highest| {
                let start = highest.map_or(0, |highest| (highest.start - EPOCH_MS) / 4);
                Ok(granted_generator(partition, start..1000, &[start.max(100)]))
            })
        };
        let other = ids.clone();
        let thread = thread::spawn(move || move_to(&other, 8));
        let mut all = make_single_ids(1, || ids.generate(0));
        let moved = [move_to(&ids, 9), thread.join().unwrap()];
        assert!(moved.contains(&Ok(1)));
        let codes = moved.iter().filter_map(|moved| moved.as_ref().err());
        assert!(codes.into_iter().all(|error| error.code() == "lease_mismatch"));
        all.extend(make_single_ids(2, || ids.generate(0)));
        assert_distinct(all);
    });
}

/// One thread closes the generator while another thread switches to the next grant. After both calls have returned, the
/// generator must not generate any IDs.
#[test]
fn closing_during_a_switch_ends_generation() {
    check(Some(3), || {
        let ids = leased_generator(granted_generator(7, 0..1000, &[100]));
        let other = ids.clone();
        let thread = thread::spawn(move || {
            other.move_to(|last| {
                let start = last.map_or(100, |last| (last.end - EPOCH_MS) / 4);
                Ok(granted_generator(8, start..1000, &[start]))
            })
        });
        ids.close();
        let moved = thread.join().unwrap();
        assert!(moved == Ok(1) || moved.is_err_and(|error| error.code() == "generator_closed"));
        assert_eq!(ids.try_generate(0).unwrap_err().code(), "generator_closed");
    });
}

/// A thread closes the generator while another thread generates IDs. Calls must fail with `generator_closed`, never with
/// the error for a missing grant. The next holder of the worker ID must not repeat any ID.
#[test]
fn closing_during_generation_reports_generator_closed() {
    check(Some(3), || {
        let ids = leased_generator(granted_generator(7, 0..1000, &[100, 101]));
        let other = ids.clone();
        let thread = thread::spawn(move || {
            collect(2, &["generator_closed", "sequence_exhausted"], || other.try_generate(0))
        });
        ids.close();
        assert_eq!(ids.try_generate(0).unwrap_err().code(), "generator_closed");
        let end = ids.seal(0).unwrap().map_or(100, |last| (last.end - EPOCH_MS) / 4);
        let next = granted_generator(7, end..1000, &[end]);
        let mut all = thread.join().unwrap();
        all.extend(make_single_ids(3, || next.generate(0)));
        assert_distinct(all);
    });
}
