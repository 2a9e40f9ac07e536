//! The libraries without which pip and the tests do not run, to be linked into Python's modules: Debian's sources of them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::compiler::{Compiler, make, once};
use crate::artefacts::{roots, run::output};

/// Builds them, unless they were built before, and returns their folder.
pub fn libraries(shell: &Shell, compiler: &Compiler) -> Result<PathBuf> {
    let prefix = roots::folder().join(format!("libraries-{}", compiler.libc));
    once(shell, &prefix, |work| {
        zlib(shell, compiler, work, &prefix)?;
        libffi(shell, compiler, work, &prefix)?;
        sqlite(shell, compiler, work, &prefix)?;
        openssl(shell, compiler, work, &prefix)
    })?;
    Ok(prefix)
}

fn zlib(shell: &Shell, compiler: &Compiler, work: &Path, prefix: &Path) -> Result<()> {
    let _there = shell.push_dir(roots::sources(shell, "bookworm", "zlib", work)?);
    let configure = cmd!(shell, "./configure --static --prefix={prefix}");
    output(compiler.configure(configure))?;
    make(shell, &["install"])
}

fn libffi(shell: &Shell, compiler: &Compiler, work: &Path, prefix: &Path) -> Result<()> {
    let _there = shell.push_dir(roots::sources(shell, "bookworm", "libffi", work)?);
    let options = ["--disable-shared", "--disable-docs", "--with-pic"];
    // zig's headers lack what the trampolines call, and zig knows no folders for several systems.
    let less = ["--disable-exec-static-tramp", "--disable-multi-os-directory"];
    let configure = cmd!(shell, "./configure {options...} {less...} --prefix={prefix}");
    output(compiler.configure(configure))?;
    make(shell, &[])?;
    make(shell, &["install"])
}

fn sqlite(shell: &Shell, compiler: &Compiler, work: &Path, prefix: &Path) -> Result<()> {
    // Older sources of it need Tcl.
    let _there = shell.push_dir(roots::sources(shell, "forky", "sqlite3", work)?);
    let options = ["--disable-shared", "--disable-tcl", "--disable-readline"];
    let configure = cmd!(shell, "./configure {options...} --prefix={prefix}");
    output(compiler.configure(configure))?;
    make(shell, &["lib"])?;
    make(shell, &["install-lib", "install-headers"])
}

fn openssl(shell: &Shell, compiler: &Compiler, work: &Path, prefix: &Path) -> Result<()> {
    let _there = shell.push_dir(roots::sources(shell, "bookworm", "openssl", work)?);
    let options = ["no-shared", "no-tests", "no-module", "--libdir=lib", "--openssldir=/etc/ssl"];
    let configure = cmd!(shell, "perl Configure linux-x86_64 {options...} --prefix={prefix}");
    output(compiler.configure(configure))?;
    make(shell, &["build_libs"])?;
    make(shell, &["install_dev"])
}
