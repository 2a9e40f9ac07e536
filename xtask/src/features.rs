//! The features of the crates for users in sets that no other test builds: alone, in pairs, and with the oldest versions of
//! dependencies that the crates allow.

use anyhow::Result;
use clap::Args;
use xshell::{Shell, cmd};

use crate::{test::packaging, tools, workspace};

#[derive(Args)]
pub struct Options {
    /// Build with the oldest versions of dependencies that the crates allow
    #[arg(long)]
    minimal: bool,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    tools::hack(&shell)?;
    if options.minimal {
        return minimal(&shell);
    }
    let sets = ["--ignore-private", "--feature-powerset", "--depth", "2", "--skip", "default"];
    let check = cmd!(shell, "cargo hack check --quiet --workspace {sets...}");
    Ok(check.env("RUSTFLAGS", "-D warnings").run()?)
}

/// Builds each crate from its package, as a user's program gets it: in the workspace, what another crate needs of a dependency would
/// have a say in its version.
fn minimal(shell: &Shell) -> Result<()> {
    tools::nightly(shell, &[])?;
    let folder = tempfile::tempdir()?;
    let _apart = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("minimal"));
    for package in packaging::unpack(shell, folder.path())? {
        let _there = shell.push_dir(package);
        // Dependencies of tests would have a say, too.
        cmd!(shell, "cargo hack --remove-dev-deps metadata --no-deps --format-version 1")
            .ignore_stdout()
            .run()?;
        cmd!(shell, "cargo +nightly update --quiet -Z direct-minimal-versions").run()?;
        cmd!(shell, "cargo +nightly check --quiet --all-features").run()?;
    }
    Ok(())
}
