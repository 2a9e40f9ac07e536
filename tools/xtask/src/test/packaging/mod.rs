//! Tests the packages that users install, in empty projects outside the repository.

pub mod projects;
mod python;
pub mod python_integrations;
pub mod python_tools;
mod rust;

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::workspace::{self, only_file};

pub use python::{test_python_package, test_python_source};
pub use rust::{build_docs_rs, run_rust_tests, test_rust_package, unpack};

fn packaging_folder(language: &str) -> PathBuf {
    workspace::root().join("tests/packaging").join(language)
}

/// Creates a virtual environment in a folder, and installs the built wheel and the given packages, which are passed to pip.
/// Returns the environment's interpreter.
fn environment(shell: &Shell, folder: &Path, packages: &[impl AsRef<OsStr>]) -> Result<PathBuf> {
    let (venv, wheel) = (folder.join("venv"), only_file(&workspace::wheels())?);
    let (python, machine) = (venv.join("bin/python"), workspace::python());
    cmd!(shell, "{machine} -m venv {venv}").run()?;
    cmd!(shell, "{python} -m pip install --quiet {wheel} {packages...}").run()?;
    cmd!(shell, "{python} -m pip freeze").run()?;
    Ok(python)
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
