//! Rust's compilation targets and tools.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::once;
use crate::workspace;

/// Browsers and the edge; and a machine without an operating system, where the core must build too.
const TARGETS: [&str; 2] = ["wasm32-unknown-unknown", "thumbv7em-none-eabi"];

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
