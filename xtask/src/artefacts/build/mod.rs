//! Builds of each kind of artefact.

mod addon;
mod source;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{
    Artefact, Kind, folder, platforms,
    results::{self, Results, Row},
};
use crate::{licences, test::digest, workspace};

/// Files that all binaries are built from.
const COMMON: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "NOTICE.md",
    "THIRD-PARTY.md",
    "clock",
    "core/Cargo.toml",
    "core/src",
    "tests/artefacts/requirements.txt",
];

/// The files that an artefact is built from, as git names paths.
fn sources(kind: &Kind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        Kind::Wheel(..) | Kind::Source => &[
            "bindings-python",
            "columns",
            "core/CHANGELOG.md",
            "core/README.md",
            "packages/python",
        ],
        Kind::Addon(_) => {
            &["bindings-js", "bindings-node", "packages/js/build", "packages/js/package.json"]
        }
        Kind::Npm => &["CHANGELOG.md", "bindings-js", "bindings-wasm", "packages/js", "xtask/wasm"],
        Kind::Crates => &["CHANGELOG.md", "core", "lease", "sql"],
    };
    let tests = [":!packages/python/tests", ":!packages/js/test"];
    COMMON.into_iter().chain([platforms::TABLE]).chain(own.iter().copied()).chain(tests).collect()
}

/// The files that say how an artefact is built.
fn ways(kind: &Kind) -> [&'static str; 6] {
    let own = match kind {
        Kind::Wheel(..) => "xtask/src/artefacts/build/wheel.rs",
        Kind::Addon(_) => "xtask/src/artefacts/build/addon.rs",
        Kind::Npm | Kind::Source | Kind::Crates => "xtask/src/artefacts/build/source.rs",
    };
    [
        own,
        "xtask/src/artefacts/build/mod.rs",
        "xtask/src/artefacts/platforms.rs",
        "xtask/src/artefacts/tools.rs",
        "xtask/src/build.rs",
        "xtask/src/licences.rs",
    ]
}

/// A digest of all that decides an artefact's bytes: its sources, the version of the compiler, and the time that it is given.
pub fn inputs(shell: &Shell, artefact: &Artefact) -> Result<String> {
    let compiler = cmd!(shell, "rustc --version").quiet().read()?;
    let epoch = epoch(shell, &artefact.kind)?;
    let kind = &artefact.kind;
    let files = digest::of_files(shell, &[&sources(kind)[..], &ways(kind)].concat())?;
    // A crate names the commit that it was packed from.
    let commit = match kind {
        Kind::Crates => cmd!(shell, "git rev-parse HEAD").quiet().read()?,
        _ => String::new(),
    };
    digest::of_text(&format!("{files} {compiler} {epoch} {commit}"))
}

/// The time of the last commit that changed a source, which archives give to their files.
fn epoch(shell: &Shell, kind: &Kind) -> Result<String> {
    let sources = sources(kind);
    Ok(cmd!(shell, "git log -1 --format=%ct -- {sources...}").quiet().read()?)
}

pub fn build(shell: &Shell, artefact: &Artefact, into: &Path) -> Result<()> {
    let epoch = epoch(shell, &artefact.kind)?;
    let _time = shell.push_env("SOURCE_DATE_EPOCH", epoch);
    if let Some((package, target)) = artefact.kind.linked() {
        let crates = licences::linked(shell, package, target)?;
        let bill = licences::bill(&artefact.kind.address(), &crates);
        shell.write_file(bill_beside(into), format!("{bill:#}\n"))?;
    }
    match &artefact.kind {
        Kind::Wheel(platform, python) => wheel::build(shell, platform, *python, into),
        Kind::Addon(platform) => addon::build(shell, platform, into),
        Kind::Npm => source::npm(shell, into),
        Kind::Source => source::distribution(shell, into),
        Kind::Crates => source::crates(shell, into),
    }
}

/// The bill of materials of an artefact, beside its folder.
fn bill_beside(folder: &Path) -> PathBuf {
    folder.with_extension("cdx.json")
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
        let row = Results::read()?.remove(&artefact.name);
        let wanted = inputs(shell, artefact)?;
        let is_current = |row: &Row| row.inputs == wanted && row.is_there(&folder(artefact));
        ensure!(row.as_ref().is_some_and(is_current), "{}: build it here first", artefact.name);
        if artefact.kind.linked().is_some() {
            let [one, other] = [folder(artefact), there.clone()].map(|folder| bill_beside(&folder));
            ensure!(results::sha256(&one)? == results::sha256(&other)?, "the bills differ");
        }
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
