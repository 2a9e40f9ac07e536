//! Units of work, and functions that time them.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The approximate duration of one round of work. It is short compared with the scheduler's time slice.
const ROUND: Duration = Duration::from_micros(500);

/// A function that repeats the work the given number of times, and returns how long that took.
pub(crate) type Work = Box<dyn FnMut(u32) -> Duration>;

/// Returns work that repeats one call.
pub(crate) fn repeat<T>(mut call: impl FnMut() -> T + 'static) -> Work {
    Box::new(move |count| {
        let start = Instant::now();
        for _ in 0..count {
            black_box(call());
        }
        start.elapsed()
    })
}

/// Returns work that repeats one call and passes it the state that `make` creates. The state is created when the work first
/// runs, because a large allocation would slow other work down.
pub(crate) fn repeat_with<S: 'static, T>(
    make: impl Fn() -> S + 'static,
    mut call: impl FnMut(&mut S) -> T + 'static,
) -> Work {
    let mut made = None;
    Box::new(move |count| {
        let state = made.get_or_insert_with(&make);
        let start = Instant::now();
        for _ in 0..count {
            black_box(call(state));
        }
        start.elapsed()
    })
}

/// The maximum number of attempts at a round if the system keeps interrupting it.
const MAX_TRIES: usize = 5;

/// Returns the nanoseconds per repetition. Repeats the round if the system interrupts it, with at most [`MAX_TRIES`]
/// attempts in total.
pub(crate) fn time(work: &mut Work, count: u32) -> f64 {
    let mut nanos = 0.0;
    for _ in 0..MAX_TRIES {
        let before = count_interruptions();
        nanos = work(count).as_secs_f64() * 1e9 / f64::from(count);
        if count_interruptions() == before {
            break;
        }
    }
    nanos
}

/// Returns how many times the system preempted a thread of this process.
#[cfg(unix)]
fn count_interruptions() -> i64 {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.involuntary_context_switches())
}

#[cfg(not(unix))]
fn count_interruptions() -> i64 {
    0
}

/// Returns the number of repetitions that fill a round.
pub(crate) fn calibrate(work: &mut Work) -> u32 {
    let mut count = 1;
    loop {
        let took = (0..3).map(|_| work(count)).min().unwrap_or_default();
        if took > ROUND / 4 {
            let scale = ROUND.as_secs_f64() / took.as_secs_f64();
            return rounded_count(f64::from(count) * scale);
        }
        count *= 2;
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a round has a million repetitions at most"
)]
fn rounded_count(count: f64) -> u32 {
    count.max(1.0) as u32
}
