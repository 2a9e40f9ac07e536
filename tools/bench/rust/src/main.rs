//! Compares the core with its peers and with lower bounds, and prints each comparison's times as a line of JSON.
//!
//! All entries of a comparison are timed in turn, in one process pinned to one processor. Each round yields one ratio per
//! goal, so changes in the machine's speed cancel out. The goal is compared with the median of these ratios. `cargo xtask
//! bench` runs this program.

mod batches;
mod clocks;
mod codecs;
mod contest;
mod generate;
mod hand_written;
mod hot;
mod keys;
mod kinds;
mod layout;
mod leases;
mod marks;
mod measure;
mod peers;
mod public;
mod randflake;
mod samples;
mod team;
mod texts;
mod threads;

use anyhow::Context;
use clap::Parser;
use contest::Comparison;

fn comparisons() -> Vec<Comparison> {
    vec![
        generate::single_id(),
        leases::single_id(),
        generate::text(),
        randflake::text_comparison(),
        public::encode_and_decode(),
        codecs::encode(),
        codecs::decode(),
        texts::encode(),
        texts::decode(),
        texts::large_sample(),
        layout::pack_and_parse(),
        kinds::json_comparison(),
        batches::size_comparison(),
        threads::clock_reading_comparison(),
    ]
}

#[derive(Parser)]
#[command(about = "What `cargo xtask bench` asks of Rust")]
enum Task {
    /// Run the comparisons, and print a line of JSON for each
    Contests {
        /// Run only comparisons and goals whose name contains this string
        #[arg(default_value = "")]
        filter: String,
    },
    /// Test properties of the libraries' IDs
    #[cfg(unix)]
    Marks,
    /// List the hot functions
    Functions,
    /// Call a hot function repeatedly, for a tool that counts instructions
    Call { name: String, times: u32 },
    /// Write the given number of keys to standard output
    Keys { kind: keys::KeyFormat, count: u64 },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Contests { filter } => time_repeatedly(&filter),
        #[cfg(unix)]
        Task::Marks => marks::print_rows()?,
        Task::Functions => {
            hot::HOT_FUNCTIONS.iter().for_each(|hot| println!("{}\t{}", hot.items, hot.name));
        }
        Task::Call { name, times } => {
            let hot = hot::HOT_FUNCTIONS.iter().find(|hot| hot.name == name);
            (hot.context("no function of this name")?.work)()(times);
        }
        Task::Keys { kind, count } => keys::write(kind, count)?,
    }
    Ok(())
}

fn time_repeatedly(filter: &str) {
    team::pin(0);
    comparisons()
        .into_iter()
        .filter(|contest| contest.matches_filter(filter))
        .for_each(Comparison::time_repeatedly);
}
