//! Provides Python interpreters and musl from Debian packages, unpacked separately from the packages installed on this
//! machine.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::{Shell, cmd};

use super::Interpreter;
use crate::{artefacts::roots, tools, workspace};

/// Returns the newest Python from Debian's upcoming release. `NumPy` also comes from Debian, because its authors do not yet
/// publish a build for that Python.
pub fn newest_python(shell: &Shell) -> Result<Interpreter> {
    let packages = ["python3.15", "python3-numpy", "libstdc++6"];
    let root = roots::debian(shell, "forky", "amd64", &packages)?;
    let (installed, program) = (root.join("usr/bin/python3.15"), root.join("usr/bin/python"));
    if !program.exists() {
        let loader = root.join("usr/lib64/ld-linux-x86-64.so.2");
        let libraries = root.join("usr/lib/x86_64-linux-gnu").display().to_string();
        let path = format!("{libraries}:{libraries}/blas:{libraries}/lapack");
        let options = ["--force-rpath", "--set-rpath", &path, "--set-interpreter"];
        cmd!(shell, "patchelf --output {program} {options...} {loader} {installed}").run()?;
    }
    let packages = Some(root.join("usr/lib/python3/dist-packages"));
    Ok(Interpreter { packages, ..Interpreter::new(shell, program, "")? })
}

/// The Debian packages for running ARM64 programs: a Python interpreter, and a library that the programs need.
pub const ARM64_PACKAGES: [&str; 2] = ["python3.11", "libstdc++6"];

/// Returns Debian's Python for ARM64, which runs in QEMU.
pub fn arm64_python(shell: &Shell) -> Result<Interpreter> {
    let (qemu, root) =
        (tools::qemu_aarch64(shell)?, roots::debian(shell, "bookworm", "arm64", &ARM64_PACKAGES)?);
    let program = root.join("usr/bin/python");
    write_emulator_script(shell, &qemu, &root, &program)?;
    let interpreter = Interpreter::new(shell, program, " for ARM64")?;
    Ok(Interpreter { under: Some("QEMU"), ..interpreter })
}

/// Writes a script that runs Python in the emulator. The script replaces the interpreter, because virtual environments link
/// to the interpreter and tests start further interpreter processes.
fn write_emulator_script(shell: &Shell, qemu: &Path, root: &Path, program: &Path) -> Result<()> {
    let (qemu, root) = (qemu.display(), root.display());
    let text = format!(
        "#!/bin/sh\nexec '{qemu}' -0 \"$0\" -L '{root}' '{root}/usr/bin/python3.11' \"$@\"\n"
    );
    workspace::write_program(shell, program, &text)
}

/// Returns the path of Debian's musl library for an architecture. The library is also the loader.
pub fn musl_loader(shell: &Shell, arch: &str) -> Result<PathBuf> {
    let root = roots::debian(shell, "trixie", arch, &["musl"])?;
    let cpu = if arch == "arm64" { "aarch64" } else { "x86_64" };
    Ok(root.join(Path::new("usr/lib").join(format!("{cpu}-linux-musl")).join("libc.so")))
}
