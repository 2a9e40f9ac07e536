//! Tests that a call waits or returns an error if the tick is exhausted or the clock is behind the last tick.

use std::time::Duration;

use polyflake::OnExhausted;

use super::{
    assert_id,
    family::{FAMILIES, GeneratorOptions, START_MS, exhaust_tick},
    for_each_family, for_each_family_with_options,
    support::{ScriptedClock, assert_code},
};

#[test]
fn a_full_tick_with_a_frozen_clock_returns_an_error() {
    for_each_family(|family, clock, ids| {
        exhaust_tick(&**ids, family, 0);
        let before = ids.stats();
        for _ in 0..2 {
            let error = assert_code(ids.generate(), "sequence_exhausted");
            assert_eq!(error.retry_at(), Some(START_MS + family.tick), "{}", family.name);
        }
        assert!(clock.slept_nanos() > 0, "{} waits by default", family.name);
        assert_eq!(ids.stats(), before);
        clock.set_readings([START_MS + family.tick]);
        assert_id(ids.generate(), START_MS + family.tick, 0);
    });
}

#[test]
fn calls_wait_for_the_next_tick() {
    for_each_family(|family, clock, ids| {
        exhaust_tick(&**ids, family, 0);
        clock.set_readings([START_MS, START_MS, START_MS + family.tick]);
        assert_id(ids.generate(), START_MS + family.tick, 0);
        assert!(clock.slept_nanos() > 0, "{}", family.name);
    });
}

#[test]
fn calls_configured_to_fail_never_sleep() {
    for options in [
        GeneratorOptions { on_exhausted: Some(OnExhausted::Error), ..GeneratorOptions::default() },
        GeneratorOptions { max_wait: Some(Duration::ZERO), ..GeneratorOptions::default() },
    ] {
        for_each_family_with_options(
            |_| options,
            |family, clock, ids| {
                exhaust_tick(&**ids, family, 2);
                let (made, filled) = ids.fill(3);
                let error = assert_code(filled, "sequence_exhausted");
                assert_eq!((made.len(), error.written()), (2, Some(2)));
                assert_code(ids.generate(), "sequence_exhausted");
                clock.set_readings([START_MS - 1]);
                // sno accepts one rollback without a wait, and Hot Guid stays in its exhausted second.
                match family.name {
                    "sno" => {
                        assert_id(ids.generate(), START_MS - 4, 0);
                        clock.set_readings([START_MS - 8]);
                        assert_eq!(
                            assert_code(ids.generate(), "clock_behind").retry_at(),
                            Some(START_MS - 4)
                        );
                    }
                    "Hot Guid" => drop(assert_code(ids.generate(), "sequence_exhausted")),
                    _ => drop(assert_code(ids.generate(), "clock_behind")),
                }
                assert_eq!(clock.slept_nanos(), 0);
            },
        );
    }
}

#[test]
fn try_calls_return_the_available_ids_without_waiting() {
    for_each_family(|family, clock, ids| {
        exhaust_tick(&**ids, family, 100);
        assert_eq!(ids.try_fill(150).unwrap().len(), 100, "{}", family.name);
        assert_eq!(ids.try_fill(150), Ok(vec![]));
        assert_eq!(ids.try_fill(0), Ok(vec![]));
        let mut handle = ids.non_waiting_handle();
        assert_code(ids.try_generate(), "sequence_exhausted");
        assert_code(handle(), "sequence_exhausted");
        clock.set_readings([START_MS + family.tick]);
        assert_id(ids.try_generate(), START_MS + family.tick, 0);
        assert_id(handle(), START_MS + family.tick, 1);
        assert_eq!(clock.slept_nanos(), 0, "{}", family.name);
    });
}

/// sno accepts one rollback without a wait, and Hot Guid and UUID v7 stay in their tick.
#[test]
fn calls_wait_for_a_clock_that_is_behind() {
    let held = ["sno", "Hot Guid", "UUID v7"];
    for family in FAMILIES.iter().filter(|family| !held.contains(&family.name)) {
        let clock = ScriptedClock::default();
        clock.set_readings([START_MS]);
        let ids = family.generator(clock.clone());
        assert_id(ids.generate(), START_MS, 0);
        let before = ids.stats();
        clock.set_readings([START_MS - 1]);
        assert_eq!(ids.try_fill(2), Ok(vec![]));
        assert_eq!(assert_code(ids.try_generate(), "clock_behind").retry_at(), Some(START_MS));
        assert_eq!(clock.slept_nanos(), 0);
        assert_eq!(assert_code(ids.generate(), "clock_behind").retry_at(), Some(START_MS));
        assert_eq!(ids.stats(), before);
        let waits = family.name.starts_with("Randflake");
        assert_eq!(clock.slept_nanos() > 0, waits, "layouts refuse at once, as their original");
        clock.set_readings([START_MS - 1, START_MS]);
        assert_eq!(ids.generate().is_ok(), waits);
        assert_id(ids.generate(), START_MS, 1 + u64::from(waits));
    }
}
