//! Counts the instructions of the hot functions with Callgrind, and compares the counts with stored counts. Unlike measured
//! times, instruction counts contain no noise that hides regressions.
//!
//! Callgrind emulates a processor without AVX-512, so the counts cover the kernels for AVX2, the next lower instruction-set
//! level.

use std::{collections::BTreeMap, fs};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use xshell::{Shell, cmd};

use super::{machine, programs};
use crate::{tools, workspace};

/// The largest allowed ratio of a function's count to its stored count.
const TOLERANCE: f64 = 1.03;
/// The number of calls in each of the two runs. The difference between the two instruction counts excludes the program's
/// startup and shutdown.
const CALLS: [u32; 2] = [100, 1100];

const FILE: &str = "tools/bench/instructions.toml";

/// The stored counts: the instructions per call, for one architecture and one compiler.
#[derive(Serialize, Deserialize)]
struct StoredCounts {
    architecture: String,
    rust: String,
    counts: BTreeMap<String, f64>,
}

/// Fails if a function's count exceeds its stored count by more than the tolerance, or if a function has no stored count.
pub fn main(shell: &Shell, filter: &str, keep: bool) -> Result<()> {
    tools::valgrind(shell)?;
    programs::build_rust(shell)?;
    let counts = count(shell, filter)?;
    ensure!(!counts.is_empty(), "no hot function has this in its name: {filter}");
    if keep {
        return write_counts(counts);
    }
    let kept = read_counts()?;
    let here = std::env::consts::ARCH;
    ensure!(kept.architecture == here, "{FILE} is of {}, this is {here}", kept.architecture);
    let rust = machine::rust_version();
    if kept.rust != rust {
        println!(
            "kept with {}, counted with {rust}: the compiler may make a difference",
            kept.rust
        );
    }
    let well = counts.iter().map(|(name, count)| report_count(name, *count, kept.counts.get(name)));
    ensure!(well.fold(true, |all, one| all & one), "a function takes more instructions");
    Ok(())
}

fn count(shell: &Shell, filter: &str) -> Result<BTreeMap<String, f64>> {
    let program = programs::rust_program();
    let functions = cmd!(shell, "{program} functions").quiet().read()?;
    let mut counts = BTreeMap::new();
    for line in functions.lines().filter(|line| line.contains(filter)) {
        let (items, name) = line.split_once('\t').context("expected items and a name")?;
        let [few, many] = CALLS.map(|calls| instructions(shell, name, calls));
        let calls = f64::from(CALLS[1] - CALLS[0]);
        let one = (many? - few?) / calls / items.parse::<f64>()?;
        counts.insert(name.to_owned(), (one * 100.0).round() / 100.0);
    }
    Ok(counts)
}

/// Counts the instructions of the whole program for the given number of calls.
fn instructions(shell: &Shell, name: &str, calls: u32) -> Result<f64> {
    let (program, calls) = (programs::rust_program(), calls.to_string());
    let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let said =
        cmd!(shell, "valgrind {options...} {program} call {name} {calls}").quiet().read_stderr()?;
    let count = said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.with_context(|| format!("callgrind did not count {name}: {said}"))
}

fn report_count(name: &str, count: f64, kept: Option<&f64>) -> bool {
    let Some(kept) = kept else {
        println!("  NEW   {count:>10.2}             {name}: keep it with --keep");
        return false;
    };
    let verdict = match count / kept {
        more if more > TOLERANCE => "MORE ",
        less if less < 1.0 / TOLERANCE => "less ",
        _ => "ok   ",
    };
    println!("  {verdict} {count:>10.2} {kept:>10.2}  {name}");
    verdict != "MORE "
}

fn read_counts() -> Result<StoredCounts> {
    let text = fs::read_to_string(workspace::root().join(FILE))
        .with_context(|| format!("cannot read {FILE}: make it with --keep"))?;
    toml::from_str(&text).with_context(|| format!("{FILE} is not as expected"))
}

/// Stores the new counts. Functions that were not counted in this run keep their old counts.
fn write_counts(counts: BTreeMap<String, f64>) -> Result<()> {
    let mut all = read_counts().map(|kept| kept.counts).unwrap_or_default();
    all.extend(counts);
    let kept = StoredCounts {
        architecture: std::env::consts::ARCH.to_owned(),
        rust: machine::rust_version(),
        counts: all,
    };
    let text = format!(
        "# Instructions of one call, or for one item of a batch. Written by `cargo xtask bench --instructions --keep`.\n{}",
        toml::to_string(&kept)?
    );
    fs::write(workspace::root().join(FILE), text)
        .with_context(|| format!("cannot write {FILE}"))?;
    println!("kept in {FILE}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::report_count;

    #[test]
    fn only_an_increase_of_some_percent_is_a_regression() {
        assert!(report_count("same", 100.0, Some(&100.0)));
        assert!(report_count("a little more", 102.9, Some(&100.0)));
        assert!(report_count("less", 50.0, Some(&100.0)));
        assert!(!report_count("more", 103.1, Some(&100.0)));
        assert!(!report_count("new", 1.0, None));
    }
}
