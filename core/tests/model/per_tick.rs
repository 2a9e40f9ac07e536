//! The per-tick machine, in both its modes: Randflake refuses a clock that steps back, Hot Guid stays in its second.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::checker::{check, thread};
use polyflake::{
    OnExhausted, Result,
    hotguid::{self, HotGuid},
    randflake::{self, Grant, Randflake},
};

use super::{
    Shared, Source, TWO, assert_distinct, batch_against_singles, blocks_against_singles,
    enter_model, generate, two_threads,
};

/// A second, in Unix seconds.
const S: i64 = 1_763_650_000;

fn seconds(after: &[i64]) -> Shared {
    Shared::new(after.iter().map(|second| (S + second) * 1000))
}

impl Source for randflake::Generator<Shared> {
    type Id = Randflake;

    fn touch(&self) {
        self.stats();
        self.grant();
    }
    fn make(&self) -> Result<Randflake> {
        self.generate()
    }
    fn fill(&self, ids: &mut [Randflake]) -> Result<()> {
        self.fill(ids)
    }
    fn blocks(&self) -> impl FnMut() -> Result<Randflake> {
        let mut handle = randflake::Handle::with_first(self, TWO);
        move || handle.generate()
    }
}

/// A generator whose second S - 1 is used up.
fn resumed(after: &[i64]) -> randflake::Builder<Shared> {
    let lease = Grant::new(7, S - 1, S + 10).unwrap();
    randflake::Builder::with_clock(lease, [7; 16], seconds(after)).resume_after(S - 1)
}

fn randflake(after: &[i64]) -> randflake::Generator<Shared> {
    let waiting = resumed(after).on_exhausted(OnExhausted::Wait).max_wait(Duration::ZERO);
    waiting.build().unwrap()
}

impl Source for hotguid::Generator<Shared> {
    type Id = HotGuid;

    fn touch(&self) {
        self.stats();
        self.window();
    }
    fn make(&self) -> Result<HotGuid> {
        self.generate(7)
    }
    fn fill(&self, ids: &mut [HotGuid]) -> Result<()> {
        self.fill(7, ids)
    }
    fn blocks(&self) -> impl FnMut() -> Result<HotGuid> {
        let mut handle = hotguid::Handle::with_first(self, TWO);
        move || handle.generate(7)
    }
}

/// Draws different bytes each time, like random ones, but the same start of the counter, so that slots given out twice show.
fn draw() -> Result<[u8; 8]> {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    Ok((DRAWN.fetch_add(1, Ordering::Relaxed) << 24).to_be_bytes())
}

fn hot_guid(after: &[i64]) -> hotguid::Generator<Shared> {
    let builder = hotguid::Builder::with_clock(seconds(after), draw);
    builder.max_wait(Duration::ZERO).build().unwrap()
}

#[test]
fn randflake_in_one_second() {
    two_threads(None, 2, || randflake(&[0]));
}

#[test]
fn randflake_as_time_goes_on() {
    two_threads(None, 2, || randflake(&[0, 1, 1, 2]));
}

#[test]
fn randflake_on_an_unsteady_clock() {
    two_threads(Some(3), 3, || randflake(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn randflake_batches_against_single_calls() {
    batch_against_singles(None, || randflake(&[0, 0, 1]));
}

#[test]
fn randflake_blocks_against_single_calls() {
    blocks_against_singles(None, || randflake(&[0, 0, 1]));
}

#[test]
fn hot_guid_blocks_against_single_calls() {
    blocks_against_singles(Some(3), || hot_guid(&[0, -1, 1]));
}

#[test]
fn hot_guid_in_one_second() {
    two_threads(Some(3), 2, || hot_guid(&[0]));
}

#[test]
fn hot_guid_on_an_unsteady_clock() {
    two_threads(Some(3), 3, || hot_guid(&[0, -1, 1, 0, 2, 1]));
}

#[test]
fn hot_guid_batches_against_single_calls() {
    batch_against_singles(Some(4), || hot_guid(&[0, 0, 1]));
}

/// A steady clock is never behind the IDs of another thread, however late a thread uses its reading.
#[test]
fn a_steady_clock_is_never_behind() {
    check(None, || {
        let ids = enter_model(resumed(&[0, 1, 2]).build().unwrap());
        let other = ids.clone();
        let handle = thread::spawn(move || other.generate().unwrap());
        assert_distinct(vec![ids.generate().unwrap(), handle.join().unwrap()]);
    });
}

/// Readings that lag by less than the clock's slack are never behind either.
#[test]
fn readings_that_lag_are_never_behind() {
    check(None, || {
        let clock = Shared::new([0, 1000, 999, 1001, 2000].map(|ms| S * 1000 + ms)).lagging(2);
        let grant = Grant::new(7, S - 1, S + 10).unwrap();
        let builder = randflake::Builder::with_clock(grant, [7; 16], clock).resume_after(S - 1);
        let ids = enter_model(builder.build().unwrap());
        let other = ids.clone();
        let handle = thread::spawn(move || other.generate().unwrap());
        let mine = [(); 2].map(|()| ids.generate().unwrap());
        assert_distinct(vec![mine[0], mine[1], handle.join().unwrap()]);
    });
}

#[test]
fn nothing_is_made_after_close_and_what_was_is_before_the_second_told() {
    check(None, || {
        let ids = enter_model(resumed(&[0, 1]).build().unwrap());
        let other = ids.clone();
        let handle = thread::spawn(move || generate(&*other, 2));
        let last = ids.close().unwrap().unwrap();
        let made = handle.join().unwrap();
        assert_eq!(ids.generate().unwrap_err().code(), "generator_closed");
        assert!(made.iter().all(|id| ids.inspect(*id).timestamp <= last));
    });
}

/// IDs made under an extension lie before its end, and the end never moves back.
#[test]
fn a_lease_is_extended_while_ids_are_made() {
    check(None, || {
        let lease = |end| Grant::new(7, S, end).unwrap();
        let builder = randflake::Builder::with_clock(lease(S + 1), [7; 16], seconds(&[0, 1, 2]));
        let ids = enter_model(builder.build().unwrap());
        let other = ids.clone();
        let handle = thread::spawn(move || {
            other.extend_grant(lease(S + 3)).unwrap();
            other.extend_grant(lease(S + 2)).unwrap();
        });
        for _ in 0..3 {
            match ids.generate() {
                Ok(id) => assert!(ids.inspect(id).timestamp < ids.grant().end()),
                Err(error) => assert_eq!(error.code(), "lease_expired"),
            }
        }
        handle.join().unwrap();
        assert_eq!(ids.grant().end(), S + 3);
    });
}
