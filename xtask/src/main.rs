//! The one task runner: `cargo xtask demo | test | conformance | bench | build`.
//!
//! Every task sets up its tools on the machine by itself ([`tools`]), builds the code that it tests ([`build`]), and exits
//! with 1 on any fault.
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
    /// Ask every runtime the same questions and compare the answers, with the vectors and with each other.
    Conformance(conformance::Options),
    /// Make IDs in every runtime, read each of them in every other, and show them
    Demo,
    /// Run all tests of all languages
    Test(test::Options),
    /// Measure our code against peers, and check the goals
    Bench(bench::Options),
    /// Make IDs by the billion under a chaotic clock, and check each of them against all others
    Soak {
        /// Options of the harness: --ids N, --family NAME, --seed N
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Kill processes that make IDs and restart them under a clock that steps, and compare all that they made
    Kills {
        /// Options of the harness: --kills N, --kind NAME
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Fork processes that make IDs by the thousand, in Python, and compare all that they made
    Forks {
        /// Options of the harness: --forks N, --ids N
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Go through the large sizes of the leases' model, 100,000 worlds of the simulator, a fleet of 100,000 holders, 200 faults and ten
    /// minutes of faults of processes on each store, 1,000 cold starts, and measure claims and renewals on each
    Leases,
    /// Test whether Randflake IDs spread evenly over shards
    Uniformity {
        /// Number of IDs
        #[arg(default_value_t = 10_000_000)]
        ids: u64,
    },
    /// Test whether the cipher's time depends on the block that it encrypts
    Timing {
        /// Number of samples each way
        #[arg(default_value_t = 10_000_000)]
        samples: u64,
    },
    /// Look for inputs that a decoder reads wrongly, or that break it
    Fuzz(fuzz::Options),
    /// Put deliberate faults into a copy of the core and of the leases, each of which must turn their tests red
    Mutants(mutants::Options),
    /// Run the core's tests in an interpreter that notices undefined behaviour, on machines of several kinds
    Miri(miri::Options),
    /// Run the core's tests of threads, memory and kernels under the compiler's sanitizers
    Sanitize(sanitize::Options),
    /// Check the dependencies: licences, sources, bans, and advisories if their database can be reached
    Deny,
    /// Build the crates with their features alone and in pairs, or with the oldest versions of dependencies
    Features(features::Options),
    /// Format the code of all languages
    Format(format::Options),
    /// Write the licences of the crates that binaries carry into THIRD-PARTY.md
    Licences,
    /// Build the page that names IDs and the site around it into target/site/dist, and test both in Chromium and Firefox
    Site,
    /// Build the wheel, the npm package and the test drivers
    Build(build::Options),
    /// Build the files of a release for every platform, check them, and run those that can run here
    Artefacts(artefacts::Options),
}

/// Runs one of the programs that test by large numbers.
fn prove(program: &str, options: &[String]) -> Result<()> {
    let shell = workspace::shell()?;
    let run = cmd!(shell, "cargo run --quiet --release --package soak --bin {program}");
    Ok(run.arg("--").args(options).run()?)
}

/// Runs the program that tests many forks, against the wheel.
fn fork(options: &[String]) -> Result<()> {
    let shell = workspace::shell()?;
    build::build(&shell, build::Part::Python, build::Purpose::Users)?;
    let python = workspace::python();
    Ok(cmd!(shell, "{python} tests/forks/forks.py").args(options).run()?)
}

/// Runs the tests of the leases that take minutes.
fn leases() -> Result<()> {
    let shell = workspace::shell()?;
    let tests = ["--test", "model", "--", "--ignored", "--nocapture", "--test-threads", "1"];
    cmd!(shell, "cargo test --release --package polyflake-lease {tests...}").run()?;
    let tests = ["--test", "simulator", "--", "--nocapture"];
    let worlds = cmd!(shell, "cargo test --release --package polyflake-lease {tests...}");
    worlds.env("POLYFLAKE_SEEDS", "100000").run()?;
    let tests = ["--test", "fleet", "--", "--include-ignored", "--nocapture"];
    cmd!(shell, "cargo test --release --package polyflake-lease {tests...}").run()?;
    tools::postgresql(&shell);
    tools::faketime(&shell)?;
    for (name, value) in [("POLYFLAKE_CYCLES", "200"), ("POLYFLAKE_SECONDS", "600")] {
        let tests = ["--all-features", "--test", "faults", "--", "--nocapture"];
        let faults = cmd!(shell, "cargo test --release --package polyflake-lease {tests...}");
        faults.env("CI", "true").env(name, value).run()?;
    }
    let tests = ["--all-features", "--test", "cold", "--", "--nocapture"];
    let starts = cmd!(shell, "cargo test --release --package polyflake-lease {tests...}");
    starts.env("CI", "true").env("POLYFLAKE_STARTS", "1000").run()?;
    // Last, beside nothing else.
    let tests = ["--all-features", "--test", "rates", "--"];
    let figures = ["--ignored", "--nocapture", "--test-threads", "1"];
    let rates =
        cmd!(shell, "cargo test --release --package polyflake-lease {tests...} {figures...}");
    Ok(rates.env("CI", "true").run()?)
}

fn main() -> Result<()> {
    match Task::parse() {
        Task::Conformance(options) => conformance::main(&options),
        Task::Demo => demo::main(),
        Task::Test(options) => test::main(&options),
        Task::Bench(options) => bench::main(&options),
        Task::Soak { options } => prove("soak", &options),
        Task::Kills { options } => prove("kills", &options),
        Task::Forks { options } => fork(&options),
        Task::Leases => leases(),
        Task::Uniformity { ids } => prove("uniformity", &[ids.to_string()]),
        Task::Timing { samples } => prove("timing", &[samples.to_string()]),
        Task::Fuzz(options) => fuzz::main(&options),
        Task::Mutants(options) => mutants::main(&options),
        Task::Miri(options) => miri::main(&options),
        Task::Sanitize(options) => sanitize::main(&options),
        Task::Deny => deny::main(),
        Task::Features(options) => features::main(&options),
        Task::Format(options) => format::main(&options),
        Task::Licences => licences::main(),
        Task::Artefacts(options) => artefacts::main(&options),
        Task::Site => site::main(),
        Task::Build(options) => build::main(&options),
    }
}
