//! Sets up this repository's tools on a fresh machine. Each function returns quickly if its tools are already set up.
//!
//! The machine must provide rustup, Python 3.10 or newer, and Node 20 or newer. This module downloads all other tools, in
//! versions that the repository pins.

mod debian;
mod node;
mod python;
mod rust;

pub use debian::{
    browser, browser_driver, debian_keys, faketime, find_browser, find_program, firefox,
    install_mariadb, install_pgbouncer, install_postgresql, install_redis, mingw, mingw_zlib,
    promtool, qemu_aarch64, systemd_analyze, valgrind, wine,
};
pub use node::{install_build_packages, install_node_packages, install_workerd, npm_install};
pub use python::{
    artefacts_python, bench_python, default_python, find_python_named, integrations_python,
    oldest_python, operate_tools, python, redis_servers, release_python,
};
pub use rust::{
    BOLERO, DENY, HACK, MUTANTS, SEMVER, WASM_PACK, install, install_newest_nightly,
    install_nightly, install_rust_targets, install_rust_toolchain, install_wasm_bindgen,
    wasm_test_runner,
};

use std::{error::Error, fmt, fs, path::Path};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

/// The error for a tool that is not installed and cannot be downloaded. Runtimes that need the tool are skipped instead of
/// failing.
#[derive(Debug)]
pub struct MissingTool(pub String);

impl fmt::Display for MissingTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for MissingTool {}

/// Calls `make` unless the file `stamp` contains the string `wanted`. After a successful call, writes `wanted` to the file,
/// so that later calls return immediately.
fn run_once(stamp: &Path, wanted: &str, make: impl FnOnce() -> Result<()>) -> Result<()> {
    if fs::read_to_string(stamp).is_ok_and(|made| made == wanted) {
        return Ok(());
    }
    make()?;
    fs::write(stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Returns the major and minor number of the first version in the output of `program --version`, or `None` if the program
/// does not exist.
fn version(shell: &Shell, program: &str) -> Option<(u32, u32)> {
    let said = cmd!(shell, "{program} --version").quiet().ignore_stderr().read().ok()?;
    let word = said.split_whitespace().find(|word| word.contains(|c: char| c.is_ascii_digit()))?;
    let mut numbers = word.trim_start_matches('v').split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
