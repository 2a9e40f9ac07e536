//! Tests the test suite. Inserts faults into copies of the core, the leases and the bindings, and checks that the tests of
//! the faulty code fail.
//!
//! A passing suite proves little if it would also pass with a fault in the code. The suite is therefore tested with two
//! kinds of faults. The listed faults, such as a weaker memory ordering or an omitted check, are written by hand, and all
//! of them must be caught. The generated faults swap operators and replace function bodies. Some generated faults do not
//! change the behavior, so only a percentage of them must be caught.

mod generated;
mod listed;

use anyhow::Result;
use clap::Args;
pub use listed::outdated_mutants;

#[derive(Args)]
pub struct Options {
    /// Run only faults whose name, file or list contains one of these strings; with --generated, run only groups of files
    /// whose name contains one of these strings
    filters: Vec<String>,
    /// Instead of the listed faults, apply all changes that cargo-mutants supports to the state machines and generators
    /// (takes an hour)
    #[arg(long)]
    generated: bool,
}

/// Inserts the listed faults into the Python and JavaScript bindings, whose tests must catch all of the faults.
pub fn test_bindings() -> Result<()> {
    listed::run(&["python.toml".to_owned(), "javascript.toml".to_owned()])
}

/// Fails if too few faults are caught: all listed mutants, or 95% of the generated mutants, must be caught.
pub fn main(options: &Options) -> Result<()> {
    let run = if options.generated { generated::run } else { listed::run };
    run(&options.filters)
}

/// Returns whether a text contains one of the filters, or whether there are no filters.
fn matches_filters(filters: &[String], text: &str) -> bool {
    filters.is_empty() || filters.iter().any(|filter| text.contains(filter))
}
