//! Builds every kind of artefact.

mod addon;
mod program;
mod source;
pub mod vectors;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{Artefact, ArtefactKind, folder, platforms, results};
use crate::{licences, workspace};

/// Source files that all binaries share.
const COMMON_SOURCES: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "NOTICE.md",
    "THIRD-PARTY.md",
    "crates/clock",
    "core/Cargo.toml",
    "core/src",
    "tests/artefacts/requirements.txt",
];

/// Returns git pathspecs for the files from which an artefact is built.
fn sources(kind: &ArtefactKind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        ArtefactKind::Wheel(..) | ArtefactKind::Source => &[
            "bindings-python",
            "crates/columns",
            "core/CHANGELOG.md",
            "core/README.md",
            "lease",
            "packages/python",
        ],
        ArtefactKind::Addon(_) => &[
            "crates/bindings-js",
            "bindings-node",
            "packages/js/build",
            "packages/js/package.json",
        ],
        ArtefactKind::Npm => &[
            "CHANGELOG.md",
            "crates/bindings-js",
            "crates/bindings-lease",
            "bindings-wasm",
            "lease",
            "packages/js",
            "tools/xtask/wasm",
        ],
        ArtefactKind::Program(_) | ArtefactKind::Launcher => {
            &["cli", "crates/inspect", "lease", "packages/js/build", "packages/js/package.json"]
        }
        ArtefactKind::Crates => {
            &["CHANGELOG.md", "cli", "core", "crates/inspect", "lease", "crates/sql"]
        }
        ArtefactKind::Vectors => return vec!["Cargo.toml", vectors::FOLDER],
    };
    let tests = [":!packages/python/tests", ":!packages/js/test"];
    COMMON_SOURCES
        .into_iter()
        .chain([platforms::TABLE_PATH])
        .chain(own.iter().copied())
        .chain(tests)
        .collect()
}

/// Returns the value that, together with the contents of the sources, determines the artefact's bytes. For crates, this
/// value is the commit hash, because each crate contains that hash. For other artefacts, the value is the time of the last
/// change to the sources.
pub fn date(shell: &Shell, kind: &ArtefactKind) -> Result<String> {
    match kind {
        ArtefactKind::Crates => Ok(cmd!(shell, "git rev-parse HEAD").quiet().read()?),
        _ => epoch(shell, kind),
    }
}

/// Returns the time of the last commit that changed a source file. Archives use it as the time of their files.
fn epoch(shell: &Shell, kind: &ArtefactKind) -> Result<String> {
    let sources = sources(kind);
    Ok(cmd!(shell, "git log -1 --format=%ct -- {sources...}").quiet().read()?)
}

pub fn build(shell: &Shell, artefact: &Artefact, into: &Path) -> Result<()> {
    let epoch = epoch(shell, &artefact.kind)?;
    let _time = shell.push_env("SOURCE_DATE_EPOCH", epoch);
    if let Some((package, target)) = artefact.kind.compiled_package() {
        let crates = licences::dependencies_of(shell, package, target)?;
        let bill = licences::bill_of_materials(&artefact.kind.address(), &crates);
        shell.write_file(bill_of_materials_path(into), format!("{bill:#}\n"))?;
    }
    match &artefact.kind {
        ArtefactKind::Wheel(platform, python) => wheel::build(shell, platform, *python, into),
        ArtefactKind::Addon(platform) => addon::build(shell, platform, into),
        ArtefactKind::Npm => source::build_npm_package(shell, into),
        ArtefactKind::Program(platform) => program::build(shell, platform, into),
        ArtefactKind::Launcher => program::build_launcher(shell, into),
        ArtefactKind::Source => source::build_distribution(shell, into),
        ArtefactKind::Crates => source::build_crates(shell, into),
        ArtefactKind::Vectors => vectors::pack(shell, into),
    }
}

/// Returns the path of an artefact's bill of materials. The file is next to the artefact's folder.
fn bill_of_materials_path(folder: &Path) -> PathBuf {
    folder.with_extension("cdx.json")
}

/// Clones the repository into a different folder, and builds artefacts there with a separate target folder. Checks that the
/// resulting files equal the files that were built in this repository.
pub fn build_and_compare(shell: &Shell, artefacts: &[Artefact]) -> Result<()> {
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
        let (one, other) = (results::files(&folder(artefact))?, results::files(&there)?);
        ensure!(!one.is_empty() && one == other, "{}: other bytes from a clone", artefact.name);
        if artefact.kind.compiled_package().is_some() {
            let [one, other] =
                [folder(artefact), there].map(|folder| bill_of_materials_path(&folder));
            ensure!(results::sha256(&one)? == results::sha256(&other)?, "the bills differ");
        }
        println!("ok: {}: the same bytes from two clones", artefact.name);
    }
    Ok(())
}
