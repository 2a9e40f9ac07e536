//! Runs the tests of the core, of its kernels, and of the columns crate in Miri, for several architectures. Miri checks
//! every operation for undefined behavior.
//!
//! Tests that are too slow in Miri do less work there (`cfg(miri)`). Tests of forks and shared pages do not run, because
//! Miri does not support them.

use anyhow::{Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::{tools, workspace};

/// A machine to emulate. The `features` are CPU features beyond the target's baseline.
struct Machine {
    target: &'static str,
    features: &'static str,
}

/// The emulated machines: the most common kind of machine, a big-endian machine, and a 32-bit machine. The first machine
/// enables the widest SIMD kernels whose instructions Miri supports.
const MACHINES: [Machine; 3] = [
    Machine { target: "x86_64-unknown-linux-gnu", features: "+ssse3,+sse4.1,+avx2,+popcnt" },
    Machine { target: "s390x-unknown-linux-gnu", features: "" },
    Machine { target: "i686-unknown-linux-gnu", features: "" },
];

/// The number of cases in each property test. A test takes a thousand times as long in Miri as it does natively.
const CASES: &str = "4";

/// The packages whose unsafe code does not interact with another language. `kernel-tests` runs the core's kernels for every
/// instruction set.
const PACKAGES: [&str; 3] = ["polyflake", "kernel-tests", "polyflake-columns"];

#[derive(Args)]
pub struct Options {
    /// Run only on machines whose target name contains this string
    #[arg(long, default_value = "")]
    target: String,
    /// Test only packages whose name contains this string
    #[arg(long, default_value = "")]
    package: String,
    /// Arguments for `cargo miri test` that select tests, for example `--test sno_generator`; by default, all tests run
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    tools::install_nightly(&shell, &["miri", "rust-src"])?;
    let packages = PACKAGES.into_iter().filter(|name| name.contains(&options.package));
    let packages: Vec<_> = packages.flat_map(|name| ["--package", name]).collect();
    ensure!(!packages.is_empty(), "expected the name of a package, found {}", options.package);
    let mut machines = MACHINES.iter().filter(|it| it.target.contains(&options.target)).peekable();
    ensure!(machines.peek().is_some(), "expected the name of a machine, found {}", options.target);
    machines.try_for_each(|machine| run(&shell, machine, &packages, &options.arguments))
}

fn run(
    shell: &Shell,
    Machine { target, features }: &Machine,
    packages: &[&str],
    arguments: &[String],
) -> Result<()> {
    println!("\n== {target} ==");
    let all = [String::from("--lib"), String::from("--tests")];
    let chosen = if arguments.is_empty() { &all[..] } else { arguments };
    let test =
        cmd!(shell, "cargo +nightly miri test --quiet {packages...} --target {target} {chosen...}");
    // The tests read files and the clock, which Miri forbids by default.
    let test = test.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    let test = test.env("RUSTFLAGS", format!("-Ctarget-feature={features}"));
    let target = workspace::target().join("miri");
    Ok(test.env("PROPTEST_CASES", CASES).env("CARGO_TARGET_DIR", target).run()?)
}
