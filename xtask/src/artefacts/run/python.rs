//! Wheels: the package's tests in an environment that has the wheel, on the oldest and the newest Python that the machine has for it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{emulated, output};
use crate::{
    artefacts::{Python, platforms::Platform, results, results::Run},
    tools::{self, Missing},
    workspace,
};

/// The whole suite.
pub const SUITE: &str = "the package's tests";

pub fn wheel(
    shell: &Shell,
    platform: &Platform,
    python: Python,
    folder: &Path,
) -> Result<Vec<Run>> {
    let wheel = only(folder)?;
    let pythons = match (&*platform.name, python) {
        ("linux-x64-gnu", Python::Stable) => stable(shell)?,
        ("linux-x64-gnu", Python::Oldest) => vec![tools::oldest_python(shell)?],
        ("linux-arm64-gnu", Python::Stable) => return emulated::python_arm64(shell, &wheel),
        _ => return Err(Missing("no Python for this wheel on this machine").into()),
    };
    pythons.iter().map(|python| suite(shell, python, &wheel)).collect()
}

/// The source distribution, built and installed by pip.
pub fn source(shell: &Shell, folder: &Path) -> Result<Vec<Run>> {
    let python = workspace::artefacts().join("venv/bin/python");
    let source = only(folder)?;
    let project = tempfile::tempdir()?;
    let venv = project.path().join("venv");
    cmd!(shell, "{python} -m venv {venv}").run()?;
    let python = venv.join("bin/python");
    let built = workspace::artefacts().join("sdist");
    cmd!(shell, "{python} -m pip install --quiet {source}").env("CARGO_TARGET_DIR", built).run()?;
    let program = workspace::root().join("tests/packaging/python/use.py");
    let _there = shell.push_dir(project.path());
    cmd!(shell, "{python} {program}").run()?;
    let what = "built and installed by pip; a program of users".to_owned();
    Ok(vec![Run { with: version(shell, &python)?, what, passed: 1 }])
}

/// The oldest and the newest Python that the stable ABI serves, of those that the machine has.
fn stable(shell: &Shell) -> Result<Vec<PathBuf>> {
    let names = ["python3.11", "python3.14", "python3.13", "python3.12"].map(PathBuf::from);
    let runs = |python: &PathBuf| version(shell, python).is_ok();
    let mut found: Vec<_> = names.into_iter().filter(runs).collect();
    found.truncate(2);
    ensure!(!found.is_empty(), Missing("no Python 3.11 or later on this machine"));
    Ok(found)
}

/// The name and version that an interpreter says of itself.
fn version(shell: &Shell, python: &Path) -> Result<String> {
    let said = cmd!(shell, "{python} --version").quiet().ignore_stderr().read()?;
    Ok(format!("C{said}"))
}

/// Runs the package's tests in an environment of this Python with the wheel, without deadlines: the machine may be busy with builds.
fn suite(shell: &Shell, python: &Path, wheel: &Path) -> Result<Run> {
    let with = version(shell, python)?;
    let venv = workspace::artefacts().join("run").join(with.replace(' ', "-"));
    let inside = venv.join("bin/python");
    if !inside.exists() {
        cmd!(shell, "{python} -m venv {venv}").run()?;
    }
    let wanted = requirements()?;
    cmd!(shell, "{inside} -m pip install --quiet {wanted...}").run()?;
    let options = ["--quiet", "--force-reinstall", "--no-deps", "--no-index"];
    cmd!(shell, "{inside} -m pip install {options...} {wheel}").run()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let tests =
        cmd!(shell, "{inside} -m pytest --quiet --hypothesis-profile ci -p no:cacheprovider");
    let said = output(tests.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    Ok(Run { with, what: SUITE.to_owned(), passed: passed(&said)? })
}

/// The pinned packages that the tests import; the others are for building, checking and formatting.
pub fn requirements() -> Result<Vec<String>> {
    const IMPORTED: [&str; 7] =
        ["gunicorn", "hypothesis", "mypy", "numpy", "polars", "pyarrow", "pytest"];
    let file = std::fs::read_to_string(workspace::root().join("tests/requirements.txt"))?;
    let is_imported =
        |line: &&str| IMPORTED.iter().any(|name| line.starts_with(&format!("{name}==")));
    Ok(file.lines().filter(is_imported).map(str::to_owned).collect())
}

/// The number of tests that passed, of the last line that pytest prints.
pub fn passed(said: &str) -> Result<u32> {
    let last = said.lines().rev().find(|line| line.contains(" passed"));
    let last = last.with_context(|| format!("expected tests that passed, found {said}"))?;
    let words: Vec<_> = last.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("passed")).context("no count")?;
    let count = words.get(at.wrapping_sub(1)).and_then(|word| word.parse().ok());
    count.with_context(|| format!("expected a number of tests, found {last}"))
}

fn only(folder: &Path) -> Result<PathBuf> {
    let files = results::files(folder)?;
    Ok(folder.join(&files.first().context("expected a file")?.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_passed_are_counted() {
        assert_eq!(passed("....\n827 passed, 3 skipped in 9.10s").unwrap(), 827);
        assert_eq!(passed("1 passed in 0.01s").unwrap(), 1);
        assert!(passed("no tests ran in 0.01s").is_err());
    }

    #[test]
    fn what_tests_import_is_pinned() {
        assert!(requirements().unwrap().len() >= 7);
    }
}
