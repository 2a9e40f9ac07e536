//! Generators of custom layouts: the per-tick machine under a layout's own fields, and a sequence without a clock.

use std::time::Duration;

use crate::checker::{check, thread};
use polyflake::{
    Result,
    layout::{Builder, Field, Generator, Handle, Id, Layout, Tick},
};

use super::{
    Shared, Source, TWO, assert_distinct, batch_against_singles, blocks_against_singles,
    enter_model, generate, two_threads,
};

impl Source for Generator<Shared> {
    type Id = i64;

    fn touch(&self) {
        self.stats();
        self.window();
    }
    fn make(&self) -> Result<i64> {
        let Id::Integer(id) = self.generate()? else { unreachable!("an integer layout") };
        Ok(id)
    }
    fn fill(&self, ids: &mut [i64]) -> Result<()> {
        self.fill(ids)
    }
    fn blocks(&self) -> impl FnMut() -> Result<i64> {
        let mut handle = Handle::with_first(self, TWO);
        move || match handle.generate()? {
            Id::Integer(id) => Ok(id),
            other => unreachable!("an ID of an integer layout: {other}"),
        }
    }
}

/// A generator of two IDs a tick.
fn layout(readings: &[i64]) -> Generator<Shared> {
    let time = Field::timestamp(40, Tick::MILLISECOND, 0).inverted();
    let fields = [Field::unused(1), time, Field::sequence_from(5, 30), Field::unused(18)];
    let clock = Shared::new(readings.iter().map(|reading| 5 + reading));
    let builder = Builder::with_clock(Layout::integer(fields).unwrap(), clock);
    builder.max_wait(Duration::ZERO).build().unwrap()
}

/// A generator of two numbers with two IDs a tick each.
fn ranged(readings: &[i64]) -> Generator<Shared> {
    let time = Field::timestamp(40, Tick::MILLISECOND, 0);
    let fields = [time, Field::bindable(8, "node"), Field::sequence(1), Field::unused(15)];
    let clock = Shared::new(readings.iter().map(|reading| 5 + reading));
    let builder = Builder::with_clock(Layout::integer(fields).unwrap(), clock);
    builder.range("node", 6..=7).max_wait(Duration::ZERO).build().unwrap()
}

/// A generator of five IDs in all.
fn alone() -> Generator<Shared> {
    let fields = [Field::unused(56), Field::sequence_from(8, 251)];
    let builder = Builder::with_clock(Layout::integer(fields).unwrap(), Shared::new([0]));
    builder.sequence_only(true).build().unwrap()
}

#[test]
fn layouts_as_time_goes_on() {
    two_threads(None, 2, || layout(&[0, 1, 1, 2]));
}

#[test]
fn layouts_on_an_unsteady_clock() {
    two_threads(Some(3), 3, || layout(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn layouts_batches_against_single_calls() {
    batch_against_singles(None, || layout(&[0, 0, 1]));
}

#[test]
fn layouts_blocks_against_single_calls() {
    blocks_against_singles(None, || layout(&[0, 0, 1]));
}

#[test]
fn ranges_as_time_goes_on() {
    two_threads(Some(3), 3, || ranged(&[0, 0, 0, 1]));
}

#[test]
fn ranges_batches_against_single_calls() {
    batch_against_singles(None, || ranged(&[0, 0, 1]));
}

#[test]
fn ranges_blocks_against_single_calls() {
    blocks_against_singles(None, || ranged(&[0, 0, 1]));
}

#[test]
fn a_sequence_alone() {
    two_threads(None, 3, alone);
}

#[test]
fn a_sequence_alone_is_closed_once() {
    check(None, || {
        let ids = enter_model(alone());
        let other = ids.clone();
        let handle = thread::spawn(move || generate(&*other, 2));
        let next = ids.close().unwrap().next_sequence;
        let made = handle.join().unwrap();
        assert!(made.iter().all(|id| u128::try_from(*id).unwrap() < next));
        assert_eq!(made.len() + 251, usize::try_from(next).unwrap());
        assert_distinct(made);
    });
}
