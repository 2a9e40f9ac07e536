//! Rust's compilation targets and tools.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::once;
use crate::workspace;

/// Browsers and the edge; machines without an operating system, for which the core must build, too; and other machines on
/// which kernels are tested.
const TARGETS: [&str; 6] = [
    "wasm32-unknown-unknown",
    "thumbv6m-none-eabi",
    "thumbv7em-none-eabi",
    "x86_64-unknown-none",
    "aarch64-unknown-linux-musl",
    "wasm32-wasip1",
];

pub fn rust_targets(shell: &Shell) -> Result<()> {
    let installed = cmd!(shell, "rustup target list --installed")
        .quiet()
        .read()
        .context("rustup is not installed")?;
    let missing =
        TARGETS.into_iter().filter(|target| !installed.lines().any(|line| line == *target));
    for target in missing {
        cmd!(shell, "rustup target add {target}").run()?;
    }
    Ok(())
}

/// A toolchain of this version, with these targets.
pub fn rust_toolchain(shell: &Shell, version: &str, targets: &[&str]) -> Result<()> {
    let there = cmd!(shell, "rustup target list --installed --toolchain {version}").quiet();
    let installed = there.ignore_stderr().read().unwrap_or_default();
    let is_there = |target: &&str| installed.lines().any(|line| line == *target);
    if !targets.iter().all(is_there) {
        let targets = targets.join(",");
        cmd!(shell, "rustup toolchain install {version} --profile minimal --target {targets}")
            .run()?;
    }
    Ok(())
}

/// Installs cargo-bolero, which runs the fuzz targets.
pub fn bolero(shell: &Shell) -> Result<()> {
    install(shell, "cargo-bolero", "0.13.5")
}

/// Installs cargo-mutants, which puts faults into the code.
pub fn mutants(shell: &Shell) -> Result<()> {
    install(shell, "cargo-mutants", "27.1.0")
}

/// Installs cargo-deny, which checks the dependencies.
pub fn deny(shell: &Shell) -> Result<()> {
    install(shell, "cargo-deny", "0.20.2")
}

fn install(shell: &Shell, name: &str, version: &str) -> Result<()> {
    let tools = workspace::tools();
    shell.create_dir(&tools)?;
    once(&tools.join(format!("{name}.version")), version, || {
        cmd!(shell, "cargo install --quiet {name} --version {version} --root {tools}").run()?;
        Ok(())
    })
}

/// The nightly toolchain of today.
pub fn newest_nightly(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "rustup toolchain install nightly --profile minimal").run()?)
}

/// The nightly toolchain with these components.
pub fn nightly(shell: &Shell, components: &[&str]) -> Result<()> {
    let there = cmd!(shell, "rustup run nightly rustc --version").quiet().ignore_stdout();
    if there.ignore_stderr().run().is_err() {
        cmd!(shell, "rustup toolchain install nightly --profile minimal").run()?;
    }
    let add = cmd!(shell, "rustup component add --toolchain nightly {components...}");
    Ok(add.quiet().ignore_stderr().run()?)
}
