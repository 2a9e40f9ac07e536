//! Runs the `polyflake` program. For this machine's platform, pip and npm install the program. For other platforms, the
//! program is unpacked, and runs in an emulator if necessary.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::{interpreters, output, registry::Registry};
use crate::{
    artefacts::{platforms::Platform, results, results::Run, roots},
    tools::{self, MissingTool},
};

/// This machine's platform.
const HOST_PLATFORM: &str = "linux-x64-gnu";

/// Returns a record stating that the program generated an ID and identified it.
fn run_record() -> Run {
    Run::new("the program", "makes and names IDs")
}

/// Tests the npm package that starts the program. When npm installs this package, npm also installs the program for this
/// machine.
pub fn test_launcher(shell: &Shell) -> Result<Vec<Run>> {
    if results::folders(&format!("program-{HOST_PLATFORM}"))?.is_empty() {
        return Err(MissingTool("the program is not built".into()).into());
    }
    test_with_npm(shell)?;
    Ok(vec![run_record().installed_by("npm")])
}

pub fn test_program(shell: &Shell, platform: &Platform, folder: &Path) -> Result<Vec<Run>> {
    if platform.name == HOST_PLATFORM {
        test_with_pip(shell, folder)?;
        return Ok(vec![run_record().installed_by("pip")]);
    }
    let Some((mut command, under)) = emulator_command(shell, platform)? else {
        return Ok(Vec::new());
    };
    let unpacked = tempfile::tempdir()?;
    let (into, tarball) = (unpacked.path(), file_with_extension(shell, folder, "tgz")?);
    cmd!(shell, "tar --extract --gzip --file {tarball} --directory {into}").run()?;
    let end = if platform.is_windows() { ".exe" } else { "" };
    command.push(into.join(format!("package/polyflake{end}")));
    let (first, rest) = (&command[0], &command[1..]);
    generate_and_identify(|| cmd!(shell, "{first}").args(rest))?;
    Ok(vec![run_record().under(under)])
}

/// Returns the command that runs a platform's programs here, and the emulator's name. The command is empty if the programs
/// run directly. Returns `None` if they cannot run here.
fn emulator_command(
    shell: &Shell,
    platform: &Platform,
) -> Result<Option<(Vec<PathBuf>, Option<&'static str>)>> {
    Ok(match &*platform.name {
        "linux-x64-musl" => Some((Vec::new(), None)),
        "linux-arm64-musl" => Some((vec![tools::qemu_aarch64(shell)?], Some("QEMU"))),
        "linux-arm64-gnu" => {
            let root = roots::debian(shell, "bookworm", "arm64", &interpreters::ARM64_PACKAGES)?;
            Some((vec![tools::qemu_aarch64(shell)?, "-L".into(), root], Some("QEMU")))
        }
        "win32-x64-gnu" => Some((vec![roots::wine(shell)?], Some("Wine"))),
        _ => None,
    })
}

fn file_with_extension(shell: &Shell, folder: &Path, end: &str) -> Result<PathBuf> {
    let mut files = shell.read_dir(folder)?.into_iter();
    let found = files.find(|file| file.extension().is_some_and(|found| found == end));
    found.with_context(|| format!("expected a .{end} in {}", folder.display()))
}

fn test_with_pip(shell: &Shell, folder: &Path) -> Result<()> {
    let project = tempfile::tempdir()?;
    let venv = project.path().join("venv");
    cmd!(shell, "python -m venv {venv}").run()?;
    let (inside, options) = (venv.join("bin/python"), ["--quiet", "--no-index", "--find-links"]);
    cmd!(shell, "{inside} -m pip install {options...} {folder} polyflake-cli").run()?;
    let program = venv.join("bin/polyflake");
    generate_and_identify(|| cmd!(shell, "{program}"))
}

fn test_with_npm(shell: &Shell) -> Result<()> {
    let (registry, project) = (Registry::open()?, tempfile::tempdir()?);
    let _there = shell.push_dir(project.path());
    shell.write_file("package.json", r#"{ "private": true }"#)?;
    registry.install(shell, &[], "@polyflake/cli")?;
    generate_and_identify(|| cmd!(shell, "npx --no-install polyflake"))?;
    shell.remove_path("node_modules")?;
    registry.install(shell, &["--omit=optional"], "@polyflake/cli")?;
    let output = cmd!(shell, "npx --no-install polyflake").ignore_status().output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(!output.status.success() && said.contains("is not installed"), "found {said}");
    Ok(())
}

/// Checks that the program generates an ID, identifies this ID, and fails for a string that is not an ID.
fn generate_and_identify<'sh>(program: impl Fn() -> Cmd<'sh>) -> Result<()> {
    let id = output(program().args(["new", "sno", "--metabyte", "7"]))?;
    let said = output(program().args(["inspect", "--json", id.trim()]))?;
    let first = serde_json::from_str::<serde_json::Value>(&said)?["readings"][0]["format"].clone();
    ensure!(first == "sno", "expected the program to name {id} as a sno, found {first}");
    let output = program().args(["inspect", "?"]).ignore_status().ignore_stderr().output()?;
    ensure!(output.status.code() == Some(1), "expected status 1, found {}", output.status);
    Ok(())
}
