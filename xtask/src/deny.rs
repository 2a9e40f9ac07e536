//! cargo-deny: `deny.toml` says which licences, sources and crates may be in the dependencies.

use anyhow::Result;
use xshell::cmd;

use crate::{tools, workspace};

pub fn main() -> Result<()> {
    let shell = workspace::shell()?;
    tools::deny(&shell)?;
    cmd!(shell, "cargo deny --all-features check bans licenses sources").run()?;
    // The database of advisories lies on GitHub, which not every machine reaches.
    let advisories = cmd!(shell, "cargo deny --all-features check advisories");
    if advisories.ignore_status().output()?.status.success() {
        println!("no advisories");
    } else {
        println!(
            "advisories: found some, or their database cannot be reached: cargo deny check advisories"
        );
    }
    Ok(())
}
