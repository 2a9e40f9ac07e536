//! Models generators of custom layouts: the per-tick state machine with a layout's fields, and a sequence without a
//! timestamp.

use std::time::Duration;

use polyflake::layout::{Builder, Field, Generator, Layout, Tick};

use super::{
    assert_distinct, check, check_batch_against_single_calls, check_blocks_against_single_calls,
    check_single_calls, clock, family::AnyClock, generate, register_with_model, run_concurrently,
};

fn builder(fields: &[Field], readings: &[i64]) -> Builder<AnyClock> {
    let layout = Layout::integer(fields.iter().cloned()).unwrap();
    let clock = clock(readings.iter().map(|reading| 5 + reading));
    Builder::with_clock(layout, clock).max_wait(Duration::ZERO)
}

fn time_field() -> Field {
    Field::timestamp(40, Tick::MILLISECOND, 0)
}

fn worker_field() -> Field {
    Field::bindable(8, "worker")
}

/// Returns a generator with two IDs per tick.
fn layout_generator(readings: &[i64]) -> Generator<AnyClock> {
    let fields =
        [time_field().inverted(), Field::sequence_from(5, 30), worker_field(), Field::unused(11)];
    builder(&fields, readings).bind("worker", 7).build().unwrap()
}

/// Returns a generator with two worker IDs. Each worker ID has two IDs per tick.
fn ranged_generator(readings: &[i64]) -> Generator<AnyClock> {
    let fields = [time_field(), worker_field(), Field::sequence(1), Field::unused(15)];
    builder(&fields, readings).range("worker", 7..=8).build().unwrap()
}

/// Returns a generator with five IDs in total.
fn sequence_only_generator() -> Generator<AnyClock> {
    let fields = [Field::unused(48), worker_field(), Field::sequence_from(8, 251)];
    builder(&fields, &[0]).bind("worker", 7).sequence_only(true).build().unwrap()
}

#[test]
fn layouts_never_collide_as_time_advances() {
    check_single_calls(None, 2, || layout_generator(&[0, 1, 1, 2]));
}

#[test]
fn layouts_never_collide_with_an_unsteady_clock() {
    check_single_calls(Some(3), 3, || layout_generator(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn layout_batches_never_collide_with_single_calls() {
    check_batch_against_single_calls(None, || layout_generator(&[0, 0, 1]));
}

#[test]
fn layout_blocks_never_collide_with_single_calls() {
    check_blocks_against_single_calls(None, || layout_generator(&[0, 0, 1]));
}

#[test]
fn ranges_never_collide_as_time_advances() {
    check_single_calls(Some(3), 3, || ranged_generator(&[0, 0, 0, 1]));
}

#[test]
fn range_batches_never_collide_with_single_calls() {
    check_batch_against_single_calls(None, || ranged_generator(&[0, 0, 1]));
}

#[test]
fn range_blocks_never_collide_with_single_calls() {
    check_blocks_against_single_calls(None, || ranged_generator(&[0, 0, 1]));
}

#[test]
fn a_sequence_only_generator_never_repeats_an_id() {
    check_single_calls(None, 3, sequence_only_generator);
}

#[test]
fn a_sequence_only_generator_is_closed_only_once() {
    check(None, || {
        let ids = register_with_model(sequence_only_generator());
        let (closed, made) = run_concurrently(&ids, Generator::close, |ids| generate(ids, 2));
        let next = closed.unwrap().next_sequence;
        assert!(made.iter().all(|id| u128::from(id.place) < next));
        assert_eq!(made.len() + 251, usize::try_from(next).unwrap());
        assert_distinct(made);
    });
}
