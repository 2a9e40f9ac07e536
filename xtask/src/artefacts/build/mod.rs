//! Builds of each kind of artefact.

mod addon;
mod source;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{
    Artefact, Kind, folder, platforms,
    results::{self, Results},
};
use crate::{licences, test::digest, workspace};

/// Files that all binaries are built from.
const COMMON: [&str; 9] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "NOTICE.md",
    "THIRD-PARTY.md",
    "core/Cargo.toml",
    "core/src",
    "tests/artefacts/requirements.txt",
];

/// The files that an artefact is built from, as git names paths.
fn sources(kind: &Kind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        Kind::Wheel(..) | Kind::Source => &["bindings-python", "columns", "packages/python"],
        Kind::Addon(_) => &["bindings-js", "bindings-node", "packages/js/build"],
        Kind::Npm => &["CHANGELOG.md", "bindings-js", "bindings-wasm", "packages/js", "xtask/wasm"],
        Kind::Crates => &["CHANGELOG.md", "core", "lease", "sql"],
    };
    let how = match kind {
        Kind::Wheel(..) => "xtask/src/artefacts/build/wheel.rs",
        Kind::Addon(_) => "xtask/src/artefacts/build/addon.rs",
        Kind::Npm | Kind::Source | Kind::Crates => "xtask/src/artefacts/build/source.rs",
    };
    let tests = [":!packages/python/tests", ":!packages/js/test", ":!*/tests"];
    COMMON
        .into_iter()
        .chain([platforms::TABLE, how])
        .chain(own.iter().copied())
        .chain(tests)
        .collect()
}

/// A digest of all that decides an artefact's bytes: its sources, the version of the compiler, and the time that it is given.
pub fn inputs(shell: &Shell, artefact: &Artefact) -> Result<String> {
    let compiler = cmd!(shell, "rustc --version").quiet().read()?;
    let epoch = epoch(shell, &artefact.kind)?;
    let files = digest::of_files(shell, &sources(&artefact.kind))?;
    digest::of_text(&format!("{files} {compiler} {epoch}"))
}

/// The time of the last commit that changed a source, which archives give to their files.
fn epoch(shell: &Shell, kind: &Kind) -> Result<String> {
    let sources = sources(kind);
    Ok(cmd!(shell, "git log -1 --format=%ct -- {sources...}").quiet().read()?)
}

pub fn build(shell: &Shell, artefact: &Artefact, into: &Path) -> Result<()> {
    let epoch = epoch(shell, &artefact.kind)?;
    let _time = shell.push_env("SOURCE_DATE_EPOCH", epoch);
    if let Some((package, platform)) = artefact.kind.linked() {
        let crates = licences::linked(shell, package, &platform.target)?;
        let bill = into.with_extension("cdx.json");
        shell.write_file(bill, format!("{:#}\n", licences::bill(&artefact.name, &crates)))?;
    }
    match &artefact.kind {
        Kind::Wheel(platform, python) => wheel::build(shell, platform, *python, into),
        Kind::Addon(platform) => addon::build(shell, platform, into),
        Kind::Npm => source::npm(shell, into),
        Kind::Source => source::distribution(shell, into),
        Kind::Crates => source::crates(shell, into),
    }
}

/// Builds artefacts in a clone in another folder, with a target folder of its own, and compares their files with those
/// built here.
pub fn twice(shell: &Shell, artefacts: &[Artefact]) -> Result<()> {
    let elsewhere = tempfile::tempdir()?;
    let (root, clone) = (workspace::root(), elsewhere.path().join("another/clone"));
    cmd!(shell, "git clone --quiet --no-hardlinks {root} {clone}").run()?;
    let target = elsewhere.path().join("built");
    let only = artefacts.iter().flat_map(|artefact| ["--only", &artefact.name]);
    {
        let _there = shell.push_dir(&clone);
        let build = cmd!(shell, "cargo xtask artefacts --build {only...}");
        build.env("CARGO_TARGET_DIR", &target).run()?;
    }
    for artefact in artefacts {
        let there = target.join("artefacts/out").join(&artefact.name);
        same(&results::files(&folder(artefact))?, &results::files(&there)?)?;
        Results::passed(&artefact.name, "the same bytes from another clone")?;
        println!("ok: {}: the same bytes from two clones", artefact.name);
    }
    Ok(())
}

/// Fails unless the files are the same.
fn same(here: &[results::File], there: &[results::File]) -> Result<()> {
    ensure!(!here.is_empty() && here.len() == there.len(), "expected {} files", here.len());
    for (one, other) in here.iter().zip(there) {
        ensure!(one.sha256 == other.sha256, "{}: other bytes from another clone", one.name);
    }
    Ok(())
}

/// The only file of a folder with this ending.
fn only(folder: &Path, ending: &str) -> Result<PathBuf> {
    let files = results::files(folder)?;
    let mut found = files.iter().filter(|file| file.name.ends_with(ending));
    let file = found.next().with_context(|| format!("expected a file *{ending}, found none"))?;
    Ok(folder.join(&file.name))
}
