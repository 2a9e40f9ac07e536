//! Runs artefacts on this machine, natively or in an emulator for their platform.
//!
//! An artefact that cannot run here is listed as "built, not run", and only its checks are known.

mod node;
mod nodes;
mod program;
mod python;
mod pythons;
mod registry;
mod rust;

use std::path::Path;

use anyhow::{Result, anyhow};
use xshell::{Cmd, Shell};

use super::{Artefact, ArtefactKind, results::Run};
use crate::{tools::MissingTool, workspace};

/// Returns the tests' output, and shows it if they fail.
fn output(tests: Cmd<'_>) -> Result<String> {
    let output = tests.ignore_status().output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(anyhow!("{said}\n{errors}").context("tests failed"))
}

/// Runs an artefact with every suitable program on this machine. Missing programs are reported. They count as a fault only in
/// CI, where they can be installed.
pub fn run(shell: &Shell, artefact: &Artefact, folder: &Path) -> Result<Vec<Run>> {
    let runs = match &artefact.kind {
        ArtefactKind::Wheel(platform, python) => python::wheel(shell, platform, *python, folder),
        ArtefactKind::Addon(platform) => node::addon(shell, platform, folder),
        ArtefactKind::Npm => node::package(shell),
        ArtefactKind::Program(platform) => program::run(shell, platform, folder),
        ArtefactKind::Launcher => program::launcher(shell),
        ArtefactKind::Source => python::source(shell, folder),
        ArtefactKind::Crates => rust::crates(shell),
    };
    let runs = match runs {
        Err(error) if error.is::<MissingTool>() && !workspace::in_ci() => {
            println!("not run: {error}");
            Vec::new()
        }
        runs => runs?,
    };
    if runs.is_empty() {
        println!("not run: nothing here loads it");
    }
    Ok(runs)
}
