//! IDs in columns of real databases, by other people's libraries for Rust. They take minutes to compile, so the packages that need
//! them are checked here, and left out wherever the whole workspace is.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::tools;

/// The arguments that leave them out of the workspace.
pub const LEFT_OUT: [&str; 2] = ["--exclude", "database-tests"];

/// The arguments that choose them.
const CHOSEN: [&str; 2] = ["--package", "database-tests"];

pub fn check(shell: &Shell) -> Result<()> {
    tools::postgresql(shell);
    let packages = CHOSEN;
    cmd!(shell, "cargo clippy --quiet {packages...} --all-targets --all-features -- -D warnings")
        .run()?;
    Ok(cmd!(shell, "cargo test --quiet {packages...} --all-features").run()?)
}
