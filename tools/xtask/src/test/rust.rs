//! The test steps for the crates.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::examples;
use crate::{build, tools, workspace};

/// Packages that use third-party database libraries. These packages have a separate step, because the libraries take
/// minutes to compile.
const DATABASE_PACKAGES: [&str; 3] = ["database-tests", "example-axum", "polyflake-sql"];

/// Returns arguments that select the workspace members whose dependencies compile quickly, with all features.
pub fn members() -> Vec<&'static str> {
    let others = DATABASE_PACKAGES.into_iter().flat_map(|name| ["--exclude", name]);
    ["--workspace", "--all-features"].into_iter().chain(others).collect()
}

/// Runs Clippy on the workspace members with all features. Also runs Clippy on the core with fewer features, because code
/// that is used with one set of features may be unused with another set.
pub fn run_clippy(shell: &Shell) -> Result<()> {
    let members = members();
    cmd!(shell, "cargo clippy --quiet {members...} --all-targets -- -D warnings").run()?;
    for features in ["", "serde", "std"] {
        let features = format!("internals,{features}");
        let chosen = ["--no-default-features", "--features", &features];
        cmd!(shell, "cargo clippy --quiet --package polyflake {chosen...} -- -D warnings").run()?;
    }
    Ok(())
}

/// Builds the core for machines without an operating system, including a machine without SIMD registers.
pub fn check_no_std(shell: &Shell) -> Result<()> {
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
    // This target has no compare-and-swap instruction (see core/README.md).
    let chosen = ["--no-default-features", "--target", "thumbv6m-none-eabi"];
    Ok(cmd!(shell, "cargo build --quiet --package polyflake {chosen...}")
        .env("RUSTFLAGS", "--cfg portable_atomic_unsafe_assume_single_core")
        .run()?)
}

/// Checks all code, including tests, that continuous integration compiles for other operating systems.
pub fn check_systems(shell: &Shell) -> Result<()> {
    for target in ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"] {
        cmd!(shell, "rustup --quiet target add {target}").quiet().run()?;
        let (members, name) = (members(), target.replace('-', "_"));
        // On Windows, napi requires Node's import library.
        let chosen = ["--exclude", "polyflake-node", "--all-targets", "--target", target];
        cmd!(shell, "cargo check --quiet {members...} {chosen...}")
            // No program is linked, so the C compilers are replaced by `true`, which produces no output.
            .env(format!("CC_{name}"), "true")
            .env(format!("AR_{name}"), "true")
            .env("PYO3_CROSS_PYTHON_VERSION", "3.11")
            .env("RUSTFLAGS", "-D warnings")
            .run()?;
    }
    check_pyodide(shell)
}

/// Checks the code that Python loads in a browser. In a browser, Python cannot fork. No interpreter for this target is
/// available to report its build settings, so a file provides the settings.
fn check_pyodide(shell: &Shell) -> Result<()> {
    let target = "wasm32-unknown-emscripten";
    cmd!(shell, "rustup --quiet target add {target}").quiet().run()?;
    let settings = tempfile::NamedTempFile::new()?;
    let lines = "implementation=CPython\nversion=3.13\nshared=true\nabi3=true\nlib_name=python3.13\n\
                 pointer_width=32\nbuild_flags=\nsuppress_build_script_link_lines=true\n";
    shell.write_file(settings.path(), lines)?;
    let chosen = ["--package", "polyflake-python", "--features", "pyo3/abi3-py311"];
    Ok(cmd!(shell, "cargo check --quiet {chosen...} --target {target}")
        .env("PYO3_CONFIG_FILE", settings.path())
        .run()?)
}

/// Runs the core's unit, integration and documentation tests, as a user would in a fresh clone of the repository.
pub fn test_core(shell: &Shell) -> Result<()> {
    Ok(cmd!(shell, "cargo test --quiet").run()?)
}

/// Runs all tests with only the features that the members' dependencies request.
pub fn test_workspace(shell: &Shell) -> Result<()> {
    tools::install_postgresql(shell);
    tools::install_mariadb(shell);
    tools::install_redis(shell);
    Ok(cmd!(shell, "cargo test --quiet --workspace").run()?)
}

/// Returns arguments that select workspace members with all features, but exclude the members whose tests run in separate
/// steps. Steps that use these arguments share their builds.
pub fn tested_members() -> Vec<&'static str> {
    [members(), vec!["--exclude", "polyflake"]].concat()
}

/// Runs the unit, integration, example and documentation tests of the crates other than the core.
pub fn test(shell: &Shell) -> Result<()> {
    tools::install_postgresql(shell);
    tools::install_mariadb(shell);
    tools::install_redis(shell);
    tools::install_pgbouncer(shell);
    if let Err(missing) = tools::faketime(shell) {
        ensure!(!workspace::is_ci() || !cfg!(target_os = "linux"), missing);
        println!("left out: faults under clocks that step ({missing})");
    }
    let members = tested_members();
    Ok(cmd!(shell, "cargo test --quiet {members...}").run()?)
}

/// Runs fault tests of leases, with processes in Rust, Python and Node.
pub fn test_lease_languages(shell: &Shell) -> Result<()> {
    tools::install_mariadb(shell);
    tools::install_redis(shell);
    tools::install_workerd(shell)?;
    let LeasePrograms { python, commands, .. } = lease_programs(shell)?;
    let members = tested_members();
    let tests =
        ["--test", "faults", "--test", "serve", "--test", "steps", "--", "--ignored", "languages"];
    Ok(cmd!(shell, "cargo test --quiet {members...} {tests...}")
        .env("POLYFLAKE_LIVES", commands)
        .env("POLYFLAKE_PYTHON", python)
        .run()?)
}

/// Runs fault tests of short and long leases in Redis, with processes in three languages. Each test runs for five minutes
/// or for the given number of seconds.
pub fn test_redis_leases(shell: &Shell) -> Result<()> {
    tools::install_redis(shell);
    let (lease_programs, members) = (lease_programs(shell)?, tested_members());
    let tests = [
        "--test",
        "faults",
        "--",
        "--ignored",
        "--nocapture",
        "--test-threads",
        "1",
        "share_redis",
    ];
    Ok(cmd!(shell, "cargo test --quiet {members...} {tests...}")
        .env("POLYFLAKE_LIVES", lease_programs.commands)
        .env("POLYFLAKE_SECONDS", env::var("POLYFLAKE_SECONDS").unwrap_or_else(|_| "300".into()))
        .run()?)
}

/// Tests leases in three languages with the oldest supported Redis and with Valkey.
pub fn test_redis_versions(shell: &Shell) -> Result<()> {
    let lease_programs = lease_programs(shell)?;
    for program in tools::redis_servers(shell)? {
        let _program = shell.push_env("POLYFLAKE_REDIS_SERVER", &program);
        cmd!(shell, "{program} --version").run()?;
        // Only some tests run, because these servers are built without TLS, and because some error messages of Redis 6
        // differ from the recorded replies that other tests expect.
        for tests in [
            ["--test", "redis", "--", "--include-ignored"].as_slice(),
            &["--test", "steps", "--", "--ignored", "suite_over_redis"],
            &["--test", "faults", "--", "--ignored", "languages_that_share_redis"],
        ] {
            let members = tested_members();
            cmd!(shell, "cargo test --quiet {members...} {tests...}")
                .env("POLYFLAKE_LIVES", &lease_programs.commands)
                .env("POLYFLAKE_PYTHON", &lease_programs.python)
                .run()?;
        }
        let _tests = shell.push_dir(workspace::root().join("tests/integrations"));
        let python = &lease_programs.python;
        cmd!(shell, "{python} -m pytest --quiet test_leases.py -k redis").run()?;
    }
    Ok(())
}

/// The programs in other languages that the lease fault tests run.
pub struct LeasePrograms {
    pub python: PathBuf,
    /// The commands of processes in Python and Node, one per line.
    pub commands: String,
    /// The command of a process that records the IDs that a Cloudflare Worker generates.
    pub worker: String,
}

/// Installs the packages that processes in other languages need.
pub fn lease_programs(shell: &Shell) -> Result<LeasePrograms> {
    let python = tools::integrations_python(shell)?;
    build::install_wheel(shell, &python)?;
    tools::npm_install(shell, "tests/leases")?;
    let folder = workspace::root().join("tests/leases");
    let (node, at) = (folder.join("node_modules/node/bin/node"), folder.display());
    let commands = format!("{} {at}/life.py\n{} {at}/life.mjs", python.display(), node.display());
    let worker = format!("{} {at}/life-workerd.mjs", node.display());
    Ok(LeasePrograms { python, commands, worker })
}

/// Tests IDs in columns of real databases. Runs the lints, the tests, and the documentation tests of the crate that users
/// install.
pub fn test_databases(shell: &Shell) -> Result<()> {
    tools::install_postgresql(shell);
    let chosen =
        || DATABASE_PACKAGES.iter().flat_map(|name| ["--package", name]).chain(["--all-features"]);
    let (packages, all) = (chosen(), ["--all-targets", "--", "-D", "warnings"]);
    cmd!(shell, "cargo clippy --quiet {packages...} {all...}").run()?;
    let packages = chosen();
    cmd!(shell, "cargo test --quiet {packages...}").run()?;
    doc_command(shell, &["--package", "polyflake-sql", "--all-features"]).run().map_err(Into::into)
}

/// Builds the documentation with all features and with fewer features, and checks that it contains the required examples.
pub fn build_docs(shell: &Shell) -> Result<()> {
    for features in ["", "std"] {
        let chosen = ["--package", "polyflake", "--no-default-features", "--features", features];
        doc_command(shell, &chosen).run()?;
    }
    doc_command(shell, &["--package", "polyflake-lease", "--all-features"]).run()?;
    for folder in
        ["polyflake", "polyflake_lease"].map(|it| workspace::target().join("doc").join(it))
    {
        check_links(shell, &folder)?;
    }
    examples::check(shell)
}

/// Checks that no page in a folder of the built documentation shows the definition of a link as text.
fn check_links(shell: &Shell, folder: &Path) -> Result<()> {
    for path in shell.read_dir(folder)? {
        if path.is_dir() {
            check_links(shell, &path)?;
        } else if path.extension().is_some_and(|end| end == "html") {
            let shown = shown_definition(&shell.read_file(&path)?);
            ensure!(
                shown.is_none(),
                "{}: a link is text: {}",
                path.display(),
                shown.unwrap_or_default()
            );
        }
    }
    Ok(())
}

/// Returns the text around the first definition of a link that an HTML page shows as text. Markdown reads a definition only
/// if it has a line and follows a blank line.
fn shown_definition(html: &str) -> Option<String> {
    let mut text = String::new();
    for part in html.split("<pre") {
        let prose = part.split_once("</pre>").map_or(part, |(_, prose)| prose);
        text.extend(prose.split('<').map(|tag| tag.split_once('>').map_or(tag, |(_, text)| text)));
    }
    let at = ["]: ", "mod@", "struct@", "fn@"].iter().filter_map(|it| text.find(it)).min()?;
    Some(text[at..].chars().take(40).collect())
}

fn doc_command<'sh>(shell: &'sh Shell, chosen: &[&str]) -> Cmd<'sh> {
    cmd!(shell, "cargo doc --quiet --no-deps {chosen...}").env("RUSTDOCFLAGS", "-D warnings")
}

/// Tests all interleavings of the atomic operations in the state machines and the counter clock, in a separate build.
pub fn run_loom(shell: &Shell) -> Result<()> {
    model_command(shell, "loom-tests", &["--test", "model"]).run()?;
    Ok(model_command(shell, "polyflake-clock", &["--lib", "model"]).run()?)
}

/// Runs one loom model without a bound on the number of preemptions, which takes minutes.
pub fn run_unbounded_loom(shell: &Shell) -> Result<()> {
    let tests = model_command(shell, "loom-tests", &["--test", "model", "hot_guid_batches"]);
    Ok(tests.env("LOOM_MAX_PREEMPTIONS", "0").run()?)
}

fn model_command<'sh>(shell: &'sh Shell, package: &str, tests: &[&str]) -> Cmd<'sh> {
    cmd!(shell, "cargo test --quiet --profile quick --package {package} {tests...}")
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", workspace::target().join("loom"))
}

/// Tests the NEON kernels on an emulated machine. Rust's own linker links the tests statically, so no tools for that
/// machine are needed.
pub fn test_aarch64_kernels(shell: &Shell) -> Result<()> {
    let qemu = tools::qemu_aarch64(shell)?;
    let tests = kernel_test_command(shell, "aarch64-unknown-linux-musl")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", qemu)
        .env("RUSTFLAGS", "-D warnings");
    Ok(tests.run()?)
}

/// Tests the wasm SIMD kernels and the inspector in Node.
pub fn test_wasm(shell: &Shell) -> Result<()> {
    let node = workspace::root().join("tests/kernels/node.mjs");
    let _runner = shell.push_env(
        "CARGO_TARGET_WASM32_WASIP1_RUNNER",
        format!("node --no-warnings {}", node.display()),
    );
    kernel_test_command(shell, "wasm32-wasip1")
        .env("RUSTFLAGS", "-C target-feature=+simd128 -D warnings")
        .run()?;
    let options = ["--quiet", "--package", "polyflake-inspect", "--tests"];
    Ok(cmd!(shell, "cargo test {options...} --target wasm32-wasip1").run()?)
}

/// Returns the command that tests the kernels for another target in an emulator. The tests are compiled with light
/// optimization, because this saves more run time than it costs in compile time.
fn kernel_test_command<'sh>(shell: &'sh Shell, target: &str) -> Cmd<'sh> {
    cmd!(shell, "cargo test --quiet --package kernel-tests --tests --target {target}")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_definition_that_became_text_is_found() {
        let find = super::shown_definition;
        assert_eq!(find("<p>IDs <code>sno</code>: mod@sno <a>b</a></p>").unwrap(), "mod@sno b");
        assert_eq!(find("<p>[a]: https://b</p>").unwrap(), "]: https://b");
        assert_eq!(find("<p><a href=\"mod@sno\">sno</a></p><pre>x[0]: u8</pre><p>c</p>"), None);
    }
}
