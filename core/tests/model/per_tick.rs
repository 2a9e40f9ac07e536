//! Models the modes of the per-tick state machine. After a clock rollback, Randflake returns an error, Hot Guid stays in
//! its second, and UUID v7 stays in its millisecond or starts over after a long rollback.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use polyflake::{
    OnExhausted, Result, hotguid,
    randflake::{self, Grant},
    uuid7,
};

use super::{
    assert_distinct, check, check_batch_against_single_calls, check_blocks_against_single_calls,
    check_single_calls,
    checker::{Arc, AtomicUsize},
    clock,
    family::AnyClock,
    generate, lagging_clock, register_with_model, run_concurrently,
};

/// The second in which the models start, in Unix seconds.
const START_SECONDS: i64 = 1_763_650_000;

fn clock_at_seconds(after: &[i64]) -> AnyClock {
    clock(after.iter().map(|second| (START_SECONDS + second) * 1000))
}

type RandflakeGenerator = randflake::Generator<AnyClock>;

/// Returns a builder that resumes after the Unix second `START_SECONDS - 1`, as if all IDs of that second were used.
fn resuming_builder(clock: AnyClock) -> randflake::Builder<AnyClock> {
    let grant = Grant::new(7, START_SECONDS - 1, START_SECONDS + 10).unwrap();
    randflake::Builder::with_clock(grant, [7; 16], clock).resume_after(START_SECONDS - 1)
}

fn randflake_generator(after: &[i64]) -> RandflakeGenerator {
    let waiting = resuming_builder(clock_at_seconds(after)).on_exhausted(OnExhausted::Wait);
    waiting.max_wait(Duration::ZERO).build().unwrap()
}

/// Returns different bytes each time, like a random source, but always the same counter start, so that reused slots cause
/// duplicates. The bytes are never all 0, because a new generator's state word is 0. Comparing the bytes with this word
/// must give the same result each time an interleaving is replayed.
fn distinct_bytes() -> Result<[u8; 8]> {
    static DRAW_COUNT: AtomicU64 = AtomicU64::new(1);
    Ok((DRAW_COUNT.fetch_add(1, Ordering::Relaxed) << 24).to_be_bytes())
}

fn hot_guid_generator(after: &[i64]) -> hotguid::Generator<AnyClock> {
    let builder = hotguid::Builder::with_clock(clock_at_seconds(after), distinct_bytes);
    builder.max_wait(Duration::ZERO).build().unwrap()
}

/// The number of values that `next_start` has returned in this interleaving.
static START_COUNT: AtomicU64 = AtomicU64::new(0);

/// Returns one of two counter starts for each second. All machine bytes are equal, so reused slots cause duplicate IDs.
fn next_start() -> Result<[u8; 8]> {
    Ok((START_COUNT.fetch_add(1, Ordering::Relaxed) % 2 + 1).to_be_bytes())
}

fn random_start_generator(after: &[i64]) -> hotguid::Generator<AnyClock> {
    START_COUNT.store(0, Ordering::Relaxed);
    let builder = hotguid::Builder::with_clock(clock_at_seconds(after), next_start).at_random();
    builder.max_wait(Duration::ZERO).build().unwrap()
}

fn uuid_generator(after: &[i64]) -> uuid7::Generator<AnyClock> {
    let shown = clock(after.iter().map(|ms| START_SECONDS * 1000 + ms));
    let builder = uuid7::Builder::with_clock(shown, || Ok([7; 32]));
    builder.max_wait(Duration::ZERO).build().unwrap()
}

#[test]
fn uuids_never_collide_within_a_millisecond() {
    check_single_calls(Some(3), 2, || uuid_generator(&[0]));
}

#[test]
fn uuids_never_collide_with_an_unsteady_clock() {
    check_single_calls(Some(3), 3, || uuid_generator(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn uuid_batches_never_collide_with_single_calls() {
    check_batch_against_single_calls(Some(3), || uuid_generator(&[0, 0, 1]));
}

#[test]
fn uuid_blocks_never_collide_with_single_calls() {
    check_blocks_against_single_calls(Some(3), || uuid_generator(&[0, -1, 1]));
}

/// One thread announces that its call has returned. The other thread begins its call after it has observed the
/// announcement.
#[test]
fn a_uuid_of_a_call_that_begins_later_is_greater() {
    for after in [&[0, 0][..], &[0, 1], &[1, 0]] {
        check(Some(3), move || {
            let ids = register_with_model(uuid_generator(after));
            let sequence = Arc::new(AtomicUsize::new(0));
            let published = sequence.clone();
            let there = move |ids: &uuid7::Generator<AnyClock>| {
                let id = ids.generate().unwrap();
                let place = (id.unix_ms() - START_SECONDS * 1000) << 18 | i64::from(id.sequence());
                published.store(usize::try_from(place + 1).unwrap(), Ordering::Release);
            };
            let here = |ids: &uuid7::Generator<AnyClock>| {
                let seen = sequence.load(Ordering::Acquire);
                let id = ids.generate().unwrap();
                let place = (id.unix_ms() - START_SECONDS * 1000) << 18 | i64::from(id.sequence());
                assert!(seen <= usize::try_from(place).unwrap(), "a lower ID");
            };
            run_concurrently(&ids, here, there);
        });
    }
}

#[test]
fn randflakes_never_collide_within_a_second() {
    check_single_calls(None, 2, || randflake_generator(&[0]));
}

#[test]
fn randflakes_never_collide_as_time_advances() {
    check_single_calls(None, 2, || randflake_generator(&[0, 1, 1, 2]));
}

#[test]
fn randflakes_never_collide_with_an_unsteady_clock() {
    check_single_calls(Some(3), 3, || randflake_generator(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn randflake_batches_never_collide_with_single_calls() {
    check_batch_against_single_calls(None, || randflake_generator(&[0, 0, 1]));
}

#[test]
fn randflake_blocks_never_collide_with_single_calls() {
    check_blocks_against_single_calls(None, || randflake_generator(&[0, 0, 1]));
}

#[test]
fn hot_guid_blocks_never_collide_with_single_calls() {
    check_blocks_against_single_calls(Some(3), || hot_guid_generator(&[0, -1, 1]));
}

#[test]
fn hot_guids_never_collide_within_a_second() {
    check_single_calls(Some(3), 2, || hot_guid_generator(&[0]));
}

/// A thread that finds the generation of another thread's bytes must also find the bytes.
#[test]
fn hot_guids_contain_the_bytes_of_their_generation() {
    check(Some(3), || {
        let ids = register_with_model(hot_guid_generator(&[0]));
        let make = |ids: &hotguid::Generator<AnyClock>| {
            assert_ne!(ids.generate(7).unwrap().machine(), [0; 5]);
        };
        run_concurrently(&ids, make, make);
    });
}

#[test]
fn hot_guids_never_collide_with_random_counter_starts() {
    check_single_calls(Some(3), 2, || random_start_generator(&[0, 1, 1, 2]));
}

#[test]
fn hot_guids_never_collide_with_an_unsteady_clock() {
    check_single_calls(Some(3), 3, || hot_guid_generator(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn hot_guid_batches_never_collide_with_single_calls() {
    check_batch_against_single_calls(Some(4), || hot_guid_generator(&[0, 0, 1]));
}

/// A clock that never moves backwards must not appear to be behind another thread's IDs, no matter how late a thread uses
/// its reading.
#[test]
fn a_steady_clock_is_never_behind() {
    check(None, || {
        let ids =
            register_with_model(resuming_builder(clock_at_seconds(&[0, 1, 2])).build().unwrap());
        let make = |ids: &RandflakeGenerator| ids.generate().unwrap();
        let (one, other) = run_concurrently(&ids, make, make);
        assert_distinct([one, other]);
    });
}

/// Clock readings that lag by less than the clock's slack must not count as a rollback.
#[test]
fn readings_within_the_slack_are_never_behind() {
    check(None, || {
        let clock =
            lagging_clock(2, [0, 1000, 999, 1001, 2000].map(|ms| START_SECONDS * 1000 + ms));
        let ids = register_with_model(resuming_builder(clock).build().unwrap());
        let make = |ids: &RandflakeGenerator| ids.generate().unwrap();
        let (mine, other) = run_concurrently(&ids, |ids| [make(ids), make(ids)], make);
        assert_distinct(mine.into_iter().chain([other]));
    });
}

#[test]
fn close_returns_the_last_second_used() {
    check(None, || {
        let ids = register_with_model(resuming_builder(clock_at_seconds(&[0, 1])).build().unwrap());
        let (last, made) =
            run_concurrently(&ids, RandflakeGenerator::close, |ids| generate(ids, 2));
        let last = last.unwrap().unwrap();
        assert_eq!(ids.generate().unwrap_err().code(), "generator_closed");
        assert!(made.iter().all(|id| id.unix_ms <= last * 1000));
    });
}

/// The times of IDs that are generated while the grant is extended must be before the grant's end, and the end must never
/// decrease.
#[test]
fn ids_stay_within_a_grant_extended_during_generation() {
    let grant = |end| Grant::new(7, START_SECONDS, end).unwrap();
    let generate = |ids: &RandflakeGenerator| {
        for _ in 0..3 {
            match ids.generate() {
                Ok(id) => assert!(ids.inspect(id).timestamp < ids.grant().end()),
                Err(error) => assert_eq!(error.code(), "lease_expired"),
            }
        }
    };
    let extend = move |ids: &RandflakeGenerator| {
        [START_SECONDS + 3, START_SECONDS + 2]
            .into_iter()
            .for_each(|end| ids.extend_grant(grant(end)).unwrap());
    };
    check(None, move || {
        let clock = clock_at_seconds(&[0, 1, 2]);
        let builder = randflake::Builder::with_clock(grant(START_SECONDS + 1), [7; 16], clock);
        let ids = register_with_model(builder.build().unwrap());
        run_concurrently(&ids, generate, extend);
        assert_eq!(ids.grant().end(), START_SECONDS + 3);
    });
}
