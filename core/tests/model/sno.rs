//! The tick-tock machine in sno's generator.

use std::time::Duration;

use crate::checker::{check, thread};
use polyflake::{
    Result,
    sno::{Builder, Generator, Handle, Sno},
};

use super::{
    Shared, Source, TWO, assert_distinct, batch_against_singles, blocks_against_singles, collect,
    enter_model, generate, two_threads,
};

const EPOCH_MS: i64 = 1_262_304_000_000;

impl Source for Generator<Shared> {
    type Id = Sno;

    fn touch(&self) {
        self.stats().unwrap();
        self.extend_window(self.window().1).unwrap();
    }
    fn make(&self) -> Result<Sno> {
        self.generate(0)
    }
    fn fill(&self, ids: &mut [Sno]) -> Result<()> {
        self.fill(0, ids)
    }
    fn blocks(&self) -> impl FnMut() -> Result<Sno> {
        let mut handle = Handle::with_first(self, TWO);
        move || handle.generate(0)
    }
}

fn builder(ticks: &[i64]) -> Builder<Shared> {
    let clock = Shared::new(ticks.iter().map(|tick| EPOCH_MS + 4 * tick));
    Generator::builder().clock(clock).max_wait(Duration::ZERO)
}

/// A generator with four sequences a tick. The script's first reading is used up when its atomics enter the model.
fn generator(ticks: &[i64]) -> Generator<Shared> {
    let ticks = [&ticks[..1], ticks].concat();
    builder(&ticks).partition(7).sequence_min(0).sequence_max(3).build().unwrap()
}

/// A clock that only goes on is never seen to step back, however late a thread uses its reading.
#[test]
fn a_steady_clock_is_not_seen_to_step_back() {
    check(None, || {
        let ids = enter_model(generator(&[100, 101, 102]));
        let other = ids.clone();
        let handle = thread::spawn(move || other.generate(0).unwrap());
        let all = vec![ids.generate(0).unwrap(), handle.join().unwrap()];
        assert_eq!(ids.stats().unwrap().drifts, 0);
        assert_distinct(all);
    });
}

/// A clock that goes on is not seen to step back either if some readings of a thread lag by less than its slack.
#[test]
fn readings_that_lag_are_not_seen_as_a_step_back() {
    check(None, || {
        let readings = [400, 404, 403, 404, 408, 407].map(|ms| EPOCH_MS + ms);
        let clock = Shared::new(readings).lagging(2);
        let builder = Generator::builder().clock(clock).partition(7).max_wait(Duration::ZERO);
        let ids = enter_model(builder.build().unwrap());
        let other = ids.clone();
        let handle = thread::spawn(move || [(); 2].map(|()| other.generate(0).unwrap()));
        let mut all = vec![ids.generate(0).unwrap(), ids.generate(0).unwrap()];
        all.extend(handle.join().unwrap());
        assert_eq!(ids.stats().unwrap().drifts, 0);
        assert_distinct(all);
    });
}

#[test]
fn two_threads_two_calls_in_one_tick() {
    two_threads(None, 2, || generator(&[100]));
}

#[test]
fn two_threads_two_calls_as_time_goes_on() {
    two_threads(None, 2, || generator(&[100, 101, 101, 102]));
}

#[test]
fn two_threads_two_calls_as_the_clock_steps_back() {
    two_threads(None, 2, || generator(&[100, 50, 50, 100, 101]));
}

#[test]
fn two_threads_two_calls_as_the_clock_steps_back_twice() {
    two_threads(None, 2, || generator(&[100, 50, 120, 110, 110]));
}

#[test]
fn two_threads_three_calls_on_an_unsteady_clock() {
    two_threads(Some(3), 3, || generator(&[100, 99, 101, 100, 102, 98]));
}

#[test]
fn batches_against_single_calls() {
    batch_against_singles(None, || generator(&[100, 100, 101]));
}

#[test]
fn blocks_against_single_calls() {
    blocks_against_singles(None, || generator(&[100, 100, 101]));
}

#[test]
fn blocks_against_single_calls_as_the_clock_steps_back() {
    blocks_against_singles(Some(3), || generator(&[100, 50, 50, 100, 101]));
}

/// A snapshot goes on past all blocks, also past a block that is reserved while the generator is closed.
#[test]
fn blocks_end_with_their_generator() {
    check(None, || {
        let ids = enter_model(generator(&[100]));
        let other = ids.clone();
        let handle = thread::spawn(move || collect(2, other.blocks()));
        let snapshot = ids.close().unwrap();
        let mut all = handle.join().unwrap();
        let again = builder(&[100]).restore(snapshot).unwrap();
        all.extend(generate(&again, 2));
        assert_distinct(all);
    });
}

/// IDs made under an extension lie before its end, also while the clock steps back.
#[test]
fn a_window_is_extended_while_ids_are_made() {
    let ms = |tick: i64| EPOCH_MS + 4 * tick;
    check(None, move || {
        let readings = [100, 101, 99, 102];
        let ids = builder(&readings).partition(7).window(ms(99), ms(101)).build().unwrap();
        let ids = enter_model(ids);
        let other = ids.clone();
        let handle = thread::spawn(move || {
            other.extend_window(ms(103)).unwrap();
            other.extend_window(ms(102)).unwrap();
        });
        for _ in 0..3 {
            match ids.generate(0) {
                Ok(id) => assert!((ids.window().0..ids.window().1).contains(&id.unix_ms())),
                Err(error) => assert_eq!(error.code(), "lease_expired"),
            }
        }
        handle.join().unwrap();
        assert_eq!(ids.window().1, ms(103));
    });
}

#[test]
fn nothing_is_made_after_close() {
    check(None, || {
        let ids = enter_model(generator(&[100, 100, 101]));
        let other = ids.clone();
        let handle = thread::spawn(move || generate(&*other, 2));
        let snapshot = ids.close().unwrap();
        let made = handle.join().unwrap();
        assert_eq!(ids.generate(0).unwrap_err().code(), "generator_closed");
        let again = builder(&[100, 101]).restore(snapshot).unwrap();
        let mut all = generate(&again, 2);
        all.extend(made);
        assert_distinct(all);
    });
}
