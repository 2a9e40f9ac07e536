//! Tests the anchor under loom. A reading that mixes two anchors, or uses an invalidated one, would be off by half a span.
//!
//! To run the tests: `RUSTFLAGS="--cfg loom" cargo test -p polyflake-clock --release`.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use loom::thread;

use super::{Anchor, Hardware, anchor::SPAN};

/// The duration of a sample, in counts and nanoseconds.
const SAMPLE_DURATION: u64 = 100;
/// The time between two anchors.
const ANCHOR_INTERVAL: u64 = SPAN.unsigned_abs() / 2;

/// A counter that counts nanoseconds, and a wall clock that agrees with it. The model does not simulate the passage of
/// time.
struct PerfectClock(AtomicU64);

impl PerfectClock {
    fn advance(&self, nanos: u64) -> u64 {
        self.0.fetch_add(nanos, Ordering::Relaxed) + nanos
    }
}

impl Hardware for PerfectClock {
    type Error = Infallible;

    const SPIN_LIMIT: u32 = 0;

    fn counter(&self) -> u64 {
        self.advance(SAMPLE_DURATION)
    }
    fn ordered_counter(&self) -> u64 {
        self.advance(SAMPLE_DURATION)
    }
    fn wall_nanos(&self) -> Result<i64, Infallible> {
        Ok(self.advance(SAMPLE_DURATION).cast_signed())
    }
}

/// Takes a clock reading, and asserts that it is neither later than the time after the call nor much earlier than the time
/// before the call.
#[track_caller]
fn check_reading(hardware: &PerfectClock, read: impl FnOnce() -> Option<i64>) {
    let before = hardware.0.load(Ordering::Relaxed).cast_signed();
    if let Some(reading) = read() {
        let after = hardware.0.load(Ordering::Relaxed).cast_signed();
        let width = 20 * SAMPLE_DURATION.cast_signed();
        assert!((before - width..=after).contains(&reading), "{before} {reading} {after}");
    }
}

/// Runs two threads half a span after the last anchor. `orders` lists the steps of each thread: `true` renews the anchor,
/// and `false` only reads it.
fn run_two_threads(orders: [&'static [bool]; 2]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let world = Arc::new((Anchor::synchronized(), PerfectClock(AtomicU64::new(0))));
        world.0.read(&world.1).unwrap();
        world.1.advance(ANCHOR_INTERVAL);
        let run = |renews: &'static [bool]| {
            let world = world.clone();
            move || {
                let (anchor, hardware) = &*world;
                for renews in renews {
                    match renews {
                        true => {
                            check_reading(hardware, || Some(anchor.renew(hardware, 1).unwrap()))
                        }
                        false => check_reading(hardware, || anchor.read(hardware)),
                    }
                }
            }
        };
        let handles: Vec<_> = orders.iter().map(|orders| thread::spawn(run(orders))).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    });
}

#[test]
fn a_reader_never_sees_a_partially_written_anchor() {
    run_two_threads([&[true], &[false, false]]);
}

#[test]
fn two_threads_never_write_the_anchor_concurrently() {
    run_two_threads([&[true, false], &[true, false]]);
}
