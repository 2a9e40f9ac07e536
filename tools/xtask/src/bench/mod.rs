//! Benchmarks polyflake against other libraries, and compares its instruction counts with stored counts. Also measures how
//! much time and space ordered keys save.
//!
//! `tools/bench` contains a program for each language. Each program runs contests between entries, which are different
//! implementations of the same task. In a contest, the program times all entries alternately, and prints their times as a
//! line of JSON. This module sets up and runs the programs, evaluates the times, and prints the results. If the times do
//! not decide whether a goal is met, this module makes the program repeat the contest.

mod instructions;
mod machine;
mod ordered_keys;
mod plots;
mod programs;
mod report;
mod table;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::workspace;
use programs::Selection;
use report::Report;

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Options {
    /// Run only contests and goals whose name contains this string; names begin with `rust:`, `python:` or `node:`
    filter: Option<String>,
    /// Number of rounds in each contest; with few rounds, the results are unreliable
    #[arg(long, default_value_t = 101, value_parser = clap::value_parser!(u32).range(2..))]
    rounds: u32,
    /// Write the goals, the contests and the machine to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the plots in docs/bench
    #[arg(long)]
    plots: bool,
    /// Instead of running contests, test three properties of each library's IDs: whether they are in order, whether they
    /// are unique after forks, and whether they contain a current clock reading
    #[arg(long, conflicts_with_all = ["json", "plots", "ordered_keys", "instructions"])]
    marks: bool,
    /// Instead of running contests, count the instructions of the hot functions, and compare the counts with
    /// tools/bench/instructions.toml
    #[arg(long, conflicts_with_all = ["json", "plots", "ordered_keys"])]
    instructions: bool,
    /// With --instructions: store the counts of this run
    #[arg(long, requires = "instructions")]
    keep: bool,
    /// Instead of running contests, insert rows with our keys and rows with random keys into databases
    #[arg(long, conflicts_with = "instructions")]
    ordered_keys: bool,
    /// With --ordered-keys: number of rows
    #[arg(long, requires = "ordered_keys", default_value_t = 1_000_000)]
    rows: u32,
}

/// Runs the benchmarks that the options select. Fails if a goal is missed.
pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    let filter = options.filter.as_deref().unwrap_or_default();
    if options.instructions {
        return instructions::main(&shell, filter, options.keep);
    }
    if options.ordered_keys {
        return ordered_keys::main(&shell, options);
    }
    if options.marks {
        return print_marks(&shell, filter);
    }
    let report = run(&shell, &Selection { filter, rounds: options.rounds })?;
    if let Some(file) = &options.json {
        report.write(file)?;
    }
    if options.plots {
        plots::draw(&shell, &report)?;
    }
    table::print_goals(&report);
    ensure!(report.is_met(), "a goal is missed");
    Ok(())
}

/// Runs every comparison with the minimum number of rounds, to check that all measured functions can still be called.
pub fn rehearse(shell: &xshell::Shell) -> Result<()> {
    run(shell, &Selection { filter: "", rounds: 2 }).map(|_| ())
}

/// Prints a table of the properties that each library's IDs have.
fn print_marks(shell: &xshell::Shell, filter: &str) -> Result<()> {
    println!("| | in order | sees forks | reads the clock |\n|---|---|---|---|");
    programs::ALL
        .iter()
        .filter(|it| it.matches_filter(filter))
        .try_for_each(|it| it.print_marks(shell))
}

/// Runs every program that the filter selects.
fn run(shell: &xshell::Shell, ask: &Selection) -> Result<Report> {
    let mut report = Report::for_machine(machine::detect());
    println!("{}", report.machine);
    for program in programs::ALL.iter().filter(|program| program.matches_filter(ask.filter)) {
        program.run(shell, ask, |contest| {
            let contest = contest.with_matching_goals(ask.filter);
            table::print_comparison(&contest);
            report.contests.push(contest);
        })?;
    }
    Ok(report)
}
