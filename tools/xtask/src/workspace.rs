//! The paths of the repository's folders, and a shell that starts in the repository's root.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// Returns the repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("xtask lies in tools")
}

/// Returns the target folder, which contains all build output.
pub fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Returns the path of Cargo's home folder, where it keeps the sources of dependencies.
pub fn cargo_home() -> Result<String> {
    let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| home + "/.cargo"));
    home.context("expected CARGO_HOME or HOME")
}

/// Returns the folder into which cargo installs the pinned versions of tools.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// Returns the path of this repository's Python virtual environment.
pub fn venv() -> PathBuf {
    target().join("venv")
}

/// Returns the path of the Python interpreter in this repository's virtual environment.
pub fn python() -> PathBuf {
    venv().join("bin/python")
}

/// Returns the path of the benchmarks' Python virtual environment, which contains peers, plotting tools, and database
/// clients.
pub fn bench_venv() -> PathBuf {
    target().join("bench-venv")
}

/// Returns the folder of the built wheel.
pub fn wheels() -> PathBuf {
    target().join("wheels")
}

/// Returns the folder for a release's files, and for the tools and caches of its builds.
pub fn artefacts() -> PathBuf {
    target().join("artefacts")
}

/// Returns whether this program runs in continuous integration, where no step may be skipped.
pub fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// Returns the crates that are published to a registry.
pub fn published_crates(shell: &Shell) -> Result<Vec<String>> {
    let said = cmd!(shell, "cargo metadata --no-deps --format-version 1").quiet().read()?;
    let metadata: serde_json::Value = serde_json::from_str(&said)?;
    let packages = metadata["packages"].as_array().context("expected packages")?;
    let published = packages.iter().filter(|package| package["publish"].is_null());
    let names: Vec<_> =
        published.filter_map(|package| Some(package["name"].as_str()?.to_owned())).collect();
    ensure!(!names.is_empty(), "expected crates that are published, found none");
    Ok(names)
}

/// Returns the published crates that have a library.
pub fn libraries(shell: &Shell) -> Result<Vec<String>> {
    let all = published_crates(shell)?;
    Ok(all.into_iter().filter(|name| !name.ends_with("-cli")).collect())
}

/// Returns the only file in a folder.
pub fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(files.next().with_context(|| format!("expected a file in {}", folder.display()))??.path())
}

/// Writes an executable script.
pub fn write_program(shell: &Shell, path: &Path, text: &str) -> Result<()> {
    shell.write_file(path, text)?;
    Ok(cmd!(shell, "chmod +x {path}").quiet().run()?)
}

/// Returns a shell that starts in the repository's root and prefers the repository's tools to those installed on this
/// machine.
pub fn shell() -> Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(root());
    let machine = env::var_os("PATH").unwrap_or_default();
    let ours = [tools().join("bin"), venv().join("bin")];
    let path = env::join_paths(ours.into_iter().chain(env::split_paths(&machine)))
        .context("PATH holds an odd folder")?;
    shell.set_var("PATH", path);
    shell.set_var("PYO3_PYTHON", python());
    Ok(shell)
}
