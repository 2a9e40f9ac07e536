//! Runs the tests of all languages, with the fast tests first. On a fresh machine, also sets up the tools that the tests
//! need. With `--thorough`, also runs tests that are slow and rarely fail, and tests the packages with the newest versions
//! of third-party tools.

mod copies;
mod examples;
mod instruction_sets;
mod libraries;
mod mysql;
mod notices;
mod oldest_rust;
mod operate;
pub mod packaging;
mod pages;
mod progress;
pub mod readme;
pub mod rust;
mod step_process;
mod stepping;
mod steps;
pub mod tidy;
mod wasm;
mod workflows;

use std::{process::exit, time::Instant};

use anyhow::{Result, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::{tools::MissingTool, workspace};
use progress::Progress;

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Run only the steps with these names; by default, all steps that continuous integration runs
    #[arg(value_name = "STEP")]
    only: Vec<String>,
    /// Also run the slow steps, and the trials with the newest third-party tools
    #[arg(long)]
    thorough: bool,
    /// Run only the steps that can be affected by changes since this commit, including uncommitted changes
    #[arg(long, value_name = "COMMIT")]
    since: Option<String>,
    /// List the steps that would run, without running them; each is shown with the guarantee that it tests
    #[arg(long)]
    list: bool,
    /// Run the steps in this process, without a summary
    #[arg(long, hide = true)]
    alone: bool,
}

/// A part of the test run, which passes, fails or is skipped as a whole.
struct Step {
    name: String,
    /// The guarantee that the step tests, in one line.
    protects: String,
    /// The path prefixes of the files that can affect the step's result, in addition to [`steps::COMMON_PATHS`].
    reached_by: &'static [&'static [&'static str]],
    /// Whether a failure of this step makes later steps pointless.
    needed: bool,
    run: RunFn,
}

type RunFn = Box<dyn Fn(&Shell) -> Result<()>>;

impl Step {
    /// Returns whether a change to one of these files can change the step's result.
    fn is_affected_by(&self, changed: &[String]) -> bool {
        self.path_prefixes().any(|beginning| changed.iter().any(|path| path.starts_with(beginning)))
    }

    fn path_prefixes(&self) -> impl Iterator<Item = &'static str> {
        [steps::COMMON_PATHS].iter().chain(self.reached_by).copied().flatten().copied()
    }
}

/// The outcome of a step.
enum StepOutcome {
    Passed,
    Skipped,
    /// The lines that explain the failure.
    Failed(Vec<String>),
}

/// The number of steps with each result.
#[derive(Default)]
struct Count {
    passed: usize,
    /// The failed steps, and the lines that explain the failures.
    failed: Vec<(String, Vec<String>)>,
    skipped: usize,
}

pub fn main(options: &Options) -> Result<()> {
    let mut steps = select(&options.only, options.thorough || options.list)?;
    if let Some(commit) = &options.since {
        steps = select_affected(steps, &changed_paths_since(commit)?);
    }
    if options.list {
        steps.iter().for_each(|step| println!("{:28}{}", step.name, step.protects));
        return Ok(());
    }
    let failed = if options.alone {
        let shell = workspace::shell()?;
        run_all(&steps, |step| run_in_process(&shell, step)).failed
    } else {
        let mut progress = Progress::read(&steps);
        let count = run_all(&steps, |step| progress.run_step(&step.name, || run_in_child(step)));
        println!("\n{}", count.summary());
        count.failed
    };
    // Exit without printing an error, because the last line of the output must be machine-readable.
    if failed.is_empty() { Ok(()) } else { exit(1) }
}

fn select(names: &[String], thorough: bool) -> Result<Vec<Step>> {
    let mut steps = steps::all_steps()?;
    if thorough || !names.is_empty() {
        steps.extend(steps::thorough_steps()?);
    }
    let unknown = names.iter().find(|name| steps.iter().all(|step| step.name != **name));
    ensure!(unknown.is_none(), "expected the name of a step (--list), found {}", unknown.unwrap());
    steps.retain(|step| names.is_empty() || names.contains(&step.name));
    Ok(steps)
}

/// Returns the steps that changes to these files can affect, and the steps that must run before them.
fn select_affected(mut steps: Vec<Step>, changed: &[String]) -> Vec<Step> {
    let mut is_useful = false;
    steps.reverse();
    steps.retain(|step| {
        let is_wanted = if step.needed { is_useful } else { step.is_affected_by(changed) };
        is_useful |= is_wanted;
        is_wanted
    });
    steps.reverse();
    steps
}

/// Returns the files that differ from a commit, and untracked files.
fn changed_paths_since(commit: &str) -> Result<Vec<String>> {
    let shell = workspace::shell()?;
    let known = cmd!(shell, "git diff --name-only --no-renames {commit}").quiet().read()?;
    let new = cmd!(shell, "git ls-files --others --exclude-standard").quiet().read()?;
    Ok(known.lines().chain(new.lines()).map(str::to_owned).collect())
}

/// Runs a step in this process. The last line of the output reports how the step ended.
fn run_in_process(shell: &Shell, step: &Step) -> StepOutcome {
    let start = Instant::now();
    let result = (step.run)(shell);
    let seconds = start.elapsed().as_secs_f32();
    match result {
        Ok(()) => {
            println!("ok: {} ({seconds:.1} s)", step.name);
            StepOutcome::Passed
        }
        Err(error) if error.is::<MissingTool>() && !workspace::is_ci() => {
            println!("skipped: {}: {error}", step.name);
            StepOutcome::Skipped
        }
        Err(error) => {
            println!("FAILED: {} ({seconds:.1} s): {error:#}", step.name);
            StepOutcome::Failed(Vec::new())
        }
    }
}

/// Runs a step in a separate process. The last line of its output reports how the step ended.
fn run_in_child(step: &Step) -> StepOutcome {
    match step_process::run(&step.name) {
        Ok(said) if said.last.starts_with("ok: ") => StepOutcome::Passed,
        Ok(said) if said.last.starts_with("skipped: ") => StepOutcome::Skipped,
        Ok(said) => StepOutcome::Failed(said.reasons),
        Err(error) => StepOutcome::Failed(vec![format!("{error:#}")]),
    }
}

fn run_all(steps: &[Step], mut run: impl FnMut(&Step) -> StepOutcome) -> Count {
    let mut count = Count::default();
    for (index, step) in steps.iter().enumerate() {
        match run(step) {
            StepOutcome::Passed => count.passed += 1,
            StepOutcome::Skipped => count.skipped += 1,
            StepOutcome::Failed(reasons) => {
                count.failed.push((step.name.clone(), reasons));
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
    /// Returns the failed steps with the reasons for their failure, followed by a machine-readable last line.
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

    fn passing_step() -> Step {
        Step {
            name: "well".to_owned(),
            protects: String::new(),
            reached_by: &[&["core/"], &["lease/src"]],
            needed: false,
            run: Box::new(|_| Ok(())),
        }
    }

    fn failing_step() -> Step {
        Step { name: "ill".to_owned(), run: Box::new(|_| bail!("as wanted")), ..passing_step() }
    }

    fn fatal_step() -> Step {
        Step { name: "fatal".to_owned(), needed: true, ..failing_step() }
    }

    #[test]
    fn a_failed_step_does_not_stop_the_others() {
        let shell = Shell::new().unwrap();
        let count = run_all(&[passing_step(), failing_step(), passing_step()], |step| {
            run_in_process(&shell, step)
        });
        assert_eq!(count.summary(), "FAILED: ill\n2 passed, 1 failed");
    }

    #[test]
    fn the_summary_reports_the_reason() {
        let said = |_: &Step| StepOutcome::Failed(vec!["error: as wanted".to_owned()]);
        let count = run_all(&[failing_step()], said);
        assert_eq!(count.summary(), "FAILED: ill\n    error: as wanted\n0 passed, 1 failed");
    }

    #[test]
    fn a_failed_prerequisite_skips_all_later_steps() {
        let shell = Shell::new().unwrap();
        let count = run_all(&[fatal_step(), passing_step(), passing_step()], |step| {
            run_in_process(&shell, step)
        });
        assert_eq!(count.summary(), "FAILED: fatal\n0 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn unknown_steps_are_rejected() {
        assert!(select(&["tidy".to_owned()], false).is_ok_and(|steps| steps.len() == 1));
        assert!(select(&["tidi".to_owned()], false).is_err());
    }

    #[test]
    fn slow_steps_run_only_on_request() {
        let count = |thorough| select(&[], thorough).unwrap().len();
        assert_eq!(count(true), count(false) + steps::thorough_steps().unwrap().len());
    }

    #[test]
    fn a_change_selects_the_steps_that_list_its_folder() {
        for (path, reached) in
            [("core/src/lib.rs", true), ("lease/tests/model.rs", false), ("Cargo.lock", true)]
        {
            assert_eq!(passing_step().is_affected_by(&[path.to_owned()]), reached, "{path}");
        }
    }

    #[test]
    fn prerequisites_run_before_a_selected_step() {
        let names = |path: &str| -> Vec<String> {
            let steps = vec![fatal_step(), passing_step(), fatal_step()];
            select_affected(steps, &[path.to_owned()]).into_iter().map(|step| step.name).collect()
        };
        assert_eq!(names("core/src/lib.rs"), ["fatal", "well"]);
        assert_eq!(names("docs/safety.md"), [""; 0]);
    }

    /// Asserts that every listed path prefix exists. If a prefix does not exist, for example because a folder was renamed,
    /// no change would match it.
    #[test]
    fn every_listed_path_prefix_exists() {
        for step in select(&[], true).unwrap() {
            for path in step.path_prefixes() {
                let path = workspace::root().join(path);
                let folder = path.parent().unwrap().read_dir().unwrap();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let mut names = folder.map(|entry| entry.unwrap().file_name());
                let is_there =
                    names.any(|found| found.to_string_lossy().starts_with(name.as_str()));
                assert!(is_there, "{}: {}", step.name, path.display());
            }
        }
    }
}
