//! `CPython` built from its sources.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use super::{
    Interpreter,
    compiler::{self, Compiler},
    libraries::libraries,
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
    let program = python(shell, &compiler::machine(), true)?;
    Interpreter::new(shell, program, ", free-threaded")
}

pub fn musl(shell: &Shell) -> Result<Interpreter> {
    let program = python(shell, &compiler::musl(shell)?, false)?;
    Interpreter::new(shell, program, " for musl")
}

pub fn musl_free_threaded(shell: &Shell) -> Result<Interpreter> {
    let program = python(shell, &compiler::musl(shell)?, true)?;
    Interpreter::new(shell, program, " for musl, free-threaded")
}

/// Builds a Python, unless it was built before.
fn python(shell: &Shell, compiler: &Compiler, free_threaded: bool) -> Result<PathBuf> {
    tools::make(shell)?;
    let threads = if free_threaded { "-free-threaded" } else { "" };
    let prefix = roots::folder().join(format!("python-{}{threads}", compiler.libc));
    let program = prefix.join(if free_threaded { "bin/python3.14t" } else { "bin/python3.14" });
    compiler::once(shell, &prefix, |work| {
        let libraries = libraries(shell, compiler)?;
        let (archive, source) = (work.join("python.tar.xz"), work.join("python"));
        cmd!(shell, "curl --fail --silent --show-error --output {archive} {SOURCES}").run()?;
        let found = results::sha256(&archive)?;
        ensure!(found == SHA256, "{SOURCES}: expected the sum {SHA256}, found {found}");
        roots::unpack(shell, &archive, &source)?;
        let _there = shell.push_dir(&source);
        let flags = |(name, words): (&str, &str)| {
            let there = libraries.display();
            [
                format!("{name}_CFLAGS=-I{there}/include"),
                format!("{name}_LIBS=-L{there}/lib {words}"),
            ]
        };
        let linked = [("ZLIB", "-lz"), ("LIBFFI", "-lffi"), ("LIBSQLITE3", "-lsqlite3 -lm")];
        let options = ["--quiet", "--disable-test-modules", "--without-ensurepip"];
        let configure =
            cmd!(shell, "./configure {options...} --prefix={prefix} --with-openssl={libraries}");
        let configure = configure
            .args(free_threaded.then_some("--disable-gil"))
            .args(linked.into_iter().flat_map(flags))
            .env("CPP", &compiler.cpp)
            // Else it finds libraries of the machine, which are for another C library.
            .env("PKG_CONFIG_LIBDIR", libraries.join("lib/pkgconfig"));
        output(compiler.configure(configure))?;
        compiler::make(shell, &[])?;
        compiler::make(shell, &["install"])
    })?;
    Ok(program)
}
