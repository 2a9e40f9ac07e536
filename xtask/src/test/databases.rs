//! IDs in columns of real databases, by other people's libraries for Rust. They take minutes to compile, so the packages that need
//! them are checked here, and left out wherever the whole workspace is.

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::tools;

/// The arguments that leave them out of the workspace.
pub const LEFT_OUT: [&str; 6] =
    ["--exclude", "database-tests", "--exclude", "example-axum", "--exclude", "polyflake-sql"];

/// The arguments that choose them.
const CHOSEN: [&str; 6] =
    ["--package", "database-tests", "--package", "example-axum", "--package", "polyflake-sql"];

/// Their lints, their tests, and the documentation of the one that users install.
pub fn check(shell: &Shell) -> Result<()> {
    tools::postgresql(shell);
    let packages = CHOSEN;
    cmd!(shell, "cargo clippy --quiet {packages...} --all-targets --all-features -- -D warnings")
        .run()?;
    cmd!(shell, "cargo test --quiet {packages...} --all-features").run()?;
    Ok(cmd!(shell, "cargo doc --quiet --package polyflake-sql --no-deps --all-features")
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()?)
}
