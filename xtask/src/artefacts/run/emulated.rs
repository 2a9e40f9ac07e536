//! Programs for other platforms, under emulators.

use std::path::Path;

use anyhow::Result;
use xshell::Shell;

use crate::{artefacts::results::Run, tools::Missing};

pub fn python_arm64(_: &Shell, _: &Path) -> Result<Vec<Run>> {
    Err(Missing("later").into())
}
pub fn node_arm64(_: &Shell, _: &Path) -> Result<Vec<Run>> {
    Err(Missing("later").into())
}
pub fn node_musl(_: &Shell, _: &Path) -> Result<Vec<Run>> {
    Err(Missing("later").into())
}
pub fn node_windows(_: &Shell, _: &Path) -> Result<Vec<Run>> {
    Err(Missing("later").into())
}
