//! Tests the wheel and the source distribution.

use std::{fs, path::Path};

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{copy, only_file, packaging_folder};
use crate::workspace;

/// Tests the built wheel.
pub fn test_python_package(shell: &Shell) -> Result<()> {
    let wheel = only_file(&workspace::wheels())?;
    check_for_local_paths(shell, &wheel)?;
    test_wheel(shell, &wheel)
}

/// Checks that no file in a wheel contains the path of a folder on this machine.
fn check_for_local_paths(shell: &Shell, wheel: &Path) -> Result<()> {
    const FIND_PATHS_SCRIPT: &str = "import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
assert any(name.endswith('.so') for name in wheel.namelist()), wheel.namelist()
for name in wheel.namelist():
    for folder in sys.argv[2:]:
        if folder.encode() in wheel.read(name):
            sys.exit(f'{name} names {folder}')";
    let home = std::env::var("HOME")?;
    let (python, root, cargo) = (workspace::python(), workspace::root(), workspace::cargo_home()?);
    Ok(cmd!(shell, "{python} -c {FIND_PATHS_SCRIPT} {wheel} {root} {cargo} {home}").run()?)
}

/// Tests a wheel built from the source distribution, which must contain all files that the build needs. This wheel is built
/// for one version of `CPython`. All other wheels in the tests are built for the stable ABI, so both kinds of wheels are
/// tested.
pub fn test_python_source(shell: &Shell) -> Result<()> {
    let (sources, wheels) = (tempfile::tempdir()?, tempfile::tempdir()?);
    {
        let (_there, into) =
            (shell.push_dir(workspace::root().join("packages/python")), sources.path());
        cmd!(shell, "maturin sdist --out {into}").run()?;
    }
    let (python, source, into) = (workspace::python(), only_file(sources.path())?, wheels.path());
    let target = workspace::target().join("sdist");
    delete_fingerprints(&target.join("release/.fingerprint"))?;
    let options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"];
    let one_version = "build-args=--features one-version";
    cmd!(shell, "{python} -m pip wheel {options...} --wheel-dir {into} {source}")
        .args(["--config-settings", one_version])
        .env("CARGO_TARGET_DIR", &target)
        // The test checks that the wheel builds and works, not that it is fast.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .run()?;
    let wheel = only_file(wheels.path())?;
    test_wheel(shell, &wheel)?;
    test_one_version(shell, &wheel)
}

/// Tests a wheel for a single version of `CPython`. Runs only the package's tests of features that behave differently in
/// this kind of wheel.
fn test_one_version(shell: &Shell, wheel: &Path) -> Result<()> {
    ensure!(!wheel.display().to_string().contains("abi3"), "expected a wheel for one version");
    let (python, folder) = (workspace::python(), tempfile::tempdir()?);
    let (options, into) = (["--quiet", "--no-deps", "--no-index"], folder.path());
    cmd!(shell, "{python} -m pip install {options...} --target {into} {wheel}").run()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let tests = ["objects", "ids", "arrays", "hotguid", "uuid7", "default_generators", "threads"];
    let tests = tests.map(|name| format!("tests/test_{name}.py"));
    Ok(cmd!(shell, "{python} -m pytest --quiet {tests...}").env("PYTHONPATH", into).run()?)
}

/// Forces Cargo to rebuild this project's crates. All files in a source distribution have the same old modification time,
/// so Cargo would not notice that they differ from the files of an earlier run.
fn delete_fingerprints(fingerprints: &Path) -> Result<()> {
    for entry in fs::read_dir(fingerprints).into_iter().flatten() {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("polyflake") {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Installs a wheel in a new virtual environment, and checks that the package can be imported, works, and provides its
/// types.
fn test_wheel(shell: &Shell, wheel: &Path) -> Result<()> {
    let project = tempfile::tempdir()?;
    let (installed, checker) = (project.path().join("venv"), workspace::python());
    let python = installed.join("bin/python");
    copy(&packaging_folder("python"), project.path())?;
    let _there = shell.push_dir(project.path());
    cmd!(shell, "{checker} -m venv {installed}").run()?;
    cmd!(shell, "{python} -m pip install --quiet --no-index --no-deps {wheel}").run()?;
    cmd!(shell, "{python} use.py").run()?;
    cmd!(shell, "{checker} -m mypy --strict --python-executable {python} use.py").run()?;
    Ok(())
}
