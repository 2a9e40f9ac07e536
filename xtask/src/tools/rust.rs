//! Rust's own: targets, and wasm-bindgen of exactly the version that the wasm module is compiled with.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

/// Browsers and the edge; and a machine without an operating system, where the core must build too.
const TARGETS: [&str; 2] = ["wasm32-unknown-unknown", "thumbv7em-none-eabi"];

/// What wasm-bindgen-cli consists of: the second runs the tests of wasm crates.
const WASM_BINDGEN: [&str; 2] = ["wasm-bindgen", "wasm-bindgen-test-runner"];

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

/// wasm-bindgen-cli of the version in `Cargo.lock`: a link to the machine's, or else one built here.
pub fn wasm_bindgen(shell: &Shell) -> Result<()> {
    let wanted = locked_version("wasm-bindgen")?;
    let bin = workspace::tools().join("bin");
    if is_version(shell, "wasm-bindgen", &wanted) {
        return link_from_path(&bin);
    }
    let root = workspace::tools();
    cmd!(shell, "cargo install --quiet --force --root {root} wasm-bindgen-cli@{wanted}").run()?;
    ensure!(
        is_version(shell, "wasm-bindgen", &wanted),
        "wasm-bindgen {wanted} was installed but does not run"
    );
    Ok(())
}

fn is_version(shell: &Shell, program: &str, wanted: &str) -> bool {
    let said = cmd!(shell, "{program} --version").quiet().ignore_stderr().read();
    said.is_ok_and(|said| said.split_whitespace().nth(1) == Some(wanted))
}

/// Links the machine's programs to where the repository's are, so that all who look there find them.
fn link_from_path(bin: &PathBuf) -> Result<()> {
    fs::create_dir_all(bin)?;
    for program in WASM_BINDGEN {
        let link = bin.join(program);
        let machine = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|dir| dir.join(program))
            .find(|path| path.is_file());
        match machine {
            Some(path) if !link.exists() => {
                symlink(path, &link).with_context(|| format!("cannot link {}", link.display()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The version of a package that `Cargo.lock` fixes.
fn locked_version(package: &str) -> Result<String> {
    let text = fs::read_to_string(workspace::root().join("Cargo.lock"))?;
    let lock: toml::Table = text.parse().context("Cargo.lock is not TOML")?;
    let packages = lock
        .get("package")
        .and_then(toml::Value::as_array)
        .context("Cargo.lock lists no packages")?;
    let found = packages
        .iter()
        .find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(package));
    let version = found.and_then(|entry| entry.get("version")).and_then(toml::Value::as_str);
    Ok(version.with_context(|| format!("Cargo.lock has no {package}"))?.to_owned())
}
