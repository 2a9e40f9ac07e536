//! Sealed generators: the end that they return lies past all slots that they may have used, and they make nothing afterwards.

mod support;

use std::{ops::Range, thread, time::Duration};

use polyflake::{
    clock::ManualClock,
    hotguid::{self, HotGuid},
    layout::{self, Field, Layout, Tick},
    randflake::{self, Grant, Randflake},
    sno::{self, Sno},
};
use support::assert_code;

/// A moment at the beginning of a tick of every family, in Unix milliseconds.
const T: i64 = 1_763_650_000_000;

fn sno(clock: &ManualClock) -> sno::Generator<&ManualClock> {
    let builder = sno::Generator::builder().clock(clock).partition(7).max_wait(Duration::ZERO);
    builder.window(T - 100_000, T + 100_000).build().unwrap()
}

fn randflake(clock: &ManualClock) -> randflake::Generator<&ManualClock> {
    let grant = Grant::new(7, T / 1000 - 100, T / 1000 + 100).unwrap();
    randflake::Builder::with_clock(grant, [7; 16], clock).max_wait(Duration::ZERO).build().unwrap()
}

fn hot_guid(clock: &ManualClock) -> hotguid::Generator<&ManualClock> {
    let builder = hotguid::Generator::builder().clock(clock).window(T - 100_000, T + 100_000);
    builder.max_wait(Duration::ZERO).build().unwrap()
}

/// A generator of a layout with ticks of `micros` microseconds.
fn layout(micros: u64, clock: &ManualClock) -> layout::Generator<&ManualClock> {
    let tick = Tick::from_micros(micros).unwrap();
    let fields = [Field::unused(1), Field::timestamp(55, tick, 0), Field::sequence(8)];
    let builder = layout::Builder::with_clock(Layout::integer(fields).unwrap(), clock);
    builder.window(T - 100_000, T + 100_000).max_wait(Duration::ZERO).build().unwrap()
}

#[test]
fn a_generator_that_made_nothing_tells_no_tick() {
    let clock = &ManualClock::at_unix_ms(T);
    assert_eq!(sno(clock).seal(), Ok(None));
    assert_eq!(randflake(clock).seal(), Ok(None));
    assert_eq!(hot_guid(clock).seal(), Ok(None));
    assert_eq!(layout(1000, clock).seal(), Ok(None));
}

#[test]
fn the_first_tick_of_a_format_is_one_too() {
    let first = |epoch_ms| ManualClock::at_unix_ms(epoch_ms);
    let clock = first(1_262_304_000_000);
    let ids = sno::Generator::builder().clock(&clock).partition(7).build().unwrap();
    ids.generate(0).unwrap();
    assert_eq!(ids.seal(), Ok(Some(1_262_304_000_000..1_262_304_000_004)));
    let clock = first(1_730_000_000_000);
    let grant = Grant::new(7, 1_730_000_000, 1_730_000_001).unwrap();
    let ids = randflake::Builder::with_clock(grant, [7; 16], &clock).build().unwrap();
    ids.generate().unwrap();
    assert_eq!(ids.seal(), Ok(Some(1_730_000_000_000..1_730_000_001_000)));
}

/// Asserts the refusal of all calls of a sealed generator, and of a handle that has slots left.
macro_rules! assert_sealed {
    ($ids:expr, $one:expr, $batch:expr, $highest:expr, ($($given:expr)?)) => {{
        let ids = $ids;
        let mut handle = ids.handle();
        handle.generate($($given)?).unwrap();
        assert_eq!(ids.seal(), Ok(Some($highest)));
        for _ in 0..2 {
            assert_code(ids.generate($($given)?), "generator_closed");
            assert_code(ids.try_generate($($given)?), "generator_closed");
            assert_code(handle.generate($($given)?), "generator_closed");
            let error = assert_code(ids.fill($($given,)? &mut [$one; 2]), "generator_closed");
            assert_eq!(error.written(), Some(0));
            assert_code(ids.seal(), "generator_closed");
            assert_code(ids.close(), "generator_closed");
        }
        assert!(ids.stats_are_closed());
    }};
}

/// A generator whose figures tell whether it is closed.
trait Closed {
    fn stats_are_closed(&self) -> bool;
}

impl Closed for sno::Generator<&ManualClock> {
    fn stats_are_closed(&self) -> bool {
        self.stats().unwrap().closed
    }
}

macro_rules! closed {
    ($($generator:ty),*) => {$(
        impl Closed for $generator {
            fn stats_are_closed(&self) -> bool {
                self.stats().closed
            }
        }
    )*};
}

closed!(randflake::Generator<&ManualClock>, hotguid::Generator<&ManualClock>);

#[test]
fn nothing_is_made_by_a_sealed_generator() {
    let clock = &ManualClock::at_unix_ms(T);
    assert_sealed!(sno(clock), Sno::default(), 2, T..T + 4, (0));
    assert_sealed!(randflake(clock), Randflake::default(), 2, T..T + 1000, ());
    assert_sealed!(hot_guid(clock), HotGuid::default(), 2, T..T + 1000, (0));
    let ids = layout(1000, clock);
    ids.generate().unwrap();
    assert_eq!(ids.seal(), Ok(Some(T..T + 1)));
    assert_code(ids.generate(), "generator_closed");
    assert_code(ids.close(), "generator_closed");
}

/// If a clock stepped back, the highest tick is not the last one.
#[test]
fn a_tick_that_the_clock_stepped_back_from_counts() {
    let clock = &ManualClock::at_unix_ms(T + 40);
    let ids = sno(clock);
    for ms in [40, 0, 20] {
        clock.set_unix_ms(T + ms);
        ids.generate(0).unwrap();
    }
    assert_eq!(ids.seal(), Ok(Some(T + 40..T + 44)));
    let guids = hot_guid(clock);
    for ms in [5000, 0] {
        clock.set_unix_ms(T + ms);
        guids.generate(0).unwrap();
    }
    assert_eq!(guids.seal(), Ok(Some(T + 5000..T + 6000)));
}

/// Slots that a handle or a batch reserved count, whether they were handed out or not.
#[test]
fn a_tick_that_was_only_reserved_counts() {
    let clock = &ManualClock::at_unix_ms(T);
    let ids = sno(clock);
    let error = assert_code(ids.fill(0, &mut vec![Sno::default(); 70_000]), "sequence_exhausted");
    assert_eq!(error.written(), Some(65_536));
    clock.set_unix_ms(T + 8);
    ids.handle().generate(0).unwrap();
    clock.set_unix_ms(T + 80);
    assert_eq!(ids.seal(), Ok(Some(T + 8..T + 12)));
}

#[test]
fn ticks_that_are_no_whole_milliseconds_are_rounded_up() {
    for (tick, micros, highest) in [
        (10, 0, T..T + 1),
        (10, 10, T + 1..T + 1),
        (10, 990, T + 1..T + 1),
        (400, 400, T + 1..T + 1),
        (400, 800, T + 1..T + 2),
    ] {
        let clock = ManualClock::new(T * 1_000_000 + micros * 1000);
        let ids = layout(tick, &clock);
        ids.generate().unwrap();
        assert_eq!(ids.seal(), Ok(Some(highest)), "{micros} us");
    }
}

#[test]
fn a_layout_without_a_timestamp_cannot_be_sealed() {
    let fields = [Field::unused(56), Field::sequence(8)];
    let builder = layout::Generator::builder(Layout::integer(fields).unwrap());
    let ids = builder.sequence_only(true).build().unwrap();
    assert_code(ids.seal(), "unknown_field");
    ids.generate().unwrap();
}

/// While threads make IDs, no ID is past the end that the seal returned, and only one thread seals.
#[test]
fn no_thread_makes_an_id_past_the_seal() {
    let rounds = if cfg!(miri) { 3 } else { 200 };
    for _ in 0..rounds {
        let ids = &sno::Generator::builder().partition(7).build().unwrap();
        let (made, sealed): (Vec<Sno>, Vec<Range<i64>>) = thread::scope(|scope| {
            let make = || {
                let mut handle = ids.handle();
                let mut all = Vec::new();
                while let (Ok(one), Ok(other)) = (ids.generate(0), handle.generate(0)) {
                    all.extend([one, other]);
                }
                all
            };
            let makers = [scope.spawn(make), scope.spawn(make)];
            let sealers = [(); 2].map(|()| scope.spawn(|| ids.seal()));
            let sealed = sealers.map(|thread| thread.join().unwrap());
            assert_eq!(sealed.iter().filter(|sealed| sealed.is_ok()).count(), 1);
            let made = makers.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            (made, sealed.into_iter().filter_map(|sealed| sealed.ok().flatten()).collect())
        });
        let last = made.iter().map(Sno::unix_ms).max();
        assert!(last.is_none_or(|last| sealed[0].contains(&last) || last < sealed[0].start));
    }
}
