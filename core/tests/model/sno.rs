//! Models the tick-tock state machine in sno's generator.

use std::time::Duration;

use polyflake::sno::{Builder, Generator};

use super::{
    assert_distinct, check, check_batch_against_single_calls, check_blocks_against_single_calls,
    check_single_calls, clock, family::AnyClock, generate, generate_in_blocks, lagging_clock,
    register_with_model, run_concurrently, tick_to_ms,
};

fn builder(ticks: &[i64]) -> Builder<AnyClock> {
    let clock = clock(ticks.iter().map(|tick| tick_to_ms(*tick)));
    Builder::with_clock(clock).max_wait(Duration::ZERO)
}

/// Returns a generator with four sequence numbers per tick. Registering the generator's atomics with the model uses up a
/// clock reading, so the first reading is in the script twice.
fn generator(ticks: &[i64]) -> Generator<AnyClock> {
    let ticks = [&ticks[..1], ticks].concat();
    builder(&ticks).partition(7).sequence_min(0).sequence_max(3).build().unwrap()
}

/// A clock that only advances must never appear to move backwards, no matter how late a thread uses its reading.
#[test]
fn a_steady_clock_is_never_seen_to_move_backwards() {
    check(None, || {
        let ids = register_with_model(generator(&[100, 101, 102]));
        let make = |ids: &Generator<_>| ids.generate(0).unwrap();
        let (one, other) = run_concurrently(&ids, make, make);
        assert_eq!(ids.stats().unwrap().drifts, 0);
        assert_distinct([one, other]);
    });
}

/// Clock readings that lag by less than the clock's slack must not count as a rollback.
#[test]
fn readings_within_the_slack_are_not_rollbacks() {
    check(None, || {
        let clock = lagging_clock(2, [0, 4, 3, 4, 8, 7].map(|after| tick_to_ms(100) + after));
        let builder = Builder::with_clock(clock).partition(7).max_wait(Duration::ZERO);
        let ids = register_with_model(builder.build().unwrap());
        let make = |ids: &Generator<_>| [(); 2].map(|()| ids.generate(0).unwrap());
        let (one, other) = run_concurrently(&ids, make, make);
        assert_eq!(ids.stats().unwrap().drifts, 0);
        assert_distinct([one, other].concat());
    });
}

#[test]
fn two_threads_never_collide_within_a_tick() {
    check_single_calls(None, 2, || generator(&[100]));
}

#[test]
fn two_threads_never_collide_as_time_advances() {
    check_single_calls(None, 2, || generator(&[100, 101, 101, 102]));
}

#[test]
fn two_threads_never_collide_after_a_clock_rollback() {
    check_single_calls(None, 2, || generator(&[100, 50, 50, 100, 101]));
}

#[test]
fn two_threads_never_collide_after_two_clock_rollbacks() {
    check_single_calls(None, 2, || generator(&[100, 50, 120, 110, 110]));
}

#[test]
fn two_threads_never_collide_with_an_unsteady_clock() {
    check_single_calls(Some(3), 3, || generator(&[100, 99, 101, 100, 102, 98]));
}

#[test]
fn batches_never_collide_with_single_calls() {
    check_batch_against_single_calls(None, || generator(&[100, 100, 101]));
}

#[test]
fn blocks_never_collide_with_single_calls() {
    check_blocks_against_single_calls(None, || generator(&[100, 100, 101]));
}

#[test]
fn blocks_never_collide_with_single_calls_after_a_rollback() {
    check_blocks_against_single_calls(Some(3), || generator(&[100, 50, 50, 100, 101]));
}

/// A restored generator resumes after all blocks, including a block that a handle reserved while the first generator was
/// closing.
#[test]
fn a_snapshot_resumes_after_all_reserved_blocks() {
    check(None, || {
        let ids = register_with_model(generator(&[100]));
        let (snapshot, made) =
            run_concurrently(&ids, Generator::close, |ids| generate_in_blocks(ids, 2));
        let again = builder(&[100]).restore(snapshot.unwrap()).unwrap();
        assert_distinct([made, generate(&again, 2)].concat());
    });
}

/// The times of IDs that are generated while the window is extended must be before the window's end, even if the clock
/// moves backwards.
#[test]
fn ids_stay_within_a_window_extended_during_generation() {
    let generate = |ids: &Generator<_>| {
        for _ in 0..3 {
            match ids.generate(0) {
                Ok(id) => assert!((ids.window().0..ids.window().1).contains(&id.unix_ms())),
                Err(error) => assert_eq!(error.code(), "lease_expired"),
            }
        }
    };
    let extend = |ids: &Generator<_>| {
        [103, 102].into_iter().for_each(|tick| ids.extend_window(tick_to_ms(tick)).unwrap());
    };
    check(None, move || {
        let builder =
            builder(&[100, 101, 99, 102]).partition(7).window(tick_to_ms(99), tick_to_ms(101));
        let ids = register_with_model(builder.build().unwrap());
        run_concurrently(&ids, generate, extend);
        assert_eq!(ids.window().1, tick_to_ms(103));
    });
}

#[test]
fn no_id_is_made_after_close() {
    check(None, || {
        let ids = register_with_model(generator(&[100, 100, 101]));
        let (snapshot, made) = run_concurrently(&ids, Generator::close, |ids| generate(ids, 2));
        assert_eq!(ids.generate(0).unwrap_err().code(), "generator_closed");
        let again = builder(&[100, 101]).restore(snapshot.unwrap()).unwrap();
        assert_distinct([made, generate(&again, 2)].concat());
    });
}
