//! Runs tests with the compiler's sanitizers, which detect data races and invalid memory accesses.

use anyhow::Result;
use clap::{Args, ValueEnum};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sanitizer {
    /// Detects data races in the soak harness and in the tests whose threads share generators. The standard library is also
    /// instrumented.
    Thread,
    /// Detects memory errors in all tests of the core, including the tests of the kernels for this machine's instruction
    /// sets.
    Address,
}

#[derive(Args)]
pub struct Options {
    /// Run only this sanitizer
    sanitizer: Option<Sanitizer>,
}

/// The target triple of this host. The triple is passed to Cargo explicitly so that build scripts and macros, which cannot
/// be built with sanitizers, are built without sanitizers.
const TARGET: &str = "x86_64-unknown-linux-gnu";

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    tools::install_nightly(&shell, &["rust-src"])?;
    if options.sanitizer != Some(Sanitizer::Address) {
        run_thread_sanitizer(&shell)?;
    }
    if options.sanitizer != Some(Sanitizer::Thread) {
        run_address_sanitizer(&shell)?;
    }
    Ok(())
}

fn run_thread_sanitizer(shell: &Shell) -> Result<()> {
    let _flags = shell.push_env("RUSTFLAGS", "-Zsanitizer=thread");
    let _target = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("sanitize/thread"));
    let core = ["--package", "polyflake", "--test", "*_generator", "--test", "families"];
    cmd!(shell, "cargo +nightly test -Zbuild-std --target {TARGET} --profile quick {core...}")
        .run()?;
    let soak = ["--package", "soak", "--bin", "soak", "--", "--ids", "3000000"];
    Ok(cmd!(shell, "cargo +nightly run -Zbuild-std --target {TARGET} --profile quick {soak...}")
        .run()?)
}

fn run_address_sanitizer(shell: &Shell) -> Result<()> {
    let _flags = shell.push_env("RUSTFLAGS", "-Zsanitizer=address");
    let _target = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("sanitize/address"));
    let core = [
        "--package",
        "polyflake",
        "--package",
        "polyflake-columns",
        "--package",
        "kernel-tests",
        "--lib",
        "--tests",
    ];
    Ok(cmd!(shell, "cargo +nightly test --target {TARGET} --profile quick {core...}").run()?)
}
