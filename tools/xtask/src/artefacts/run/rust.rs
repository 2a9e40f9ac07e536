//! Runs the tests of the packaged crates, in the form that a registry would serve.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::output;
use crate::{
    artefacts::{results::Run, roots},
    test::packaging,
    tools::{self, MissingTool},
    workspace,
};

const WINDOWS_TARGET: &str = "x86_64-pc-windows-gnu";

/// Runs the core's tests from its packaged crate, outside the repository.
pub fn test_crates(shell: &Shell) -> Result<Vec<Run>> {
    packaging::run_rust_tests(shell)?;
    let here =
        Run::new(compiler_version(shell)?, "unit and documentation tests of the core's crate");
    match test_on_windows(shell) {
        Ok(run) => Ok(vec![here, run]),
        Err(error) if error.is::<MissingTool>() => Ok(vec![here]),
        Err(error) => Err(error),
    }
}

/// Runs the core's tests for Windows in Wine.
fn test_on_windows(shell: &Shell) -> Result<Run> {
    let wine = roots::wine(shell)?;
    cmd!(shell, "rustup --quiet target add {WINDOWS_TARGET}").quiet().run()?;
    let _there = shell.push_dir(workspace::root());
    let chosen = ["--package", "polyflake", "--all-features", "--lib", "--tests"];
    let tests = cmd!(shell, "cargo test {chosen...} --target {WINDOWS_TARGET}");
    let tests = tests
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", tools::mingw(shell)?)
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", wine);
    output(tests)?;
    let with = format!("{} for Windows", compiler_version(shell)?);
    Ok(Run::new(with, "the core's tests").under(Some("Wine")))
}

fn compiler_version(shell: &Shell) -> Result<String> {
    let said = cmd!(shell, "rustc --version").quiet().read()?;
    Ok(said.split(' ').take(2).collect::<Vec<_>>().join(" "))
}
