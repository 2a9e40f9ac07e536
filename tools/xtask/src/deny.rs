//! Runs cargo-deny. `deny.toml` lists the licenses, sources and crates that are allowed for dependencies.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    tools::install(&shell, &tools::DENY)?;
    cmd!(shell, "cargo deny --all-features check bans licenses sources").run()?;
    check_advisories(&shell)
}

/// Checks the dependencies for advisories. The advisory database is on GitHub, which some machines cannot reach.
fn check_advisories(shell: &Shell) -> Result<()> {
    let output =
        cmd!(shell, "cargo deny --all-features check advisories").ignore_status().output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("failed to fetch advisory database") {
        println!("advisories not judged: their database cannot be reached");
        return Ok(());
    }
    ensure!(output.status.success(), "{said}");
    println!("no advisories");
    Ok(())
}
