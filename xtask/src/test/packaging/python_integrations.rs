//! The modules of the wheel for other people's libraries, with the newest and the oldest versions that are supported, each in an
//! environment of its own.

use std::{fs, path::Path};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::environment;
use crate::{build, tools, workspace};

/// The folder of the tests, with the files of versions.
const TESTS: &str = "tests/integrations";

/// Modules that are checked where the libraries are.
const MODULES: [&str; 9] = [
    "_pydantic",
    "_reading",
    "asyncpg",
    "msgspec",
    "orjson",
    "psycopg",
    "pydantic",
    "sqlalchemy",
    "sqlite3",
];

/// The versions that the repository pins: the tests, and the modules' types.
pub fn pinned(shell: &Shell) -> Result<()> {
    let python = tools::integrations_python(shell)?;
    build::install_wheel(shell, &python)?;
    use_it(shell, &python)?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let files = &MODULES.map(|module| format!("src/polyflake/{module}.py"));
    // Two modules have one name.
    for example in ["fastapi", "public"] {
        let app = format!("../../examples/{example}/app.py");
        cmd!(shell, "{python} -m mypy --strict {files...} {app}").run()?;
    }
    Ok(())
}

/// The newest versions of the libraries.
pub fn newest(shell: &Shell) -> Result<()> {
    with(shell, &names()?)
}

/// The oldest versions that are supported.
pub fn oldest(shell: &Shell) -> Result<()> {
    let file = workspace::root().join(TESTS).join("oldest.txt");
    with(shell, &["-r".into(), file.display().to_string()])
}

/// Runs the tests in a new environment with these libraries.
fn with(shell: &Shell, libraries: &[String]) -> Result<()> {
    tools::postgresql(shell);
    tools::mariadb(shell);
    let folder = tempfile::tempdir()?;
    let python = environment(shell, folder.path(), libraries)?;
    use_it(shell, &python)
}

/// The names of the pinned packages for the newest Python, save the type checker, which runs with these versions alone.
fn names() -> Result<Vec<String>> {
    let pinned = fs::read_to_string(workspace::root().join(TESTS).join("requirements.txt"))?;
    let lines = pinned
        .lines()
        .filter(|line| !line.starts_with('#') && !line.contains("version <"))
        .filter(|line| !line.starts_with("mypy"));
    Ok(lines.filter_map(|line| Some(line.split_once("==")?.0.to_owned())).collect())
}

fn use_it(shell: &Shell, python: &Path) -> Result<()> {
    // `polyflake layout sql` writes functions that the tests load.
    cmd!(shell, "cargo build --package polyflake-cli").run()?;
    let program = workspace::target().join("debug/polyflake");
    let _there = shell.push_dir(workspace::root().join(TESTS));
    let tests = cmd!(shell, "{python} -m pytest --quiet").env("POLYFLAKE_PROGRAM", program);
    // Nothing is written beside the sources.
    Ok(tests.env("PYTHONDONTWRITEBYTECODE", "1").run()?)
}
