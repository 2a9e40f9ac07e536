//! Builds the platform-independent artefacts: the npm package, the source distribution, and the crates.

use std::path::Path;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::workspace;

/// Builds the npm package from its wasm modules and scripts.
pub fn build_npm_package(shell: &Shell, into: &Path) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    cmd!(shell, "npm run --silent build -- wasm script texts").run()?;
    // Only the main package is packed, because no addon is built here.
    Ok(cmd!(shell, "npm run --silent pack -- {into} --main").run()?)
}

pub fn build_distribution(shell: &Shell, into: &Path) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    Ok(cmd!(shell, "maturin sdist --out {into}").run()?)
}

/// Packages the crates for the registry. Some crates depend on others, so all crates are packaged together.
pub fn build_crates(shell: &Shell, into: &Path) -> Result<()> {
    let packed = tempfile::tempdir()?;
    let (target, options) = (packed.path(), ["--quiet", "--no-verify"]);
    let packages = workspace::published_crates(shell)?;
    let packages = packages.iter().flat_map(|name| ["--package", name]);
    cmd!(shell, "cargo package {options...} {packages...} --target-dir {target}").run()?;
    for file in shell.read_dir(target.join("package"))? {
        if file.extension().is_some_and(|end| end == "crate") {
            shell.copy_file(file, into)?;
        }
    }
    Ok(())
}
