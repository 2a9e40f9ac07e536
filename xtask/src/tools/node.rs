//! Node, and the npm packages that the JavaScript package and its tests are built with.

use std::{fs, os::unix::fs::symlink, path::Path};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{once, version};
use crate::workspace;

const OLDEST: (u32, u32) = (20, 0);

/// Whether the machine has Node; says why not.
pub fn node(shell: &Shell) -> Result<(), String> {
    let found = ["node", "npm"].into_iter().all(|program| version(shell, program).is_some());
    if found && version(shell, "node") >= Some(OLDEST) {
        Ok(())
    } else {
        Err("no Node 20 or newer on this machine".into())
    }
}

/// Installs what the lock files of `packages/js` and `tests` name, and lets the tests find the package by its name.
pub fn npm(shell: &Shell) -> Result<()> {
    for folder in ["packages/js", "tests"] {
        install(shell, &workspace::root().join(folder))?;
    }
    link_package()
}

fn install(shell: &Shell, folder: &Path) -> Result<()> {
    let lock = fs::read_to_string(folder.join("package-lock.json"))
        .with_context(|| format!("cannot read the lock file of {}", folder.display()))?;
    once(&folder.join("node_modules/.installed-lock.json"), &lock, || {
        let _there = shell.push_dir(folder);
        cmd!(shell, "npm ci --no-audit --no-fund --loglevel=error").run().map_err(Into::into)
    })
}

/// Whether the edge runtime, which comes as an npm package, runs on this machine; says why not.
pub fn workerd(shell: &Shell) -> Result<(), String> {
    npm(shell).map_err(|error| format!("cannot install the npm packages: {error:#}"))?;
    let workerd = workspace::root().join("tests/node_modules/.bin/workerd");
    let runs = cmd!(shell, "{workerd} --version").quiet().ignore_stdout().ignore_stderr().run();
    runs.map_err(|error| format!("workerd does not run on this machine: {error}"))
}

/// `import "polyflake"` in `tests` is the package as built in this repository.
fn link_package() -> Result<()> {
    let link = workspace::root().join("tests/node_modules/polyflake");
    if link.exists() {
        return Ok(());
    }
    symlink("../../packages/js", &link).with_context(|| format!("cannot link {}", link.display()))
}
