//! Tests the wheel with the newest versions of third-party tools, and on the oldest supported Python.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{copy, environment, only_file, packaging_folder};
use crate::{build, tools, workspace};

/// The target Python versions for the type checkers: the two oldest supported versions, which have different stubs for
/// buffers, and the newest version.
const TARGET_VERSIONS: [&str; 3] = ["3.10", "3.11", "3.14"];

/// The test programs, named after the tools that they use, with the packages that each program needs.
pub const ALL: [(&str, &[&str]); 5] = [
    ("pandas", &["pandas", "numpy", "pyarrow"]),
    ("polars", &["polars", "numpy"]),
    ("pyarrow", &["pyarrow", "numpy"]),
    ("duckdb", &["duckdb", "pyarrow"]),
    ("mocked_time", &["freezegun", "time-machine"]),
];

/// Runs the program that uses a tool, in a new virtual environment with the newest versions of the packages.
pub fn test_newest_tool(shell: &Shell, tool: &str, packages: &[&str]) -> Result<()> {
    let project = tempfile::tempdir()?;
    copy(&packaging_folder("python"), project.path())?;
    let python = environment(shell, project.path(), packages)?;
    let _there = shell.push_dir(project.path().join("tools"));
    Ok(cmd!(shell, "{python} use_{tool}.py").run()?)
}

/// Runs both type checkers on users' code for each target, with the stubs that `NumPy` provides.
pub fn run_type_checkers(shell: &Shell) -> Result<()> {
    let (project, packages) = (tempfile::tempdir()?, ["numpy", "mypy", "pyright"]);
    copy(&packaging_folder("python"), project.path())?;
    let python = environment(shell, project.path(), &packages)?;
    let _there = shell.push_dir(project.path().join("tools"));
    for target in TARGET_VERSIONS {
        cmd!(shell, "{python} -m mypy --strict --python-version {target} use_types.py").run()?;
        let options = ["--pythonversion", target, "--pythonpath"];
        cmd!(shell, "{python} -m pyright {options...} {python} use_types.py").run()?;
    }
    Ok(cmd!(shell, "{python} use_types.py").run()?)
}

/// Builds the wheel on the oldest supported Python, and runs the test suite there with tool versions that support this
/// Python.
pub fn test_oldest_python(shell: &Shell) -> Result<()> {
    let oldest = tools::oldest_python(shell)?;
    let folder = tempfile::tempdir()?;
    let (venv, wheels) = (folder.path().join("venv"), folder.path().join("wheels"));
    let python = venv.join("bin/python");
    cmd!(shell, "{oldest} -m venv {venv}").run()?;
    let requirements = workspace::root().join("tests/requirements.txt");
    cmd!(shell, "{python} -m pip install --quiet -r {requirements}").run()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let options = ["--quiet", "--release", "--interpreter"];
    cmd!(shell, "{python} -m maturin build {options...} {python} --out {wheels}")
        .env("CARGO_TARGET_DIR", workspace::target().join("oldest-python"))
        .env("RUSTFLAGS", build::rustflags_without_local_paths(shell)?)
        .env("PYO3_PYTHON", &python)
        .run()?;
    let wheel = only_file(&wheels)?;
    ensure!(wheel.display().to_string().contains("cp310-cp310"), "expected a wheel of 3.10 alone");
    cmd!(shell, "{python} -m pip install --quiet --no-index --no-deps {wheel}").run()?;
    Ok(cmd!(shell, "{python} -m pytest --quiet").run()?)
}
