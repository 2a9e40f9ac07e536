//! Python: an environment of the repository's own, with what `tests/requirements.txt` pins.

use std::fs;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{Missing, once, version};
use crate::workspace;

const OLDEST: (u32, u32) = (3, 10);

/// Makes the environment.
pub fn python(shell: &Shell) -> Result<()> {
    let newest =
        ["python3", "python"].into_iter().find(|program| version(shell, program) >= Some(OLDEST));
    let machine = newest.ok_or(Missing("no Python 3.10 or newer on this machine"))?;
    let (venv, python) = (workspace::venv(), workspace::python());
    let requirements = workspace::root().join("tests/requirements.txt");
    let wanted = fs::read_to_string(&requirements).context("cannot read tests/requirements.txt")?;
    once(&venv.join("requirements.txt"), &wanted, || {
        cmd!(shell, "{machine} -m venv --clear {venv}")
            .run()
            .context("on Debian, install python3-venv")?;
        cmd!(shell, "{python} -m pip install --quiet -r {requirements}").run()?;
        Ok(())
    })
}
