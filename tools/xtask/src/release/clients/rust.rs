//! The client that installs crates from a crates.io registry.

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use super::{Project, Source, Target, generate_and_identify};
use crate::workspace;

/// Returns a cargo command that uses this machine's registry instead of crates.io. All rehearsals share the compiled
/// dependencies.
fn cargo<'sh>(shell: &'sh Shell, address: &str, words: &[&str]) -> Cmd<'sh> {
    let here = format!("source.here.registry=\"sparse+{address}/crates/index/\"");
    let options = ["--config", "source.crates-io.replace-with=\"here\"", "--config", &here];
    let cargo = cmd!(shell, "cargo --quiet {options...} {words...}");
    // Use a new Cargo home directory, so that it contains no crates from the registry of an earlier rehearsal.
    cargo
        .env("CARGO_HOME", shell.current_dir().join("cargo"))
        .env("CARGO_TARGET_DIR", workspace::target().join("dry-run/cargo"))
}

pub const CARGO: Target = Target::Project(Project {
    programs: &["rust/use.rs", "rust/keep.rs"],
    create,
    add: add_dependencies,
    run: |shell, Source { address, .. }, program| cargo(shell, address, &["run", "--bin", program]),
    expected: ("a program", ""),
});

fn create(shell: &Shell, _: &Source) -> Result<()> {
    shell.create_dir("src/bin")?;
    Ok(["use", "keep"].into_iter().try_for_each(|program| {
        shell.copy_file(format!("{program}.rs"), format!("src/bin/{program}.rs"))
    })?)
}

/// Writes the dependencies into the manifest. `cargo add` cannot be used, because it changes one crate at a time, and each
/// version of `polyflake-lease` requires the matching version of `polyflake`.
fn add_dependencies(shell: &Shell, Source { version, .. }: &Source) -> Result<()> {
    let manifest = format!(
        "[package]\nname = \"uses-polyflake\"\nedition = \"2024\"\n\n[dependencies]\nserde_json = \"1\"\n\
         polyflake = {{ version = \"={version}\", features = [\"json\", \"uuid\"] }}\n\
         polyflake-lease = {{ version = \"={version}\", features = [\"sqlite\"] }}\n"
    );
    Ok(shell.write_file("Cargo.toml", manifest)?)
}

pub fn install(shell: &Shell, Source { address, version }: &Source) -> Result<String> {
    let root = shell.current_dir().join("installed");
    let into = root.display().to_string();
    let words = ["install", "--locked", "--version", version, "--root", &into, "polyflake-cli"];
    cargo(shell, address, &words).run()?;
    let program = root.join("bin/polyflake");
    generate_and_identify(|| cmd!(shell, "{program}"))
}
