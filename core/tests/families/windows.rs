//! Tests that a generator generates IDs only within its window, which is a half-open time range.

use super::{
    assert_id,
    family::{FAMILIES, Family, GeneratorOptions, START_MS, exhaust_tick},
    for_each_family, for_each_family_with_options,
    support::{ScriptedClock, assert_code},
};

fn window_options(start: i64, end: i64) -> GeneratorOptions {
    GeneratorOptions { window: Some((start, end)), ..GeneratorOptions::default() }
}

#[test]
fn a_window_includes_its_start_and_excludes_its_end() {
    let options = |family: &Family| window_options(START_MS, START_MS + 2 * family.tick);
    for_each_family_with_options(options, |&Family { tick, span, .. }, clock, ids| {
        assert_eq!(ids.window(), (START_MS, START_MS + 2 * tick));
        // A default generator's first call picks its identity, and the second call uses it.
        for early in [START_MS - 1, START_MS - 1, span.0] {
            clock.set_readings([early]);
            assert_eq!(assert_code(ids.generate(), "lease_not_started").retry_at(), Some(START_MS));
        }
        for (ms, place) in [
            (START_MS, 0),
            (START_MS + tick - 1, 1),
            (START_MS + tick, 0),
            (START_MS + 2 * tick - 1, 1),
        ] {
            clock.set_readings([ms]);
            assert_id(ids.generate(), ms / tick * tick, place);
        }
        // No clock can show the latest time that UUID v7 can represent, so the test uses the latest possible clock reading
        // instead.
        for late in [START_MS + 2 * tick, (span.1 - 1).min(i64::MAX / 1_000_000)] {
            clock.set_readings([late]);
            assert_code(ids.generate(), "lease_expired");
        }
        // `extend_window` moves the end forward, never back.
        for end in [START_MS + tick, START_MS + 3 * tick, START_MS + tick] {
            ids.extend_window(end).unwrap();
        }
        assert_eq!(ids.window(), (START_MS, START_MS + 3 * tick));
        clock.set_readings([START_MS + 3 * tick - 1]);
        assert_id(ids.generate(), START_MS + 2 * tick, 0);
        clock.set_readings([START_MS + 3 * tick]);
        assert_code(ids.generate(), "lease_expired");
    });
}

fn one_tick_window(family: &Family) -> GeneratorOptions {
    window_options(START_MS, START_MS + family.tick)
}

#[test]
fn a_wait_ends_at_the_end_of_the_window() {
    for_each_family_with_options(one_tick_window, |family, clock, ids| {
        exhaust_tick(&**ids, family, 0);
        clock.set_readings([START_MS, START_MS + family.tick]);
        assert_code(ids.generate(), "lease_expired");
    });
}

#[test]
fn a_handle_stays_within_the_window() {
    for_each_family_with_options(one_tick_window, |family, clock, ids| {
        let mut handle = ids.handle(64);
        assert_id(handle(), START_MS, 0);
        clock.set_readings([START_MS + family.tick]);
        assert_code(handle(), "lease_expired");
        clock.set_readings([START_MS + family.tick - 1]);
        assert_id(handle(), START_MS, 64);
    });
}

/// A Randflake generator's window is its grant, which is validated when it is created.
#[test]
fn invalid_windows_are_rejected() {
    for family in FAMILIES.iter().filter(|family| !family.name.starts_with("Randflake")) {
        let (first, end) = family.span;
        let code = |start, end| {
            let built = family.build(ScriptedClock::default(), window_options(start, end));
            built.err().map(|error| error.code())
        };
        assert_eq!(code(START_MS, START_MS), Some("out_of_range"));
        assert_eq!(code(START_MS + family.tick, START_MS), Some("out_of_range"));
        let within_a_tick = code(START_MS + 1, START_MS + family.tick - 1);
        assert_eq!(within_a_tick, Some("out_of_range"), "{}", family.name);
        for (start, end) in [(first - 1, START_MS), (START_MS, end + 1), (i64::MIN, i64::MAX)] {
            assert_eq!(code(start, end), Some("time_out_of_range"), "{}", family.name);
        }
        assert_eq!(code(first, end), None, "{}", family.name);
    }
}

#[test]
fn invalid_window_extensions_are_rejected() {
    for family in FAMILIES.iter().filter(|family| !family.name.starts_with("Randflake")) {
        let ids = family
            .build(ScriptedClock::default(), window_options(START_MS, START_MS + family.tick))
            .unwrap();
        assert_code(ids.extend_window(i64::MAX), "time_out_of_range");
        assert_eq!(ids.extend_window(i64::MIN).unwrap_err().field(), Some("end"));
        let error = assert_code(ids.extend_window(START_MS), "out_of_range");
        let (end, least, _) = error.range().unwrap();
        assert_eq!(
            (error.field(), end, least),
            (Some("end"), START_MS.into(), (START_MS + 1).into())
        );
        assert_eq!(ids.window(), (START_MS, START_MS + family.tick), "{}", family.name);
    }
}

/// An extension does not limit a generator that has no window.
#[test]
fn extend_window_has_no_effect_without_a_window() {
    for_each_family(|family, _, ids| {
        assert_eq!(ids.window(), family.span, "{}", family.name);
        ids.extend_window(START_MS + 1000).unwrap();
        assert_eq!(ids.window(), family.span, "{}", family.name);
    });
}
