//! Runs the checks that every artefact must pass. This program performs some checks itself. For the remaining checks, it
//! runs tools that users of the registries trust.

use std::{collections::HashSet, fs, path::Path};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use xshell::{Shell, cmd};

use super::{Artefact, ArtefactKind, Python, build::vectors, platforms::Platform, results};
use crate::workspace;

/// Checks an artefact and returns the names of the passed checks.
pub fn check(shell: &Shell, artefact: &Artefact, folder: &Path) -> Result<Vec<String>> {
    let mut passed = Vec::new();
    for file in results::files(folder)? {
        let path = folder.join(&file.name);
        let names = match &artefact.kind {
            ArtefactKind::Wheel(platform, python) => check_wheel(shell, &path, platform, *python),
            ArtefactKind::Addon(_) => check_addon(shell, &path),
            ArtefactKind::Npm => check_npm_package(shell, &path),
            ArtefactKind::Program(platform) => check_program(shell, &path, platform),
            ArtefactKind::Launcher => check_launcher(shell, &path),
            ArtefactKind::Source => check_source(shell, &path),
            ArtefactKind::Crates => inspect(shell, &path, "").map(|()| vec!["no local path"]),
            ArtefactKind::Vectors => check_vectors(shell, &path),
        };
        passed.extend(names.with_context(|| format!("in {}", file.name))?);
    }
    let mut told = HashSet::new();
    Ok(passed.into_iter().filter(|name| told.insert(*name)).map(str::to_owned).collect())
}

/// Checks that a file contains the entry point `entry`, no paths from this machine, and no unneeded symbols.
fn inspect(shell: &Shell, file: &Path, entry: &str) -> Result<()> {
    let home = std::env::var("HOME")?;
    let (root, target) = (workspace::root(), workspace::target());
    let program = root.join("tests/artefacts/inspect_binary.py");
    let folders = cmd!(shell, "python {program} {file} {entry} {root} {target} {home}");
    Ok(folders.arg(workspace::cargo_home()?).run()?)
}

/// Checks that the archive's files are those that its manifest lists.
fn check_vectors(shell: &Shell, archive: &Path) -> Result<Vec<&'static str>> {
    let (_folder, vectors) = vectors::unpack(shell, archive)?;
    let manifest = shell.read_file(vectors.join(vectors::MANIFEST))?;
    let entries: Vec<_> = manifest.lines().skip(1).collect();
    for entry in &entries {
        let [name, sum, cases] = entry.split('\t').collect::<Vec<_>>()[..] else {
            bail!("expected three columns, found {entry}")
        };
        ensure!(results::sha256(&vectors.join(name))? == sum, "{name}: expected the sum {sum}");
        ensure!(cases.parse::<u32>()? > 0, "{name}: no cases");
    }
    let files = shell.read_dir(&vectors)?.len();
    // The manifest, the license and the README are not vectors.
    ensure!(files == entries.len() + 3, "expected {} files, found {files}", entries.len() + 3);
    Ok(vec!["manifest"])
}

fn check_wheel(
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
    passed.extend(run_auditwheel(shell, file, platform)?);
    Ok(passed)
}

/// Runs auditwheel on wheels for glibc. auditwheel can read musl wheels only on a machine that has musl.
fn run_auditwheel(shell: &Shell, file: &Path, platform: &Platform) -> Result<Option<&'static str>> {
    if !platform.is_linux() || platform.is_musl() {
        return Ok(None);
    }
    let said = cmd!(shell, "auditwheel show --json {file}").quiet().read()?;
    let tag = serde_json::from_str::<Value>(&said)?["overall_tag"].clone();
    ensure!(tag == *platform.wheel, "expected {}, found {tag}", platform.wheel);
    Ok(Some("auditwheel"))
}

/// Checks the program's wheel or npm package.
fn check_program(shell: &Shell, file: &Path, platform: &Platform) -> Result<Vec<&'static str>> {
    inspect(shell, file, "main")?;
    let mut passed = vec!["no local path", "stripped"];
    if file.extension().is_some_and(|end| end == "whl") {
        cmd!(shell, "twine check --strict {file}").ignore_stdout().run()?;
        passed.push("twine");
        passed.extend(run_auditwheel(shell, file, platform)?);
    } else {
        passed.push(run_publint(shell, file)?);
    }
    Ok(passed)
}

fn check_addon(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "napi_register_module_v1")?;
    Ok(vec!["no local path", "stripped", "entry point", run_publint(shell, file)?])
}

fn check_launcher(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "")?;
    Ok(vec!["no local path", run_publint(shell, file)?])
}

fn run_publint(shell: &Shell, file: &Path) -> Result<&'static str> {
    cmd!(shell, "npx --yes publint@0.3.25 run --strict {file}").run()?;
    Ok("publint")
}

fn check_npm_package(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "")?;
    let publint = run_publint(shell, file)?;
    // The wasm modules are excluded, because these modules are meant for bundlers and have no type declarations.
    let mut modules = wasm_modules()?;
    // Cloudflare Workers support only ES modules.
    modules.push("lease/cloudflare".to_owned());
    // The types of these entry points describe ES modules, but the script for Node is CommonJS. This mismatch is necessary
    // for Drizzle, and for leases in environments where Node may not load addons.
    let others = ["drizzle", "lease", "lease/pg"];
    let attw = ["--yes", "@arethetypeswrong/cli@0.18.5", "--format", "ascii"];
    let (only, without) = ("--entrypoints", "--exclude-entrypoints");
    cmd!(shell, "npx {attw...} {file} --ignore-rules false-esm {only} {others...}").run()?;
    cmd!(shell, "npx {attw...} {file} {without} {modules...} {others...}").run()?;
    Ok(vec!["no local path", publint, "attw"])
}

/// Returns the entry points of the npm package that are wasm modules.
fn wasm_modules() -> Result<Vec<String>> {
    let manifest = fs::read_to_string(workspace::root().join("packages/js/package.json"))?;
    let manifest: Value = serde_json::from_str(&manifest)?;
    let exports = manifest["exports"].as_object().context("expected exports of the package")?;
    let is_module =
        |path: &&String| Path::new(path).extension().is_some_and(|ending| ending == "wasm");
    let modules = exports.keys().filter(is_module).filter_map(|path| path.strip_prefix("./"));
    Ok(modules.map(str::to_owned).collect())
}

fn check_source(shell: &Shell, file: &Path) -> Result<Vec<&'static str>> {
    inspect(shell, file, "")?;
    cmd!(shell, "twine check --strict {file}").ignore_stdout().run()?;
    Ok(vec!["no local path", "twine"])
}
