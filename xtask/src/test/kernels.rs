//! The tests of kernels for other machines, which are emulated. They are optimised a little: that saves more time than it costs.

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use crate::tools;

/// NEON, on an emulated machine. Linked statically by Rust's own linker, so no tools for that machine are needed.
pub fn aarch64(shell: &Shell) -> Result<()> {
    let qemu = tools::qemu_aarch64(shell)?;
    let tests = tests_for(shell, "aarch64-unknown-linux-musl")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", qemu)
        .env("RUSTFLAGS", "-D warnings");
    Ok(tests.run()?)
}

/// wasm's SIMD, in Node.
pub fn wasm(shell: &Shell) -> Result<()> {
    let tests = tests_for(shell, "wasm32-wasip1")
        .env("CARGO_TARGET_WASM32_WASIP1_RUNNER", "node --no-warnings node.mjs")
        .env("RUSTFLAGS", "-C target-feature=+simd128 -D warnings");
    Ok(tests.run()?)
}

fn tests_for<'sh>(shell: &'sh Shell, target: &str) -> Cmd<'sh> {
    cmd!(shell, "cargo test --quiet --package kernel-tests --tests --target {target}")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
}
