//! Runs artefacts on this machine, natively or in an emulator for their platform.
//!
//! An artefact that cannot run here is listed as "not run", with the reason. Its checks are still performed.

mod interpreters;
mod node;
mod node_versions;
mod program;
mod python;
mod registry;
mod rust;

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use xshell::{Cmd, Shell};

use super::{Artefact, ArtefactKind, Python, RunScope, build::vectors, platforms, results::Run};
use crate::{conformance, tools::MissingTool, workspace};

/// Runs the tests and returns their output. Prints the output if the tests fail.
fn output(tests: Cmd<'_>) -> Result<String> {
    let output = tests.ignore_status().output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(anyhow!("{said}\n{errors}").context("tests failed"))
}

/// Runs an artefact with every interpreter or emulator on this machine that supports it. If no interpreter or emulator
/// supports the artefact, returns the reason. A missing program is an error only in CI, where all required programs can be
/// installed.
pub fn run(
    shell: &Shell,
    artefact: &Artefact,
    folder: &Path,
    chosen: RunScope,
) -> Result<(Vec<Run>, Option<String>)> {
    if chosen == RunScope::Nothing {
        return Ok((Vec::new(), None));
    }
    let reason = match run_with_all_runtimes(shell, artefact, folder, chosen == RunScope::Suites) {
        Err(error) if error.is::<MissingTool>() && !workspace::is_ci() => error.to_string(),
        runs => match runs? {
            runs if runs.is_empty() => skip_reason(&artefact.kind),
            runs => return Ok((runs, None)),
        },
    };
    let is_native = match &artefact.kind {
        ArtefactKind::Wheel(platform, _)
        | ArtefactKind::Addon(platform)
        | ArtefactKind::Program(platform) => platform.name == platforms::current_platform()?,
        _ => false,
    };
    // The release workflow installs every interpreter of its own platform, so that no such file is published unloaded.
    ensure!(!is_native || !workspace::is_ci(), "{} was not run: {reason}", artefact.name);
    println!("not run: {reason}");
    Ok((Vec::new(), Some(reason)))
}

/// Runs an artefact in empty projects, and runs its package's tests if `suites` is set.
fn run_with_all_runtimes(
    shell: &Shell,
    artefact: &Artefact,
    folder: &Path,
    suites: bool,
) -> Result<Vec<Run>> {
    match &artefact.kind {
        ArtefactKind::Wheel(platform, python) => {
            // Few libraries that the tests use have builds for the free-threaded Python.
            let suites = suites && *python != Python::FreeThreaded;
            python::test_wheel(shell, platform, *python, folder, suites)
        }
        ArtefactKind::Addon(platform) => node::test_addon(shell, platform, folder, suites),
        ArtefactKind::Npm => node::test_package(shell),
        ArtefactKind::Program(platform) => program::test_program(shell, platform, folder),
        ArtefactKind::Launcher => program::test_launcher(shell),
        ArtefactKind::Source if suites => python::test_source(shell, folder),
        ArtefactKind::Crates if suites => rust::test_crates(shell),
        ArtefactKind::Source | ArtefactKind::Crates => Ok(Vec::new()),
        ArtefactKind::Vectors => test_vectors(shell, folder),
    }
}

/// Judges the implementation in Perl by the unpacked vectors.
fn test_vectors(shell: &Shell, folder: &Path) -> Result<Vec<Run>> {
    let archive = shell.read_dir(folder)?.into_iter().next().context("expected an archive")?;
    let (_folder, vectors) = vectors::unpack(shell, &archive)?;
    conformance::judge(&vectors, conformance::PERL)?;
    Ok(vec![Run::new("Perl", "examples/perl/ids.pl, judged by the archive")])
}

/// Returns the reason why no program on this machine can run an artefact.
fn skip_reason(kind: &ArtefactKind) -> String {
    match kind {
        ArtefactKind::Wheel(platform, python) => {
            format!("no {} for {} here", python.description(), platform.name)
        }
        ArtefactKind::Addon(platform) => format!("no Node for {} here", platform.name),
        ArtefactKind::Program(platform) => format!("no emulator of {} here", platform.name),
        _ => "only the packages' tests run it".to_owned(),
    }
}
