//! `CPython` built from its sources, with the libraries that its modules need.

use std::{
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use anyhow::{Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::{
    Interpreter,
    compiler::{self, Compiler},
};
use crate::{
    artefacts::{results, roots, run::output},
    tools,
};

/// The sources. The release of Ubuntu that they belong to keeps its files.
const SOURCES: &str =
    "http://archive.ubuntu.com/ubuntu/pool/main/p/python3.14/python3.14_3.14.4.orig.tar.xz";
const SHA256: &str = "d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8";

pub fn free_threaded(shell: &Shell) -> Result<Interpreter> {
    let program = python(shell, "glibc-free-threaded", &compiler::machine(), true)?;
    Interpreter::new(shell, program, ", free-threaded")
}

pub fn musl(shell: &Shell) -> Result<Interpreter> {
    let program = python(shell, "musl", &compiler::musl(shell)?, false)?;
    Interpreter::new(shell, program, " for musl")
}

pub fn musl_free_threaded(shell: &Shell) -> Result<Interpreter> {
    let program = python(shell, "musl-free-threaded", &compiler::musl(shell)?, true)?;
    Interpreter::new(shell, program, " for musl, free-threaded")
}

/// Builds a Python into a folder of this name, unless it was built before.
fn python(shell: &Shell, name: &str, compiler: &Compiler, free_threaded: bool) -> Result<PathBuf> {
    let prefix = roots::folder().join(format!("python-{name}"));
    let program = prefix.join(if free_threaded { "bin/python3.14t" } else { "bin/python3.14" });
    let complete = prefix.join("complete");
    if complete.exists() {
        return Ok(program);
    }
    tools::make(shell)?;
    let work = tempfile::tempdir()?;
    let (source, libraries) = (work.path().join("python"), work.path().join("libraries"));
    let archive = work.path().join("python.tar.xz");
    cmd!(shell, "curl --fail --silent --show-error --output {archive} {SOURCES}").run()?;
    let found = results::sha256(&archive)?;
    ensure!(found == SHA256, "{SOURCES}: expected the sum {SHA256}, found {found}");
    roots::unpack(shell, &archive, &source)?;
    self::libraries(shell, compiler, work.path(), &libraries)?;
    let _there = shell.push_dir(&source);
    let flags = |(name, words): (&str, &str)| {
        let libraries = libraries.display();
        [
            format!("{name}_CFLAGS=-I{libraries}/include"),
            format!("{name}_LIBS=-L{libraries}/lib {words}"),
        ]
    };
    let configure = cmd!(shell, "./configure --quiet --prefix={prefix} --with-openssl={libraries}");
    let configure = configure
        .args(["--disable-test-modules", "--without-ensurepip"])
        .args(free_threaded.then_some("--disable-gil"))
        .args(
            [("ZLIB", "-lz"), ("LIBFFI", "-lffi"), ("LIBSQLITE3", "-lsqlite3")]
                .into_iter()
                .flat_map(flags),
        )
        .env("CPP", &compiler.cpp)
        // Else it finds libraries of the machine, which are for another C library.
        .env("PKG_CONFIG_LIBDIR", libraries.join("lib/pkgconfig"));
    output(with(configure, compiler))?;
    make(shell, &[])?;
    make(shell, &["install"])?;
    shell.write_file(complete, SHA256)?;
    Ok(program)
}

/// Builds the libraries without which pip and the tests do not run, to be linked into Python's modules.
fn libraries(shell: &Shell, compiler: &Compiler, work: &Path, prefix: &Path) -> Result<()> {
    let source = |release: &str, package: &str| -> Result<PathBuf> {
        let folder = work.join(package);
        roots::sources(shell, release, package, &folder)?;
        Ok(folder)
    };
    {
        let _there = shell.push_dir(source("bookworm", "zlib")?);
        output(with(cmd!(shell, "./configure --static --prefix={prefix}"), compiler))?;
        make(shell, &["install"])?;
    }
    {
        let _there = shell.push_dir(source("bookworm", "libffi")?);
        let options =
            ["--disable-shared", "--disable-docs", "--with-pic", "--disable-multi-os-directory"];
        // zig's headers lack what it calls.
        let configure =
            cmd!(shell, "./configure --prefix={prefix} {options...} --disable-exec-static-tramp");
        output(with(configure, compiler))?;
        make(shell, &[])?;
        make(shell, &["install"])?;
    }
    {
        // Older sources of it need Tcl.
        let _there = shell.push_dir(source("forky", "sqlite3")?);
        let options = ["--disable-shared", "--disable-tcl", "--disable-readline"];
        output(with(cmd!(shell, "./configure --prefix={prefix} {options...}"), compiler))?;
        make(shell, &["lib"])?;
        make(shell, &["install-lib", "install-headers"])?;
    }
    let _there = shell.push_dir(source("bookworm", "openssl")?);
    let options = ["no-shared", "no-tests", "no-module", "--libdir=lib", "--openssldir=/etc/ssl"];
    let configure = cmd!(shell, "perl Configure linux-x86_64 {options...} --prefix={prefix}");
    output(with(configure, compiler))?;
    make(shell, &["build_libs"])?;
    make(shell, &["install_dev"])
}

/// A configuration for this compiler. Its speed does not matter.
fn with<'sh>(configure: Cmd<'sh>, compiler: &Compiler) -> Cmd<'sh> {
    configure.env("CC", &compiler.cc).env("AR", &compiler.ar).env("CFLAGS", "-O1 -fPIC")
}

fn make(shell: &Shell, goals: &[&str]) -> Result<()> {
    let jobs = available_parallelism()?.to_string();
    output(cmd!(shell, "make --jobs {jobs} {goals...}")).map(|_| ())
}
