//! The steps of `cargo xtask test`, in order. Each step states its purpose and the files that it depends on.

use anyhow::Result;
use xshell::{Shell, cmd};

use super::{
    Step, copies, libraries, mysql, notices, oldest_rust, operate,
    packaging::{self, projects, python_integrations, python_tools},
    readme, rust, stepping, tidy, wasm, workflows,
};
use crate::{
    bench, build,
    conformance::{self, AvailableRuntimes},
    demo, features, format, licences, mutants, tools, workspace,
};

/// The path prefixes that every step depends on.
pub const COMMON_PATHS: &[&str] =
    &["Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "tools/xtask/"];

const ANY_PATH: &[&str] = &[""];
const CRATES: &[&str] = &[
    "bindings-",
    "clippy.toml",
    "cli/",
    "core/",
    "crates/",
    "examples/",
    "lease/",
    "tests/",
    "tools/bench",
    "tools/site/page",
];
const CORE: &[&str] = &["crates/clock", "core/", "tests/vectors"];
const KERNELS: &[&str] = &["crates/clock", "core/", "tests/kernels"];
const LEASE: &[&str] = &["crates/clock", "core/", "lease/", "tests/leases"];
const BINDINGS: &[&str] = &["bindings-", "core/", "crates/", "packages/"];
const PYTHON: &[&str] = &[
    "bindings-python",
    "crates/clock",
    "crates/columns",
    "core/",
    "lease/src/",
    "packages/",
    "tests/requirements.txt",
];
const JAVASCRIPT: &[&str] = &[
    "crates/bindings-js",
    "crates/bindings-lease",
    "bindings-node",
    "bindings-wasm",
    "crates/clock",
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

/// Creates a step whose failure makes later steps pointless.
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
            "module dependencies, error pages, links, listed faults and version numbers are consistent",
            &[ANY_PATH],
            |_| tidy::check(),
        ),
        required_step("set-up", "installs the tools that the other steps need", set_up),
        step(
            "licences",
            "THIRD-PARTY.md contains the license of every crate in a binary",
            &[&["THIRD-PARTY.md"]],
            licences::check,
        ),
        step("format", "the code is formatted", &[ANY_PATH], format::check),
        step(
            "lint",
            "the linters find no problems in Python and JavaScript",
            &[ANY_PATH],
            format::lint,
        ),
        step(
            "workflows",
            "the CI workflows are valid, pin their actions and have minimal permissions",
            &[&[".github"]],
            workflows::check,
        ),
        step("clippy", "Rust compiles without warnings", &[CRATES], rust::run_clippy),
        step(
            "no_std",
            "the core compiles for targets without an operating system, a heap or compare-and-swap",
            &[LEASE],
            rust::check_no_std,
        ),
        step(
            "rust-core",
            "the core's tests and examples pass with plain `cargo test`",
            &[CORE],
            rust::test_core,
        ),
        step("rust", "the tests and examples of the other crates pass", &[CRATES], rust::test),
        step(
            "kernels-aarch64",
            "NEON returns the same results as scalar code, on an emulated machine",
            &[KERNELS],
            rust::test_aarch64_kernels,
        ),
        step(
            "wasm",
            "in WebAssembly, SIMD returns the same results as scalar code, and the inspector identifies IDs",
            &[KERNELS, &["crates/inspect"]],
            rust::test_wasm,
        ),
        step(
            "rust-docs",
            "the documentation has no dead links, and every public item has an example",
            &[LEASE],
            rust::build_docs,
        ),
        step(
            "loom",
            "no interleaving of atomic operations produces a duplicate",
            &[CORE, &["tests/loom"]],
            rust::run_loom,
        ),
        step(
            "proof",
            "the lease protocol and the state words never produce a duplicate, proved for all states",
            &[LEASE, &["tests/proof", "tests/requirements.txt"]],
            run_proofs,
        ),
    ]
}

/// Returns the steps that build and test the packages.
fn package_steps() -> Vec<Step> {
    vec![
        required_step(
            "build",
            "builds the wheel, the npm package and the conformance drivers",
            build::build_all,
        ),
        step("python", "the Python package's own tests pass", &[PYTHON], test_python),
        step(
            "python-types",
            "type checkers accept the Python package's stubs",
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
            "the npm package's own tests pass",
            &[JAVASCRIPT, &["docs/integrations/"]],
            test_javascript,
        ),
        step(
            "packaging-rust",
            "the packaged crate works in a user's project",
            &[CORE, &["CHANGELOG.md", "LICENSE", "NOTICE.md", "tests/packaging/rust"]],
            packaging::test_rust_package,
        ),
        step(
            "packaging-python",
            "the wheel works in an empty environment, has types and contains no paths of this machine",
            &[PYTHON, &["tests/packaging/python"]],
            packaging::test_python_package,
        ),
        step(
            "packaging-python-source",
            "the source distribution contains everything that its build needs, with and without the stable ABI",
            &[PYTHON, &["tests/packaging/python"]],
            packaging::test_python_source,
        ),
        step(
            "python-integrations",
            "columns and fields of Python libraries work",
            &[
                PYTHON,
                &[
                    "cli/",
                    "docs/guide/store.md",
                    "docs/integrations/",
                    "docs/pitfalls.md",
                    "docs/public-ids.md",
                    "examples/",
                    "crates/sql",
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
            "the examples in every README and page run as written",
            &[
                BINDINGS,
                &[
                    "README.md",
                    "docs/columns.md",
                    "docs/guide/",
                    "docs/integrations/",
                    "docs/public-ids.md",
                ],
            ],
            readme::check,
        ),
        step(
            "lease-languages",
            "lease holders in three languages share worker IDs during faults without duplicates",
            &[BINDINGS, LEASE],
            rust::test_lease_languages,
        ),
        step(
            "stepping-clock",
            "no duplicates while the machine's clock moves backwards",
            &[BINDINGS, &["tests/soak", "tests/stepping"]],
            stepping::check,
        ),
        step(
            "conformance",
            "all runtimes return the same results for the vectors and for random requests, and an implementation in Perl that follows the page passes",
            &[BINDINGS, &["examples/perl", "tests/conformance", "tests/vectors"]],
            run_conformance,
        ),
        step(
            "conformance-notices",
            "a wrong digit in any vector file makes the conformance suite fail",
            &[CORE, &["tests/conformance"]],
            notices::check,
        ),
        step(
            "demo",
            "the README's first command works",
            &[BINDINGS, &["tests/conformance"]],
            run_demo,
        ),
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
            let (name, protects) = (
                format!("{name}-oldest"),
                format!("{protects}, with the oldest supported versions"),
            );
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
            "the published crates compile with the oldest supported Rust version",
            &[CRATES],
            oldest_rust::check,
        ),
        step(
            "systems",
            "all crates and their tests compile for Windows and macOS, and the Python module for Pyodide",
            &[CRATES],
            rust::check_systems,
        ),
        step(
            "loom-unbounded",
            "batches of Hot Guids and single calls, with unlimited preemption",
            &[CORE, &["tests/loom"]],
            rust::run_unbounded_loom,
        ),
        step(
            "copies",
            "copies of a process that report the restore generate ten million IDs without duplicates",
            &[BINDINGS, LEASE, &["tests/copies"]],
            copies::check,
        ),
        step(
            "rust-workspace",
            "plain `cargo test --workspace` passes",
            &[CRATES],
            rust::test_workspace,
        ),
        step(
            "rust-databases",
            "columns of SQLx, SeaORM and Diesel work in real databases, and so does the axum example",
            &[&["crates/clock", "core/", "examples/axum", "crates/sql", "tests/databases"]],
            rust::test_databases,
        ),
        step(
            "packaging-rust-tests",
            "the crate's own tests pass in the packaged crate",
            &[CORE],
            packaging::run_rust_tests,
        ),
        step(
            "wasm-in-browser",
            "the wasm module works on its own in a page",
            &[&["crates/bindings-js", "bindings-wasm", "crates/clock", "core/"]],
            wasm::test_in_browser,
        ),
        step(
            "wasm-pack",
            "a module that `wasm-pack build` creates from the wasm crate generates an ID in Node",
            &[&[
                "crates/bindings-js",
                "bindings-wasm",
                "crates/clock",
                "core/",
                "tests/packaging/wasm-pack",
            ]],
            wasm::test_wasm_pack,
        ),
        step(
            "readme-lease",
            "the first program with leases works exactly as documented",
            &[LEASE],
            readme::test_new_project,
        ),
        step("bench", "every benchmark runs", &[BINDINGS, &["tools/bench"]], bench::rehearse),
        step(
            "faults-in-bindings",
            "the suites of both bindings detect deliberate faults",
            &[BINDINGS, &["tests/mutants"]],
            |_| mutants::test_bindings(),
        ),
        step(
            "docs-rs",
            "the documentation builds as on docs.rs",
            &[CORE],
            packaging::build_docs_rs,
        ),
        step(
            "rust-libraries-oldest",
            "integrations work with the oldest supported versions of Rust libraries",
            &[&["crates/clock", "core/", "crates/sql"]],
            features::check_oldest_versions,
        ),
        step(
            "rust-library-versions",
            "integrations work with the versions of Rust libraries from the last two years",
            &[&["crates/clock", "core/", "lease/", "crates/sql"]],
            libraries::test_versions,
        ),
        step(
            "rust-libraries-newest",
            "integrations work with the newest versions of Rust libraries",
            &[&["crates/clock", "core/", "crates/sql"]],
            features::check_newest_versions,
        ),
    ]
}

/// Returns the steps whose lease tests run longer than the ordinary lease tests, or use other servers.
fn steps_with_other_servers() -> [Step; 4] {
    [
        step(
            "lease-redis",
            "ten minutes of faults with a Redis server that loses its data, in three languages",
            &[BINDINGS, LEASE],
            rust::test_redis_leases,
        ),
        step(
            "redis-versions",
            "leases in Redis 6.2 and Valkey, in three languages",
            &[BINDINGS, LEASE],
            rust::test_redis_versions,
        ),
        step(
            "operate",
            "the files for operators suit Kubernetes, systemd, containers and Prometheus",
            &[&["examples/operate", "tests/operate"]],
            operate::check,
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
            "columns and fields work with the newest Python libraries",
            PIP,
            python_integrations::test_newest_libraries,
        ),
        step(
            "python-integrations-oldest",
            "columns and fields work with the oldest supported Python libraries",
            PIP,
            python_integrations::test_oldest_libraries,
        ),
        step(
            "postgresql-versions",
            "the SQL files work in the oldest PostgreSQL version that each supports, and in PostgreSQL 18",
            PIP,
            python_integrations::test_postgresql_versions,
        ),
        step(
            "python-type-checkers",
            "the newest mypy and pyright accept the stubs",
            PIP,
            python_tools::run_type_checkers,
        ),
        step(
            "oldest-python",
            "the whole Python suite passes on Python 3.10",
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

/// Runs the proofs with z3. The proofs use the build of the leases crate that the step `rust` also uses.
fn run_proofs(shell: &Shell) -> Result<()> {
    let python = workspace::python();
    let proofs = cmd!(shell, "{python} -m pytest --quiet -p no:cacheprovider tests/proof");
    let selection = rust::tested_members().join(" ");
    Ok(proofs.env("PYTHONDONTWRITEBYTECODE", "1").env("POLYFLAKE_SELECTION", selection).run()?)
}

/// Type-checks the package's stubs and the Python code of the tests.
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
    // Without a browser, tests are skipped. In continuous integration on Linux, they fail instead.
    let _ = tools::browser(shell);
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    Ok(cmd!(shell, "npm test --silent").run()?)
}

fn run_conformance(shell: &Shell) -> Result<()> {
    conformance::judge_example()?;
    let ready = AvailableRuntimes::prepare_runtimes(shell, &[])?;
    conformance::run(&conformance::Options::default(), &ready)
}

fn run_demo(shell: &Shell) -> Result<()> {
    demo::run(&AvailableRuntimes::prepare_runtimes(shell, &[])?)
}
