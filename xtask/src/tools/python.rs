//! Python: an environment of the repository's own, with what `tests/requirements.txt` pins.

use std::fs;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{once, version};
use crate::workspace;

const OLDEST: (u32, u32) = (3, 10);

/// Makes the environment; says why it can't where the machine has no Python that is new enough.
pub fn python(shell: &Shell) -> Result<(), String> {
    let machine =
        ["python3", "python"].into_iter().find(|program| version(shell, program) >= Some(OLDEST));
    let machine = machine.ok_or("no Python 3.10 or newer on this machine")?;
    make(shell, machine).map_err(|error| format!("cannot make a Python environment: {error:#}"))
}

fn make(shell: &Shell, machine: &str) -> Result<()> {
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
