//! A test of the test suite: faults are put into copies of the core, the leases and the bindings, and their tests must turn red.

mod generated;
mod listed;

use anyhow::Result;
use clap::Args;
pub use listed::stale;

#[derive(Args)]
pub struct Options {
    /// Only faults whose name, file or list contains one of these, or with --generated groups of files whose name does
    filters: Vec<String>,
    /// Change the state machines and generators in every way that cargo-mutants knows (an hour), not by the list
    #[arg(long)]
    generated: bool,
}

/// Puts the listed faults of both bindings in, all of which must be caught.
pub fn bindings() -> Result<()> {
    listed::run(&["python.toml".to_owned(), "javascript.toml".to_owned()])
}

/// Fails if too few were caught: of the listed faults all, of the generated ones 95 % must be.
pub fn main(options: &Options) -> Result<()> {
    let run = if options.generated { generated::run } else { listed::run };
    run(&options.filters)
}

/// Returns whether a text contains one of the filters, or there is none.
fn is_meant(filters: &[String], text: &str) -> bool {
    filters.is_empty() || filters.iter().any(|filter| text.contains(filter))
}
