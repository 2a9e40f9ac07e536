//! Runs cargo-deny: `deny.toml` lists the licences, sources and crates that dependencies may have.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    tools::install(&shell, &tools::DENY)?;
    cmd!(shell, "cargo deny --all-features check bans licenses sources").run()?;
    advisories(&shell)
}

/// Checks the advisories. Their database is on GitHub, which not every machine can reach.
fn advisories(shell: &Shell) -> Result<()> {
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
