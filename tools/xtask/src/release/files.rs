//! Builds the files of a release and writes their checksums.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::state::State;
use crate::{
    artefacts::{self, Artefact, RunScope, results::Row},
    workspace,
};

/// Folders whose files are not part of any package.
const UNPACKAGED_PATHS: [&str; 8] = [
    ":!.github",
    ":!bench",
    ":!docs",
    ":!examples",
    ":!site",
    ":!tests",
    ":!tools/xtask/src/release",
    ":!tools/xtask/src/test",
];

/// A built artefact: its name, and its files with their checksums.
pub type BuiltArtefact = (String, Row);

/// Builds, checks and runs artefacts. An artefact is not built again if its sources and its bytes have not changed since
/// the last build.
pub fn build(state: &mut State, chosen: &[Artefact], runs: RunScope) -> Result<Vec<BuiltArtefact>> {
    let shell = artefacts::set_up(chosen)?;
    let suites = runs == RunScope::Suites;
    let inputs = format!("{} {suites}", sources(&shell)?);
    let one = |artefact: &Artefact| {
        let folder = artefacts::output_folder(&artefact.name);
        let is_intact =
            |row: &Row| artefacts::results::files(&folder).is_ok_and(|files| files == row.files);
        let inputs = format!("{inputs} {}", artefacts::build::date(&shell, &artefact.kind)?);
        let make = || artefacts::build_and_test(&shell, artefact, runs);
        Ok((artefact.name.clone(), state.run_once(&artefact.name, &inputs, is_intact, make)?))
    };
    let built: Vec<BuiltArtefact> = chosen.iter().map(one).collect::<Result<_>>()?;
    for (name, row) in &built {
        let is_ours = |name: &str| name.contains(super::version::VERSION);
        let other = row.files.iter().find(|file| !is_ours(&file.name));
        ensure!(other.is_none(), "{name}: expected this version in each name");
    }
    write_sums(&shell, &built)?;
    Ok(built)
}

/// Returns a hash of all inputs from which the files are built: the sources as recorded by git, and the compilers.
fn sources(shell: &Shell) -> Result<String> {
    let _there = shell.push_dir(workspace::root());
    let files = cmd!(shell, "git ls-files --stage -- . {UNPACKAGED_PATHS...}").quiet().read()?;
    let compilers = [
        cmd!(shell, "rustc --version").quiet().read()?,
        cmd!(shell, "node --version").quiet().read()?,
    ];
    hash(shell, &format!("{files}{}", compilers.concat()))
}

/// Returns the SHA-256 sum of a string.
pub fn hash(shell: &Shell, text: &str) -> Result<String> {
    let said = cmd!(shell, "sha256sum").quiet().stdin(text).read()?;
    Ok(said.split_whitespace().next().unwrap_or_default().to_owned())
}

/// Returns the path of the checksum file. `sha256sum --check` reads it in the folder that contains the artefacts' folders.
pub fn sums_path() -> PathBuf {
    workspace::artefacts().join("SHA256SUMS")
}

fn write_sums(shell: &Shell, built: &[BuiltArtefact]) -> Result<()> {
    let mut lines = Vec::new();
    for (name, row) in built {
        lines.extend(
            row.files.iter().map(|file| format!("{}  out/{name}/{}", file.sha256, file.name)),
        );
        let bill = artefacts::output_folder(name).with_extension("cdx.json");
        if bill.exists() {
            let sum = artefacts::results::sha256(&bill)?;
            lines.push(format!("{sum}  out/{name}.cdx.json"));
        }
    }
    Ok(shell.write_file(sums_path(), lines.join("\n") + "\n")?)
}

/// Fails if a file's checksum differs from the checksum that was recorded for the tested file.
pub fn check_sums(shell: &Shell) -> Result<()> {
    let (_there, sums) = (shell.push_dir(workspace::artefacts()), sums_path());
    Ok(cmd!(shell, "sha256sum --check --quiet --strict {sums}").run()?)
}

/// Returns the paths of all files to upload to registries. A package comes before the packages that depend on it. No registry
/// accepts the archive of the test vectors.
pub fn paths(built: &[BuiltArtefact]) -> Vec<PathBuf> {
    let of = |(name, row): &BuiltArtefact| {
        let folder = artefacts::output_folder(name);
        row.files.iter().map(|file| folder.join(&file.name)).collect::<Vec<_>>()
    };
    built.iter().filter(|(name, _)| name != "vectors").flat_map(of).collect()
}
