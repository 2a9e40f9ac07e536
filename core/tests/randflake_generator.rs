//! Tests the Randflake generator: node IDs, grants and restarts.

mod support;

use std::{collections::HashSet, sync::Arc};

use polyflake::{
    clock::Clock,
    randflake::{Builder, EPOCH, Generator, Grant, Handle, LAST_SECOND, Parts, Randflake},
};
use support::{ScriptedClock, assert_code};

const SECRET: [u8; 16] = *b"sixteen byte key";

/// The second in which the tests start, in Unix seconds.
const START_SECONDS: i64 = 1_763_650_000;
/// The number of IDs that a node can generate in a second.
const IDS_PER_SECOND: usize = 131_072;

fn grant(nodes: std::ops::RangeInclusive<u32>) -> Grant {
    Grant::with_nodes(nodes, EPOCH, LAST_SECOND + 1).unwrap()
}

/// Returns a builder for one node, with a clock at the start of second [`START_SECONDS`].
fn builder_at_start(clock: &ScriptedClock) -> Builder<ScriptedClock> {
    set_seconds(clock, [START_SECONDS]);
    Builder::with_clock(grant(7..=7), SECRET, clock.clone())
}

fn set_seconds(clock: &ScriptedClock, seconds: impl IntoIterator<Item = i64>) {
    clock.set_readings(seconds.into_iter().map(|second| second * 1000));
}

#[track_caller]
fn parts<C: Clock>(ids: &Generator<C>) -> Parts {
    ids.inspect(ids.generate().unwrap())
}

/// Makes `count` IDs of the current second in one batch.
fn exhaust<C: Clock>(ids: &Generator<C>, count: usize) -> Vec<Randflake> {
    let mut batch = vec![Randflake::default(); count];
    ids.fill(&mut batch).unwrap();
    batch
}

// The tests below cover ranges of node IDs.

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn a_range_continues_with_the_next_node() {
    let clock = ScriptedClock::default();
    set_seconds(&clock, [START_SECONDS]);
    let ids = Builder::with_clock(grant(131_069..=131_071), SECRET, clock.clone()).build().unwrap();
    let mut all = exhaust(&ids, 3 * IDS_PER_SECOND - 1);
    let last = ids.generate().unwrap();
    assert_eq!(ids.inspect(all[0]), Parts { timestamp: START_SECONDS, node: 131_069, sequence: 0 });
    assert_eq!(
        ids.inspect(all[IDS_PER_SECOND]),
        Parts { timestamp: START_SECONDS, node: 131_070, sequence: 0 }
    );
    assert_eq!(
        ids.inspect(last),
        Parts { timestamp: START_SECONDS, node: 131_071, sequence: 131_071 }
    );
    let error = assert_code(ids.generate(), "sequence_exhausted");
    assert_eq!(error.retry_at(), Some((START_SECONDS + 1) * 1000));
    all.push(last);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 3 * IDS_PER_SECOND);
    set_seconds(&clock, [START_SECONDS + 1]);
    assert_eq!(parts(&ids), Parts { timestamp: START_SECONDS + 1, node: 131_069, sequence: 0 });
}

#[test]
#[cfg_attr(miri, ignore = "makes all IDs of a second")]
fn a_grant_of_all_nodes_uses_a_wider_word() {
    let clock = ScriptedClock::default();
    set_seconds(&clock, [LAST_SECOND]);
    for last in [32_767, 32_768, 131_071] {
        let ids = Builder::with_clock(grant(0..=last), SECRET, clock.clone()).build().unwrap();
        exhaust(&ids, IDS_PER_SECOND);
        assert_eq!(parts(&ids), Parts { timestamp: LAST_SECOND, node: 1, sequence: 0 });
        assert_eq!(ids.close(), Ok(Some(LAST_SECOND)));
        assert_code(ids.generate(), "generator_closed");
    }
}

// The tests below cover the limits and the extension of grants.

#[test]
fn times_outside_the_format_are_outside_the_grant() {
    let clock = ScriptedClock::default();
    let grant = Grant::new(7, START_SECONDS, START_SECONDS + 2).unwrap();
    let ids = Builder::with_clock(grant, SECRET, clock.clone()).build().unwrap();
    for early in [i64::MIN / 1_000_000, -1, 0, EPOCH * 1000 - 1] {
        clock.set_readings([early]);
        let error = assert_code(ids.generate(), "lease_not_started");
        assert_eq!(error.retry_at(), Some(START_SECONDS * 1000), "at {early}");
    }
    for late in [(LAST_SECOND + 1) * 1000, i64::MAX / 1_000_000] {
        clock.set_readings([late]);
        assert_code(ids.generate(), "lease_expired");
    }
}

#[test]
fn another_grant_cannot_extend_the_current_one() {
    let ids = builder_at_start(&ScriptedClock::default()).build().unwrap();
    let before = ids.grant();
    for other in [grant(6..=6), grant(7..=8), Grant::new(7, EPOCH + 1, LAST_SECOND + 1).unwrap()] {
        assert_code(ids.extend_grant(other), "lease_mismatch");
        assert_eq!(ids.grant(), before);
    }
}

// The tests below cover closing a generator and resuming after its last second.

#[test]
fn close_returns_the_last_second_used() {
    let clock = ScriptedClock::default();
    let unused = builder_at_start(&clock).build().unwrap();
    assert_eq!(unused.close(), Ok(None));
    let ids = builder_at_start(&clock).build().unwrap();
    ids.generate().unwrap();
    set_seconds(&clock, [START_SECONDS + 5]);
    ids.generate().unwrap();
    assert_eq!((ids.stats().last_second, ids.stats().len), (Some(START_SECONDS + 5), 1));
    assert_eq!(ids.close(), Ok(Some(START_SECONDS + 5)));
}

#[test]
fn the_formats_first_second_counts_as_used() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).build().unwrap();
    set_seconds(&clock, [EPOCH]);
    ids.generate().unwrap();
    assert_eq!(ids.close(), Ok(Some(EPOCH)));
}

#[test]
fn resume_after_excludes_its_second() {
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).resume_after(START_SECONDS).build().unwrap();
    assert_eq!(
        assert_code(ids.generate(), "sequence_exhausted").retry_at(),
        Some((START_SECONDS + 1) * 1000)
    );
    set_seconds(&clock, [START_SECONDS - 1]);
    assert_code(ids.generate(), "clock_behind");
    assert_eq!(ids.stats().last_second, Some(START_SECONDS));
    set_seconds(&clock, [START_SECONDS + 1]);
    assert_eq!(parts(&ids), Parts { timestamp: START_SECONDS + 1, node: 7, sequence: 0 });
    let unused = builder_at_start(&clock).resume_after(START_SECONDS).build().unwrap();
    assert_eq!(unused.close(), Ok(Some(START_SECONDS)), "what was used before stays used");
}

#[test]
fn resuming_repeats_no_id() {
    let clock = ScriptedClock::default();
    let mut all = HashSet::new();
    let mut last = None;
    for second in
        [START_SECONDS, START_SECONDS, START_SECONDS + 1, START_SECONDS + 1, START_SECONDS + 2]
    {
        let mut builder = builder_at_start(&clock);
        if let Some(last) = last {
            builder = builder.resume_after(last);
        }
        let ids = builder.build().unwrap();
        set_seconds(&clock, [second]);
        for _ in 0..3 {
            if let Ok(id) = ids.generate() {
                assert!(all.insert(id));
            }
        }
        last = ids.close().unwrap();
    }
    assert_eq!(all.len(), 9);
}

#[test]
fn resume_after_rejects_invalid_seconds() {
    for second in [i64::MIN, -1, 0, EPOCH - 1, LAST_SECOND + 1, i64::MAX] {
        let error = assert_code(
            builder_at_start(&ScriptedClock::default()).resume_after(second).build(),
            "out_of_range",
        );
        assert_eq!(error.field(), Some("resume_after"));
    }
    let clock = ScriptedClock::default();
    let ids = builder_at_start(&clock).resume_after(LAST_SECOND).build().unwrap();
    assert_code(ids.generate(), "clock_behind");
}

// The tests below cover handles and the `Debug` output.

#[test]
fn debug_hides_the_secret() {
    let builder = || Generator::builder(grant(7..=7), SECRET);
    let shown = format!("{:?} {:?}", builder(), builder().build().unwrap());
    assert!(shown.contains("Sparx64 { .. }") && shown.ends_with("Generator { .. }"), "{shown}");
    let other = || Generator::builder(grant(7..=7), [0; 16]);
    assert_eq!(shown, format!("{:?} {:?}", other(), other().build().unwrap()));
}

#[test]
fn an_owning_handle_encrypts_consecutive_slots() {
    let ids = Arc::new(builder_at_start(&ScriptedClock::default()).build().unwrap());
    let mut handle = Handle::new(Arc::clone(&ids));
    let slots: Vec<u32> =
        (0..500).map(|_| ids.inspect(handle.generate().unwrap()).sequence).collect();
    assert_eq!(slots, (0..500).collect::<Vec<_>>());
}

/// A handle encrypts IDs in advance. Its `Debug` output must not reveal those IDs.
#[test]
fn debug_hides_the_ids_that_a_handle_prepared() {
    let ids = builder_at_start(&ScriptedClock::default()).build().unwrap();
    let mut handle = ids.handle();
    handle.generate().unwrap();
    assert_eq!(format!("{handle:?}"), "Handle { first: 64, .. }");
}
