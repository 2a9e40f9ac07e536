//! Finds the Python interpreters that test the wheels: the interpreters installed on this machine, Debian's newest Python,
//! and Debian's Python for ARM64. No registry provides a Python for musl, so the wheels for musl are built but not run.

mod debian;

pub use debian::{ARM64_PACKAGES, musl_loader};

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::{
    artefacts::{Python, platforms::Platform, roots},
    tools::{self, MissingTool},
};

/// A Python interpreter that runs on this machine.
pub struct Interpreter {
    program: PathBuf,
    /// The name and version of this Python, and its platform if that differs from the machine's.
    pub name: String,
    /// The emulator that runs this Python.
    pub under: Option<&'static str>,
    /// A folder of packages to use with this Python, because the packages' authors provide no builds for it.
    packages: Option<PathBuf>,
}

impl Interpreter {
    fn new(shell: &Shell, program: PathBuf, says: &str) -> Result<Self> {
        let said = cmd!(shell, "{program} --version").quiet().ignore_stderr().read()?;
        Ok(Self { program, name: format!("C{said}{says}"), under: None, packages: None })
    }

    /// Creates a virtual environment that contains pip in the given folder, and returns the environment's interpreter.
    pub fn environment(&self, shell: &Shell, folder: &Path) -> Result<PathBuf> {
        let (program, pip) = (&self.program, pip(shell)?);
        cmd!(shell, "{program} -m venv --without-pip --clear {folder}").run()?;
        let inside = folder.join("bin/python");
        let runs = pip.join("pip");
        cmd!(shell, "{inside} {runs} install --quiet --no-index {pip}").run()?;
        if let Some(packages) = &self.packages {
            let site = "import sysconfig; print(sysconfig.get_path('purelib'))";
            let site = cmd!(shell, "{inside} -c {site}").quiet().read()?;
            let path = Path::new(&site).join("packages.pth");
            shell.write_file(path, packages.display().to_string())?;
        }
        Ok(inside)
    }
}

/// Returns all Python interpreters on this machine that can run a wheel.
pub fn find_for_wheel(
    shell: &Shell,
    platform: &Platform,
    python: Python,
) -> Result<Vec<Interpreter>> {
    let one = |interpreter: Result<Interpreter>| Ok(vec![interpreter?]);
    match (&*platform.name, python) {
        ("linux-x64-gnu", Python::Stable) => {
            Ok(vec![oldest_stable_python(shell)?, debian::newest_python(shell)?])
        }
        ("linux-x64-gnu", Python::Oldest) => {
            one(Interpreter::new(shell, tools::oldest_python(shell)?, ""))
        }
        ("linux-arm64-gnu", Python::Stable) => one(debian::arm64_python(shell)),
        ("linux-x64-gnu", Python::Only(minor)) => find_named(shell, &format!("python3.{minor}")),
        ("linux-x64-gnu", Python::FreeThreaded) => find_named(shell, "python3.14t"),
        _ => Ok(Vec::new()),
    }
}

/// Returns the interpreter with the given name, if it is on this machine.
fn find_named(shell: &Shell, name: &str) -> Result<Vec<Interpreter>> {
    let python = tools::find_python_named(shell, name).ok();
    python.map(|python| Interpreter::new(shell, python, "")).into_iter().collect()
}

/// Returns the oldest Python on the machine that supports the stable ABI wheel.
fn oldest_stable_python(shell: &Shell) -> Result<Interpreter> {
    let names = ["python3.11", "python3.12", "python3.13", "python3.14"].map(PathBuf::from);
    let mut found = names.into_iter().filter_map(|name| Interpreter::new(shell, name, "").ok());
    found.next().ok_or_else(|| MissingTool("no Python 3.11 or later on this machine".into()).into())
}

/// Returns the path of a wheel of the newest pip. pip can run from this wheel without being installed. Older versions of
/// pip do not support the newest Python versions.
fn pip(shell: &Shell) -> Result<PathBuf> {
    let folder = roots::folder().join("pip");
    let wheel = folder.join("pip-26.3-py3-none-any.whl");
    if !wheel.exists() {
        let options = ["--quiet", "--no-deps", "--dest"];
        cmd!(shell, "python -m pip download {options...} {folder} pip==26.3").run()?;
    }
    Ok(wheel)
}
