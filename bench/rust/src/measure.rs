//! One row: two pieces of work timed in turn.

use std::time::Instant;

use serde_json::{Value, json};

/// How long one round of one side lasts, about.
const ROUND_NANOS: f64 = 2_000_000.0;
/// Rounds of each side; the median of an odd number is one of them.
const ROUNDS: usize = 101;

/// Does its work `n` times.
pub(crate) type Work = Box<dyn FnMut(u32)>;

/// Ours against another, and how many times as long as the other ours may take.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) ours: Work,
    pub(crate) against: &'static str,
    pub(crate) theirs: Work,
    /// What theirs is taken to last beside what is measured.
    pub(crate) plus_nanos: f64,
    pub(crate) goal: f64,
}

impl Row {
    /// The row's figures: nanoseconds (medians, with the quartiles of ours) and the median ratio.
    pub(crate) fn measure(mut self) -> Value {
        let (our_count, their_count) = (calibrate(&mut self.ours), calibrate(&mut self.theirs));
        let rounds: Vec<(f64, f64)> = (0..ROUNDS)
            .map(|_| {
                (
                    time(&mut self.ours, our_count),
                    time(&mut self.theirs, their_count) + self.plus_nanos,
                )
            })
            .collect();
        let ours = sorted(rounds.iter().map(|round| round.0));
        let theirs = sorted(rounds.iter().map(|round| round.1));
        let ratio = quantile(&sorted(rounds.iter().map(|round| round.0 / round.1)), 0.5);
        self.report(&ours, &theirs, ratio)
    }

    fn report(&self, ours: &[f64], theirs: &[f64], ratio: f64) -> Value {
        json!({
            "name": self.name,
            "ours_ns": quantile(ours, 0.5),
            "ours_quartiles_ns": [quantile(ours, 0.25), quantile(ours, 0.75)],
            "against": self.against,
            "against_ns": quantile(theirs, 0.5),
            "ratio": ratio,
            "goal": self.goal,
            "met": ratio <= self.goal,
        })
    }
}

/// Ours against a fixed number of nanoseconds.
pub(crate) struct Limit {
    pub(crate) name: &'static str,
    pub(crate) ours: Work,
    /// How many items one repetition makes.
    pub(crate) items: f64,
    pub(crate) nanos: f64,
}

impl Limit {
    /// The limit's figures, for one item.
    pub(crate) fn measure(mut self) -> Value {
        let count = calibrate(&mut self.ours);
        let ours = sorted((0..ROUNDS).map(|_| time(&mut self.ours, count) / self.items));
        let median = quantile(&ours, 0.5);
        json!({
            "name": self.name,
            "ours_ns": median,
            "ours_quartiles_ns": [quantile(&ours, 0.25), quantile(&ours, 0.75)],
            "against": "a fixed limit",
            "against_ns": self.nanos,
            "ratio": median / self.nanos,
            "goal": 1.0,
            "met": median <= self.nanos,
        })
    }
}

/// How many repetitions fill a round.
fn calibrate(work: &mut Work) -> u32 {
    let mut count = 1;
    loop {
        let nanos = time(work, count) * f64::from(count);
        if nanos > ROUND_NANOS / 4.0 {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a round of 2 ms has few million"
            )]
            return (f64::from(count) * ROUND_NANOS / nanos).max(1.0) as u32;
        }
        count *= 2;
    }
}

/// Nanoseconds for one repetition.
fn time(work: &mut Work, count: u32) -> f64 {
    let start = Instant::now();
    work(count);
    start.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index into about a hundred values"
)]
fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}
