//! The crates, as a registry would serve them.

use std::path::Path;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::artefacts::results::{self, Run};

/// Unpacks the core's crate outside of the repository and runs its tests there.
pub fn crates(shell: &Shell, folder: &Path) -> Result<Vec<Run>> {
    let files = results::files(folder)?;
    let is_core = |name: &str| !name.starts_with("polyflake-lease");
    let core = files.iter().find(|file| is_core(&file.name)).context("expected the core's crate")?;
    let (project, archive) = (tempfile::tempdir()?, folder.join(&core.name));
    let into = project.path();
    cmd!(shell, "tar --extract --touch --gzip --file {archive} --directory {into}").run()?;
    let _there = shell.push_dir(into.join(core.name.trim_end_matches(".crate")));
    let tests = cmd!(shell, "cargo test --all-features").env_remove("CARGO_PROFILE_RELEASE_STRIP");
    let said = tests.ignore_stderr().read()?;
    let passed = said.lines().filter_map(|line| line.strip_prefix("test result: ok. "));
    let passed = passed.filter_map(|rest| rest.split_once(" passed")?.0.parse::<u32>().ok()).sum();
    let with = cmd!(shell, "rustc --version").quiet().read()?;
    let with = with.split(' ').take(2).collect::<Vec<_>>().join(" ");
    Ok(vec![Run { with, what: "unit and documentation tests of the core".to_owned(), passed }])
}
