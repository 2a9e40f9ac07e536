//! The steps of `cargo xtask test`, in order.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{
    Step, databases, examples, kernels, notices, oldest_rust, packaging, readme, stepping, tidy,
    workflows,
};
use crate::{
    bench, build,
    conformance::{self, Ready},
    demo, format, licences, tools, workspace,
};

pub const ALL: &[Step] = &[
    Step::new("tidy", |_| tidy::check()),
    Step::new("set-up", set_up).needed(),
    Step::new("licences", licences::check),
    Step::new("format", format::check),
    Step::new("lint", format::lint),
    Step::new("workflows", workflows::check),
    Step::new("clippy", clippy),
    Step::new("no_std", no_std),
    Step::new("oldest-rust", oldest_rust::check),
    Step::new("rust", rust),
    Step::new("rust-databases", databases::check),
    Step::new("kernels-aarch64", kernels::aarch64),
    Step::new("kernels-wasm", kernels::wasm),
    Step::new("rust-docs", rust_docs),
    Step::new("rust-examples", examples::check),
    Step::new("loom", loom),
    Step::new("build", build::all).needed(),
    Step::new("python", python),
    Step::new("python-types", python_types),
    Step::new("javascript", javascript),
    Step::new("wasm-in-browser", wasm_in_browser),
    Step::new("packaging-rust", packaging::rust),
    Step::new("packaging-python", packaging::python),
    Step::new("packaging-python-source", packaging::python_source),
    Step::new("python-integrations", packaging::python_integrations::pinned),
    Step::new("packaging-javascript", packaging::javascript),
    Step::new("packaging-esbuild", |sh| packaging::pinned(sh, "esbuild")),
    Step::new("packaging-webpack", |sh| packaging::pinned(sh, "webpack")),
    Step::new("packaging-next", |sh| packaging::pinned(sh, "next")),
    Step::new("packaging-jest", |sh| packaging::pinned(sh, "jest")),
    Step::new("packaging-types-node10", |sh| packaging::pinned(sh, "types-node10")),
    Step::new("packaging-databases", |sh| {
        packaging::with_postgresql(sh, "databases", packaging::pinned)
    }),
    Step::new("packaging-prisma", |sh| packaging::with_postgresql(sh, "prisma", packaging::pinned)),
    Step::new("packaging-servers", |sh| packaging::pinned(sh, "servers")),
    Step::new("packaging-schemas", |sh| packaging::pinned(sh, "schemas")),
    Step::new("packaging-next-model", |sh| {
        packaging::with_postgresql(sh, "next-model", packaging::pinned)
    }),
    Step::new("readme", readme::check),
    Step::new("readme-lease", readme::newcomer),
    Step::new("stepping-clock", stepping::check),
    Step::new("conformance", conformance),
    Step::new("conformance-notices", notices::check),
    Step::new("bench", bench::rehearse),
    Step::new("demo", demo),
];

/// Installs the tools that must be there before anything is compiled.
fn set_up(shell: &Shell) -> Result<()> {
    tools::rust_targets(shell)?;
    tools::python(shell)?;
    tools::node(shell)
}

/// Checks the members with all features, and the core with fewer, which leaves other code unused.
fn clippy(shell: &Shell) -> Result<()> {
    let others = databases::LEFT_OUT;
    cmd!(
        shell,
        "cargo clippy --quiet --workspace {others...} --all-targets --all-features -- -D warnings"
    )
    .run()?;
    for features in ["", "alloc", "serde", "std"] {
        let chosen = ["--no-default-features", "--features", features];
        cmd!(shell, "cargo clippy --quiet --package polyflake {chosen...} -- -D warnings").run()?;
    }
    Ok(())
}

/// The core on machines without an operating system (on one without registers for SIMD, too), and in wasm; with and without a
/// heap.
fn no_std(shell: &Shell) -> Result<()> {
    for target in ["thumbv7em-none-eabi", "x86_64-unknown-none", "wasm32-unknown-unknown"] {
        for features in ["", "alloc", "serde,uuid"] {
            let chosen = ["--no-default-features", "--features", features];
            cmd!(shell, "cargo build --quiet --package polyflake --target {target} {chosen...}")
                .run()?;
        }
    }
    let target = ["--target", "thumbv7em-none-eabi"];
    cmd!(shell, "cargo build --quiet --package polyflake-lease --no-default-features {target...}")
        .run()?;
    // Without compare-and-swap, as core/README.md says.
    let chosen = ["--no-default-features", "--target", "thumbv6m-none-eabi"];
    Ok(cmd!(shell, "cargo build --quiet --package polyflake {chosen...}")
        .env("RUSTFLAGS", "--cfg portable_atomic_unsafe_assume_single_core")
        .run()?)
}

/// Unit tests, integration tests, examples and documentation tests.
fn rust(shell: &Shell) -> Result<()> {
    tools::postgresql(shell);
    if let Err(missing) = tools::faketime(shell) {
        ensure!(!workspace::in_ci() || !cfg!(target_os = "linux"), missing);
        println!("left out: faults under clocks that step ({missing})");
    }
    let others = databases::LEFT_OUT;
    Ok(cmd!(shell, "cargo test --quiet --workspace {others...} --all-features").run()?)
}

/// Builds the documentation, also with fewer features.
fn rust_docs(shell: &Shell) -> Result<()> {
    for features in oldest_rust::FEATURES {
        let chosen = ["--no-default-features", "--features", features];
        cmd!(shell, "cargo doc --quiet --package polyflake --no-deps {chosen...}")
            .env("RUSTDOCFLAGS", "-D warnings")
            .run()?;
    }
    let lease = cmd!(shell, "cargo doc --quiet --package polyflake-lease --no-deps --all-features");
    Ok(lease.env("RUSTDOCFLAGS", "-D warnings").run()?)
}

/// All interleavings of the atomic steps of state machines and counter clock, in a build of its own.
fn loom(shell: &Shell) -> Result<()> {
    let target = workspace::target().join("loom");
    for tests in [["polyflake", "--test", "model"], ["polyflake-clock", "--lib", "model"]] {
        let test = cmd!(shell, "cargo test --quiet --release --package {tests...}");
        test.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", &target).run()?;
    }
    Ok(())
}

fn python(shell: &Shell) -> Result<()> {
    let (_there, python) =
        (shell.push_dir(workspace::root().join("packages/python")), workspace::python());
    // The installed wheel is tested: the sources lie in `src`, where nothing imports them.
    Ok(cmd!(shell, "{python} -m pytest --quiet").run()?)
}

/// The package's stubs as users' type checkers see them, and the suite's own Python.
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

/// The wasm module in a page by itself.
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
