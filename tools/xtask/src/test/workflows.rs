//! Checks the continuous integration workflows with two linters.

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::workspace;

const FOLDER: &str = ".github/workflows";

pub fn check(shell: &Shell) -> Result<()> {
    let files = &shell.read_dir(FOLDER)?;
    ensure!(!files.is_empty(), "expected workflows in {FOLDER}, found none");
    let _there = shell.push_dir(workspace::root().join("tests"));
    cmd!(shell, "node workflows.mjs {files...}").run()?;
    Ok(cmd!(shell, "zizmor --offline --quiet --persona pedantic {files...}").run()?)
}
