//! Measures the core against its peers and limits, and prints each contest as a line of JSON.
//!
//! All entries of a contest are timed in turn, in one process pinned to one processor. A goal is held against the median of
//! the ratios of the same round, so the machine's mood cancels out. `cargo xtask bench` runs it.

mod batches;
mod clocks;
mod codecs;
mod contest;
mod generate;
mod layout;
mod measure;
mod peers;
mod randflake;
mod samples;
mod team;
mod threads;

use contest::Contest;

fn contests() -> Vec<Contest> {
    vec![
        generate::one(),
        generate::text(),
        randflake::parts(),
        codecs::encode(),
        codecs::decode(),
        layout::both_ways(),
        batches::sizes(),
        threads::reading_the_clock(),
        threads::standing_still(),
    ]
}

fn main() {
    team::pin(0);
    let filter = std::env::args().nth(1).unwrap_or_default();
    for contest in contests().into_iter().filter(|contest| contest.is_meant_by(&filter)) {
        println!("{}", contest.hold());
    }
}
