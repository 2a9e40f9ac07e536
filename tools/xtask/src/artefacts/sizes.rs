//! Compares the sizes of a release's files with the sizes of other libraries.

use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use xshell::cmd;

use super::page;
use crate::{tools, workspace};

const INTRODUCTION: &str = "Bytes of our files for Linux on x86-64 (bold) and of the newest versions of other libraries, \
    as pip, npm and cargo download them. Our wheel, and our npm package with its addon, contain all ID formats, encryption, \
    columns and leases. The other programs do not generate IDs: they are single programs that PyPI and npm distribute in \
    the same way.";

/// Writes the tables into the platforms page.
pub fn write(folder: &Path) -> Result<()> {
    let shell = workspace::shell()?;
    let python = tools::release_python(&shell)?;
    let program = workspace::root().join("tests/artefacts/sizes.py");
    let folder = std::path::absolute(folder)?;
    let output = cmd!(shell, "{python} {program} {folder}").read()?;
    let table = output.trim_end();
    let date = Timestamp::now().strftime("%Y-%m-%d");
    let written = format!("Written by `cargo xtask artefacts --sizes` on {date}.");
    page::set_section(page::SIZES, &format!("{written} {INTRODUCTION}\n\n{table}\n"))
}
