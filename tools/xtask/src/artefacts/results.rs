//! The results of building and testing artefacts: their files, the checks that they passed, and their test runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xshell::cmd;

use super::output_folder;
use crate::workspace;

#[derive(Clone, Serialize, Deserialize)]
pub struct Row {
    pub files: Vec<File>,
    /// The checks that the artefact passed.
    pub checks: Vec<String>,
    /// The programs that ran the artefact.
    pub runs: Vec<Run>,
    /// The reason why no program ran the artefact, if none did.
    pub why_not_run: Option<String>,
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
    /// The interpreter that was used, followed by its platform if the platform differs from this machine's platform.
    pub with: String,
    /// The emulator for the interpreter's platform.
    pub under: Option<String>,
    /// The tests or programs that were run, all of which passed.
    pub what: String,
    /// The client that installed the artefact for this run.
    pub client: Option<String>,
}

impl Run {
    pub fn new(with: impl Into<String>, what: impl Into<String>) -> Self {
        Self { with: with.into(), under: None, what: what.into(), client: None }
    }

    /// Sets the emulator.
    #[must_use]
    pub fn under(self, emulator: Option<&str>) -> Self {
        Self { under: emulator.map(str::to_owned), ..self }
    }

    /// Sets the client.
    #[must_use]
    pub fn installed_by(self, client: &str) -> Self {
        Self { client: Some(client.to_owned()), ..self }
    }

    pub fn description(&self) -> String {
        let Self { with, under, what, .. } = self;
        let under = under.as_ref().map_or_else(String::new, |name| format!(" under {name}"));
        format!("{with}{under} ({what})")
    }
}

/// A record of the packages that a client installed and the programs that it ran.
#[derive(Serialize, Deserialize)]
pub struct Installation {
    /// The client's name and version.
    pub client: String,
    /// The names of the packages that the client downloaded.
    pub packages: Vec<String>,
    pub ran: String,
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

/// Returns the existing folders of all artefacts whose names start with `beginning`.
pub fn folders(beginning: &str) -> Result<Vec<PathBuf>> {
    let names = super::all_artefacts()?.into_iter().map(|artefact| artefact.name);
    let folders = names.filter(|name| name.starts_with(beginning)).map(|name| output_folder(&name));
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
