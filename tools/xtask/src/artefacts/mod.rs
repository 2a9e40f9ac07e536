//! Builds the files of a release for every platform, checks them, and runs those that can run on this machine.
//!
//! The files are written to `target/artefacts/out/NAME`.

pub mod build;
mod check;
pub mod page;
pub mod platforms;
pub mod results;
pub mod roots;
mod run;
mod sizes;
mod tools;

pub use tools::set_up;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use xshell::Shell;

use crate::workspace;
use platforms::Platform;
use results::Row;

#[derive(Args)]
pub struct Options {
    /// Build only the artefacts with these names; by default, all
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the artefacts without building them
    #[arg(long)]
    list: bool,
    /// Build and check the artefacts without running them
    #[arg(long)]
    build: bool,
    /// Also build in a clone in a different folder, and check that the bytes are the same
    #[arg(long)]
    twice: bool,
    /// Build nothing; instead, compare the sizes of the files in this folder (`target/artefacts/out`) with the sizes of
    /// other libraries, and write the comparison to docs/project/platforms.md
    #[arg(long, value_name = "FOLDER")]
    sizes: Option<PathBuf>,
}

/// The programs that are run to test an artefact after it is built and checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RunScope {
    Nothing,
    /// A user's program in an empty project. A client (pip or npm) first installs the artefact there.
    Projects,
    /// The same program as in [`Self::Projects`], and the package's tests.
    Suites,
}

/// One of the artefacts that make up a release.
#[derive(Clone, Debug)]
pub struct Artefact {
    pub name: String,
    pub kind: ArtefactKind,
}

#[derive(Clone, Debug)]
pub enum ArtefactKind {
    Wheel(Platform, Python),
    Addon(Platform),
    /// The npm package without an addon.
    Npm,
    /// The program `polyflake`, in a wheel and in the npm package for a platform.
    Program(Platform),
    /// The npm package that starts the program.
    Launcher,
    /// The source distribution of the Python package.
    Source,
    Crates,
    /// The test vectors, for other implementers.
    Vectors,
}

/// The Python versions that need separate wheels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Python {
    /// Python 3.11 and all later versions.
    Stable,
    Oldest,
    FreeThreaded,
    /// A single version of `CPython` 3, identified by its minor version. A wheel for a single version is faster than the
    /// wheel for [`Self::Stable`], and pip prefers the faster wheel.
    Only(u8),
}

impl Python {
    /// The most widely used Python versions. A separate wheel is built for each of these versions.
    const VERSIONS_WITH_OWN_WHEEL: [Self; 3] = [Self::Only(12), Self::Only(13), Self::Only(14)];
}

impl ArtefactKind {
    /// Returns the package that is compiled for this artefact, and the target triple.
    fn compiled_package(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Wheel(platform, _) => Some(("polyflake-python", &platform.target)),
            Self::Addon(platform) => Some(("polyflake-node", &platform.target)),
            Self::Npm => Some(("polyflake-wasm", "wasm32-unknown-unknown")),
            Self::Program(platform) => Some(("polyflake-cli", &platform.target)),
            Self::Launcher | Self::Source | Self::Crates | Self::Vectors => None,
        }
    }

    /// Returns the package URL (purl) of the package that users install, without a version.
    fn address(&self) -> String {
        match self {
            Self::Wheel(..) | Self::Source => "pkg:pypi/polyflake".to_owned(),
            Self::Addon(platform) => format!("pkg:npm/%40polyflake/addon-{}", platform.name),
            Self::Npm => "pkg:npm/polyflake".to_owned(),
            Self::Program(_) => "pkg:pypi/polyflake-cli".to_owned(),
            Self::Launcher => "pkg:npm/%40polyflake/cli".to_owned(),
            Self::Crates => "pkg:cargo/polyflake".to_owned(),
            Self::Vectors => "pkg:generic/polyflake-vectors".to_owned(),
        }
    }
}

/// Returns all artefacts in build order. The artefacts that most users need come first.
pub fn all_artefacts() -> Result<Vec<Artefact>> {
    let platforms = platforms::all_platforms()?;
    let of = |name: String, kind| Artefact { name, kind };
    let wheel = |platform: &Platform, python: Python| {
        let name = format!("wheel-{}{}", platform.name, python.suffix());
        of(name, ArtefactKind::Wheel(platform.clone(), python))
    };
    let wheels = |python: Python| platforms.iter().map(move |platform| wheel(platform, python));
    let faster = platforms.iter().filter(|platform| platform.has_faster_wheels);
    let faster = faster
        .flat_map(|platform| Python::VERSIONS_WITH_OWN_WHEEL.map(|python| wheel(platform, python)));
    let addons = platforms.iter().map(|platform| {
        of(format!("addon-{}", platform.name), ArtefactKind::Addon(platform.clone()))
    });
    let programs = platforms.iter().map(|platform| {
        of(format!("program-{}", platform.name), ArtefactKind::Program(platform.clone()))
    });
    let sources = [
        ("npm", ArtefactKind::Npm),
        ("sdist", ArtefactKind::Source),
        ("crates", ArtefactKind::Crates),
        ("vectors", ArtefactKind::Vectors),
    ];
    Ok(sources
        .into_iter()
        .map(|(name, kind)| of(name.to_owned(), kind))
        .chain(wheels(Python::Stable).zip(addons).flat_map(|(wheel, addon)| [wheel, addon]))
        .chain(wheels(Python::Oldest))
        .chain(wheels(Python::FreeThreaded))
        .chain(faster)
        .chain(programs)
        // The launcher comes last, because testing the launcher requires a program that was built earlier.
        .chain([of("program".to_owned(), ArtefactKind::Launcher)])
        .collect())
}

pub fn main(options: &Options) -> Result<()> {
    let chosen = select(&options.only)?;
    if options.list {
        chosen.iter().for_each(|artefact| println!("{}", artefact.name));
        return Ok(());
    }
    if let Some(folder) = &options.sizes {
        return sizes::write(folder);
    }
    let shell = set_up(&chosen)?;
    if options.twice {
        return build::build_and_compare(&shell, &chosen);
    }
    let runs = if options.build { RunScope::Nothing } else { RunScope::Suites };
    let mut failed = Vec::new();
    for artefact in chosen {
        println!("\n== {} ==", artefact.name);
        if let Err(error) = build_and_test(&shell, &artefact, runs) {
            failed.push(format!("FAILED: {}: {error:#}", artefact.name));
        }
    }
    failed.iter().for_each(|line| println!("{line}"));
    ensure!(failed.is_empty(), "{} artefacts failed", failed.len());
    Ok(())
}

pub fn select(only: &[String]) -> Result<Vec<Artefact>> {
    let all = all_artefacts()?;
    let unknown = only.iter().find(|name| all.iter().all(|artefact| artefact.name != **name));
    if let Some(name) = unknown {
        anyhow::bail!("expected the name of an artefact (--list), found {name}");
    }
    let is_wanted = |artefact: &Artefact| only.is_empty() || only.contains(&artefact.name);
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// Returns the artefacts for this machine's platform, and the platform-independent artefacts.
pub fn local_artefacts() -> Result<Vec<Artefact>> {
    let (platforms, here) = (platforms::all_platforms()?, platforms::current_platform()?);
    let is_other = |artefact: &Artefact| {
        let mut others = platforms.iter().filter(|platform| platform.name != here);
        others.any(|platform| platforms::is_for_platform(&artefact.name, &platform.name))
    };
    Ok(all_artefacts()?.into_iter().filter(|artefact| !is_other(artefact)).collect())
}

/// Builds an artefact, checks it, and runs it.
pub fn build_and_test(shell: &Shell, artefact: &Artefact, runs: RunScope) -> Result<Row> {
    let (name, folder) = (&artefact.name, folder(artefact));
    shell.remove_path(&folder)?;
    shell.create_dir(&folder)?;
    build::build(shell, artefact, &folder)?;
    let files = results::files(&folder)?;
    ensure!(!files.is_empty(), "expected files in {}, found none", folder.display());
    let checks = check::check(shell, artefact, &folder).context("a check failed")?;
    let (runs, why_not_run) = run::run(shell, artefact, &folder, runs)?;
    let row = Row { files, checks, runs, why_not_run };
    println!(
        "ok: {name}: {} bytes, {} checks, {} runs",
        row.bytes(),
        row.checks.len(),
        row.runs.len()
    );
    Ok(row)
}

/// Returns the folder that contains an artefact's files.
fn folder(artefact: &Artefact) -> PathBuf {
    output_folder(&artefact.name)
}

pub fn output_folder(name: &str) -> PathBuf {
    workspace::artefacts().join("out").join(name)
}
