//! The packages that users install, installed into empty projects outside the repository.

mod javascript;
mod python;
pub mod python_integrations;
pub mod python_tools;
mod rust;
pub mod rust_libraries;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::workspace;

pub use javascript::{javascript, newest, newest_with_browser, oldest, pinned, with_postgresql};
pub use python::{python, python_source};
pub use rust::{docs_rs, rust, rust_tests};

fn packaging(language: &str) -> PathBuf {
    workspace::root().join("tests/packaging").join(language)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    Ok(files.next().with_context(|| format!("expected a file in {}", folder.display()))??.path())
}

/// Copies the content of a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let file = file?;
        let to = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            fs::create_dir_all(&to)?;
            copy(&file.path(), &to)?;
        } else {
            fs::copy(file.path(), to)?;
        }
    }
    Ok(())
}
