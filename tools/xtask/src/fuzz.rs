//! Runs the fuzz targets with libFuzzer, one at a time. libFuzzer keeps inputs that reach new code, and derives further
//! inputs from them.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::{tools, workspace};

#[derive(Args)]
pub struct Options {
    /// Run only targets whose name contains this string
    #[arg(default_value = "")]
    target: String,
    /// Number of runs of each target; if a target tests strings or bytes, each run tries up to 18 strings or 32 byte
    /// sequences
    #[arg(long, default_value_t = 3_000_000)]
    runs: u64,
}

/// Runs the targets. Stops at the first target that fails, prints the input that made it fail, and stores the input in the
/// crashes folder.
pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    tools::install(&shell, &tools::BOLERO)?;
    let targets = targets(&shell)?;
    let chosen = targets.iter().filter(|target| target.contains(&options.target));
    let mut count = 0;
    for target in chosen {
        let start = Instant::now();
        fuzz(&shell, target, options.runs).with_context(|| target.clone())?;
        println!(
            "{target}: {} runs, no fault, {:.0} s",
            options.runs,
            start.elapsed().as_secs_f32()
        );
        count += 1;
    }
    ensure!(count > 0, "expected the name of a target, found {}", options.target);
    Ok(())
}

/// Returns the names of the targets, which are tests in a separate module.
fn targets(shell: &Shell) -> Result<Vec<String>> {
    let listed = cmd!(shell, "cargo test --quiet --package fuzz --lib -- --list --format terse");
    let listed = listed.quiet().read()?;
    let tests = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(tests.filter_map(|name| name.strip_prefix("targets::")).map(str::to_owned).collect())
}

/// Fuzzes one target. The option `--rustc-bootstrap` enables the compiler's instrumentation without a nightly toolchain.
/// The fuzzer stores the inputs that it finds, and the next run reuses them.
fn fuzz(shell: &Shell, target: &str, runs: u64) -> Result<()> {
    let (built, runs) = (workspace::target().join("fuzz"), runs.to_string());
    let (corpus, crashes) = (built.join("corpus").join(target), built.join("crashes").join(target));
    shell.create_dir(&corpus)?;
    shell.create_dir(&crashes)?;
    let test = cmd!(
        shell,
        "cargo bolero test targets::{target} --package fuzz --rustc-bootstrap --sanitizer NONE --runs {runs}"
    );
    let folders = ["--target-dir", "--corpus-dir", "--crashes-dir"]
        .into_iter()
        .zip([&built, &corpus, &crashes]);
    let test = folders.fold(test, |test, (name, folder)| test.arg(name).arg(folder));
    Ok(test.arg("--engine-args=-verbosity=0").quiet().run()?)
}
