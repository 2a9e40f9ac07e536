//! The checks that every artefact must pass: by a program of our own, and by those that the registries' users trust.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

use super::{Artefact, Kind, Python, platforms::Platform, results};
use crate::workspace;

/// Checks an artefact, and returns the names of the checks that it passed.
pub fn check(shell: &Shell, artefact: &Artefact, folder: &Path) -> Result<Vec<String>> {
    let mut passed = Vec::new();
    for file in results::files(folder)? {
        let path = folder.join(&file.name);
        let names = match &artefact.kind {
            Kind::Wheel(platform, python) => wheel(shell, &path, platform, *python),
            Kind::Addon(_) => addon(shell, &path),
            Kind::Npm => npm(shell, &path),
            Kind::Source => source(shell, &path),
            Kind::Crates => inspect(shell, &path, "").map(|()| vec!["no local path"]),
        };
        passed = names.with_context(|| format!("in {}", file.name))?;
    }
    Ok(passed.into_iter().map(str::to_owned).collect())
}

/// Looks for folders of this machine, symbols that nobody needs, and the entry point.
fn inspect(shell: &Shell, file: &Path, entry: &str) -> Result<()> {
    let home = std::env::var("HOME")?;
    let (root, target) = (workspace::root(), workspace::target());
    let program = root.join("tests/artefacts/inspect_binary.py");
    let python = workspace::artefacts().join("venv/bin/python");
    let folders = cmd!(shell, "{python} {program} {file} {entry} {root} {target} {home}");
    Ok(folders.arg(workspace::cargo_home()?).run()?)
}

fn wheel(
    shell: &Shell,
    file: &Path,
    platform: &Platform,
    python: Python,
) -> Result<Vec<&'static str>> {
    inspect(shell, file, "PyInit__polyflake")?;
    cmd!(shell, "twine check --strict {file}").ignore_stdout().run()?;
    cmd!(shell, "check-wheel-contents {file}").run()?;
    let mut passed =
        vec!["no local path", "stripped", "entry point", "twine", "check-wheel-contents"];
    if python == Python::Stable {
        cmd!(shell, "abi3audit --strict {file}").run()?;
        passed.push("abi3audit");
    }
    // auditwheel reads wheels for musl only on a machine that has musl.
    if platform.is_linux() && !platform.is_musl() {
        let said = cmd!(shell, "auditwheel show --json {file}").quiet().read()?;
        let tag = serde_json::from_str::<Value>(&said)?["overall_tag"].clone();
        ensure!(tag == *platform.wheel, "expected {}, found {tag}", platform.wheel);
        passed.push("auditwheel");
    }
    Ok(passed)
}

fn addon(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "napi_register_module_v1")?;
    cmd!(shell, "npx --yes publint@0.3.25 run --strict {file}").run()?;
    Ok(vec!["no local path", "stripped", "entry point", "publint"])
}

fn npm(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "")?;
    cmd!(shell, "npx --yes publint@0.3.25 run --strict {file}").run()?;
    // Modules of wasm have no types: they are for bundlers.
    let modules = ["hotguid.wasm", "layout.wasm", "randflake.wasm", "sno.wasm"];
    let options = ["--format", "ascii", "--exclude-entrypoints"];
    cmd!(shell, "npx --yes @arethetypeswrong/cli@0.18.5 {file} {options...} {modules...}").run()?;
    Ok(vec!["no local path", "publint", "attw"])
}

fn source(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "")?;
    cmd!(shell, "twine check --strict {file}").ignore_stdout().run()?;
    Ok(vec!["no local path", "twine"])
}
