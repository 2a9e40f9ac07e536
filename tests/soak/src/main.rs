//! Makes billions of IDs in eight threads, with a clock that jumps, stalls and moves backwards, and records each one in a
//! bitmap. A bit that is set twice is a duplicate ID.
//!
//! `cargo xtask soak` runs it in full, and the tests run it briefly.

mod bitmap;
mod chaos;
mod families;

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

use bitmap::Bitmap;
use clap::Parser;
use families::{FAMILIES, Family};

/// Number of threads. There are more than processors, so that threads are interrupted anywhere.
const THREADS: u64 = 8;

/// Number of consecutive failed calls after which the clock's time is assumed to have ended.
const MAX_FAILURES: u32 = 10_000;

#[derive(Parser)]
struct Options {
    /// Number of IDs per format.
    #[arg(long, default_value_t = 1_000_000_000)]
    ids: u64,
    /// Only runs formats whose name contains this string.
    #[arg(long, default_value = "")]
    family: String,
    /// Repeats the clock's and the callers' random choices, but not the threads' interleaving.
    #[arg(long)]
    seed: Option<u64>,
}

/// The result of running a format.
struct Outcome {
    made: u64,
    twice: u64,
    refused: u64,
}

/// Makes `ids` IDs and checks them all.
fn soak(family: &Family, ids: u64, seed: u64) -> Outcome {
    let maker = (family.build)(ids, seed);
    let seen = Bitmap::new(maker.cells);
    let (made, twice, refused) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (maker, seen, made, twice, refused) = (&maker, &seen, &made, &twice, &refused);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed ^ thread);
                let mut in_a_row = 0;
                while made.load(Ordering::Relaxed) < ids && in_a_row < MAX_FAILURES {
                    let (mut count, mut again) = (0, 0);
                    let outcome = (maker.make)(&mut random, &mut |cell| {
                        count += 1;
                        again += u64::from(seen.set(cell));
                    });
                    in_a_row = if outcome.is_err() { in_a_row + 1 } else { 0 };
                    if outcome.is_err() {
                        maker.clock.advance();
                    }
                    made.fetch_add(count, Ordering::Relaxed);
                    twice.fetch_add(again, Ordering::Relaxed);
                    refused.fetch_add(u64::from(outcome.is_err()), Ordering::Relaxed);
                }
            });
        }
    });
    Outcome { made: made.into_inner(), twice: twice.into_inner(), refused: refused.into_inner() }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}, {THREADS} threads");
    let mut well = true;
    for family in FAMILIES.iter().filter(|family| family.name.contains(&options.family)) {
        let start = Instant::now();
        let Outcome { made, twice, refused } = soak(family, options.ids, seed);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}: {made} IDs, {twice} given out twice, {refused} calls refused, {seconds:.1} s",
            family.name
        );
        well &= twice == 0 && made >= options.ids;
    }
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{chaos::Chaos, families::Maker};

    #[test]
    fn a_million_ids_of_each_format_differ() {
        for family in FAMILIES {
            let outcome = soak(&family, 1_000_000, fastrand::u64(..));
            assert!(outcome.made >= 1_000_000);
            assert_eq!(outcome.twice, 0, "{}", family.name);
        }
    }

    /// Returns a maker whose IDs repeat, which the harness must detect.
    fn repeating(_: u64, _: u64) -> Maker {
        let make = |random: &mut fastrand::Rng, note: &mut dyn FnMut(u64)| {
            note(random.u64(..100));
            Ok(())
        };
        Maker { cells: 100, clock: Arc::new(Chaos::new(0, 1, 1)), make: Box::new(make) }
    }

    #[test]
    fn a_repeated_id_is_detected() {
        let family = Family { name: "repeating", build: repeating };
        assert!(soak(&family, 1000, 1).twice >= 900);
    }
}
