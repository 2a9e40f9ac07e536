//! Tests clock readings that become outdated because of other calls, and clocks that cannot be used.

use std::sync::Arc;

use polyflake::{Error, clock::ManualClock};

use super::{
    assert_id,
    family::{FAMILIES, Family, GeneratorOptions, START_MS, all_kinds, generate_in_each_way},
    for_each_family,
    support::{BrokenClock, CoarseClock, assert_code},
};

#[test]
fn a_stale_reading_is_repeated() {
    for_each_family(|&Family { tick, .. }, clock, ids| {
        assert_id(ids.generate(), START_MS, 0);
        let (other, script) = (Arc::clone(ids), clock.clone());
        // While one call reads START_MS, another call generates an ID in the next tick.
        clock.run_inside_reading(0, move || {
            script.set_readings([START_MS + tick]);
            assert_id(other.generate(), START_MS + tick, 0);
            script.set_readings([START_MS, START_MS + tick]);
        });
        assert_id(ids.generate(), START_MS + tick, 1);
    });
}

#[test]
fn a_reading_stays_valid_if_another_call_reserves_a_sequence() {
    for_each_family(|family, clock, ids| {
        assert_id(ids.generate(), START_MS, 0);
        let other = Arc::clone(ids);
        // The other call gets the first reading, and this call gets the second. A third reading would be in the next tick.
        clock.set_readings([START_MS, START_MS, START_MS + family.tick]);
        clock.run_inside_reading(0, move || assert_id(other.generate(), START_MS, 1));
        assert_id(ids.generate(), START_MS, 2);
    });
}

#[test]
fn a_failing_clock_returns_an_error() {
    for family in FAMILIES {
        let ids = family.generator(BrokenClock);
        assert_code(ids.generate(), "clock_failed");
        assert_code(ids.try_generate(), "clock_failed");
        assert_code(ids.handle(64)(), "clock_failed");
        assert_eq!(ids.close(), Ok(()), "{}", family.name);
    }
}

#[test]
fn a_clock_coarser_than_a_tick_is_rejected() {
    for family in FAMILIES {
        let tick = family.tick.unsigned_abs() * 1_000_000;
        let build = |nanos| family.build(CoarseClock(nanos), GeneratorOptions::default());
        assert!(build(tick).is_ok(), "{}", family.name);
        for nanos in [tick + 1, u64::MAX] {
            let error = assert_code(build(nanos), "out_of_range");
            let limits = (nanos.into(), 1, tick.into());
            assert_eq!((error.field(), error.range()), (Some("resolution"), Some(limits)));
        }
    }
}

/// The error reports the clock's time in nanoseconds. Randflake generators are excluded, because such times are outside
/// their grants. UUID v7 generators are excluded, because no clock can reach the end of the format's time range. A separate
/// test of that format covers the end of the range.
#[test]
fn a_clock_outside_the_formats_time_range_is_rejected() {
    let is_limited =
        |family: &&Family| !["Randflake", "UUID"].iter().any(|name| family.name.starts_with(name));
    for family in FAMILIES.iter().filter(is_limited) {
        let (clock, (first, end)) = (Arc::new(ManualClock::new(0)), family.span);
        let ids = family.generator(clock.clone());
        for inside in [first, end - 1] {
            clock.set_unix_ms(inside);
            assert_id(ids.generate(), inside / family.tick * family.tick, 0);
        }
        let limits = [first, end].map(|ms| i128::from(ms) * 1_000_000);
        let farthest = [i64::MIN, i64::MAX / 1_000_000 * 1_000_000];
        for nanos in [end * 1_000_000, first * 1_000_000 - 1].into_iter().chain(farthest) {
            clock.set_unix_nanos(nanos);
            let expected =
                Error::time_out_of_range("clock", nanos.into(), limits[0], limits[1] - 1, "ns");
            assert_eq!(ids.generate(), Err(expected), "{}", family.name);
        }
    }
}

/// A debug build panics if a time overflows.
#[test]
fn extreme_times_are_rejected() {
    let near = |time: i64| [-1, 0, 1].map(|off| time.saturating_add(off));
    for family in all_kinds() {
        let (first, end) = family.span;
        let is_allowed = |code: &str| {
            let of_window = ["lease_not_started", "lease_expired", "out_of_range"];
            let of_clock = ["clock_behind", "sequence_exhausted"];
            code == "time_out_of_range"
                || [of_window, [of_clock[0], of_clock[1], ""]].concat().contains(&code)
        };
        let in_nanos = [first, end].map(|ms| ms.saturating_mul(1_000_000));
        let edges = [i64::MIN, i64::MAX, 0, in_nanos[0], in_nanos[1]];
        for nanos in edges.into_iter().flat_map(near) {
            let clock = Arc::new(ManualClock::new(nanos));
            let ids = family.generator(clock.clone());
            match generate_in_each_way(&*ids) {
                Ok(made) => {
                    let tick = family.tick * 1_000_000;
                    let expected = nanos.div_euclid(tick) * family.tick;
                    assert!(
                        made.iter().all(|id| id.unix_ms == expected),
                        "{} {nanos}",
                        family.name
                    );
                }
                Err(error) => assert!(is_allowed(error.code()), "{} {nanos}: {error}", family.name),
            }
            clock.set_unix_nanos(START_MS * 1_000_000);
            if let Err(error) = ids.try_generate() {
                assert!(is_allowed(error.code()), "{} after {nanos}: {error}", family.name);
            }
            assert!(ids.seal().is_ok() && !ids.stats().is_empty());
        }
        let ends = [i64::MIN, i64::MAX, 0, first, end];
        for end in ends.into_iter().flat_map(near) {
            let ids = family.generator(ManualClock::at_unix_ms(START_MS));
            let window = (START_MS, end);
            let options = GeneratorOptions { window: Some(window), ..GeneratorOptions::default() };
            let built = family.build(ManualClock::at_unix_ms(START_MS), options);
            for found in [ids.extend_window(end).err(), built.err()].into_iter().flatten() {
                assert!(is_allowed(found.code()), "{} {end}: {found}", family.name);
            }
        }
    }
}
