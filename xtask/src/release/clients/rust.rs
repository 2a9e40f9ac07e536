//! The client that installs crates from a crates.io registry.

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use super::{Source, copy, names_ids};
use crate::workspace;

/// Returns cargo, which takes this machine's registry for crates.io. Dependencies are compiled once for all rehearsals.
fn cargo<'sh>(shell: &'sh Shell, address: &str, words: &[&str]) -> Cmd<'sh> {
    let here = format!("source.here.registry=\"sparse+{address}/crates/index/\"");
    let options = ["--config", "source.crates-io.replace-with=\"here\"", "--config", &here];
    let cargo = cmd!(shell, "cargo --quiet {options...} {words...}");
    // A new home directory has no crates from an earlier registry.
    cargo
        .env("CARGO_HOME", shell.current_dir().join("cargo"))
        .env("CARGO_TARGET_DIR", workspace::target().join("dry-run/cargo"))
}

pub fn add(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    copy(shell, &["rust/use.rs"])?;
    shell.create_dir("src")?;
    shell.copy_file("use.rs", "src/main.rs")?;
    let manifest = "[package]\nname = \"uses-polyflake\"\nedition = \"2024\"\n";
    shell.write_file("Cargo.toml", manifest)?;
    let wanted = format!("polyflake@={version}");
    cargo(shell, address, &["add", "--features", "json,uuid", &wanted]).run()?;
    cargo(shell, address, &["run"]).run()?;
    Ok("a program uses every format".to_owned())
}

pub fn install(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    let root = shell.current_dir().join("installed");
    let into = root.display().to_string();
    let words = ["install", "--locked", "--version", version, "--root", &into, "polyflake-cli"];
    cargo(shell, address, &words).run()?;
    let program = root.join("bin/polyflake");
    names_ids(|| cmd!(shell, "{program}"))
}
