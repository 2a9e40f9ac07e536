//! Python: an environment of the repository's own, with the packages that `tests/requirements.txt` pins; and one for the benches.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{Missing, mariadb, once, postgresql, version};
use crate::workspace;

const OLDEST: (u32, u32) = (3, 10);

/// Makes the environment; its interpreter.
pub fn python(shell: &Shell) -> Result<PathBuf> {
    environment(shell, &workspace::venv(), "tests/requirements.txt")
}

/// Makes the environment of other people's libraries, and installs the servers that their tests start.
pub fn integrations_python(shell: &Shell) -> Result<PathBuf> {
    postgresql(shell);
    mariadb(shell);
    let venv = workspace::target().join("integrations-venv");
    environment(shell, &venv, "tests/integrations/requirements.txt")
}

/// Makes the environment of the benches.
pub fn bench_python(shell: &Shell) -> Result<PathBuf> {
    environment(shell, &workspace::bench_venv(), "bench/python/requirements.txt")
}

/// Makes the environment that artefacts are built and checked with.
pub fn artefacts_python(shell: &Shell) -> Result<PathBuf> {
    environment(shell, &workspace::artefacts().join("venv"), "tests/artefacts/requirements.txt")
}

/// The interpreter of the oldest version: on the path by its name, or where pyenv keeps it.
pub fn oldest_python(shell: &Shell) -> Result<PathBuf> {
    let name = format!("python{}.{}", OLDEST.0, OLDEST.1);
    let kept = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let kept = kept.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pyenv")));
    let versions = kept.and_then(|root| fs::read_dir(root.join("versions")).ok());
    let versions = versions.into_iter().flatten().flatten();
    let found = versions.map(|version| version.path().join("bin").join(&name));
    let mut found = std::iter::once(PathBuf::from(&name)).chain(found);
    let runs =
        |python: &PathBuf| cmd!(shell, "{python} --version").quiet().ignore_stderr().read().is_ok();
    Ok(found.find(runs).ok_or(Missing("no Python 3.10 on this machine".into()))?)
}

/// The machine's own interpreter.
pub fn any_python(shell: &Shell) -> Result<&'static str> {
    let newest =
        ["python3", "python"].into_iter().find(|program| version(shell, program) >= Some(OLDEST));
    Ok(newest.ok_or(Missing("no Python 3.10 or newer on this machine".into()))?)
}

fn environment(shell: &Shell, venv: &Path, requirements: &str) -> Result<PathBuf> {
    let machine = any_python(shell)?;
    let (python, file) = (venv.join("bin/python"), workspace::root().join(requirements));
    let wanted =
        fs::read_to_string(&file).with_context(|| format!("cannot read {requirements}"))?;
    once(&venv.join("requirements.txt"), &wanted, || {
        // An environment that works is kept, with the wheel that is installed there.
        if !python.exists() {
            cmd!(shell, "{machine} -m venv --clear {venv}")
                .run()
                .context("on Debian, install python3-venv")?;
        }
        // Python compiles what it imports, which is a small part.
        Ok(cmd!(shell, "{python} -m pip install --quiet --no-compile -r {file}").run()?)
    })?;
    Ok(python)
}
