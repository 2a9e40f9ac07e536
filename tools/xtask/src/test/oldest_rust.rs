//! Checks the oldest supported Rust version: all code that users compile must build with exactly that version, and all
//! documents must name it.

use std::fs;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// The target for ARM64 kernels. The check builds the kernels for this target and for `WASM_TARGET`, in addition to this
/// machine's target.
const AARCH64_TARGET: &str = "aarch64-unknown-linux-musl";
const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The documents that tell users which Rust version is required. Each must name the version at least once.
const DOCUMENT_PATHS: [&str; 4] =
    ["README.md", "core/README.md", "lease/README.md", "packages/python/README.md"];

/// Checks all crates that `cargo`, `pip` and `wasm-pack` may compile on a user's machine: the crates with all features and
/// with the fewest features, the bindings, and the kernels for other machines. The check uses a separate build folder,
/// because otherwise each run would rebuild everything.
pub fn check(shell: &Shell) -> Result<()> {
    let version = format!("{}.0", minimum_version()?);
    tools::install_rust_toolchain(shell, &version, &[AARCH64_TARGET, WASM_TARGET])?;
    let _there = shell.push_env("CARGO_TARGET_DIR", workspace::target().join("oldest-rust"));
    let toolchain = format!("+{version}");
    for chosen in [
        "polyflake --all-features",
        "polyflake --no-default-features",
        "polyflake-lease --all-features",
        "polyflake-lease --no-default-features",
        "polyflake-python",
        "polyflake-node",
        &format!("polyflake --target {AARCH64_TARGET}"),
    ] {
        let chosen = chosen.split(' ');
        cmd!(shell, "cargo {toolchain} check --quiet --package {chosen...}").run()?;
    }
    cmd!(shell, "cargo {toolchain} check --quiet --package polyflake-wasm --target {WASM_TARGET}")
        .env("RUSTFLAGS", "-C target-feature=+simd128")
        .run()?;
    println!("Rust {version}");
    Ok(())
}

/// Returns the workspace's `rust-version`: a major and a minor number.
fn minimum_version() -> Result<String> {
    let cargo: toml::Table = fs::read_to_string(workspace::root().join("Cargo.toml"))?.parse()?;
    let version = cargo["workspace"]["package"]["rust-version"].as_str();
    Ok(version.context("expected a rust-version in Cargo.toml")?.to_owned())
}

/// Returns the pages that name a Rust version other than the oldest supported version, or that name no version.
pub fn pages_with_other_version() -> Result<Vec<String>> {
    let promised = format!("Rust {}", minimum_version()?);
    let mut faults = Vec::new();
    for path in DOCUMENT_PATHS {
        let text = fs::read_to_string(workspace::root().join(path))
            .with_context(|| format!("cannot read {path}"))?;
        if !names_only_promised_version(&text, &promised) {
            faults.push(format!("{path}: expected {promised} and no other version of Rust"));
        }
    }
    Ok(faults)
}

/// Returns whether a page contains the version `promised`, and no other Rust version. Bold markup is ignored.
fn names_only_promised_version(text: &str, promised: &str) -> bool {
    let text = text.replace('*', "");
    let named = text.matches(promised).count();
    named > 0 && text.matches("Rust 1.").count() == named
}

#[cfg(test)]
mod tests {
    use super::names_only_promised_version;

    #[test]
    fn pages_must_name_only_the_promised_version() {
        assert!(names_only_promised_version(
            "- **Rust** 1.89 or later. Rust builds. Rust 2024.",
            "Rust 1.89"
        ));
        for text in ["Rust builds", "Rust 1.89 or Rust 1.91", "Rust 1.90"] {
            assert!(!names_only_promised_version(text, "Rust 1.89"), "{text}");
        }
    }
}
