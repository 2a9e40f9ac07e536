//! Windows: half-open time spans outside of which no ID is made.

use super::{
    assert_id,
    family::{FAMILIES, Family, T, Terms, use_up},
    for_each, for_each_under,
    support::{ScriptedClock, assert_code},
};

fn with_window(start: i64, end: i64) -> Terms {
    Terms { window: Some((start, end)), ..Terms::default() }
}

#[test]
fn a_window_includes_its_start_and_excludes_its_end() {
    let terms = |family: &Family| with_window(T, T + 2 * family.tick);
    for_each_under(terms, |&Family { tick, span, .. }, clock, ids| {
        assert_eq!(ids.window(), (T, T + 2 * tick));
        // A default generator's first call picks its identity, and the second call uses it.
        for early in [T - 1, T - 1, span.0] {
            clock.play([early]);
            assert_eq!(assert_code(ids.generate(), "lease_not_started").retry_at(), Some(T));
        }
        for (ms, place) in [(T, 0), (T + tick - 1, 1), (T + tick, 0), (T + 2 * tick - 1, 1)] {
            clock.play([ms]);
            assert_id(ids.generate(), ms / tick * tick, place);
        }
        // No clock shows the end of a UUID's time.
        for late in [T + 2 * tick, (span.1 - 1).min(i64::MAX / 1_000_000)] {
            clock.play([late]);
            assert_code(ids.generate(), "lease_expired");
        }
        // `extend_window` moves the end forward, never back.
        for end in [T + tick, T + 3 * tick, T + tick] {
            ids.extend_window(end).unwrap();
        }
        assert_eq!(ids.window(), (T, T + 3 * tick));
        clock.play([T + 3 * tick - 1]);
        assert_id(ids.generate(), T + 2 * tick, 0);
        clock.play([T + 3 * tick]);
        assert_code(ids.generate(), "lease_expired");
    });
}

fn one_tick(family: &Family) -> Terms {
    with_window(T, T + family.tick)
}

#[test]
fn a_wait_ends_at_the_end_of_the_window() {
    for_each_under(one_tick, |family, clock, ids| {
        use_up(&**ids, family, 0);
        clock.play([T, T + family.tick]);
        assert_code(ids.generate(), "lease_expired");
    });
}

#[test]
fn a_handle_stays_within_the_window() {
    for_each_under(one_tick, |family, clock, ids| {
        let mut handle = ids.handle(64);
        assert_id(handle(), T, 0);
        clock.play([T + family.tick]);
        assert_code(handle(), "lease_expired");
        clock.play([T + family.tick - 1]);
        assert_id(handle(), T, 64);
    });
}

/// A Randflake generator's window is its grant, which is validated when it is created.
#[test]
fn invalid_windows_are_rejected() {
    for family in FAMILIES.iter().filter(|family| !family.name.starts_with("Randflake")) {
        let (first, end) = family.span;
        let code = |start, end| {
            let built = family.build(ScriptedClock::default(), with_window(start, end));
            built.err().map(|error| error.code())
        };
        assert_eq!(code(T, T), Some("out_of_range"));
        assert_eq!(code(T + family.tick, T), Some("out_of_range"));
        let within_a_tick = code(T + 1, T + family.tick - 1);
        assert_eq!(within_a_tick, Some("out_of_range"), "{}", family.name);
        for (start, end) in [(first - 1, T), (T, end + 1), (i64::MIN, i64::MAX)] {
            assert_eq!(code(start, end), Some("time_out_of_range"), "{}", family.name);
        }
        assert_eq!(code(first, end), None, "{}", family.name);
    }
}

#[test]
fn invalid_window_extensions_are_rejected() {
    for family in FAMILIES.iter().filter(|family| !family.name.starts_with("Randflake")) {
        let ids = family.build(ScriptedClock::default(), with_window(T, T + family.tick)).unwrap();
        assert_code(ids.extend_window(i64::MAX), "time_out_of_range");
        assert_eq!(ids.extend_window(i64::MIN).unwrap_err().field(), Some("end"));
        let error = assert_code(ids.extend_window(T), "out_of_range");
        let (end, least, _) = error.range().unwrap();
        assert_eq!((error.field(), end, least), (Some("end"), T.into(), (T + 1).into()));
        assert_eq!(ids.window(), (T, T + family.tick), "{}", family.name);
    }
}

/// An extension does not limit a generator that has no window.
#[test]
fn extend_window_has_no_effect_without_a_window() {
    for_each(|family, _, ids| {
        assert_eq!(ids.window(), family.span, "{}", family.name);
        ids.extend_window(T + 1000).unwrap();
        assert_eq!(ids.window(), family.span, "{}", family.name);
    });
}
