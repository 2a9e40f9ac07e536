//! The task runner: `cargo xtask demo | test | conformance | bench | build`, and others.
//!
//! Every task sets up the tools that it needs ([`tools`]), builds the code that it tests ([`build`]), and exits with status
//! 1 on any failure.
#![allow(
    unreachable_pub,
    reason = "a program has no public face; `pub` here means: for the other modules"
)]

mod artefacts;
mod bench;
mod build;
mod conformance;
mod demo;
mod deny;
mod features;
mod format;
mod fuzz;
mod licences;
mod miri;
mod mutants;
mod release;
mod safety;
mod sanitize;
mod site;
mod test;
mod tools;
mod workspace;

use anyhow::Result;
use clap::Parser;
use xshell::cmd;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The tasks of this repository")]
enum Task {
    /// Send the same requests to every runtime, and compare the answers with the vectors and with each other
    Conformance(conformance::Options),
    /// Generate IDs in every runtime, read each ID in every other runtime, and print the IDs
    Demo,
    /// Run all tests of all languages
    Test(test::Options),
    /// Benchmark our code against peers, and check the goals
    Bench(bench::Options),
    /// Generate billions of IDs with a clock that jumps and stalls, and compare every ID with all other IDs (options: --ids
    /// N, --family NAME, --seed N)
    Soak(PassedArguments),
    /// Kill processes that generate IDs, restart them with a clock that has moved backward or forward, and compare all of
    /// their IDs (options: --kills N, --kind NAME)
    Kills(PassedArguments),
    /// Test generators with threads, forks, clock changes, kills and process copies, and check their IDs (see
    /// `docs/project/storm.md`)
    Storm(PassedArguments),
    /// Fork thousands of processes that generate IDs in Python, and compare all of their IDs (options: --forks N, --ids N)
    Forks(PassedArguments),
    /// Check the lease model at full scale: simulate 100,000 worlds and a fleet of 100,000 holders, test each store with
    /// 200 faults and with ten minutes of process faults, and perform 1,000 cold starts; also measure claims and renewals
    /// on each store
    Leases,
    /// Run checks listed in `docs/safety.md`, record their results with the date, and update the table on that page
    Safety(safety::Options),
    /// Test whether Randflake IDs spread evenly over shards, with ten million IDs or the given number
    Uniformity(PassedArguments),
    /// Test whether the cipher's running time depends on the block that it encrypts or decrypts; take ten million samples
    /// of each operation, or the given number
    Timing(PassedArguments),
    /// Search for inputs that a decoder reads incorrectly or that crash it
    Fuzz(fuzz::Options),
    /// Insert deliberate faults into a copy of the core and the leases, and check that the tests catch each fault
    Mutants(mutants::Options),
    /// Run the core's tests in an interpreter that detects undefined behavior and emulates several architectures
    Miri(miri::Options),
    /// Run the core's tests of threads, memory and kernels with the compiler's sanitizers
    Sanitize(sanitize::Options),
    /// Check the licenses and sources of the dependencies, and that no dependency is banned; also check for security
    /// advisories if the advisory database can be reached
    Deny,
    /// Build the crates with each feature alone and in pairs, or with the oldest versions of dependencies
    Features(features::Options),
    /// Format the code of all languages
    Format(format::Options),
    /// Write THIRD-PARTY.md, which contains the licenses of the crates in the binaries
    Licences,
    /// Build the documentation site, including the page that identifies IDs, in target/site/dist, and test it in Chromium
    /// and Firefox
    Site,
    /// Build the wheel, the npm package and the test drivers
    Build(build::Options),
    /// Build the files of a release for every platform, check them, and run those that can run here
    Artefacts(artefacts::Options),
    /// Rehearse a release with every client without uploading anything (--dry), or check whether this commit may be
    /// published (--ready)
    Release(release::Options),
}

/// Arguments that are passed to a program unchanged.
#[derive(clap::Args)]
struct PassedArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Runs one of the programs that test the guarantees with large numbers of IDs or events.
fn run_proof(package: &str, program: &str, given: &PassedArguments) -> Result<()> {
    let shell = workspace::shell()?;
    let run = cmd!(shell, "cargo run --quiet --release --package {package} --bin {program}");
    Ok(run.arg("--").args(&given.options).run()?)
}

/// Runs the `idstorm` program.
fn run_storm(given: &PassedArguments) -> Result<()> {
    let shell = workspace::shell()?;
    if let Err(missing) = tools::faketime(&shell) {
        println!("storms with clock changes cannot run ({missing})");
    }
    // An unoptimized program compiles much faster. Its speed does not matter, because a storm spends most of its time
    // waiting.
    Ok(cmd!(shell, "cargo run --quiet --package idstorm --").args(&given.options).run()?)
}

/// Runs the fork test, which uses the Python wheel.
fn run_fork_test(given: &PassedArguments) -> Result<()> {
    let shell = workspace::shell()?;
    build::build(&shell, build::Part::Python, build::Purpose::Users)?;
    let python = workspace::python();
    Ok(cmd!(shell, "{python} tests/forks/forks.py").args(&given.options).run()?)
}

/// Runs the lease tests that take minutes.
fn run_lease_tests() -> Result<()> {
    let shell = workspace::shell()?;
    tools::install_postgresql(&shell);
    tools::install_mariadb(&shell);
    tools::install_redis(&shell);
    tools::faketime(&shell)?;
    let ignored: &[&str] = &["--ignored", "--test-threads", "1"];
    let mariadb: &[&str] = &["--ignored", "mariadb_leases"];
    let redis: &[&str] = &["--ignored", "--test-threads", "1", "share_redis"];
    let services: &[&str] = &["--ignored", "services"];
    // Build the program and the packages, because in some tests, lease holders in three languages access their store
    // through services.
    cmd!(shell, "cargo build --release --package polyflake-cli").run()?;
    build::build(&shell, build::Part::Python, build::Purpose::Users)?;
    build::build(&shell, build::Part::Javascript, build::Purpose::Users)?;
    tools::install_workerd(&shell)?;
    let lease_programs = test::rust::lease_programs(&shell)?;
    for (test, options, setting) in [
        ("model", ignored, None),
        ("simulator", &[], Some(("POLYFLAKE_SEEDS", "100000"))),
        ("fleet", &["--include-ignored"], None),
        ("faults", &[], Some(("POLYFLAKE_CYCLES", "200"))),
        ("faults", &[], Some(("POLYFLAKE_SECONDS", "600"))),
        ("faults", mariadb, Some(("POLYFLAKE_CYCLES", "200"))),
        ("faults", mariadb, Some(("POLYFLAKE_SECONDS", "600"))),
        ("faults", redis, Some(("POLYFLAKE_SECONDS", "600"))),
        ("faults", services, Some(("POLYFLAKE_SECONDS", "600"))),
        ("redis", &["--ignored"], None),
        ("cold", &[], Some(("POLYFLAKE_STARTS", "1000"))),
    ] {
        let chosen = ["--package", "polyflake-lease", "--all-features", "--test", test];
        let run = cmd!(shell, "cargo test --release {chosen...} -- --nocapture {options...}");
        run.envs(setting)
            .env("POLYFLAKE_LIVES", &lease_programs.commands)
            .env("POLYFLAKE_WORKER_LIFE", &lease_programs.worker)
            .env("CI", "true")
            .run()?;
    }
    // Run the benchmark last, so that no test runs at the same time.
    let rates = ["--package", "polyflake-lease", "--all-features", "--bench", "rates"];
    Ok(cmd!(shell, "cargo bench {rates...}").run()?)
}

fn main() -> Result<()> {
    match Task::parse() {
        Task::Conformance(options) => conformance::main(&options),
        Task::Demo => demo::main(),
        Task::Test(options) => test::main(&options),
        Task::Bench(options) => bench::main(&options),
        Task::Soak(given) => run_proof("soak", "soak", &given),
        Task::Kills(given) => run_proof("soak", "kills", &given),
        Task::Safety(options) => safety::main(&options),
        Task::Storm(given) => run_storm(&given),
        Task::Forks(given) => run_fork_test(&given),
        Task::Leases => run_lease_tests(),
        Task::Uniformity(given) => run_proof("soak", "uniformity", &given),
        Task::Timing(given) => run_proof("soak", "timing", &given),
        Task::Fuzz(options) => fuzz::main(&options),
        Task::Mutants(options) => mutants::main(&options),
        Task::Miri(options) => miri::main(&options),
        Task::Sanitize(options) => sanitize::main(&options),
        Task::Deny => deny::main(),
        Task::Features(options) => features::main(&options),
        Task::Format(options) => format::main(&options),
        Task::Licences => licences::main(),
        Task::Artefacts(options) => artefacts::main(&options),
        Task::Release(options) => release::main(&options),
        Task::Site => site::main(),
        Task::Build(options) => build::main(&options),
    }
}
