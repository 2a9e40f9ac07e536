//! The steps of the crates.

use anyhow::{Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::examples;
use crate::{build, tools, workspace};

/// Packages with other people's libraries for databases, which take minutes to compile: they have a step of their own.
const DATABASES: [&str; 3] = ["database-tests", "example-axum", "polyflake-sql"];

/// The members whose dependencies compile quickly, with all features.
pub fn members() -> Vec<&'static str> {
    let others = DATABASES.into_iter().flat_map(|name| ["--exclude", name]);
    ["--workspace", "--all-features"].into_iter().chain(others).collect()
}

/// Checks the members with all features, and the core with fewer, which leaves other code unused.
pub fn clippy(shell: &Shell) -> Result<()> {
    let members = members();
    cmd!(shell, "cargo clippy --quiet {members...} --all-targets -- -D warnings").run()?;
    for features in ["", "serde", "std"] {
        let features = format!("internals,{features}");
        let chosen = ["--no-default-features", "--features", &features];
        cmd!(shell, "cargo clippy --quiet --package polyflake {chosen...} -- -D warnings").run()?;
    }
    Ok(())
}

/// The core on machines without an operating system (on one without registers for SIMD, too).
pub fn no_std(shell: &Shell) -> Result<()> {
    for (target, features) in [
        ("thumbv7em-none-eabi", ""),
        ("thumbv7em-none-eabi", "serde,uuid"),
        ("x86_64-unknown-none", "json,uuid"),
        ("wasm32-unknown-unknown", ""),
    ] {
        let chosen = ["--no-default-features", "--features", features, "--target", target];
        cmd!(shell, "cargo build --quiet --package polyflake {chosen...}").run()?;
    }
    let target = ["--target", "thumbv7em-none-eabi"];
    cmd!(shell, "cargo build --quiet --package polyflake-lease --no-default-features {target...}")
        .run()?;
    cmd!(shell, "cargo build --quiet --package polyflake-inspect {target...}").run()?;
    // Without compare-and-swap, as core/README.md says.
    let chosen = ["--no-default-features", "--target", "thumbv6m-none-eabi"];
    Ok(cmd!(shell, "cargo build --quiet --package polyflake {chosen...}")
        .env("RUSTFLAGS", "--cfg portable_atomic_unsafe_assume_single_core")
        .run()?)
}

/// Whatever continuous integration compiles on other systems, tests included.
pub fn systems(shell: &Shell) -> Result<()> {
    for target in ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"] {
        cmd!(shell, "rustup --quiet target add {target}").quiet().run()?;
        let (members, name) = (members(), target.replace('-', "_"));
        // napi looks for Node's own library on Windows.
        let chosen = ["--exclude", "polyflake-node", "--all-targets", "--target", target];
        cmd!(shell, "cargo check --quiet {members...} {chosen...}")
            // Nothing is linked, so nobody misses what their C compilers would make.
            .env(format!("CC_{name}"), "true")
            .env(format!("AR_{name}"), "true")
            .env("PYO3_CROSS_PYTHON_VERSION", "3.11")
            .env("RUSTFLAGS", "-D warnings")
            .run()?;
    }
    Ok(())
}

/// The core's unit tests, integration tests and documentation tests, as somebody runs them who has just cloned the repository.
pub fn core(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "cargo test --quiet").run()?)
}

/// All tests with the features that the members' dependencies ask for and no others.
pub fn workspace(shell: &Shell) -> Result<()> {
    tools::postgresql(shell);
    Ok(cmd!(shell, "cargo test --quiet --workspace").run()?)
}

/// The members with tests that no other step runs, with all features. Steps that choose alike build nothing twice.
pub fn tested() -> Vec<&'static str> {
    [members(), vec!["--exclude", "polyflake"]].concat()
}

/// Unit tests, integration tests, examples and documentation tests of the crates around the core.
pub fn test(shell: &Shell) -> Result<()> {
    tools::postgresql(shell);
    if let Err(missing) = tools::faketime(shell) {
        ensure!(!workspace::in_ci() || !cfg!(target_os = "linux"), missing);
        println!("left out: faults under clocks that step ({missing})");
    }
    let members = tested();
    Ok(cmd!(shell, "cargo test --quiet {members...}").run()?)
}

/// Faults of leases among processes in Rust, Python and Node.
pub fn lease_languages(shell: &Shell) -> Result<()> {
    let (python, folder) =
        (tools::integrations_python(shell)?, workspace::root().join("tests/leases"));
    build::install_wheel(shell, &python)?;
    tools::npm(shell, "tests/leases")?;
    let (node, at) = (folder.join("node_modules/node/bin/node"), folder.display());
    let lives = format!("{} {at}/life.py\n{} {at}/life.mjs", python.display(), node.display());
    let members = tested();
    let tests = ["--test", "faults", "--test", "steps", "--", "--ignored", "languages"];
    Ok(cmd!(shell, "cargo test --quiet {members...} {tests...}")
        .env("POLYFLAKE_LIVES", lives)
        .env("POLYFLAKE_PYTHON", python)
        .run()?)
}

/// IDs in columns of real databases: lints, tests, and the documentation of the crate that users install.
pub fn databases(shell: &Shell) -> Result<()> {
    tools::postgresql(shell);
    let chosen = || DATABASES.iter().flat_map(|name| ["--package", name]).chain(["--all-features"]);
    let (packages, all) = (chosen(), ["--all-targets", "--", "-D", "warnings"]);
    cmd!(shell, "cargo clippy --quiet {packages...} {all...}").run()?;
    let packages = chosen();
    cmd!(shell, "cargo test --quiet {packages...}").run()?;
    documented(shell, &["--package", "polyflake-sql", "--all-features"]).run().map_err(Into::into)
}

/// Builds the documentation, also with fewer features, and looks for examples.
pub fn docs(shell: &Shell) -> Result<()> {
    for features in ["", "std"] {
        let chosen = ["--package", "polyflake", "--no-default-features", "--features", features];
        documented(shell, &chosen).run()?;
    }
    documented(shell, &["--package", "polyflake-lease", "--all-features"]).run()?;
    examples::check(shell)
}

fn documented<'sh>(shell: &'sh Shell, chosen: &[&str]) -> Cmd<'sh> {
    cmd!(shell, "cargo doc --quiet --no-deps {chosen...}").env("RUSTDOCFLAGS", "-D warnings")
}

/// All interleavings of the atomic steps of state machines and counter clock, in a build of its own.
pub fn loom(shell: &Shell) -> Result<()> {
    models(shell, "loom-tests", &["--test", "model"]).run()?;
    Ok(models(shell, "polyflake-clock", &["--lib", "model"]).run()?)
}

/// The one model that takes minutes without its bound.
pub fn loom_unbounded(shell: &Shell) -> Result<()> {
    let tests = models(shell, "loom-tests", &["--test", "model", "hot_guid_batches"]);
    Ok(tests.env("LOOM_MAX_PREEMPTIONS", "0").run()?)
}

fn models<'sh>(shell: &'sh Shell, package: &str, tests: &[&str]) -> Cmd<'sh> {
    cmd!(shell, "cargo test --quiet --profile quick --package {package} {tests...}")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", workspace::target().join("loom"))
}

/// NEON, on an emulated machine. Linked statically by Rust's own linker, so no tools for that machine are needed.
pub fn kernels_aarch64(shell: &Shell) -> Result<()> {
    let qemu = tools::qemu_aarch64(shell)?;
    let tests = kernels_for(shell, "aarch64-unknown-linux-musl")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", qemu)
        .env("RUSTFLAGS", "-D warnings");
    Ok(tests.run()?)
}

/// wasm's SIMD and the inspector, in Node.
pub fn wasm(shell: &Shell) -> Result<()> {
    let node = workspace::root().join("tests/kernels/node.mjs");
    let _runner = shell.push_env(
        "CARGO_TARGET_WASM32_WASIP1_RUNNER",
        format!("node --no-warnings {}", node.display()),
    );
    kernels_for(shell, "wasm32-wasip1")
        .env("RUSTFLAGS", "-C target-feature=+simd128 -D warnings")
        .run()?;
    let options = ["--quiet", "--package", "polyflake-inspect", "--tests"];
    Ok(cmd!(shell, "cargo test {options...} --target wasm32-wasip1").run()?)
}

/// The tests of kernels for another machine, which is emulated. They are optimised a little: that saves more time than it costs.
fn kernels_for<'sh>(shell: &'sh Shell, target: &str) -> Cmd<'sh> {
    cmd!(shell, "cargo test --quiet --package kernel-tests --tests --target {target}")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
}
