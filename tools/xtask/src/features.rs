//! Builds the published crates in configurations that no other test builds: with each feature alone, with pairs of
//! features, and with the oldest and newest dependency versions that the crates allow.

use anyhow::Result;
use clap::Args;
use xshell::{Shell, cmd};

use crate::{test::packaging, tools, workspace};

#[derive(Args)]
pub struct Options {
    /// Build with the oldest dependency versions that the crates allow
    #[arg(long)]
    minimal: bool,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    tools::install(&shell, &tools::HACK)?;
    if options.minimal {
        return check_oldest_versions(&shell);
    }
    let sets = ["--ignore-private", "--feature-powerset", "--depth", "2", "--skip", "default"];
    let check = cmd!(shell, "cargo hack check --quiet --workspace {sets...}");
    Ok(check.env("RUSTFLAGS", "-D warnings").run()?)
}

/// Builds the crates with the oldest dependency versions that they allow.
pub fn check_oldest_versions(shell: &Shell) -> Result<()> {
    tools::install_nightly(shell, &[])?;
    check_with(shell, &["+nightly"], &["-Z", "direct-minimal-versions"])
}

/// Builds the crates with the newest dependency versions that they allow.
pub fn check_newest_versions(shell: &Shell) -> Result<()> {
    check_with(shell, &[], &[])
}

/// Builds each crate from its package, and selects the versions of its dependencies as a user's program would. The crates
/// are built outside the workspace, because in the workspace, the requirements of other crates would influence the version
/// of a dependency.
fn check_with(shell: &Shell, toolchain: &[&str], versions: &[&str]) -> Result<()> {
    tools::install(shell, &tools::HACK)?;
    let folder = tempfile::tempdir()?;
    let _apart = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("rust-libraries"));
    for package in packaging::unpack(shell, folder.path())? {
        let _there = shell.push_dir(package);
        // Remove the development dependencies, because they would also influence the versions.
        cmd!(shell, "cargo hack --remove-dev-deps metadata --no-deps --format-version 1")
            .ignore_stdout()
            .run()?;
        cmd!(shell, "cargo {toolchain...} update --quiet {versions...}").run()?;
        cmd!(shell, "cargo {toolchain...} check --quiet --all-features").run()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the cells of the table row whose first cell names a library.
    fn row<'p>(page: &'p str, library: &str) -> Option<Vec<&'p str>> {
        let plain = |text: &str| text.replace('-', "").to_lowercase();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
        let mut rows = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        rows.find(|cells| plain(cells[0]).contains(&plain(library)))
    }

    #[test]
    fn the_page_on_rust_libraries_names_the_oldest_versions() {
        let read = |path: &str| fs::read_to_string(workspace::root().join(path)).unwrap();
        let section = read("docs/integrations/rust.md");
        for (folder, libraries) in [
            ("core", "arbitrary diesel postgres-types rusqlite schemars utoipa"),
            ("crates/sql", "sea-orm sqlx"),
        ] {
            let manifest: toml::Table = read(&format!("{folder}/Cargo.toml")).parse().unwrap();
            for library in libraries.split(' ') {
                let allowed = manifest["dependencies"][library]["version"].as_str().unwrap();
                let oldest = allowed.trim_start_matches(">=").split(',').next().unwrap();
                let cells = row(&section, library).unwrap_or_default();
                let named = cells
                    .get(1)
                    .is_some_and(|cell| format!("{cell}.").starts_with(&format!("{oldest}.")));
                assert!(named, "{library}: {oldest}, not {cells:?}");
            }
        }
    }
}
