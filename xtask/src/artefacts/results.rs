//! The results for artefacts: their files, the checks that they passed, and the programs that ran them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xshell::cmd;

use super::folder_of;
use crate::workspace;

#[derive(Clone, Serialize, Deserialize)]
pub struct Row {
    pub files: Vec<File>,
    /// The checks that the artefact passed.
    pub checks: Vec<String>,
    /// The programs that ran the artefact. It is empty for an artefact that was built but not run.
    pub runs: Vec<Run>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub name: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A program that ran the artefact on this machine.
#[derive(Clone, Serialize, Deserialize)]
pub struct Run {
    /// The interpreter, and its platform if it differs from the machine's.
    pub with: String,
    /// The emulator for that platform.
    pub under: Option<String>,
    /// The tests or programs that ran, all of which passed.
    pub what: String,
}

impl Row {
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Returns the files in a folder, sorted by name.
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

/// Returns the existing folders of artefacts whose names have this prefix.
pub fn folders(beginning: &str) -> Result<Vec<PathBuf>> {
    let names = super::all_artefacts()?.into_iter().map(|artefact| artefact.name);
    let folders = names.filter(|name| name.starts_with(beginning)).map(|name| folder_of(&name));
    Ok(folders.filter(|folder| folder.is_dir()).collect())
}

/// Returns a file's name without its folder.
pub fn file_name(path: &Path) -> Result<&str> {
    path.file_name().and_then(|name| name.to_str()).context("expected a name in UTF-8")
}

pub fn sha256(path: &Path) -> Result<String> {
    let shell = workspace::shell()?;
    let said = cmd!(shell, "sha256sum {path}").quiet().ignore_stderr().read()?;
    let sum = said.trim_start_matches('\\').split_whitespace().next();
    Ok(sum.context("expected a sum")?.to_owned())
}
