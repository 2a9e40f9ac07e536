//! Runs the wheels. Both for an empty project and for the package's tests, pip selects the wheel for this platform from all
//! built wheels.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{
    interpreters::{self, Interpreter},
    output,
};
use crate::{
    artefacts::{Python, platforms::Platform, results, results::Run, roots},
    workspace,
};

pub fn test_wheel(
    shell: &Shell,
    platform: &Platform,
    python: Python,
    folder: &Path,
    suites: bool,
) -> Result<Vec<Run>> {
    let wheel = workspace::only_file(folder)?;
    let pythons = interpreters::find_for_wheel(shell, platform, python)?;
    let run = |python: &Interpreter| {
        test_in_project(shell, python, &wheel).context("in an empty project")?;
        let mut what = "an empty project".to_owned();
        if suites {
            run_suite(shell, python, &wheel)?;
            what += ", the package's tests";
        }
        Ok(Run::new(&python.name, what).under(python.under).installed_by("pip"))
    };
    pythons.iter().map(run).collect()
}

/// Builds and installs the source distribution with pip, and runs a program that uses the installed package.
pub fn test_source(shell: &Shell, folder: &Path) -> Result<Vec<Run>> {
    let source = workspace::only_file(folder)?;
    let project = tempfile::tempdir()?;
    let venv = project.path().join("venv");
    cmd!(shell, "python -m venv {venv}").run()?;
    let python = venv.join("bin/python");
    let built = workspace::artefacts().join("sdist");
    cmd!(shell, "{python} -m pip install --quiet {source}").env("CARGO_TARGET_DIR", built).run()?;
    let program = workspace::root().join("tests/packaging/python/use.py");
    let _there = shell.push_dir(project.path());
    cmd!(shell, "{python} {program}").run()?;
    let said = cmd!(shell, "{python} --version").quiet().read()?;
    let run = Run::new(format!("C{said}"), "an empty project, where pip built it");
    Ok(vec![run.installed_by("pip")])
}

/// Installs the package into an empty project with pip, and runs a user's program. Among all built wheels, pip must select
/// `wheel`.
fn test_in_project(shell: &Shell, python: &Interpreter, wheel: &Path) -> Result<()> {
    let project = tempfile::tempdir()?;
    let _there = shell.push_dir(project.path());
    let inside = python.environment(shell, &project.path().join("venv"))?;
    let folders = results::folders("wheel-")?.into_iter();
    let folders = folders.flat_map(|folder| [PathBuf::from("--find-links"), folder]);
    let options = ["--quiet", "--no-index", "--only-binary", ":all:", "--report", "report.json"];
    cmd!(shell, "{inside} -m pip install {options...} {folders...} polyflake").run()?;
    let (report, name) = (shell.read_file("report.json")?, results::file_name(wheel)?);
    ensure!(report.contains(name), "expected pip to take {name}");
    let program = workspace::root().join("tests/packaging/python/use.py");
    Ok(cmd!(shell, "{inside} {program}").run()?)
}

/// Installs the wheel in a virtual environment for this Python, and runs the package's tests there. Hypothesis deadlines
/// are disabled, because concurrent builds may slow down the tests.
fn run_suite(shell: &Shell, python: &Interpreter, wheel: &Path) -> Result<()> {
    let venv = roots::folder().join(python.name.replace([' ', ','], "-"));
    let inside = venv.join("bin/python");
    // A virtual environment has no pip if its creation was interrupted.
    if cmd!(shell, "{inside} -m pip --version")
        .quiet()
        .ignore_stdout()
        .ignore_stderr()
        .run()
        .is_err()
    {
        python.environment(shell, &venv)?;
    }
    let wanted = requirements()?;
    let options = ["--quiet", "--no-compile", "--only-binary", ":all:"];
    cmd!(shell, "{inside} -m pip install {options...} {wanted...}").run()?;
    let options = ["--quiet", "--force-reinstall", "--no-deps", "--no-index"];
    cmd!(shell, "{inside} -m pip install {options...} {wheel}").run()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let tests =
        cmd!(shell, "{inside} -m pytest --quiet --hypothesis-profile ci -p no:cacheprovider");
    // mypy fails if its cache contains results of a different Python version.
    let tests = tests.env("MYPY_CACHE_DIR", venv.join("mypy-cache"));
    output(tests.env("PYTHONDONTWRITEBYTECODE", "1")).map(|_| ())
}

/// Returns the pinned packages that the tests import. The remaining pinned packages are needed only for building, checking
/// and formatting.
fn requirements() -> Result<Vec<String>> {
    const IMPORTED_PACKAGES: [&str; 7] =
        ["gunicorn", "hypothesis", "mypy", "numpy", "pyarrow", "pytest", "polars"];
    let file = std::fs::read_to_string(workspace::root().join("tests/requirements.txt"))?;
    let is_imported =
        |line: &&str| IMPORTED_PACKAGES.iter().any(|name| line.starts_with(&format!("{name}==")));
    Ok(file.lines().filter(is_imported).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_requirements_are_pinned() {
        assert!(requirements().unwrap().len() >= 7);
    }
}
