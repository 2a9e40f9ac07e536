//! Sets up Node, and the npm packages that the JavaScript package's build and tests need.

#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as symlink;
use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{MissingTool, run_once, version};
use crate::workspace;

const MIN_VERSION: (u32, u32) = (20, 0);

/// Installs the packages in the lock files of `packages/js` and `tests`, and lets the tests import the `polyflake` package
/// by its name.
pub fn install_node_packages(shell: &Shell) -> Result<()> {
    install_build_packages(shell)?;
    npm_install(shell, "tests")
}

/// Installs the packages that are needed to build the npm package.
pub fn install_build_packages(shell: &Shell) -> Result<()> {
    let found = version(shell, "node") >= Some(MIN_VERSION) && version(shell, "npm").is_some();
    ensure!(found, MissingTool("no Node 20 or newer with npm on this machine".into()));
    install(shell, &workspace::root().join("packages/js"))
}

/// Installs the packages in a folder's lock file, and links the package that is built in this repository. In that folder,
/// `import "polyflake"` then loads this package.
pub fn npm_install(shell: &Shell, folder: &str) -> Result<()> {
    let inside = workspace::root().join(folder);
    install(shell, &inside)?;
    let link = inside.join("node_modules/polyflake");
    if link.exists() {
        return Ok(());
    }
    let package = "../".repeat(folder.split('/').count() + 1) + "packages/js";
    symlink(package, &link).with_context(|| format!("cannot link {}", link.display()))
}

/// Installs the edge runtime, which is an npm package, and checks that it runs.
pub fn install_workerd(shell: &Shell) -> Result<()> {
    install_node_packages(shell)?;
    let workerd = workspace::root().join("tests/node_modules/.bin/workerd");
    let runs = cmd!(shell, "{workerd} --version").quiet().ignore_stdout().ignore_stderr().run();
    runs.map_err(|_| MissingTool("workerd does not run on this machine".into()).into())
}

fn install(shell: &Shell, folder: &Path) -> Result<()> {
    let lock = fs::read_to_string(folder.join("package-lock.json"))
        .with_context(|| format!("cannot read the lock file of {}", folder.display()))?;
    run_once(&folder.join("node_modules/.installed-lock.json"), &lock, || {
        let _there = shell.push_dir(folder);
        cmd!(shell, "npm ci --no-audit --no-fund --loglevel=error").run().map_err(Into::into)
    })
}
