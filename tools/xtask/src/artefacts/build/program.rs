//! Builds the packages of the command-line program. These are a wheel and an npm package for each platform, and the npm
//! package that starts the program.

use std::path::Path;

use anyhow::Result;
use xshell::{Shell, cmd};

use super::wheel;
use crate::{artefacts::platforms::Platform, licences, workspace};

/// Builds the wheel, and packs the same program for npm.
pub fn build(shell: &Shell, platform: &Platform, into: &Path) -> Result<()> {
    {
        let _there = shell.push_dir(workspace::root().join("cli"));
        let crates = licences::dependencies_of(shell, "polyflake-cli", &platform.target)?;
        shell.write_file("THIRD-PARTY.md", licences::program_licences(shell, &crates)?)?;
        wheel::run_maturin(shell, platform, &[], &frameworks(shell, platform)?, into)?;
    }
    let folder = workspace::artefacts().join("build").join(&platform.target).join("release");
    let end = if platform.is_windows() { ".exe" } else { "" };
    let program = folder.join(format!("polyflake{end}"));
    pack(shell, into, &["--program", &format!("{}={}", platform.name, program.display())])
}

/// Returns the flag that tells the linker where to find the macOS frameworks that a dependency links to, although this
/// program never calls them. The frameworks are empty stand-ins, because Apple ships the real frameworks only with its SDK.
fn frameworks(shell: &Shell, platform: &Platform) -> Result<String> {
    if platform.min_macos_version().is_none() {
        return Ok(String::new());
    }
    let folder = workspace::artefacts().join("frameworks");
    for name in ["CoreFoundation", "SystemConfiguration"] {
        let place = format!("{name}.framework/Versions/A/{name}");
        let text = format!(
            "--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n\
            install-name: '/System/Library/Frameworks/{place}'\n...\n"
        );
        shell.write_file(folder.join(format!("{name}.framework/{name}.tbd")), text)?;
    }
    Ok(format!(" -Clink-arg=-F{}", folder.display()))
}

pub fn build_launcher(shell: &Shell, into: &Path) -> Result<()> {
    pack(shell, into, &["--launcher"])
}

fn pack(shell: &Shell, into: &Path, parts: &[&str]) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    Ok(cmd!(shell, "npm run --silent pack -- {into} {parts...}").run()?)
}
