//! Builds the Node addons, in the packages that npm installs for each platform.

use std::path::{Path, PathBuf};

use anyhow::Result;
use xshell::{Cmd, Shell, cmd};

use crate::{
    artefacts::{platforms::Platform, tools},
    tools as machine, workspace,
};

const CARGO_ARGS: [&str; 5] = ["--quiet", "--locked", "--release", "--package", "polyflake-node"];

/// Builds the addon and packs it. Only the tarball is kept.
pub fn build(shell: &Shell, platform: &Platform, into: &Path) -> Result<()> {
    let library = library(shell, platform)?;
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    cmd!(shell, "npm run --silent build -- texts").run()?;
    let addon = format!("{}={}", platform.name, library.display());
    Ok(cmd!(shell, "npm run --silent pack -- {into} {addon}").run()?)
}

fn library(shell: &Shell, platform: &Platform) -> Result<PathBuf> {
    let flags = tools::flags(shell, platform)?;
    let built = if platform.is_windows() {
        windows_command(shell, flags)?
    } else {
        zig_command(shell, platform, flags)
    };
    // Symbols are stripped here rather than in the Cargo profile, because the build of the wasm modules must find functions
    // by name. That build strips the symbols afterward.
    built.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").run()?;
    let folder = workspace::artefacts().join("build").join(&platform.target).join("release");
    Ok(folder.join(platform.library_file_name("polyflake_node")))
}

fn zig_command<'sh>(shell: &'sh Shell, platform: &Platform, mut flags: String) -> Cmd<'sh> {
    let target = platform.zig_target();
    let build = cmd!(shell, "cargo zigbuild {CARGO_ARGS...} --target {target}");
    if platform.is_musl() {
        flags.push_str(" -Ctarget-feature=-crt-static");
    }
    let build = match platform.min_macos_version() {
        Some(oldest) => {
            // Without this flag, the library would contain the path of its build folder.
            flags.push_str(" -Clink-arg=-Wl,-install_name,@rpath/polyflake.node");
            build.env("MACOSX_DEPLOYMENT_TARGET", oldest)
        }
        None => build,
    };
    build.env("RUSTFLAGS", flags)
}

/// Returns the command that builds the addon for Windows and links it with mingw-w64. Node's functions are resolved when
/// the addon is loaded, so an empty library replaces the library that the linker requests. The empty library is kept,
/// because cargo caches the path of its folder for later builds.
fn windows_command(shell: &Shell, flags: String) -> Result<Cmd<'_>> {
    let linker = machine::mingw(shell)?;
    let empty = workspace::artefacts().join("empty-node");
    for name in ["libnode.a", "libnode.dll"] {
        shell.write_file(empty.join(name), "!<arch>\n")?;
    }
    let target = ["--features", "napi/dyn-symbols", "--target", "x86_64-pc-windows-gnu"];
    Ok(cmd!(shell, "cargo build {CARGO_ARGS...} {target...}")
        .env("RUSTFLAGS", flags)
        .env("LIBNODE_PATH", empty)
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", linker))
}
