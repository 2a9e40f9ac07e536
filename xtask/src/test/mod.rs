//! All tests of all languages, cheap ones first, with what they need on a fresh machine.

mod kernels;
mod notices;
mod packaging;
mod readme;
mod stepping;
mod steps;
mod tidy;

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use xshell::Shell;

use crate::{tools::Missing, workspace};

#[derive(Args)]
pub struct Options {
    /// Only these steps, by name; by default all
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// List the steps and do nothing
    #[arg(long)]
    list: bool,
}

/// A part of the tests, which passes or does not.
struct Step {
    name: &'static str,
    /// Whether later steps are of no use when this one fails.
    needed: bool,
    run: fn(&Shell) -> Result<()>,
}

/// How the steps ended.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: Vec<&'static str>,
    skipped: usize,
}

pub fn main(options: &Options) -> Result<bool> {
    if options.list {
        steps::ALL.iter().for_each(|step| println!("{}", step.name));
        return Ok(true);
    }
    let steps = chosen(&options.only)?;
    let count = run_all(&workspace::shell()?, &steps);
    println!("\n{}", count.summary());
    Ok(count.failed.is_empty())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Step>> {
    let unknown = names.iter().find(|name| steps::ALL.iter().all(|step| step.name != **name));
    ensure!(unknown.is_none(), "expected the name of a step (--list), found {}", unknown.unwrap());
    let wanted = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(steps::ALL.iter().filter(wanted).collect())
}

fn run_all(shell: &Shell, steps: &[&'static Step]) -> Count {
    let mut count = Count::default();
    for (index, step) in steps.iter().enumerate() {
        println!("\n== {} ==", step.name);
        let start = Instant::now();
        let result = (step.run)(shell);
        let seconds = start.elapsed().as_secs_f32();
        match result {
            Ok(()) => {
                count.passed += 1;
                println!("ok: {} ({seconds:.1} s)", step.name);
            }
            Err(error) if error.is::<Missing>() && !workspace::in_ci() => {
                count.skipped += 1;
                println!("skipped: {}: {error}", step.name);
            }
            Err(error) => {
                count.failed.push(step.name);
                println!("FAILED: {} ({seconds:.1} s): {error:#}", step.name);
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
    /// What went wrong, and a last line that programs can read.
    fn summary(&self) -> String {
        let failed: String = self.failed.iter().flat_map(|name| ["FAILED: ", name, "\n"]).collect();
        let skipped =
            if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{failed}{} passed, {} failed{skipped}", self.passed, self.failed.len())
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    const WELL: Step = Step { name: "well", needed: false, run: |_| Ok(()) };
    const ILL: Step = Step { name: "ill", needed: false, run: |_| bail!("as wanted") };
    const FATAL: Step = Step { name: "fatal", needed: true, run: |_| bail!("as wanted") };

    #[test]
    fn a_failure_is_counted_and_the_others_run() {
        let count = run_all(&Shell::new().unwrap(), &[&WELL, &ILL, &WELL]);
        assert_eq!(count.summary(), "FAILED: ill\n2 passed, 1 failed");
    }

    #[test]
    fn nothing_runs_after_what_all_need() {
        let count = run_all(&Shell::new().unwrap(), &[&FATAL, &WELL, &WELL]);
        assert_eq!(count.summary(), "FAILED: fatal\n0 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn unknown_steps_are_refused() {
        assert!(chosen(&["tidy".to_owned()]).is_ok_and(|steps| steps.len() == 1));
        assert!(chosen(&["tidi".to_owned()]).is_err());
    }
}
