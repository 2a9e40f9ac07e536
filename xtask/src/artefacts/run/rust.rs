//! The crates, as a registry would serve them.

use std::path::Path;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use super::output;
use crate::{
    artefacts::{
        results::{self, Run},
        roots,
    },
    tools::{self, Missing},
    workspace,
};

/// Unpacks the core's crate outside of the repository and runs its tests there.
pub fn crates(shell: &Shell, folder: &Path) -> Result<Vec<Run>> {
    let files = results::files(folder)?;
    let is_core = |name: &str| {
        name.strip_prefix("polyflake-")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let core =
        files.iter().find(|file| is_core(&file.name)).context("expected the core's crate")?;
    let (project, archive) = (tempfile::tempdir()?, folder.join(&core.name));
    let into = project.path();
    cmd!(shell, "tar --extract --touch --gzip --file {archive} --directory {into}").run()?;
    let _there = shell.push_dir(into.join(core.name.trim_end_matches(".crate")));
    output(cmd!(shell, "cargo test --all-features"))?;
    let with = compiler(shell)?;
    let what = "unit and documentation tests of the core's crate".to_owned();
    let here = Run { with, under: None, what };
    match windows(shell) {
        Ok(run) => Ok(vec![here, run]),
        Err(error) if error.is::<Missing>() => Ok(vec![here]),
        Err(error) => Err(error),
    }
}

/// The core's tests on Windows, under Wine.
fn windows(shell: &Shell) -> Result<Run> {
    let wine = roots::wine(shell)?;
    let _there = shell.push_dir(workspace::root());
    let chosen = ["--package", "polyflake", "--all-features", "--lib", "--tests"];
    let tests = cmd!(shell, "cargo test {chosen...} --target x86_64-pc-windows-gnu");
    let tests = tests
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", tools::MINGW)
        .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", wine);
    output(tests)?;
    let with = format!("{} for Windows", compiler(shell)?);
    Ok(Run { with, under: Some("Wine".to_owned()), what: "the core's tests".to_owned() })
}

fn compiler(shell: &Shell) -> Result<String> {
    let said = cmd!(shell, "rustc --version").quiet().read()?;
    Ok(said.split(' ').take(2).collect::<Vec<_>>().join(" "))
}
