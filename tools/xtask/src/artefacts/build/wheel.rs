//! Builds wheels with maturin. zig links the wheels for Linux and macOS. mingw-w64 links the wheels for Windows, because a
//! library that zig links for Windows has an incorrect export.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::{
    artefacts::{Python, platforms::Platform, roots, tools},
    tools as machine, workspace,
};

impl Python {
    /// Returns the interpreter that maturin builds for. The interpreter needs to be installed only if the wheel is for this
    /// machine's platform.
    fn interpreter(self) -> String {
        match self {
            Self::Stable => "python3.11".to_owned(),
            Self::Oldest => "python3.10".to_owned(),
            Self::FreeThreaded => "python3.14t".to_owned(),
            Self::Only(minor) => format!("python3.{minor}"),
        }
    }

    /// Returns the options that pass the features to maturin, if they differ from the features in `pyproject.toml`.
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::Only(_) => &["--features", "one-version"],
            _ => &[],
        }
    }

    /// Returns a readable description of the Python versions that the wheel supports.
    pub fn description(self) -> String {
        match self {
            Self::Stable => "CPython 3.11 or later".to_owned(),
            Self::Oldest => "CPython 3.10".to_owned(),
            Self::FreeThreaded => "free-threaded CPython 3.14".to_owned(),
            Self::Only(minor) => format!("CPython 3.{minor}"),
        }
    }

    /// Returns the suffix of the artefact's name that identifies this Python.
    pub fn suffix(self) -> String {
        match self {
            Self::Stable => String::new(),
            Self::Oldest => "-cp310".to_owned(),
            Self::FreeThreaded => "-cp314t".to_owned(),
            Self::Only(minor) => format!("-cp3{minor}"),
        }
    }
}

pub fn build(shell: &Shell, platform: &Platform, python: Python, into: &Path) -> Result<()> {
    let _there = shell.push_dir(workspace::root().join("packages/python"));
    let mut flags = String::new();
    if let Some(arch) = platform.debian_arch() {
        flags = format!(" -Clink-arg={}", unwinder(shell, arch)?.display());
    }
    let interpreter = python.interpreter();
    let options = [&["--interpreter", &*interpreter][..], python.features()].concat();
    run_maturin(shell, platform, &options, &flags, into)
}

/// Builds the wheel in the shell's current folder. Adds the bill of materials to it, as PEP 770 describes.
pub fn run_maturin(
    shell: &Shell,
    platform: &Platform,
    options: &[&str],
    flags: &str,
    into: &Path,
) -> Result<()> {
    let (target, always) = (&platform.target, ["--quiet", "--release", "--locked"]);
    let bill = super::bill_of_materials_path(into);
    let build =
        cmd!(shell, "maturin build {always...} {options...} --target {target} --out {into}");
    let build = build.arg("--sbom-include").arg(bill);
    let build = if platform.is_windows() {
        build.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", machine::mingw(shell)?)
    } else if let Some(oldest) = platform.min_macos_version() {
        build.arg("--zig").env("MACOSX_DEPLOYMENT_TARGET", oldest)
    } else {
        build.args(["--zig", "--compatibility", platform.c_library()])
    };
    let flags = tools::flags(shell, platform)? + flags;
    Ok(build.env("RUSTFLAGS", flags).run()?)
}

/// Returns the path of the library that unwinds the stack. It must be linked before the unwinder that zig includes. Python
/// versions before 3.14 terminate a daemon thread with `pthread_exit`, which uses the system's library to unwind the
/// wheel's stack frames. If the wheel contains a second unwinder, the process crashes.
fn unwinder(shell: &Shell, arch: &str) -> Result<PathBuf> {
    let root = roots::debian(shell, "bookworm", arch, &["libgcc-s1"])?;
    let found = cmd!(shell, "find {root} -name libgcc_s.so.1").quiet().read()?;
    let found = found.lines().next().context("expected libgcc_s.so.1 in libgcc-s1")?;
    Ok(found.into())
}
