//! The packages that users install, installed into empty projects outside the repository.

mod javascript;
mod python;
pub mod python_integrations;
pub mod python_tools;
mod rust;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::workspace::{self, only_file};

pub use javascript::{javascript, newest, oldest, pinned};
pub use python::{python, python_source};
pub use rust::{docs_rs, rust, rust_tests, unpack};

fn packaging(language: &str) -> PathBuf {
    workspace::root().join("tests/packaging").join(language)
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
