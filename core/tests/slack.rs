//! Tests clocks whose readings may lag. If a reading is earlier than the generator's tick by less than the clock's slack,
//! it counts as a reading in that tick.
//!
//! The generators run with every short sequence of clock readings around the edges of three ticks. Their results are
//! compared with those of simple models, which use neither state words nor atomics.

#[path = "support/family.rs"]
mod family;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use family::{FAMILIES, GeneratorOptions};
use polyflake::{
    ErrorKind, OnExhausted, Result,
    clock::{Clock, ClockInfo},
    hotguid,
    sno::{Generator, Sno},
};

/// 2025-11-20T14:46:40Z, the start of a tick in every format.
const START_NANOS: i64 = 1_763_650_000_000_000_000;
const TICK_NANOS: i64 = 4_000_000;
const SLACK_NANOS: i64 = 1_000_000;

/// A clock that shows the given times, and declares that it may lag.
struct LaggingClock {
    now: AtomicI64,
    slack: i64,
}

impl LaggingClock {
    const fn new(slack: i64) -> Self {
        Self { now: AtomicI64::new(START_NANOS), slack }
    }
}

impl Clock for LaggingClock {
    fn unix_nanos(&self) -> Result<i64> {
        Ok(self.now.load(Ordering::Relaxed))
    }
    fn sleep(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn info(&self) -> ClockInfo {
        ClockInfo::new().for_tests(true).slack(Duration::from_nanos(self.slack.unsigned_abs()))
    }
}

/// Returns readings on both sides of two edges for each tick: the start of the tick, and the time before it at which the
/// slack begins.
fn edges(tick: i64) -> Vec<i64> {
    let starts = (0..3).map(|k| START_NANOS + k * tick);
    starts
        .flat_map(|start| [start - SLACK_NANOS, start - SLACK_NANOS + 1, start - 1, start])
        .collect()
}

/// Returns every sequence of `length` readings.
fn reading_sequences(edges: &[i64], length: u32) -> impl Iterator<Item = Vec<i64>> {
    let length = if cfg!(miri) { 2 } else { length };
    let many = edges.len();
    (0..many.pow(length))
        .map(move |code| (0..length).map(|place| edges[code / many.pow(place) % many]).collect())
}

/// Returns the tick to which a clock reading belongs, for a state machine in tick `wall`.
fn expected_tick(now: i64, wall: i64, tick: i64) -> i64 {
    let begins = wall * tick;
    if now < begins && begins - now < SLACK_NANOS { wall } else { now.div_euclid(tick) }
}

/// A model of sno's state machine that generates one ID per call.
#[derive(Default)]
struct TickTockModel {
    wall: i64,
    safe: i64,
    flipped: bool,
    next: u16,
}

impl TickTockModel {
    /// Returns the tick, the tick-tock bit and the sequence number, or `None` if the clock is too far behind.
    fn next_cell(&mut self, now: i64) -> Option<(i64, bool, u16)> {
        let now = expected_tick(now, self.wall, TICK_NANOS);
        if now < self.wall {
            if now <= self.safe {
                return None;
            }
            (self.safe, self.flipped) = (self.wall, !self.flipped);
        }
        if now != self.wall {
            (self.wall, self.next) = (now, 0);
        }
        self.next += 1;
        Some((now, self.flipped, self.next - 1))
    }
}

fn cell(id: Sno) -> (i64, bool, u16) {
    (id.unix_ms() * 1_000_000 / TICK_NANOS, id.tick_tock(), id.sequence())
}

#[test]
fn sno_follows_its_model() {
    for readings in reading_sequences(&edges(TICK_NANOS), 4) {
        let (clock, mut model) = (LaggingClock::new(SLACK_NANOS), TickTockModel::default());
        let builder = Generator::builder().clock(&clock).partition(7);
        let ids = builder.on_exhausted(OnExhausted::Error).build().unwrap();
        for now in &readings {
            clock.now.store(*now, Ordering::Relaxed);
            match (ids.generate(0), model.next_cell(*now)) {
                (Ok(id), expected) => assert_eq!(Some(cell(id)), expected, "{readings:?}"),
                (Err(error), None) => assert_eq!(error.kind(), ErrorKind::ClockBehind),
                (Err(error), expected) => panic!("{error}, expected {expected:?}: {readings:?}"),
            }
        }
    }
}

/// Returns the expected tick of each call. If the clock is behind, the state machine stays in its last tick if `holds` is
/// true, and rejects the call otherwise.
fn expected_ticks(readings: &[i64], tick: i64, holds: bool) -> Vec<Option<i64>> {
    let mut wall = 0;
    let call = |now: &i64| {
        let now = expected_tick(*now, wall, tick);
        wall = wall.max(now);
        (holds || now == wall).then_some(wall)
    };
    readings.iter().map(call).collect()
}

/// Covers all formats except sno, with one worker ID or a range. After a rollback, Hot Guid and UUID v7 stay in the last
/// tick, and the other formats reject the call.
#[test]
fn formats_that_hold_or_reject_rollbacks_follow_their_model() {
    for family in FAMILIES.iter().filter(|family| family.name != "sno") {
        let (tick, holds) =
            (family.tick * 1_000_000, ["Hot Guid", "UUID v7"].contains(&family.name));
        for readings in reading_sequences(&edges(tick), if family.tick == 1 { 4 } else { 3 }) {
            let clock = Arc::new(LaggingClock::new(SLACK_NANOS));
            let options = GeneratorOptions {
                on_exhausted: Some(OnExhausted::Error),
                ..GeneratorOptions::default()
            };
            let ids = family.build(clock.clone(), options).unwrap();
            let ticks = readings.iter().map(|now| {
                clock.now.store(*now, Ordering::Relaxed);
                let made = ids.generate().inspect_err(|error| {
                    assert_eq!(error.kind(), ErrorKind::ClockBehind);
                });
                made.ok().map(|id| id.unix_ms * 1_000_000 / tick)
            });
            let expected = expected_ticks(&readings, tick, holds);
            assert_eq!(ticks.collect::<Vec<_>>(), expected, "{readings:?}");
        }
    }
}

#[test]
fn slack_does_not_change_hot_guids_rollback_rule() {
    let clock = LaggingClock::new(SLACK_NANOS);
    let ids = hotguid::Builder::with_clock(&clock, || Ok([7; 8])).build().unwrap();
    let seconds = [0, -1, 1_000_000_000, 999_999_999].map(|after| {
        clock.now.store(START_NANOS + after, Ordering::Relaxed);
        ids.generate(1).unwrap().timestamp() - START_NANOS / 1_000_000_000
    });
    assert_eq!(seconds, [0, 0, 1, 1]);
}

/// Generates three IDs with a handle. The clock shows the start of a tick, then a time one nanosecond earlier, and then the
/// start of the tick again. Returns the tick, the tick-tock bit and the sequence number of each ID.
fn rollback_results(slack: i64) -> Vec<(i64, bool, u16)> {
    let clock = LaggingClock::new(slack);
    let ids = Generator::builder().clock(&clock).partition(7).build().unwrap();
    let mut handle = ids.handle();
    let readings = [START_NANOS, START_NANOS - 1, START_NANOS];
    readings
        .map(|now| {
            clock.now.store(now, Ordering::Relaxed);
            cell(handle.generate(0).unwrap())
        })
        .to_vec()
}

#[test]
fn a_block_survives_a_reading_within_the_slack() {
    let tick = START_NANOS / TICK_NANOS;
    assert_eq!(
        rollback_results(SLACK_NANOS),
        [(tick, false, 0), (tick, false, 1), (tick, false, 2)]
    );
    assert_eq!(rollback_results(0)[1], (tick - 1, true, 0), "without slack it is a step back");
}

#[test]
fn a_reading_behind_by_the_slack_is_a_rollback() {
    let clock = LaggingClock::new(SLACK_NANOS);
    let ids = Generator::builder().clock(&clock).partition(7).build().unwrap();
    ids.generate(0).unwrap();
    for (behind, drifts) in [(SLACK_NANOS - 1, 0), (SLACK_NANOS, 1)] {
        clock.now.store(START_NANOS - behind, Ordering::Relaxed);
        ids.generate(0).unwrap();
        assert_eq!(ids.stats().unwrap().drifts, drifts);
    }
}
