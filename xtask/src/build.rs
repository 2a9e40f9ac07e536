//! Builds the packages that the tests and the demo load: the wheel, the npm package, the test drivers.

use std::path::Path;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// The languages to build for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Rust,
    Python,
    JavaScript,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::Rust, Self::Python, Self::JavaScript];
}

/// Builds everything.
pub fn all(shell: &Shell) -> Result<()> {
    tools::python(shell)?;
    tools::node(shell)?;
    Language::ALL.into_iter().try_for_each(|language| build(shell, language))
}

/// Builds the driver of one language for the conformance suite.
pub fn build(shell: &Shell, language: Language) -> Result<()> {
    match language {
        Language::Rust => Ok(cmd!(shell, "cargo build --quiet --package conformance-rust").run()?),
        Language::Python => python(shell),
        Language::JavaScript => javascript(shell),
    }
}

/// The wheel, installed into the repository's environment.
fn python(shell: &Shell) -> Result<()> {
    let wheels = workspace::wheels();
    shell.remove_path(&wheels)?;
    {
        let _there = shell.push_dir(workspace::root().join("packages/python"));
        let build = cmd!(shell, "maturin build --quiet --release --out {wheels}");
        build.env("RUSTFLAGS", without_local_paths(shell)?).run()?;
    }
    install_wheel(shell, &workspace::venv())
}

/// Compiler flags that keep this machine's folders out of the built files. Cargo has no stable setting for it that knows its
/// own folder.
pub fn without_local_paths(shell: &Shell) -> Result<String> {
    let sysroot = cmd!(shell, "rustc --print sysroot").quiet().read()?;
    let root = workspace::root().display().to_string();
    let folders = [(workspace::cargo_home()?, "/cargo"), (sysroot, "/rust"), (root, "/polyflake")];
    let flags = folders.map(|(folder, name)| format!("--remap-path-prefix={folder}={name}"));
    Ok(flags.join(" "))
}

/// Installs the built wheel into an environment.
pub fn install_wheel(shell: &Shell, venv: &Path) -> Result<()> {
    let (python, wheels) = (venv.join("bin/python"), workspace::wheels());
    let options = ["--quiet", "--force-reinstall", "--no-deps", "--no-index"];
    cmd!(shell, "{python} -m pip install {options...} --find-links {wheels} polyflake").run()?;
    Ok(())
}

/// The npm package, by its own build, which brings its own tools: native addon, wasm modules, TypeScript.
fn javascript(shell: &Shell) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    Ok(cmd!(shell, "npm run --silent build").run()?)
}
