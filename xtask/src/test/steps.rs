//! The steps of `cargo xtask test`, in order, each with what it protects and the files that it depends on.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{
    Step, notices, oldest_rust,
    packaging::{self, python_integrations, python_tools},
    readme, rust, stepping, tidy, workflows,
};
use crate::{
    bench, build,
    conformance::{self, Ready},
    demo, features, format, licences, mutants, tools, workspace,
};

/// Beginnings of the paths that every step depends on.
pub const ALWAYS: &[&str] = &["Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "xtask/"];

const EVERYTHING: &[&str] = &[""];
const CRATES: &[&str] = &[
    "bench/",
    "bindings-",
    "clippy.toml",
    "cli/",
    "clock/",
    "columns/",
    "core/",
    "examples/",
    "inspect/",
    "lease/",
    "site/page",
    "sql/",
    "tests/",
];
const CORE: &[&str] = &["clock/", "core/", "tests/vectors"];
const KERNELS: &[&str] = &["clock/", "core/", "tests/kernels"];
const LEASE: &[&str] = &["clock/", "core/", "lease/", "tests/leases"];
const BINDINGS: &[&str] = &["bindings-", "clock/", "columns/", "core/", "packages/"];
const PYTHON: &[&str] = &[
    "bindings-python",
    "clock/",
    "columns/",
    "core/",
    "lease/src/",
    "packages/",
    "tests/requirements.txt",
];
const JAVASCRIPT: &[&str] = &[
    "bindings-js",
    "bindings-lease",
    "bindings-node",
    "bindings-wasm",
    "clock/",
    "core/",
    "lease/src/",
    "packages/",
    "tests/package",
];

/// A step that no other one needs.
const fn step(
    name: &'static str,
    protects: &'static str,
    reached_by: &'static [&'static [&'static str]],
    run: fn(&Shell) -> Result<()>,
) -> Step {
    Step { name, protects, reached_by, needed: false, run }
}

/// A step without which those after it are useless.
const fn needed(name: &'static str, gives: &'static str, run: fn(&Shell) -> Result<()>) -> Step {
    Step { name, protects: gives, reached_by: &[], needed: true, run }
}

/// A trial of the npm package with the newest versions of a tool.
const fn npm(name: &'static str, protects: &'static str, run: fn(&Shell) -> Result<()>) -> Step {
    step(name, protects, &[JAVASCRIPT, &["examples/next", "tests/packaging/js"]], run)
}

/// A trial of the wheel with the newest versions of a tool.
const fn pip(name: &'static str, protects: &'static str, run: fn(&Shell) -> Result<()>) -> Step {
    step(name, protects, &[PYTHON, &["tests/integrations", "tests/packaging/python"]], run)
}

/// The steps of every run.
pub const ALL: &[Step] = &[
    step(
        "tidy",
        "arrows between modules, error pages, links, listed faults, one version",
        &[EVERYTHING],
        |_| tidy::check(),
    ),
    needed("set-up", "the tools of the steps after it", set_up),
    step(
        "licences",
        "THIRD-PARTY.md has the licence of each crate in a binary",
        &[&["THIRD-PARTY.md"]],
        licences::check,
    ),
    step("format", "one style in each language", &[EVERYTHING], format::check),
    step("lint", "Python and JavaScript without what linters find", &[EVERYTHING], format::lint),
    step(
        "workflows",
        "continuous integration is valid, with pinned actions and few rights",
        &[&[".github"]],
        workflows::check,
    ),
    step("clippy", "Rust without warnings", &[CRATES], rust::clippy),
    step(
        "no_std",
        "the core on machines without a system, a heap or compare-and-swap",
        &[LEASE],
        rust::no_std,
    ),
    step("rust", "the tests and examples of the crates", &[CRATES], rust::test),
    step(
        "kernels-aarch64",
        "NEON gives what scalar code gives, on an emulated machine",
        &[KERNELS],
        rust::kernels_aarch64,
    ),
    step(
        "wasm",
        "on wasm, SIMD gives what scalar code gives, and the inspector names IDs",
        &[KERNELS, &["inspect/"]],
        rust::wasm,
    ),
    step(
        "rust-docs",
        "documentation without dead links, and an example for each public item",
        &[LEASE],
        rust::docs,
    ),
    step(
        "loom",
        "no interleaving of atomic steps gives an ID twice",
        &[CORE, &["tests/loom"]],
        rust::loom,
    ),
    needed("build", "the wheel, the npm package and the drivers", build::all),
    step("python", "the wheel's own tests", &[PYTHON], python),
    step(
        "python-types",
        "the stubs as users' type checkers see them",
        &[PYTHON, &["tests/conformance/python", "tests/forks", "tests/stepping"]],
        python_types,
    ),
    step(
        "javascript",
        "the npm package's own tests",
        &[JAVASCRIPT, &["docs/javascript.md"]],
        javascript,
    ),
    step(
        "packaging-rust",
        "the crate as a registry serves it, in a user's project",
        &[CORE, &["CHANGELOG.md", "LICENSE", "NOTICE.md", "tests/packaging/rust"]],
        packaging::rust,
    ),
    step(
        "packaging-python",
        "the wheel in an empty environment, with its types and without this machine's paths",
        &[PYTHON, &["tests/packaging/python"]],
        packaging::python,
    ),
    step(
        "packaging-python-source",
        "the source distribution holds all that it is built from",
        &[PYTHON, &["tests/packaging/python"]],
        packaging::python_source,
    ),
    step(
        "python-integrations",
        "columns and fields of other people's Python libraries",
        &[
            PYTHON,
            &[
                "docs/public-ids.md",
                "examples/",
                "sql/public.sql",
                "tests/integrations",
                "tests/vectors",
            ],
        ],
        python_integrations::pinned,
    ),
    step(
        "packaging-javascript",
        "the tarballs by import, require, and types, with and without the addon",
        &[JAVASCRIPT, &["tests/packaging/js"]],
        packaging::javascript,
    ),
    step(
        "packaging-esbuild",
        "a bundle for Node, with the addon beside it and without",
        &[JAVASCRIPT, &["tests/packaging/js"]],
        |sh| packaging::pinned(sh, "esbuild"),
    ),
    step(
        "packaging-types-node10",
        "the types under TypeScript's oldest way to resolve modules",
        &[JAVASCRIPT, &["tests/packaging/js"]],
        |sh| packaging::pinned(sh, "types-node10"),
    ),
    step(
        "packaging-databases",
        "columns of Drizzle, and the recipes for Kysely and TypeORM",
        &[JAVASCRIPT, &["docs/databases.md", "tests/packaging/js"]],
        |sh| packaging::pinned(sh, "databases"),
    ),
    step(
        "packaging-leases",
        "leases of node:cluster, threads and restarts in SQLite and PostgreSQL",
        &[JAVASCRIPT, &["tests/packaging/js"]],
        |sh| packaging::pinned(sh, "lease"),
    ),
    step(
        "packaging-servers",
        "the recipes for Express and Hono",
        &[JAVASCRIPT, &["docs/javascript.md", "tests/packaging/js"]],
        |sh| packaging::pinned(sh, "servers"),
    ),
    step(
        "packaging-schemas",
        "schemas in validators, forms and routers",
        &[JAVASCRIPT, &["tests/packaging/js"]],
        |sh| packaging::pinned(sh, "schemas"),
    ),
    step(
        "readme",
        "the examples of each README and page run as they are written",
        &[
            BINDINGS,
            &[
                "README.md",
                "docs/columns.md",
                "docs/guide/",
                "docs/node-numbers.md",
                "docs/public-ids.md",
                "docs/javascript.md",
            ],
        ],
        readme::check,
    ),
    step(
        "lease-languages",
        "holders in three languages share numbers under faults, and make nothing twice",
        &[BINDINGS, LEASE],
        rust::lease_languages,
    ),
    step(
        "stepping-clock",
        "no ID twice while the machine's clock steps back",
        &[BINDINGS, &["tests/soak", "tests/stepping"]],
        stepping::check,
    ),
    step(
        "conformance",
        "every runtime answers the vectors, and random questions, alike",
        &[BINDINGS, &["tests/conformance", "tests/vectors"]],
        conformance,
    ),
    step(
        "conformance-notices",
        "a wrong digit in any vector file is seen",
        &[CORE, &["tests/conformance"]],
        notices::check,
    ),
    step("demo", "the README's first command", &[BINDINGS, &["tests/conformance"]], demo),
];

/// Steps that are slow and rarely fail; then trials, which depend on what the registries serve today.
pub const THOROUGH: &[Step] = &[
    step(
        "oldest-rust",
        "what users compile, on the oldest Rust that is promised",
        &[CRATES],
        oldest_rust::check,
    ),
    step(
        "loom-unbounded",
        "batches of Hot Guids against single calls, however often they interrupt each other",
        &[CORE, &["tests/loom"]],
        rust::loom_unbounded,
    ),
    step(
        "rust-databases",
        "columns of SQLx, SeaORM and Diesel in real databases; the example with axum",
        &[&["clock/", "core/", "examples/axum", "sql/", "tests/databases"]],
        rust::databases,
    ),
    step(
        "packaging-rust-tests",
        "the crate's own tests, in the package that a registry serves",
        &[CORE],
        packaging::rust_tests,
    ),
    step(
        "wasm-in-browser",
        "the wasm module in a page by itself",
        &[&["bindings-js", "bindings-wasm", "clock/", "core/"]],
        wasm_in_browser,
    ),
    step(
        "readme-lease",
        "a newcomer's first program with leases, to the letter",
        &[LEASE],
        readme::newcomer,
    ),
    step(
        "bench",
        "each contest of the benches still runs",
        &[BINDINGS, &["bench/"]],
        bench::rehearse,
    ),
    step(
        "faults-in-bindings",
        "deliberate faults of both bindings turn their suites red",
        &[BINDINGS, &["tests/mutants"]],
        |_| expect(mutants::bindings()?, "a fault was not caught"),
    ),
    step("docs-rs", "the page that docs.rs will show", &[CORE], packaging::docs_rs),
    step(
        "rust-libraries-oldest",
        "features for other people's crates, with their oldest versions",
        &[&["clock/", "core/", "sql/"]],
        features::oldest,
    ),
    step(
        "rust-libraries-newest",
        "features for other people's crates, with their newest versions",
        &[&["clock/", "core/", "sql/"]],
        features::newest,
    ),
    npm("npm-next", "pages, routes and the edge of Next.js", |sh| packaging::newest(sh, "next")),
    npm("npm-webpack", "bundles of webpack", |sh| packaging::newest(sh, "webpack")),
    npm("npm-rspack", "bundles of Rspack", |sh| packaging::newest(sh, "rspack")),
    npm("npm-vite", "pages and servers of Vite", |sh| packaging::newest(sh, "vite")),
    npm("npm-rollup", "bundles of Rollup", |sh| packaging::newest(sh, "rollup")),
    npm("npm-parcel", "bundles of Parcel", |sh| packaging::newest(sh, "parcel")),
    npm("npm-esbuild", "a page of esbuild", |sh| packaging::newest(sh, "esbuild")),
    npm("npm-jest", "mocked time and modules in Jest", |sh| packaging::newest(sh, "jest")),
    npm("npm-vitest", "mocked time in Vitest", |sh| packaging::newest(sh, "vitest")),
    npm("npm-sinon", "mocked time in Sinon", |sh| packaging::newest(sh, "sinon")),
    npm("npm-types", "the types in the oldest and the newest TypeScript", |sh| {
        packaging::newest(sh, "types")
    }),
    npm("npm-types-node10", "the same under the oldest resolution", |sh| {
        packaging::newest(sh, "types-node10")
    }),
    npm("npm-lint", "the package as publint and attw judge it", |sh| packaging::newest(sh, "lint")),
    npm("npm-csp", "a page with a strict content policy", |sh| packaging::newest(sh, "csp")),
    npm("npm-node-versions", "the addon in Node 20, 22, 24 and the newest", |sh| {
        packaging::newest(sh, "node-versions")
    }),
    npm("npm-runtimes", "Deno, Bun and workerd", |sh| packaging::newest(sh, "runtimes")),
    npm("npm-react-native", "the texts of IDs in Hermes", |sh| {
        packaging::newest(sh, "react-native")
    }),
    npm("npm-schemas", "the newest validators", |sh| packaging::newest(sh, "schemas")),
    npm("npm-schemas-oldest", "the oldest validators", |sh| packaging::oldest(sh, "schemas")),
    npm("npm-validators", "IDs as UUIDs in validators", |sh| packaging::newest(sh, "validators")),
    npm("npm-databases", "the newest libraries for columns", |sh| {
        packaging::newest(sh, "databases")
    }),
    npm("npm-databases-oldest", "the oldest libraries for columns", |sh| {
        packaging::oldest(sh, "databases")
    }),
    npm("npm-prisma", "columns of the newest Prisma", |sh| packaging::newest(sh, "prisma")),
    npm("npm-prisma-oldest", "columns of the oldest Prisma", |sh| packaging::oldest(sh, "prisma")),
    npm("npm-next-model", "the example with Next.js", |sh| packaging::newest(sh, "next-model")),
    npm("npm-leases", "leases in Next.js, and with the newest clients", |sh| {
        packaging::newest(sh, "lease")
    }),
    npm("npm-servers", "the newest Express and Hono", |sh| packaging::newest(sh, "servers")),
    pip("pandas", "columns of pandas", |sh| {
        python_tools::newest(sh, "pandas", &["pandas", "numpy", "pyarrow"])
    }),
    pip("polars", "columns of Polars", |sh| python_tools::newest(sh, "polars", &["polars"])),
    pip("pyarrow", "columns of pyarrow", |sh| python_tools::newest(sh, "pyarrow", &["pyarrow"])),
    pip("duckdb", "columns of DuckDB", |sh| {
        python_tools::newest(sh, "duckdb", &["duckdb", "pyarrow"])
    }),
    pip("python-mocked-time", "freezegun and time-machine", |sh| {
        python_tools::newest(sh, "mocked_time", &["freezegun", "time-machine"])
    }),
    pip(
        "python-integrations-newest",
        "the newest Python libraries for columns and fields",
        python_integrations::newest,
    ),
    pip(
        "python-integrations-oldest",
        "the oldest Python libraries for columns and fields",
        python_integrations::oldest,
    ),
    pip("python-type-checkers", "the newest mypy and pyright", python_tools::type_checkers),
    pip("oldest-python", "the whole suite on Python 3.10", python_tools::oldest_python),
];

/// Installs the tools that must be there before anything is compiled.
fn set_up(shell: &Shell) -> Result<()> {
    tools::rust_targets(shell)?;
    tools::python(shell)?;
    tools::node(shell)
}

fn python(shell: &Shell) -> Result<()> {
    let (_there, python) =
        (shell.push_dir(workspace::root().join("packages/python")), workspace::python());
    // The installed wheel is tested: the sources lie in `src`, where nothing imports them.
    Ok(cmd!(shell, "{python} -m pytest --quiet").run()?)
}

/// The package's stubs, and the suite's own Python.
fn python_types(shell: &Shell) -> Result<()> {
    let python = workspace::python();
    cmd!(shell, "{python} -m mypy --strict tests/conformance/python tests/stepping/stepping.py tests/forks/forks.py")
        .run()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    Ok(cmd!(shell, "{python} -m mypy --strict").run()?)
}

fn javascript(shell: &Shell) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    Ok(cmd!(shell, "npm test --silent").run()?)
}

fn wasm_in_browser(shell: &Shell) -> Result<()> {
    let (driver, runner) = (tools::driver(shell)?, tools::wasm_test_runner(shell)?);
    let tests =
        cmd!(shell, "cargo test --package polyflake-wasm --target wasm32-unknown-unknown --tests");
    Ok(tests
        .env("CHROMEDRIVER", driver)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner)
        .run()?)
}

fn conformance(shell: &Shell) -> Result<()> {
    let ready = Ready::on_this_machine(shell, &[])?;
    ensure!(ready.suffices(), "a runtime is missing");
    expect(conformance::run(&conformance::Options::default(), &ready)?, "answers differ")
}

fn demo(shell: &Shell) -> Result<()> {
    expect(demo::run(&Ready::on_this_machine(shell, &[])?)?, "the runtimes disagree")
}

fn expect(well: bool, otherwise: &'static str) -> Result<()> {
    ensure!(well, otherwise);
    Ok(())
}
