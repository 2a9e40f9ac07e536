//! What users install, installed into empty projects outside the repository.

mod javascript;
mod python;
mod rust;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::workspace;

pub use javascript::javascript;
pub use python::{python, python_source};
pub use rust::{docs_rs, rust};

fn packaging(language: &str) -> PathBuf {
    workspace::root().join("tests/packaging").join(language)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(files.next().with_context(|| format!("expected a file in {}", folder.display()))??.path())
}

/// Copies the files of a folder, which has no folders.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let file = file?;
        fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}
