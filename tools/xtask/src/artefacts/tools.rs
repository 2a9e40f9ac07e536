//! Sets up the build tools: zig as the linker for Linux and macOS, mingw-w64 for Windows, and a Python virtual environment
//! with everything else.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::{Artefact, platforms::Platform};
use crate::{build, tools, workspace};

/// Installs the tools that build the chosen artefacts. Returns a shell in which builds are reproducible: the same sources
/// produce the same bytes.
pub fn set_up(chosen: &[Artefact]) -> Result<Shell> {
    let shell = workspace::shell()?;
    tools::artefacts_python(&shell)?;
    tools::install_build_packages(&shell)?;
    let compiled = chosen.iter().filter_map(|artefact| artefact.kind.compiled_package());
    for target in compiled.map(|(_, target)| target).collect::<BTreeSet<_>>() {
        cmd!(shell, "rustup --quiet target add {target}").quiet().run()?;
    }
    shell.create_dir(workspace::artefacts().join("out"))?;
    let path = shell.var("PATH").context("expected PATH")?;
    let ours = workspace::artefacts().join("venv/bin");
    shell.set_var("PATH", format!("{}:{path}", ours.display()));
    for (name, folder) in [
        ("CARGO_TARGET_DIR", "build"),
        ("CARGO_ZIGBUILD_CACHE_DIR", "zigbuild"),
        ("ZIG_GLOBAL_CACHE_DIR", "zig"),
        ("ZIG_LOCAL_CACHE_DIR", "zig-local"),
    ] {
        shell.set_var(name, workspace::artefacts().join(folder));
    }
    Ok(shell)
}

/// Returns the compiler flags for all builds for a platform. These flags keep this machine's paths and the build time out
/// of the built files.
pub fn flags(shell: &Shell, platform: &Platform) -> Result<String> {
    let target = workspace::artefacts().join("build").display().to_string();
    let link = match &*platform.os {
        "win32" => " -Clink-arg=-Wl,--no-insert-timestamp",
        // Without this flag, the library's UUID would depend on the names of temporary files.
        "darwin" => " -Clink-arg=-Wl,-S",
        _ => "",
    };
    let paths = build::rustflags_without_local_paths(shell)?;
    Ok(format!("{paths} --remap-path-prefix={target}=/target{link}"))
}
