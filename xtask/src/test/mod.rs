//! All tests of all languages, cheap ones first, with their tools on a fresh machine; with `--thorough`, also trials of the
//! packages with the newest versions of other people's tools.

mod apart;
mod databases;
pub mod digest;
mod examples;
mod kernels;
mod notices;
mod oldest_rust;
mod packaging;
mod pages;
mod readme;
mod sets;
mod stepping;
mod steps;
mod tidy;
mod trials;
mod workflows;

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use xshell::Shell;

use crate::{tools::Missing, workspace};

#[derive(Args)]
pub struct Options {
    /// Only these steps, by name; by default all that continuous integration runs
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// Run the trials too: the packages with the newest versions of other people's tools
    #[arg(long)]
    thorough: bool,
    /// List the steps and do nothing
    #[arg(long)]
    list: bool,
    /// Run the steps in this process, without a summary
    #[arg(long, hide = true)]
    alone: bool,
}

/// A part of the tests, which passes or fails.
struct Step {
    name: &'static str,
    /// `true` if a failure of this step makes later ones useless.
    needed: bool,
    run: fn(&Shell) -> Result<()>,
}

impl Step {
    const fn new(name: &'static str, run: fn(&Shell) -> Result<()>) -> Self {
        Self { name, needed: false, run }
    }

    /// Marks the step as needed: later ones are useless if it fails.
    const fn needed(self) -> Self {
        Self { needed: true, ..self }
    }
}

/// The end of a step.
enum End {
    Passed,
    Skipped,
    /// The lines that tell why.
    Failed(Vec<String>),
}

/// The results of the steps.
#[derive(Default)]
struct Count {
    passed: usize,
    /// The failed steps, and the lines that tell why.
    failed: Vec<(&'static str, Vec<String>)>,
    skipped: usize,
}

pub fn main(options: &Options) -> Result<bool> {
    if options.list {
        every().for_each(|step| println!("{}", step.name));
        return Ok(true);
    }
    let steps = chosen(&options.only, options.thorough)?;
    if options.alone {
        let shell = workspace::shell()?;
        return Ok(run_all(&steps, |step| here(&shell, step)).failed.is_empty());
    }
    let count = run_all(&steps, apart);
    println!("\n{}", count.summary());
    Ok(count.failed.is_empty())
}

/// The steps of every run, then the trials.
fn every() -> impl Iterator<Item = &'static Step> {
    steps::ALL.iter().chain(trials::ALL)
}

fn chosen(names: &[String], thorough: bool) -> Result<Vec<&'static Step>> {
    let unknown = names.iter().find(|name| every().all(|step| step.name != **name));
    ensure!(unknown.is_none(), "expected the name of a step (--list), found {}", unknown.unwrap());
    if names.is_empty() {
        return Ok(if thorough { every().collect() } else { steps::ALL.iter().collect() });
    }
    Ok(every().filter(|step| names.iter().any(|name| name == step.name)).collect())
}

/// Runs a step in this process. The last line that it prints says how the step ended.
fn here(shell: &Shell, step: &Step) -> End {
    println!("\n== {} ==", step.name);
    let start = Instant::now();
    let result = (step.run)(shell);
    let seconds = start.elapsed().as_secs_f32();
    match result {
        Ok(()) => {
            println!("ok: {} ({seconds:.1} s)", step.name);
            End::Passed
        }
        Err(error) if error.is::<Missing>() && !workspace::in_ci() => {
            println!("skipped: {}: {error}", step.name);
            End::Skipped
        }
        Err(error) => {
            println!("FAILED: {} ({seconds:.1} s): {error:#}", step.name);
            End::Failed(Vec::new())
        }
    }
}

/// Runs a step in a process of its own, whose last line says how it ended.
fn apart(step: &Step) -> End {
    match apart::run(step.name) {
        Ok(said) if said.last.starts_with("ok: ") => End::Passed,
        Ok(said) if said.last.starts_with("skipped: ") => End::Skipped,
        Ok(said) => End::Failed(said.reasons),
        Err(error) => End::Failed(vec![format!("{error:#}")]),
    }
}

fn run_all(steps: &[&'static Step], run: impl Fn(&Step) -> End) -> Count {
    let mut count = Count::default();
    for (index, step) in steps.iter().enumerate() {
        match run(step) {
            End::Passed => count.passed += 1,
            End::Skipped => count.skipped += 1,
            End::Failed(reasons) => {
                count.failed.push((step.name, reasons));
                if step.needed {
                    count.skipped += steps.len() - index - 1;
                    break;
                }
            }
        }
    }
    count
}

impl Count {
    /// The failed steps with the reasons, and a last line that programs can read.
    fn summary(&self) -> String {
        let failed: String = self
            .failed
            .iter()
            .flat_map(|(name, reasons)| {
                let reasons = reasons.iter().map(|line| format!("    {line}\n"));
                std::iter::once(format!("FAILED: {name}\n")).chain(reasons)
            })
            .collect();
        let skipped =
            if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{failed}{} passed, {} failed{skipped}", self.passed, self.failed.len())
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    const WELL: Step = Step::new("well", |_| Ok(()));
    const ILL: Step = Step::new("ill", |_| bail!("as wanted"));
    const FATAL: Step = Step::new("fatal", |_| bail!("as wanted")).needed();

    #[test]
    fn a_failure_is_counted_and_the_others_run() {
        let shell = Shell::new().unwrap();
        let count = run_all(&[&WELL, &ILL, &WELL], |step| here(&shell, step));
        assert_eq!(count.summary(), "FAILED: ill\n2 passed, 1 failed");
    }

    #[test]
    fn the_summary_says_why() {
        let ill = |_: &Step| End::Failed(vec!["error: as wanted".to_owned()]);
        let count = run_all(&[&ILL], ill);
        assert_eq!(count.summary(), "FAILED: ill\n    error: as wanted\n0 passed, 1 failed");
    }

    #[test]
    fn nothing_runs_after_what_all_need() {
        let shell = Shell::new().unwrap();
        let count = run_all(&[&FATAL, &WELL, &WELL], |step| here(&shell, step));
        assert_eq!(count.summary(), "FAILED: fatal\n0 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn unknown_steps_are_refused() {
        assert!(chosen(&["tidy".to_owned()], false).is_ok_and(|steps| steps.len() == 1));
        assert!(chosen(&["tidi".to_owned()], false).is_err());
    }

    #[test]
    fn trials_run_where_they_are_asked_for() {
        let count = |thorough| chosen(&[], thorough).unwrap().len();
        assert_eq!(count(true), count(false) + trials::ALL.len());
    }
}
