//! Compilers that build Python: the machine's, and zig for musl.

use std::{
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use crate::{
    artefacts::{roots, run::output},
    workspace,
};

pub struct Compiler {
    /// The C library that it compiles for.
    pub libc: &'static str,
    cc: String,
    ar: String,
    /// The preprocessor, as Python's configuration calls it.
    pub cpp: String,
}

impl Compiler {
    /// A configuration for this compiler. The speed of what it makes does not matter.
    pub fn configure<'sh>(&self, configure: Cmd<'sh>) -> Cmd<'sh> {
        configure.env("CC", &self.cc).env("AR", &self.ar).env("CFLAGS", "-O1 -fPIC")
    }
}

/// Builds in a folder for work what is installed into another one, unless it was installed whole before.
pub fn once(shell: &Shell, prefix: &Path, build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let complete = prefix.join("complete");
    if !complete.exists() {
        build(tempfile::tempdir()?.path())?;
        shell.write_file(complete, "")?;
    }
    Ok(())
}

pub fn make(shell: &Shell, goals: &[&str]) -> Result<()> {
    let jobs = available_parallelism()?.to_string();
    output(cmd!(shell, "make --jobs {jobs} {goals...}")).map(|_| ())
}

/// The machine's, for its own C library.
pub fn machine() -> Compiler {
    let [cc, ar, cpp] = ["cc", "ar", "cc -E"].map(str::to_owned);
    Compiler { libc: "glibc", cc, ar, cpp }
}

/// zig, for musl. What it links runs here: its loader is Debian's musl.
pub fn musl(shell: &Shell) -> Result<Compiler> {
    let loader = musl_loader(shell, "amd64")?.display().to_string();
    let folder = roots::folder().join("zig");
    shell.create_dir(&folder)?;
    let python = workspace::artefacts().join("venv/bin/python");
    let zig = |name: &str, words: &str| -> Result<String> {
        let (path, python) = (folder.join(name), python.display());
        let text = format!("#!/bin/sh\nexec '{python}' -m ziglang {words} \"$@\"\n");
        roots::write_program(shell, &path, &text)?;
        Ok(path.display().to_string())
    };
    let link = format!("-dynamic -Wl,-dynamic-linker,'{loader}'");
    // Python shows when it was built, and zig takes undefined behaviour for a fault.
    let allow = "-Wno-date-time -fno-sanitize=undefined";
    let cc = zig("cc", &format!("cc -target x86_64-linux-musl {link} {allow}"))?;
    // Python tells musl from glibc by a name in musl's headers, in whose place zig has its own.
    let cpp = format!("{cc} -E -D__DEFINED_va_list");
    Ok(Compiler { libc: "musl", cpp, ar: zig("ar", "ar")?, cc })
}

/// Debian's musl for an architecture: the library, which is the loader too.
pub fn musl_loader(shell: &Shell, arch: &str) -> Result<PathBuf> {
    let root = roots::debian(shell, "trixie", arch, &["musl"])?;
    let cpu = if arch == "arm64" { "aarch64" } else { "x86_64" };
    Ok(root.join(Path::new("usr/lib").join(format!("{cpu}-linux-musl")).join("libc.so")))
}
