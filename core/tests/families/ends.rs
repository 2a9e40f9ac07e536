//! Tests that closed and sealed generators make no further IDs, and that the end that `seal` returns is after all reserved
//! slots.

use std::{ops::Range, thread, time::Duration};

use polyflake::{
    Result,
    clock::{Clock, ManualClock, SystemClock},
    layout::{self, Field, Layout, Tick},
};

use super::{
    assert_id,
    family::{AnyGenerator, AnyId, FAMILIES, Family, GeneratorOptions, START_MS},
    for_each_family, for_each_family_with_options,
    support::{ReadingsClock, assert_code, rounds},
};

/// Asserts that every call on a closed generator fails. Calls on its handle must fail, too, although the handle has slots
/// left.
#[track_caller]
fn assert_ended(ids: &dyn AnyGenerator, mut handle: impl FnMut() -> Result<AnyId>) {
    for _ in 0..2 {
        assert_code(ids.generate(), "generator_closed");
        assert_code(ids.try_generate(), "generator_closed");
        assert_code(handle(), "generator_closed");
        let (made, filled) = ids.fill(2);
        assert_eq!((made.len(), assert_code(filled, "generator_closed").written()), (0, Some(0)));
        let error = assert_code(ids.try_fill(2), "generator_closed");
        assert_eq!(error.written(), Some(0));
        assert_code(ids.seal(), "generator_closed");
        assert_code(ids.close(), "generator_closed");
    }
    assert!(ids.stats().contains("closed: true"), "{}", ids.stats());
}

#[test]
fn a_closed_generator_makes_no_ids() {
    for_each_family(|_, clock, ids| {
        let mut handle = ids.handle(64);
        assert_id(handle(), START_MS, 0);
        assert!(ids.stats().contains("closed: false"), "{}", ids.stats());
        // Another call closes the generator while this call reads the clock.
        let other = ids.clone();
        clock.run_inside_reading(0, move || other.close().unwrap());
        assert_code(ids.generate(), "generator_closed");
        assert_ended(&**ids, handle);
    });
}

#[test]
fn a_sealed_generator_makes_no_ids() {
    for_each_family(|family, _, ids| {
        let mut handle = ids.handle(64);
        assert_id(handle(), START_MS, 0);
        assert_eq!(ids.seal(), Ok(Some(START_MS..START_MS + family.tick)));
        assert_ended(&**ids, handle);
    });
}

#[test]
fn sealing_an_unused_generator_returns_none() {
    for_each_family(|_, _, ids| assert_eq!(ids.seal(), Ok(None)));
}

/// An unused generator's state also refers to the format's first tick. Asserts that `seal` reports this tick once an ID has
/// been generated in it.
#[test]
fn seal_reports_the_formats_first_tick() {
    for_each_family(|&Family { tick, span: (first, _), .. }, clock, ids| {
        clock.set_readings([first]);
        assert_id(ids.generate(), first, 0);
        assert_eq!(ids.seal(), Ok(Some(first..first + tick)));
    });
}

/// After a clock rollback, the highest tick is not the tick of the last ID.
#[test]
fn seal_reports_the_highest_tick_after_a_rollback() {
    let options = |_: &Family| GeneratorOptions {
        max_wait: Some(Duration::ZERO),
        ..GeneratorOptions::default()
    };
    for_each_family_with_options(options, |family, clock, ids| {
        for ticks in [10, 0, 5] {
            clock.set_readings([START_MS + ticks * family.tick]);
            drop(ids.generate());
        }
        let start = START_MS + 10 * family.tick;
        assert_eq!(ids.seal(), Ok(Some(start..start + family.tick)));
    });
}

/// Slots that a handle or a batch has reserved count as used.
#[test]
fn seal_counts_reserved_ticks() {
    for_each_family(|&Family { tick, per_tick, .. }, clock, ids| {
        ids.handle(per_tick)().unwrap();
        clock.set_readings([START_MS + 2 * tick]);
        ids.handle(64)().unwrap();
        clock.set_readings([START_MS + 20 * tick]);
        assert_eq!(ids.seal(), Ok(Some(START_MS + 2 * tick..START_MS + 3 * tick)));
    });
}

#[test]
fn seal_rounds_fractional_milliseconds_up() {
    for (tick, micros, highest) in [
        (10, 0, START_MS..START_MS + 1),
        (10, 10, START_MS + 1..START_MS + 1),
        (10, 990, START_MS + 1..START_MS + 1),
        (400, 400, START_MS + 1..START_MS + 1),
        (400, 800, START_MS + 1..START_MS + 2),
    ] {
        let clock = ManualClock::new(START_MS * 1_000_000 + micros * 1000);
        let tick = Tick::from_micros(tick).unwrap();
        let fields = [Field::unused(1), Field::timestamp(55, tick, 0), Field::sequence(8)];
        let layout = Layout::integer(fields).unwrap();
        let ids = layout::Builder::with_clock(layout, &clock).build().unwrap();
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

/// Asserts that concurrent threads make no IDs after the end that `seal` returned, and that only one thread can seal the
/// generator.
#[test]
fn no_thread_makes_an_id_after_the_seal() {
    for family in FAMILIES {
        for _ in 0..rounds(50) {
            // With this clock, the generator does not skip its first tick, so the threads generate IDs before the seal.
            let ids = &*family.generator(ReadingsClock(|| SystemClock.unix_nanos()));
            let (made, sealed): (Vec<AnyId>, Vec<Range<i64>>) = thread::scope(|scope| {
                let make = || {
                    let (mut handle, mut all) = (ids.handle(64), Vec::new());
                    while let (Ok(one), Ok(other)) = (ids.generate(), handle()) {
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
            let last = made.iter().map(|id| id.unix_ms).max();
            assert!(last.is_none_or(|last| sealed[0].contains(&last) || last < sealed[0].start));
        }
    }
}
