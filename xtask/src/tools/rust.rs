//! Rust's compilation targets and tools.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::once;
use crate::workspace;

/// Browsers and the edge; a machine without an operating system, where the core must build too; and what else kernels are
/// tested on.
const TARGETS: [&str; 4] = [
    "wasm32-unknown-unknown",
    "thumbv7em-none-eabi",
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

/// What runs the fuzz targets.
pub fn bolero(shell: &Shell) -> Result<()> {
    const VERSION: &str = "0.13.5";
    let tools = workspace::tools();
    shell.create_dir(&tools)?;
    once(&tools.join("cargo-bolero.version"), VERSION, || {
        cmd!(shell, "cargo install --quiet cargo-bolero --version {VERSION} --root {tools}")
            .run()?;
        Ok(())
    })
}
