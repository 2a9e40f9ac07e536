//! The results that are kept: a row for each artefact, with its files, the checks that it passed, and the programs that ran it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use xshell::{Shell, cmd};

use super::folder_of;
use crate::workspace;

/// The file of the rows, by its path from the root.
pub const FILE: &str = "tests/artefacts/results.toml";

const HEADER: &str = "# Written by `cargo xtask artefacts`: each artefact's files, the checks it passed, and what ran it.\n";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub date: String,
    /// The commit that was checked out, on which the tree may have had changes.
    pub commit: String,
    /// Digest of the files that the artefact is built from, and of the compiler.
    pub inputs: String,
    /// The checks that it passed.
    pub checks: Vec<String>,
    pub files: Vec<File>,
    /// Digest of the tests and of the way they were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// The error of the program that was to run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    #[serde(default)]
    pub runs: Vec<Run>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A program that ran the artefact on this machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The interpreter, and its platform if that is not the machine's.
    pub with: String,
    /// The emulator of that platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// The tests or programs.
    pub what: String,
    /// Tests that passed; none failed.
    pub passed: u32,
}

pub type Rows = BTreeMap<String, Row>;

pub struct Results;

impl Results {
    pub fn read() -> Result<Rows> {
        let path = workspace::root().join(FILE);
        if !path.exists() {
            return Ok(Rows::new());
        }
        toml::from_str(&fs::read_to_string(&path)?).with_context(|| format!("cannot read {FILE}"))
    }

    /// Replaces a row in the file, and lays it beside the artefact.
    pub fn put(name: &str, row: Row) -> Result<()> {
        let beside = workspace::artefacts().join("out").join(format!("{name}.toml"));
        fs::write(beside, toml::to_string(&row)?)?;
        let mut rows = Self::read()?;
        rows.insert(name.to_owned(), row);
        let text = toml::to_string(&rows)?;
        Ok(fs::write(workspace::root().join(FILE), format!("{HEADER}\n{text}"))?)
    }

    /// Notes a check that an artefact passed, once.
    pub fn passed(name: &str, check: &str) -> Result<()> {
        let row = Self::read()?.remove(name);
        let mut row = row.with_context(|| format!("expected a row of {name}, found none"))?;
        ensure!(!row.checks.is_empty(), "{name}: expected that it passed its checks");
        if !row.checks.iter().any(|passed| passed == check) {
            row.checks.push(check.to_owned());
        }
        Self::put(name, row)
    }
}

impl Row {
    /// A row of files that were just built: neither checked nor run.
    pub fn new(shell: &Shell, inputs: String, files: Vec<File>) -> Result<Self> {
        let commit = cmd!(shell, "git rev-parse --short=12 HEAD").quiet().read()?;
        let date = jiff::Zoned::now().date().to_string();
        Ok(Self {
            date,
            commit,
            inputs,
            checks: Vec::new(),
            files,
            tests: None,
            fault: None,
            runs: Vec::new(),
        })
    }

    /// Returns whether the folder still holds the files.
    pub fn is_there(&self, folder: &Path) -> bool {
        let is_same =
            |file: &File| sha256(&folder.join(&file.name)).is_ok_and(|sum| sum == file.sha256);
        self.files.iter().all(is_same)
    }

    /// Returns whether the files of both have the same bytes.
    pub fn has_files_of(&self, other: &Self) -> bool {
        let sums =
            |row: &Self| row.files.iter().map(|file| file.sha256.clone()).collect::<Vec<_>>();
        sums(self) == sums(other)
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    pub fn summary(&self) -> String {
        let bytes = self.bytes();
        let runs: Vec<_> =
            self.runs.iter().map(|run| format!("{} in {}", run.passed, run.with)).collect();
        let runs = if runs.is_empty() { "not run".to_owned() } else { runs.join(", ") };
        format!("{bytes} bytes, {} checks, {runs}", self.checks.len())
    }
}

/// The files of a folder, by name.
pub fn files(folder: &Path) -> Result<Vec<File>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut files = Vec::new();
    for path in entries.iter().map(fs::DirEntry::path) {
        let name = file_name(&path)?;
        let bytes = fs::metadata(&path)?.len();
        files.push(File { name: name.to_owned(), bytes, sha256: sha256(&path)? });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

/// The folders of artefacts that lie here, of those whose names begin so.
pub fn folders(beginning: &str) -> Result<Vec<PathBuf>> {
    let rows = Results::read()?.into_iter().filter(|(name, _)| name.starts_with(beginning));
    let folders = rows.map(|(name, row)| (folder_of(&name), row));
    Ok(folders.filter(|(folder, row)| row.is_there(folder)).map(|(folder, _)| folder).collect())
}

/// The name of a file, without its folder.
pub fn file_name(path: &Path) -> Result<&str> {
    path.file_name().and_then(|name| name.to_str()).context("expected a name in UTF-8")
}

pub fn sha256(path: &Path) -> Result<String> {
    let shell = workspace::shell()?;
    let said = cmd!(shell, "sha256sum {path}").quiet().ignore_stderr().read()?;
    let sum = said.trim_start_matches('\\').split_whitespace().next();
    Ok(sum.context("expected a sum")?.to_owned())
}
