//! A test of the test suite: faults are put into copies of the core, the leases and the bindings, and their tests must turn red.

mod generated;
mod listed;

use anyhow::Result;
use clap::Args;
pub use listed::stale;

#[derive(Args)]
pub struct Options {
    /// Only faults whose name, file or list contains this, or with --generated groups of files whose name does
    #[arg(default_value = "")]
    filter: String,
    /// Change the state machines and generators in every way that cargo-mutants knows (an hour), not by the list
    #[arg(long)]
    generated: bool,
}

/// Puts the listed faults of both bindings in, all of which must be caught.
pub fn bindings() -> Result<()> {
    ["python.toml", "javascript.toml"].into_iter().try_for_each(listed::run)
}

/// Fails if too few were caught: of the listed faults all, of the generated ones 95 % must be.
pub fn main(options: &Options) -> Result<()> {
    let run = if options.generated { generated::run } else { listed::run };
    run(&options.filter)
}
