//! Generates billions of IDs in eight threads, with a clock that jumps, stalls and moves backward. Records each ID in a
//! bitmap. An ID whose bit is already set is a duplicate. If a format guarantees that IDs are sorted, the IDs of each call
//! are also compared with the clock, and with the IDs of all calls that returned before that call began.
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
use families::{FAMILIES, Family, SoakMaker};
use fastrand::Rng;

/// Number of threads. It exceeds the number of processors, so that threads can be interrupted at any point.
const THREADS: u64 = 8;

/// Number of consecutive failed calls after which the clock is assumed to have run out of ticks.
const MAX_FAILURES: u32 = 10_000;

#[derive(Parser)]
struct Options {
    /// Number of IDs per format.
    #[arg(long, default_value_t = 1_000_000_000)]
    ids: u64,
    /// Tests only formats whose name contains this string.
    #[arg(long, default_value = "")]
    family: String,
    /// The seed for the random choices of the clock and the callers. It does not determine the interleaving of the threads.
    #[arg(long)]
    seed: Option<u64>,
}

/// The result of testing a format.
#[derive(Default)]
struct Outcome {
    made: AtomicU64,
    twice: AtomicU64,
    /// Number of IDs that are out of order, or whose time is later than the latest clock reading.
    misplaced: AtomicU64,
    rejected: AtomicU64,
}

/// The state that all threads of a run share.
struct Run<'m> {
    maker: &'m SoakMaker,
    seen: Bitmap,
    /// The highest cell among the IDs of all calls that have returned.
    highest: AtomicU64,
    outcome: Outcome,
}

impl Run<'_> {
    /// Generates IDs in the calling thread until all threads together have generated `ids` IDs.
    fn generate_until(&self, ids: u64, random: &mut Rng) {
        let mut failures_in_a_row = 0;
        while self.outcome.made.load(Ordering::Relaxed) < ids && failures_in_a_row < MAX_FAILURES {
            if self.call(random).is_ok() {
                failures_in_a_row = 0;
            } else {
                failures_in_a_row += 1;
                self.outcome.rejected.fetch_add(1, Ordering::Relaxed);
                self.maker.clock.advance();
            }
        }
    }

    /// Generates some IDs and checks them.
    fn call(&self, random: &mut Rng) -> polyflake::Result<()> {
        let mut last = self.highest.load(Ordering::SeqCst);
        let (mut count, mut again, mut misplaced) = (0, 0, 0);
        let made = (self.maker.make)(random, &mut |cell| {
            count += 1;
            again += u64::from(self.seen.set(cell));
            if let Some(bits) = self.maker.sorted {
                let is_late = cell >> bits > self.maker.clock.latest();
                misplaced += u64::from(cell <= last || is_late);
                last = cell;
            }
        });
        self.highest.fetch_max(last, Ordering::SeqCst);
        self.outcome.made.fetch_add(count, Ordering::Relaxed);
        self.outcome.twice.fetch_add(again, Ordering::Relaxed);
        self.outcome.misplaced.fetch_add(misplaced, Ordering::Relaxed);
        made
    }
}

/// Generates `ids` IDs with several threads and checks all of them.
fn soak(family: &Family, ids: u64, seed: u64) -> Outcome {
    let maker = &(family.build)(ids, seed);
    let seen = Bitmap::new(maker.cells);
    let run = Run { maker, seen, highest: AtomicU64::new(0), outcome: Outcome::default() };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let run = &run;
            scope.spawn(move || run.generate_until(ids, &mut Rng::with_seed(seed ^ thread)));
        }
    });
    run.outcome
}

fn main() -> ExitCode {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}, {THREADS} threads");
    let mut well = true;
    for family in FAMILIES.iter().filter(|family| family.name.contains(&options.family)) {
        let start = Instant::now();
        let Outcome { made, twice, misplaced, rejected } = soak(family, options.ids, seed);
        let [made, twice, misplaced, rejected] =
            [made, twice, misplaced, rejected].map(AtomicU64::into_inner);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}: {made} IDs, {twice} given out twice, {misplaced} misplaced, {rejected} calls rejected, {seconds:.1} s",
            family.name
        );
        well &= twice == 0 && misplaced == 0 && made >= options.ids;
    }
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::chaos::ChaosClock;

    #[test]
    fn a_million_ids_of_each_format_differ() {
        for family in FAMILIES {
            let outcome = soak(&family, 1_000_000, fastrand::u64(..));
            assert!(outcome.made.into_inner() >= 1_000_000);
            assert_eq!(outcome.twice.into_inner(), 0, "{}", family.name);
            assert_eq!(outcome.misplaced.into_inner(), 0, "{}", family.name);
        }
    }

    /// Runs the soak test with a faulty maker. The harness must detect the fault.
    fn soak_faulty_maker(build: fn(u64, u64) -> SoakMaker) -> Outcome {
        soak(&Family { name: "faulty", build }, 1000, 1)
    }

    fn maker(make: fn(&mut Rng) -> u64) -> SoakMaker {
        let make = move |random: &mut Rng, note: &mut dyn FnMut(u64)| {
            note(make(random));
            Ok(())
        };
        let clock = Arc::new(ChaosClock::new(0, 1, 1));
        SoakMaker { cells: 1 << 20, sorted: Some(20), clock, make: Box::new(make) }
    }

    #[test]
    fn a_repeated_id_is_detected() {
        let outcome = soak_faulty_maker(|_, _| maker(|random| random.u64(..100)));
        assert!(outcome.twice.into_inner() >= 900);
    }

    #[test]
    fn ids_out_of_order_are_detected() {
        let outcome = soak_faulty_maker(|_, _| maker(|random| random.u64(..1 << 20)));
        assert!(outcome.misplaced.into_inner() >= 900);
    }

    #[test]
    fn an_id_later_than_the_clock_is_detected() {
        static NEXT_CELL: AtomicU64 = AtomicU64::new(1);
        // The lowest bit of a cell numbers the IDs within a tick, so every cell from 2 on belongs to a tick later than 0.
        // This maker never reads the clock, so the latest tick that was read remains 0.
        let build = |_, _| SoakMaker {
            sorted: Some(1),
            ..maker(|_| NEXT_CELL.fetch_add(1, Ordering::Relaxed))
        };
        assert!(soak_faulty_maker(build).misplaced.into_inner() >= 990);
    }
}
