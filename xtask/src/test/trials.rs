//! Trials of the packages with the newest versions of other people's tools: slow, and dependent on what the registries
//! serve today, so they run with `--thorough` alone. Each leaves a row in [`RESULTS`], which tidy reports as stale when the
//! package has changed.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use xshell::{Shell, cmd};

use super::{
    Step, digest,
    packaging::{self, python_integrations, python_tools, rust_libraries},
};
use crate::workspace;

pub const ALL: &[Step] = &[
    Step::trial("docs-rs", Package::Rust, packaging::docs_rs),
    Step::trial("rust-libraries-oldest", Package::Rust, rust_libraries::oldest),
    Step::trial("rust-libraries-newest", Package::Rust, rust_libraries::newest),
    npm("npm-next", |sh| packaging::newest_with_browser(sh, "next")),
    npm("npm-webpack", |sh| packaging::newest_with_browser(sh, "webpack")),
    npm("npm-vite", |sh| packaging::newest_with_browser(sh, "vite")),
    npm("npm-rollup", |sh| packaging::newest_with_browser(sh, "rollup")),
    npm("npm-parcel", |sh| packaging::newest_with_browser(sh, "parcel")),
    npm("npm-esbuild", |sh| packaging::newest_with_browser(sh, "esbuild")),
    npm("npm-jest", |sh| packaging::newest(sh, "jest")),
    npm("npm-vitest", |sh| packaging::newest(sh, "vitest")),
    npm("npm-sinon", |sh| packaging::newest(sh, "sinon")),
    npm("npm-types", |sh| packaging::newest(sh, "types")),
    npm("npm-types-node10", |sh| packaging::newest(sh, "types-node10")),
    npm("npm-lint", |sh| packaging::newest(sh, "lint")),
    npm("npm-csp", |sh| packaging::newest_with_browser(sh, "csp")),
    npm("npm-node-versions", |sh| packaging::newest(sh, "node-versions")),
    npm("npm-runtimes", |sh| packaging::newest(sh, "runtimes")),
    npm("npm-react-native", |sh| packaging::newest(sh, "react-native")),
    npm("npm-schemas", |sh| packaging::newest(sh, "schemas")),
    npm("npm-schemas-oldest", |sh| packaging::oldest(sh, "schemas")),
    npm("npm-validators", |sh| packaging::newest(sh, "validators")),
    npm("npm-databases", |sh| packaging::with_postgresql(sh, "databases", packaging::newest)),
    npm("npm-databases-oldest", |sh| {
        packaging::with_postgresql(sh, "databases", packaging::oldest)
    }),
    npm("npm-prisma", |sh| packaging::with_postgresql(sh, "prisma", packaging::newest)),
    npm("npm-prisma-oldest", |sh| packaging::with_postgresql(sh, "prisma", packaging::oldest)),
    npm("npm-next-model", |sh| packaging::with_postgresql(sh, "next-model", packaging::newest)),
    npm("npm-servers", |sh| packaging::newest(sh, "servers")),
    Step::trial("pandas", Package::Python, python_tools::pandas),
    Step::trial("polars", Package::Python, python_tools::polars),
    Step::trial("pyarrow", Package::Python, python_tools::pyarrow),
    Step::trial("duckdb", Package::Python, python_tools::duckdb),
    Step::trial("python-mocked-time", Package::Python, python_tools::mocked_time),
    Step::trial("python-integrations-newest", Package::Python, python_integrations::newest),
    Step::trial("python-integrations-oldest", Package::Python, python_integrations::oldest),
    Step::trial("python-type-checkers", Package::Python, python_tools::type_checkers),
    Step::trial("oldest-python", Package::Python, python_tools::oldest_python),
];

/// A trial of the npm package.
const fn npm(name: &'static str, run: fn(&Shell) -> Result<Versions>) -> Step {
    Step::trial(name, Package::JavaScript, run)
}

/// The file that holds a row for each trial, by its path from the root.
pub const RESULTS: &str = "tests/packaging/results.toml";

const HEADER: &str = "# Written by `cargo xtask test --thorough`: the tools, and their versions, that each trial passed with.\n";

/// Tools by name, with the versions that were used.
pub type Versions = BTreeMap<String, String>;

/// The package that a trial installs.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "a package may have no trial")]
pub enum Package {
    Rust,
    Python,
    JavaScript,
}

/// A trial that passed.
#[derive(Serialize, Deserialize)]
struct Row {
    date: String,
    /// The commit that was checked out, on which the tree may have had changes.
    commit: String,
    /// Digest of the files that decide how the package installs.
    digest: String,
    tools: Versions,
}

type Rows = BTreeMap<String, Row>;

impl Package {
    /// The files that decide how the package installs and behaves in other people's tools, as git names paths: the bindings and
    /// the files around them. Texts and tests are left out, and so is the core behind the bindings, which every run tests.
    fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &[
                "Cargo.toml",
                "core/Cargo.toml",
                "core/src",
                "sql/Cargo.toml",
                "sql/src",
                "tests/packaging/rust",
            ],
            Self::Python => &[
                "columns/Cargo.toml",
                "columns/src",
                "bindings-python/Cargo.toml",
                "bindings-python/src",
                "packages/python/pyproject.toml",
                "packages/python/src",
                "tests/packaging/python",
            ],
            Self::JavaScript => &[
                "bindings-js/src",
                "bindings-node/Cargo.toml",
                "bindings-node/src",
                "bindings-wasm/Cargo.toml",
                "bindings-wasm/src",
                "packages/js/build",
                "packages/js/package.json",
                "packages/js/src",
                "tests/packaging/js",
            ],
        }
    }

    fn digest(self, shell: &Shell) -> Result<String> {
        digest::of_files(shell, &[self.paths(), &[":!*.md"]].concat())
    }
}

/// Records the tools with which a trial passed.
pub fn record(name: &str, package: Package, tools: Versions) -> Result<()> {
    ensure!(!tools.is_empty(), "expected the versions of the tools that were tried");
    let shell = workspace::shell()?;
    let commit = cmd!(shell, "git rev-parse --short=12 HEAD").quiet().read()?;
    let date = jiff::Zoned::now().date().to_string();
    let mut rows = read()?;
    rows.insert(name.to_owned(), Row { date, commit, digest: package.digest(&shell)?, tools });
    let text = toml::to_string(&rows)?;
    Ok(fs::write(workspace::root().join(RESULTS), format!("{HEADER}\n{text}"))?)
}

fn read() -> Result<Rows> {
    let path = workspace::root().join(RESULTS);
    if !path.exists() {
        return Ok(Rows::new());
    }
    toml::from_str(&fs::read_to_string(&path)?).with_context(|| format!("cannot read {RESULTS}"))
}

/// Trials without a row, rows without a trial, and rows of packages that have changed since.
pub fn stale() -> Result<Vec<String>> {
    let (shell, rows) = (workspace::shell()?, read()?);
    let mut faults = Vec::new();
    for step in ALL {
        if let super::Run::Trial(package, _) = step.run {
            let fresh = rows.get(step.name).map(|row| Ok(row.digest == package.digest(&shell)?));
            if !fresh.unwrap_or(anyhow::Ok(false))? {
                let name = step.name;
                faults.push(format!("{RESULTS}: {name} is stale, run `cargo xtask test {name}`"));
            }
        }
    }
    let unknown = rows.keys().filter(|name| ALL.iter().all(|step| step.name != **name));
    faults.extend(unknown.map(|name| format!("{RESULTS}: no trial is named {name}")));
    Ok(faults)
}
