//! Installs Rust's compilation targets and tools.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::run_once;
use crate::workspace;

/// The targets to install: the target for browsers and edge runtimes, the bare-metal targets that the core must support,
/// and further targets whose kernels are tested.
const TARGETS: [&str; 6] = [
    "wasm32-unknown-unknown",
    "thumbv6m-none-eabi",
    "thumbv7em-none-eabi",
    "x86_64-unknown-none",
    "aarch64-unknown-linux-musl",
    "wasm32-wasip1",
];

pub fn install_rust_targets(shell: &Shell) -> Result<()> {
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

/// Installs a toolchain of this version with these targets.
pub fn install_rust_toolchain(shell: &Shell, version: &str, targets: &[&str]) -> Result<()> {
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

/// A program that cargo installs, with its version.
pub struct Tool(&'static str, &'static str);

/// The program that runs the fuzz targets.
pub const BOLERO: Tool = Tool("cargo-bolero", "0.13.5");
/// The program that inserts faults into the code.
pub const MUTANTS: Tool = Tool("cargo-mutants", "27.1.0");
/// The program that builds crates with selected sets of features.
pub const HACK: Tool = Tool("cargo-hack", "0.6.46");
/// The program that checks the dependencies.
pub const DENY: Tool = Tool("cargo-deny", "0.20.2");
/// The program that builds npm packages from wasm crates.
pub const WASM_PACK: Tool = Tool("wasm-pack", "0.15.1");

/// The program that compares the public APIs of crates with the APIs of an earlier version.
pub const SEMVER: Tool = Tool("cargo-semver-checks", "0.49.0");

/// Installs a program into the folder for the repository's tools.
pub fn install(shell: &Shell, Tool(name, version): &Tool) -> Result<()> {
    install_with_options(shell, name, version, &[])
}

/// Installs wasm-bindgen's programs in the same version as the `wasm-bindgen` crate in the lock file. The programs' default
/// features are disabled, because these features add TLS, which is not needed to connect to a browser's driver.
pub fn install_wasm_bindgen(shell: &Shell) -> Result<()> {
    let version = locked_version("wasm-bindgen")?;
    install_with_options(shell, "wasm-bindgen-cli", &version, &["--no-default-features"])
}

/// Returns the path of the program that runs the tests of wasm crates.
pub fn wasm_test_runner(shell: &Shell) -> Result<PathBuf> {
    install_wasm_bindgen(shell)?;
    Ok(workspace::tools().join("bin/wasm-bindgen-test-runner"))
}

/// Returns a dependency's version from the lock file.
fn locked_version(name: &str) -> Result<String> {
    let lock: toml::Table = fs::read_to_string(workspace::root().join("Cargo.lock"))?.parse()?;
    let packages = lock["package"].as_array().context("expected packages in Cargo.lock")?;
    let package = packages.iter().find(|package| package["name"].as_str() == Some(name));
    let version = package.and_then(|package| package["version"].as_str());
    Ok(version.with_context(|| format!("expected {name} in Cargo.lock"))?.to_owned())
}

fn install_with_options(shell: &Shell, name: &str, version: &str, options: &[&str]) -> Result<()> {
    let tools = workspace::tools();
    shell.create_dir(&tools)?;
    run_once(&tools.join(format!("{name}.version")), version, || {
        let install = cmd!(shell, "cargo install --quiet {name} --version {version}");
        Ok(install.args(options).args(["--root"]).arg(&tools).run()?)
    })
}

/// Installs today's nightly toolchain.
pub fn install_newest_nightly(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "rustup toolchain install nightly --profile minimal").run()?)
}

/// Installs the nightly toolchain with these components.
pub fn install_nightly(shell: &Shell, components: &[&str]) -> Result<()> {
    let there = cmd!(shell, "rustup run nightly rustc --version").quiet().ignore_stdout();
    if there.ignore_stderr().run().is_err() {
        cmd!(shell, "rustup toolchain install nightly --profile minimal").run()?;
    }
    if components.is_empty() {
        return Ok(());
    }
    let add = cmd!(shell, "rustup component add --toolchain nightly {components...}");
    Ok(add.quiet().ignore_stderr().run()?)
}
