//! Builds the files that a release consists of, for every platform, checks them, and runs what can run on this machine.
//!
//! An artefact is built again if its inputs have changed, and run again if it was built again, so that a run that was broken
//! off goes on where it was. Files lie in `target/artefacts/out/NAME`, results in [`results::FILE`], from which [`page`] writes
//! `docs/platforms.md`.

mod build;
mod check;
pub mod page;
pub mod platforms;
mod results;
mod roots;
mod run;
mod tools;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::Shell;

use crate::workspace;
use platforms::Platform;
use results::{Results, Row};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Only these artefacts, by name; by default all
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the artefacts and do nothing
    #[arg(long)]
    list: bool,
    /// Build and check, and run nothing
    #[arg(long)]
    build: bool,
    /// Write docs/platforms.md from the results, and do nothing else
    #[arg(long)]
    page: bool,
    /// Build from a clone in another folder too, and compare the bytes
    #[arg(long)]
    twice: bool,
}

/// A thing that a release consists of.
#[derive(Clone, Debug)]
pub struct Artefact {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Wheel(Platform, Python),
    Addon(Platform),
    /// The npm package, which has no addon.
    Npm,
    /// The source distribution of the Python package.
    Source,
    Crates,
}

/// The Pythons that need a wheel of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Python {
    /// 3.11 and all later ones.
    Stable,
    Oldest,
    FreeThreaded,
}

impl Kind {
    /// The package that is compiled, and the compiler's name of what it is compiled for.
    fn linked(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Wheel(platform, _) => Some(("polyflake-python", &platform.target)),
            Self::Addon(platform) => Some(("polyflake-node", &platform.target)),
            Self::Npm => Some(("polyflake-wasm", "wasm32-unknown-unknown")),
            Self::Source | Self::Crates => None,
        }
    }

    /// The package that users get, as registries name it, without its version.
    fn address(&self) -> String {
        match self {
            Self::Wheel(..) | Self::Source => "pkg:pypi/polyflake".to_owned(),
            Self::Addon(platform) => format!("pkg:npm/%40polyflake/addon-{}", platform.name),
            Self::Npm => "pkg:npm/polyflake".to_owned(),
            Self::Crates => "pkg:cargo/polyflake".to_owned(),
        }
    }
}

/// All artefacts, in the order in which they are built: what most people need first.
fn all() -> Result<Vec<Artefact>> {
    let platforms = platforms::all()?;
    let of = |name: String, kind| Artefact { name, kind };
    let wheels = |python: Python| {
        platforms.iter().map(move |platform| {
            let name = format!("wheel-{}{}", platform.name, python.suffix());
            of(name, Kind::Wheel(platform.clone(), python))
        })
    };
    let addons = platforms
        .iter()
        .map(|platform| of(format!("addon-{}", platform.name), Kind::Addon(platform.clone())));
    let sources = [("npm", Kind::Npm), ("sdist", Kind::Source), ("crates", Kind::Crates)];
    Ok(sources
        .into_iter()
        .map(|(name, kind)| of(name.to_owned(), kind))
        .chain(wheels(Python::Stable).zip(addons).flat_map(|(wheel, addon)| [wheel, addon]))
        .chain(wheels(Python::Oldest))
        .chain(wheels(Python::FreeThreaded))
        .collect())
}

pub fn main(options: &Options) -> Result<bool> {
    let chosen = chosen(&options.only)?;
    if options.list {
        chosen.iter().for_each(|artefact| println!("{}", artefact.name));
        return Ok(true);
    }
    if options.page {
        return page::write().map(|()| true);
    }
    let shell = tools::set_up()?;
    if options.twice {
        build::twice(&shell, &chosen)?;
        return page::write().map(|()| true);
    }
    let is_ill = |artefact: &&Artefact| !completed(&shell, artefact, options.build);
    let failed: Vec<_> = chosen.iter().filter(is_ill).collect();
    page::write()?;
    failed.iter().for_each(|artefact| println!("FAILED: {}", artefact.name));
    Ok(failed.is_empty())
}

fn chosen(only: &[String]) -> Result<Vec<Artefact>> {
    let all = all()?;
    let unknown = only.iter().find(|name| all.iter().all(|artefact| artefact.name != **name));
    if let Some(name) = unknown {
        anyhow::bail!("expected the name of an artefact (--list), found {name}");
    }
    let is_wanted = |artefact: &Artefact| only.is_empty() || only.contains(&artefact.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Builds, checks and runs an artefact as far as it has not been, and says how it went.
fn completed(shell: &Shell, artefact: &Artefact, only_build: bool) -> bool {
    println!("\n== {} ==", artefact.name);
    match complete(shell, artefact, only_build) {
        Ok(()) => true,
        Err(error) => {
            println!("FAILED: {}: {error:#}", artefact.name);
            false
        }
    }
}

fn complete(shell: &Shell, artefact: &Artefact, only_build: bool) -> Result<()> {
    let folder = folder(artefact);
    let inputs = build::inputs(shell, artefact)?;
    let kept = Results::read()?.remove(&artefact.name);
    let mut row = match kept {
        Some(row) if row.inputs == inputs && row.is_there(&folder) => row,
        kept => built(shell, artefact, inputs, kept)?,
    };
    if row.checks.is_empty() {
        row.checks = check::check(shell, artefact, &folder).context("a check failed")?;
        Results::put(&artefact.name, row.clone())?;
    }
    let tests = run::inputs(shell, artefact)?;
    if (row.runs.is_empty() || row.tests.as_ref() != Some(&tests)) && !only_build {
        let ran = run::run(shell, artefact, &folder);
        row.tests = Some(tests);
        row.fault = ran.as_ref().err().map(|error| format!("{error:#}"));
        row.runs = ran.as_ref().map_or_else(|_| Vec::new(), Vec::clone);
        Results::put(&artefact.name, row.clone())?;
        ran?;
    }
    println!("ok: {}: {}", artefact.name, row.summary());
    Ok(())
}

/// Builds an artefact. If its bytes are those of an earlier build, what ran that one still holds.
fn built(shell: &Shell, artefact: &Artefact, inputs: String, kept: Option<Row>) -> Result<Row> {
    let folder = folder(artefact);
    shell.remove_path(&folder)?;
    shell.create_dir(&folder)?;
    build::build(shell, artefact, &folder)?;
    let files = results::files(&folder)?;
    ensure!(!files.is_empty(), "expected files in {}, found none", folder.display());
    let mut row = Row::new(shell, inputs, files)?;
    if let Some(kept) = kept.filter(|kept| kept.has_files_of(&row)) {
        (row.runs, row.tests) = (kept.runs, kept.tests);
    }
    Results::put(&artefact.name, row.clone())?;
    Ok(row)
}

/// The folder of an artefact's files.
fn folder(artefact: &Artefact) -> PathBuf {
    folder_of(&artefact.name)
}

fn folder_of(name: &str) -> PathBuf {
    workspace::artefacts().join("out").join(name)
}
