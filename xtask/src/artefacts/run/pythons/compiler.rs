//! Compilers that build Python: the machine's, and zig for musl.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::Shell;

use crate::{artefacts::roots, workspace};

pub struct Compiler {
    pub cc: String,
    pub ar: String,
    /// The preprocessor, as Python's configuration calls it.
    pub cpp: String,
}

/// The machine's, for its own C library.
pub fn machine() -> Compiler {
    let [cc, ar, cpp] = ["cc", "ar", "cc -E"].map(str::to_owned);
    Compiler { cc, ar, cpp }
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
    Ok(Compiler { cpp, ar: zig("ar", "ar")?, cc })
}

/// Debian's musl for an architecture: the library, which is the loader too.
pub fn musl_loader(shell: &Shell, arch: &str) -> Result<PathBuf> {
    let root = roots::debian(shell, "trixie", arch, &["musl"])?;
    let cpu = if arch == "arm64" { "aarch64" } else { "x86_64" };
    Ok(root.join(Path::new("usr/lib").join(format!("{cpu}-linux-musl")).join("libc.so")))
}
