//! The steps of `cargo xtask test`, in order. Each step states its purpose and the files that it depends on.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{
    Step, copies, libraries, mysql, notices, oldest_rust,
    packaging::{self, projects, python_integrations, python_tools},
    readme, rust, stepping, tidy, wasm, workflows,
};
use crate::{
    bench, build,
    conformance::{self, AvailableRuntimes},
    demo, features, format, licences, mutants, tools, workspace,
};

/// The path prefixes that every step depends on.
pub const COMMON_PATHS: &[&str] = &["Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "xtask/"];

const ANY_PATH: &[&str] = &[""];
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

/// The path prefixes of the files that can affect the packaging tests of the npm package (`NPM`) and of the wheel (`PIP`).
const NPM: PathLists =
    &[JAVASCRIPT, &["docs/integrations/", "examples/next", "tests/packaging/js"]];
const PIP: PathLists = &[PYTHON, &["tests/integrations", "tests/packaging/python"]];

type PathLists = &'static [&'static [&'static str]];

/// Creates a step that no other step depends on.
fn step(
    name: impl Into<String>,
    protects: impl Into<String>,
    reached_by: PathLists,
    run: impl Fn(&Shell) -> Result<()> + 'static,
) -> Step {
    Step {
        name: name.into(),
        protects: protects.into(),
        reached_by,
        needed: false,
        run: Box::new(run),
    }
}

/// Creates a step. If it fails, later steps are useless.
fn required_step(name: &str, gives: &str, run: fn(&Shell) -> Result<()>) -> Step {
    Step { needed: true, ..step(name, gives, &[], run) }
}

/// Returns the steps that every run includes.
pub fn all_steps() -> Result<Vec<Step>> {
    let mut steps = crate_steps();
    steps.extend(package_steps());
    for project in projects::all_projects()?.into_iter().filter(projects::Project::has_test) {
        let name = format!("packaging-{}", project.name);
        steps.push(step(name, project.protects.clone(), NPM, move |shell| {
            project.test_pinned_versions(shell)
        }));
    }
    steps.extend(cross_language_steps());
    Ok(steps)
}

/// Returns the steps for the sources and the crates.
fn crate_steps() -> Vec<Step> {
    vec![
        step(
            "tidy",
            "arrows between modules, error pages, links, listed faults, one version",
            &[ANY_PATH],
            |_| tidy::check(),
        ),
        required_step("set-up", "the tools of the steps after it", set_up),
        step(
            "licences",
            "THIRD-PARTY.md has the licence of each crate in a binary",
            &[&["THIRD-PARTY.md"]],
            licences::check,
        ),
        step("format", "one style in each language", &[ANY_PATH], format::check),
        step("lint", "Python and JavaScript without what linters find", &[ANY_PATH], format::lint),
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
            rust::check_no_std,
        ),
        step(
            "rust-core",
            "the tests and examples of the core, by a plain `cargo test`",
            &[CORE],
            rust::test_core,
        ),
        step("rust", "the tests and examples of the other crates", &[CRATES], rust::test),
        step(
            "kernels-aarch64",
            "NEON gives what scalar code gives, on an emulated machine",
            &[KERNELS],
            rust::test_aarch64_kernels,
        ),
        step(
            "wasm",
            "on wasm, SIMD gives what scalar code gives, and the inspector names IDs",
            &[KERNELS, &["inspect/"]],
            rust::test_wasm,
        ),
        step(
            "rust-docs",
            "documentation without dead links, and an example for each public item",
            &[LEASE],
            rust::build_docs,
        ),
        step(
            "loom",
            "no interleaving of atomic steps gives an ID twice",
            &[CORE, &["tests/loom"]],
            rust::loom,
        ),
        step(
            "proof",
            "the rules of leases and the steps of state words repeat nothing, for all states",
            &[LEASE, &["tests/proof", "tests/requirements.txt"]],
            run_proof,
        ),
    ]
}

/// Returns the steps that build and test the packages.
fn package_steps() -> Vec<Step> {
    vec![
        required_step("build", "the wheel, the npm package and the drivers", build::build_all),
        step("python", "the wheel's own tests", &[PYTHON], test_python),
        step(
            "python-types",
            "the stubs as users' type checkers see them",
            &[
                PYTHON,
                &[
                    "tests/conformance/python",
                    "tests/copies",
                    "tests/forks",
                    "tests/proof",
                    "tests/stepping",
                    "tests/storm",
                ],
            ],
            check_python_types,
        ),
        step(
            "javascript",
            "the npm package's own tests",
            &[JAVASCRIPT, &["docs/integrations/"]],
            test_javascript,
        ),
        step(
            "packaging-rust",
            "the crate as a registry serves it, in a user's project",
            &[CORE, &["CHANGELOG.md", "LICENSE", "NOTICE.md", "tests/packaging/rust"]],
            packaging::test_rust_package,
        ),
        step(
            "packaging-python",
            "the wheel in an empty environment, with its types and without this machine's paths",
            &[PYTHON, &["tests/packaging/python"]],
            packaging::test_python_package,
        ),
        step(
            "packaging-python-source",
            "the source distribution holds all that it is built from, also for one version of CPython",
            &[PYTHON, &["tests/packaging/python"]],
            packaging::test_python_source,
        ),
        step(
            "python-integrations",
            "columns and fields of other people's Python libraries",
            &[
                PYTHON,
                &[
                    "cli/",
                    "docs/databases.md",
                    "docs/integrations/",
                    "docs/pitfalls.md",
                    "docs/public-ids.md",
                    "examples/",
                    "sql/",
                    "tests/integrations",
                    "tests/vectors",
                ],
            ],
            python_integrations::test_pinned_libraries,
        ),
    ]
}

/// Returns the steps that test behavior that all languages share.
fn cross_language_steps() -> Vec<Step> {
    vec![
        step(
            "readme",
            "the examples of each README and page run as they are written",
            &[
                BINDINGS,
                &[
                    "README.md",
                    "docs/columns.md",
                    "docs/guide/",
                    "docs/integrations/",
                    "docs/node-numbers.md",
                    "docs/public-ids.md",
                ],
            ],
            readme::check,
        ),
        step(
            "lease-languages",
            "holders in three languages share numbers under faults, and make nothing twice",
            &[BINDINGS, LEASE],
            rust::test_lease_languages,
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
            run_conformance,
        ),
        step(
            "conformance-notices",
            "a wrong digit in any vector file is seen",
            &[CORE, &["tests/conformance"]],
            notices::check,
        ),
        step("demo", "the README's first command", &[BINDINGS, &["tests/conformance"]], run_demo),
    ]
}

/// Returns the steps that are slow and rarely fail, followed by the steps that test the packages with third-party tools.
/// The results of the tests with third-party tools depend on the versions that the registries currently serve.
pub fn thorough_steps() -> Result<Vec<Step>> {
    let mut steps = slow_steps();
    steps.extend(steps_with_other_servers());
    for project in projects::all_projects()? {
        let (name, protects) = (format!("npm-{}", project.name), &project.protects);
        let newest = project.clone();
        if project.has_thorough_test() {
            steps.push(step(&name, protects, NPM, move |shell| newest.test_newest_versions(shell)));
        }
        if project.has_oldest_versions() {
            let (name, protects) = (format!("{name}-oldest"), format!("{protects}; the oldest"));
            steps.push(step(name, protects, NPM, move |shell| project.test_oldest_versions(shell)));
        }
    }
    steps.extend(wheel_trial_steps());
    Ok(steps)
}

/// Returns the steps that are slow and rarely fail.
fn slow_steps() -> Vec<Step> {
    vec![
        step(
            "oldest-rust",
            "what users compile, on the oldest Rust that is promised",
            &[CRATES],
            oldest_rust::check,
        ),
        step(
            "systems",
            "Windows and macOS compile all crates and their tests, and Pyodide the Python module",
            &[CRATES],
            rust::check_systems,
        ),
        step(
            "loom-unbounded",
            "batches of Hot Guids against single calls, however often they interrupt each other",
            &[CORE, &["tests/loom"]],
            rust::run_unbounded_loom,
        ),
        step(
            "copies",
            "copies of a process that report the restore repeat none of ten million IDs",
            &[BINDINGS, LEASE, &["tests/copies"]],
            copies::check,
        ),
        step("rust-workspace", "a plain `cargo test --workspace`", &[CRATES], rust::test_workspace),
        step(
            "rust-databases",
            "columns of SQLx, SeaORM and Diesel in real databases; the example with axum",
            &[&["clock/", "core/", "examples/axum", "sql/", "tests/databases"]],
            rust::test_databases,
        ),
        step(
            "packaging-rust-tests",
            "the crate's own tests, in the package that a registry serves",
            &[CORE],
            packaging::run_rust_tests,
        ),
        step(
            "wasm-in-browser",
            "the wasm module in a page by itself",
            &[&["bindings-js", "bindings-wasm", "clock/", "core/"]],
            wasm::test_in_browser,
        ),
        step(
            "wasm-pack",
            "a user's `wasm-pack build` of the wasm crate, whose module generates an ID in Node",
            &[&["bindings-js", "bindings-wasm", "clock/", "core/", "tests/packaging/wasm-pack"]],
            wasm::wasm_pack,
        ),
        step(
            "readme-lease",
            "a newcomer's first program with leases, to the letter",
            &[LEASE],
            readme::test_new_project,
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
            |_| mutants::test_bindings(),
        ),
        step("docs-rs", "the page that docs.rs will show", &[CORE], packaging::build_docs_rs),
        step(
            "rust-libraries-oldest",
            "features for other people's crates, with their oldest versions",
            &[&["clock/", "core/", "sql/"]],
            features::check_oldest_versions,
        ),
        step(
            "rust-library-versions",
            "programs with other people's crates in the versions of the last two years",
            &[&["clock/", "core/", "lease/", "sql/"]],
            libraries::test_versions,
        ),
        step(
            "rust-libraries-newest",
            "features for other people's crates, with their newest versions",
            &[&["clock/", "core/", "sql/"]],
            features::check_newest_versions,
        ),
    ]
}

/// Returns the steps whose lease tests run longer than the ordinary lease tests, or use other servers.
fn steps_with_other_servers() -> [Step; 3] {
    [
        step(
            "lease-redis",
            "ten minutes of faults in Redis, which loses its data, in three languages",
            &[BINDINGS, LEASE],
            rust::test_redis_leases,
        ),
        step(
            "redis-versions",
            "leases in Redis 6.2 and in Valkey, in three languages",
            &[BINDINGS, LEASE],
            rust::test_redis_versions,
        ),
        step("mysql", "leases in MySQL, in three languages", &[BINDINGS, LEASE], mysql::check),
    ]
}

/// Returns the steps that test the wheel with the newest versions of third-party tools.
fn wheel_trial_steps() -> Vec<Step> {
    let tools = python_tools::ALL.iter().map(|(name, packages)| {
        let protects = format!("the newest {}", packages.join(", "));
        step(format!("python-{}", name.replace('_', "-")), protects, PIP, |shell| {
            python_tools::test_newest_tool(shell, name, packages)
        })
    });
    let others = [
        step(
            "python-integrations-newest",
            "the newest Python libraries for columns and fields",
            PIP,
            python_integrations::test_newest_libraries,
        ),
        step(
            "python-integrations-oldest",
            "the oldest Python libraries for columns and fields",
            PIP,
            python_integrations::test_oldest_libraries,
        ),
        step(
            "postgresql-versions",
            "the SQL files in the oldest PostgreSQL that each supports, and in PostgreSQL 18",
            PIP,
            python_integrations::test_postgresql_versions,
        ),
        step(
            "python-type-checkers",
            "the newest mypy and pyright",
            PIP,
            python_tools::run_type_checkers,
        ),
        step(
            "oldest-python",
            "the whole suite on Python 3.10",
            PIP,
            python_tools::test_oldest_python,
        ),
    ];
    tools.chain(others).collect()
}

/// Installs the tools that are required before anything can be compiled.
fn set_up(shell: &Shell) -> Result<()> {
    tools::install_rust_targets(shell)?;
    tools::python(shell)?;
    tools::install_node_packages(shell)
}

fn test_python(shell: &Shell) -> Result<()> {
    let (_there, python) =
        (shell.push_dir(workspace::root().join("packages/python")), workspace::python());
    // Test the installed wheel. Python does not find the package's sources, because they are in `src`.
    Ok(cmd!(shell, "{python} -m pytest --quiet").run()?)
}

/// Runs the proofs with z3. The proofs use the same build of the leases crate as the step `rust`.
fn run_proof(shell: &Shell) -> Result<()> {
    let python = workspace::python();
    let proofs = cmd!(shell, "{python} -m pytest --quiet -p no:cacheprovider tests/proof");
    let selection = rust::tested_members().join(" ");
    Ok(proofs.env("PYTHONDONTWRITEBYTECODE", "1").env("POLYFLAKE_SELECTION", selection).run()?)
}

/// Type-checks the package's stubs and the test suite's own Python code.
fn check_python_types(shell: &Shell) -> Result<()> {
    let python = workspace::python();
    cmd!(
        shell,
        "{python} -m mypy --strict tests/conformance/python tests/copies tests/stepping tests/forks/forks.py tests/proof tests/storm/hosts"
    )
    .run()?;
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    Ok(cmd!(shell, "{python} -m mypy --strict").run()?)
}

fn test_javascript(shell: &Shell) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    Ok(cmd!(shell, "npm test --silent").run()?)
}

fn run_conformance(shell: &Shell) -> Result<()> {
    let ready = AvailableRuntimes::prepare_runtimes(shell, &[])?;
    conformance::run(&conformance::Options::default(), &ready)
}

fn run_demo(shell: &Shell) -> Result<()> {
    demo::run(&AvailableRuntimes::prepare_runtimes(shell, &[])?)
}
