//! Rust's compilation targets.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

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
