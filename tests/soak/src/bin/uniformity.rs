//! Tests how evenly Randflake IDs are distributed over shards that are selected by the low bits or the high bits. Uses a
//! chi-square test of consecutive IDs.
//!
//! `cargo xtask uniformity` runs it on ten million IDs.

use std::process::ExitCode;

use polyflake::{
    clock::ManualClock,
    randflake::{EPOCH, Generator, Grant, LAST_SECOND, Randflake},
};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Numbers of shards, as powers of two.
const SHARD_BITS: [u32; 3] = [1, 4, 10];

/// A test passes if its p-value exceeds this bound. A uniform distribution fails the test with this probability.
const MIN_P_VALUE: f64 = 0.001;

/// Generates `count` IDs for one node, and calls `each` with every ID. When the IDs of a second are used up, the clock
/// advances by one second.
fn generate(secret: [u8; 16], count: usize, mut each: impl FnMut(u64)) {
    let clock = ManualClock::at_unix_ms(1_763_650_000_000);
    let lease = Grant::new(42, EPOCH, LAST_SECOND + 1).expect("a lease");
    let ids = Generator::builder(lease, secret).clock(&clock).build().expect("a generator");
    let mut batch = vec![Randflake::default(); 1 << 17];
    for (second, start) in (0..count).step_by(batch.len()).enumerate() {
        clock.set_unix_ms(1_763_650_000_000 + 1000 * i64::try_from(second).expect("few seconds"));
        let here = &mut batch[..(count - start).min(1 << 17)];
        ids.fill(here).expect("a fresh second");
        here.iter().for_each(|id| each(id.to_u64()));
    }
}

/// Returns the probability that counts from a uniform distribution are at least as uneven as `counts`.
#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn p_value(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic: f64 =
        counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    ChiSquared::new((counts.len() - 1) as f64).expect("two shards or more").sf(statistic)
}

/// Returns the p-values for the low bits and the high bits, for each number of shards.
fn shard_p_values(secret: [u8; 16], count: usize) -> Vec<(String, f64)> {
    let mut low = SHARD_BITS.map(|bits| vec![0_u64; 1 << bits]);
    let mut high = low.clone();
    generate(secret, count, |id| {
        for (k, bits) in SHARD_BITS.into_iter().enumerate() {
            low[k][shard(id & ((1 << bits) - 1))] += 1;
            high[k][shard(id >> (64 - bits))] += 1;
        }
    });
    let named = |which: &str, counts: &[u64]| {
        (format!("{} shards by the {which} bits", counts.len()), p_value(counts))
    };
    low.iter()
        .map(|counts| named("low", counts))
        .chain(high.iter().map(|counts| named("high", counts)))
        .collect()
}

fn shard(bits: u64) -> usize {
    usize::try_from(bits).expect("at most 10 bits")
}

fn main() -> ExitCode {
    let count =
        std::env::args().nth(1).map_or(10_000_000, |text| text.parse().expect("a number of IDs"));
    let secret: [u8; 16] = fastrand::u128(..).to_le_bytes();
    let tests = shard_p_values(secret, count);
    for (name, p) in &tests {
        println!("{count} IDs, {name}: p = {p:.4}");
    }
    let lowest = tests.iter().map(|(_, p)| *p).fold(1.0, f64::min);
    println!("{count} IDs in {} tests: lowest p = {lowest:.4}", tests.len());
    if lowest > MIN_P_VALUE { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_ids_are_uniformly_distributed() {
        for (name, p) in shard_p_values(*b"sixteen byte key", 1_000_000) {
            assert!(p > MIN_P_VALUE, "{name}: {p}");
        }
    }

    #[test]
    fn a_non_uniform_distribution_is_detected() {
        assert!(p_value(&[500_000, 502_000]) > MIN_P_VALUE);
        assert!(p_value(&[500_000, 504_000]) < MIN_P_VALUE);
    }
}
