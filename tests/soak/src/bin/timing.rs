//! Tests whether the cipher's running time depends on the block that it encrypts. Uses Welch's t-test to compare a fixed
//! block with random blocks, following the dudect method (Reparaz, Balasch, Verbauwhede 2017).
//!
//! `cargo xtask timing` runs this test with ten million samples for encryption and ten million samples for decryption.

use std::{hint::black_box, process::ExitCode, time::Instant};

use polyflake::sparx64::Sparx64;

type Block = [u8; 8];

/// Number of blocks encrypted in one sample. There are enough that a sample takes much longer than reading the clock.
const BLOCKS: usize = 16;

/// If t exceeds this value, the test concludes that the running time depends on the input.
const MAX_T_STATISTIC: f64 = 5.0;

/// A running mean and variance (Welford's algorithm).
#[derive(Clone, Copy, Default)]
struct RunningMoments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl RunningMoments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
    }

    fn variance_of_mean(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

/// Returns Welch's t statistic for the two kinds of samples.
fn welch_t(kinds: [RunningMoments; 2]) -> f64 {
    let [a, b] = kinds;
    (a.mean - b.mean).abs() / (a.variance_of_mean() + b.variance_of_mean()).sqrt()
}

/// Number of samples in a batch. All inputs of a batch are prepared before its first sample is timed, so that the two kinds
/// of input differ only in their bytes.
const INPUTS_PER_BATCH: usize = 4096;

/// Times `work` on fixed and random blocks in random order. Discards samples that are slower than 90% of the first samples,
/// to exclude interrupted samples.
fn compare_timings(samples: usize, work: impl Fn(Block) -> Block) -> f64 {
    let mut random = fastrand::Rng::new();
    let longest = quantile((0..10_000).map(|_| time(&[[0; 8]; BLOCKS], &work)).collect(), 0.9);
    let mut kinds = [RunningMoments::default(); 2];
    for _ in 0..samples.div_ceil(INPUTS_PER_BATCH) {
        let inputs: Vec<_> = (0..INPUTS_PER_BATCH).map(|_| random_input(&mut random)).collect();
        let times: Vec<_> = inputs.iter().map(|(_, blocks)| time(blocks, &work)).collect();
        for ((kind, _), nanos) in inputs.iter().zip(times).filter(|(_, nanos)| *nanos <= longest) {
            kinds[*kind].add(nanos);
        }
    }
    welch_t(kinds)
}

/// Picks a kind of input at random. Returns the kind (0 for the fixed block, 1 for random blocks) and the blocks.
fn random_input(random: &mut fastrand::Rng) -> (usize, [Block; BLOCKS]) {
    let kind = random.usize(..2);
    let mask = if kind == 0 { 0 } else { u64::MAX };
    (kind, [(); BLOCKS].map(|()| (random.u64(..) & mask).to_le_bytes()))
}

fn time(blocks: &[Block; BLOCKS], work: impl Fn(Block) -> Block) -> f64 {
    let start = Instant::now();
    for block in blocks {
        black_box(work(black_box(*block)));
    }
    start.elapsed().as_secs_f64() * 1e9
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index"
)]
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * part) as usize]
}

fn main() -> ExitCode {
    let samples = std::env::args()
        .nth(1)
        .map_or(10_000_000, |text| text.parse().expect("a number of samples"));
    let cipher = Sparx64::new(fastrand::u128(..).to_le_bytes());
    let encrypt = compare_timings(samples, |block| cipher.encrypt_block(block));
    let decrypt = compare_timings(samples, |block| cipher.decrypt_block(block));
    println!("{samples} samples: encrypt t = {encrypt:.2}, decrypt t = {decrypt:.2}");
    if encrypt.max(decrypt) < MAX_T_STATISTIC { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the test detects a cipher that takes longer for some blocks than for others.
    #[test]
    fn a_timing_leak_is_detected() {
        let cipher = Sparx64::new([7; 16]);
        let leaking = |block: Block| {
            if block[0] < 64 {
                cipher.encrypt_block(cipher.encrypt_block(block))
            } else {
                cipher.encrypt_block(block)
            }
        };
        assert!(compare_timings(20_000, leaking) > MAX_T_STATISTIC);
    }
}
