//! Runs the formatters of all languages: rustfmt, ruff and biome. `ruff.toml` configures ruff, and `biome.jsonc` configures
//! biome.

use anyhow::Result;
use clap::Args;
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// The path of biome, which formats and lints JavaScript. ruff, which formats and lints Python, is on the `PATH`.
const BIOME: &str = "tests/node_modules/.bin/biome";

#[derive(Args)]
pub struct Options {
    /// Change nothing, and fail if a file is not formatted
    #[arg(long)]
    check: bool,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    if options.check { check(&shell) } else { write(&shell) }
}

/// Formats every source file in place.
fn write(shell: &Shell) -> Result<()> {
    set_up(shell)?;
    cmd!(shell, "cargo fmt --all").run()?;
    // ruff's linter and biome's assistant sort imports.
    cmd!(shell, "ruff check --quiet --select I --fix").run()?;
    cmd!(shell, "ruff format --quiet").run()?;
    Ok(cmd!(shell, "{BIOME} check --linter-enabled=false --write").run()?)
}

/// Fails if any file is not formatted.
pub fn check(shell: &Shell) -> Result<()> {
    set_up(shell)?;
    cmd!(shell, "cargo fmt --all --check").run()?;
    cmd!(shell, "ruff format --quiet --diff").run()?;
    Ok(cmd!(shell, "{BIOME} check --linter-enabled=false").run()?)
}

/// Runs the linters for Python and JavaScript. Fails if a linter reports incorrect or needlessly long code. Clippy runs in
/// a separate step.
pub fn lint(shell: &Shell) -> Result<()> {
    set_up(shell)?;
    cmd!(shell, "ruff check --quiet").run()?;
    Ok(cmd!(shell, "{BIOME} lint --error-on-warnings").run()?)
}

fn set_up(shell: &Shell) -> Result<()> {
    tools::python(shell)?;
    tools::install_node_packages(shell)
}
