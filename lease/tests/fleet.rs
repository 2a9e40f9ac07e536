//! Simulates a fleet of keepers that share one store. The tests check the number of writes, and assert that no holder is
//! rejected.
//!
//! `cargo test --release -p polyflake-lease --test fleet -- --ignored --nocapture` simulates 100,000 holders.

use std::{cmp::Reverse, collections::BinaryHeap};

use fastrand::Rng;
use polyflake_lease::{
    Memory, Options, Result, Shape,
    protocol::{Action, Keeper, Moment, Operation, Random, Reply, ReplyContent, Request, Store},
};

const START_MS: u64 = 1_763_650_000_000;
const HOUR_MS: u64 = 3_600_000;
const SECRET: [u8; 16] = [7; 16];

type RandomSource = Box<dyn FnMut() -> Result<Random>>;

#[derive(Default)]
struct FleetMetrics {
    /// The number of renewals in the second hour, and the highest number of renewals in any one second of that hour.
    renewals: u64,
    busiest: u64,
    rejected: u64,
}

/// Starts holders over the course of an hour, and counts their renewals in the following hour. Each holder prefers a
/// different worker ID.
fn drive_fleet(holders: u64, worker_ids: u64) -> FleetMetrics {
    let mut rng = Rng::with_seed(7);
    let mut store = Memory::new(START_MS);
    let shape = Shape::randflake(0..=worker_ids - 1, &SECRET).unwrap();
    let mut keepers: Vec<Keeper<RandomSource>> = (0..holders)
        .map(|worker_id| {
            let mut random = rng.fork();
            let options = Options::new("fleet", shape.clone())
                .unwrap()
                .preferred_worker_id(worker_id)
                .unwrap();
            Keeper::new(options, Box::new(move || Ok(Random(random.u128(1..)))) as RandomSource)
        })
        .collect();
    let starts = (0..keepers.len()).map(|keeper| (Reverse(rng.u64(0..HOUR_MS)), keeper));
    let mut wakes: BinaryHeap<_> = starts.collect();
    let (mut metrics, mut seconds) = (FleetMetrics::default(), vec![0; 3600]);
    while let Some((Reverse(elapsed_ms), index)) = wakes.pop().filter(|(at, _)| at.0 < 2 * HOUR_MS)
    {
        let now = Moment { wall_ms: START_MS + elapsed_ms, elapsed_ms };
        store.set_now(now.wall_ms);
        let next = loop {
            match keepers[index].poll(now) {
                Action::Send(request) => {
                    if matches!(request.operation, Operation::Put { .. }) && elapsed_ms >= HOUR_MS {
                        metrics.renewals += 1;
                        seconds[usize::try_from((elapsed_ms - HOUR_MS) / 1000).unwrap()] += 1;
                    }
                    let reply = answer(&mut store, &request);
                    keepers[index].answered(request.number, reply, now);
                }
                Action::Rejected(_) => metrics.rejected += 1,
                Action::Wait(until) => break until,
                Action::Begin(_) | Action::Extend(_) => {}
                other => panic!("{other:?}"),
            }
        };
        wakes.push((Reverse(next), index));
    }
    metrics.busiest = seconds.into_iter().max().unwrap_or(0);
    metrics
}

/// Answers a request. The reply to a survey is fixed and reports no missing records, because scanning all records would
/// take most of the test's time.
fn answer(store: &mut Memory, request: &Request) -> Result<Reply> {
    if request.operation != Operation::Survey {
        return store.answer(request);
    }
    let reply =
        store.answer(&Request { operation: Operation::Read { first: 0 }, ..request.clone() })?;
    let records = reply.namespace.as_ref().map_or(0, |namespace| namespace.records);
    Ok(Reply { content: ReplyContent::Survey { records, latest_end: 0 }, ..reply })
}

/// Asserts that each holder renews about four times an hour. The number is slightly higher because holders renew up to a
/// tenth of the interval early.
fn assert_four_renewals_per_hour(holders: u64, metrics: &FleetMetrics) {
    assert_eq!(metrics.rejected, 0);
    let expected = 4 * holders..=4 * holders * 110 / 100;
    assert!(expected.contains(&metrics.renewals), "{} of {holders}", metrics.renewals);
}

#[test]
fn a_fleet_renews_four_times_per_hour() {
    let metrics = drive_fleet(300, 512);
    assert_four_renewals_per_hour(300, &metrics);
}

#[test]
#[ignore = "for figures; minutes without optimisation"]
#[allow(clippy::cast_precision_loss, reason = "a count far below 2^53")]
fn a_hundred_thousand_holders_renew_four_times_per_hour() {
    let began = std::time::Instant::now();
    let metrics = drive_fleet(100_000, 131_072);
    let rate = metrics.renewals as f64 / 3600.0;
    println!(
        "{} renewals in an hour, {rate:.1} a second, {} in the busiest second, in {:.0?}",
        metrics.renewals,
        metrics.busiest,
        began.elapsed()
    );
    assert_four_renewals_per_hour(100_000, &metrics);
}
