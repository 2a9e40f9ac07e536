//! Work, and how long it takes.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// How long one round of one piece of work lasts, about.
const ROUND: Duration = Duration::from_millis(2);

/// Does its work so many times, and says how long that took.
pub(crate) type Work = Box<dyn FnMut(u32) -> Duration>;

/// Work that is one call.
pub(crate) fn repeat<T>(mut call: impl FnMut() -> T + 'static) -> Work {
    Box::new(move |count| {
        let start = Instant::now();
        for _ in 0..count {
            black_box(call());
        }
        start.elapsed()
    })
}

/// Nanoseconds for one repetition.
pub(crate) fn time(work: &mut Work, count: u32) -> f64 {
    work(count).as_secs_f64() * 1e9 / f64::from(count)
}

/// How many repetitions fill a round.
pub(crate) fn calibrate(work: &mut Work) -> u32 {
    let mut count = 1;
    loop {
        let took = work(count);
        if took > ROUND / 4 {
            let scale = ROUND.as_secs_f64() / took.as_secs_f64();
            return whole(f64::from(count) * scale);
        }
        count *= 2;
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a round of 2 ms has a few million repetitions at most"
)]
fn whole(count: f64) -> u32 {
    count.max(1.0) as u32
}

/// The median and the quartiles of some figures.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    pub(crate) fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.collect();
        sorted.sort_by(f64::total_cmp);
        let at = |quarter: usize| sorted[(sorted.len() - 1) * quarter / 4];
        Self { low: at(1), median: at(2), high: at(3) }
    }
}
