//! Rehearses a release, or checks whether it may be published. No function in this module uploads anything. Only continuous
//! integration publishes releases, through `.github/workflows/publish.yml`.
//!
//! A rehearsal builds and checks the files of a release, and serves them from registries on this machine. Each client then
//! installs the files into an empty project and runs them. The checksums of the files are recorded, and publishing verifies
//! them again.

mod clients;
mod files;
mod index;
mod interface;
mod jsr;
mod registries;
mod state;
mod table;
mod version;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;

use crate::{
    artefacts::{self, RunScope},
    workspace,
};
use registries::Registries;
use state::State;
use version::VERSION;

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Options {
    /// Build the files of a release, check them, and install them with every client, without uploading anything
    #[arg(long, required_unless_present = "ready")]
    dry: bool,
    /// Only check whether this commit may be published
    #[arg(long, conflicts_with = "dry")]
    ready: bool,
    /// The tag to be published, with --ready
    #[arg(long, requires = "ready")]
    tag: Option<String>,
    /// Build the artefacts for all platforms; by default, only the artefacts for this machine's platform are built
    #[arg(long, conflicts_with = "only")]
    all_platforms: bool,
    /// Build only the artefacts with these names (`cargo xtask artefacts --list`)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Run only the clients with these names; by default, all
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// Let the clients first install an earlier version and then update it; this folder contains the files of the earlier
    /// version (`target/artefacts/out` after a rehearsal of that version)
    #[arg(long, value_name = "FOLDER")]
    update_from: Option<PathBuf>,
    /// Skip the packages' tests, which take most of the time
    #[arg(long)]
    without_tests: bool,
    /// Also write the tables of results to docs/project/platforms.md, in the sections for the platforms that were built
    #[arg(long, requires = "dry")]
    page: bool,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    version::check()?;
    interface::compare(&shell)?;
    let obstacles = version::version_obstacles(&shell, options.tag.as_deref())?;
    obstacles.iter().for_each(|line| println!("before publishing: {line}"));
    if options.ready {
        ensure!(obstacles.is_empty(), "{} things must change before publishing", obstacles.len());
        return Ok(());
    }
    rehearse(options)
}

fn rehearse(options: &Options) -> Result<()> {
    clients::check_names(&options.clients)?;
    let chosen = if options.all_platforms {
        artefacts::all_artefacts()?
    } else if options.only.is_empty() {
        artefacts::local_artefacts()?
    } else {
        artefacts::select(&options.only)?
    };
    let (shell, folder) = (workspace::shell()?, workspace::target().join("dry-run"));
    shell.create_dir(&folder)?;
    let mut state = State::read(folder.join("state.json"));
    let runs = if options.without_tests { RunScope::Projects } else { RunScope::Suites };
    let built = files::build(&mut state, &chosen, runs)?;
    let registries = Registries::open(&shell, folder.join("registries"))?;
    let earlier = match &options.update_from {
        Some(folder) => Some(registries.add_earlier_version(&shell, folder)?),
        None => None,
    };
    for file in files::paths(&built) {
        registries.add(&shell, &file)?;
    }
    let hash_inputs = hash_inputs(&shell)?;
    let versions = (VERSION, earlier.as_deref());
    let mut installed =
        clients::install(&mut state, &registries, versions, &options.clients, &hash_inputs)?;
    if options.clients.is_empty() {
        installed.push(jsr::rehearse(&folder.join("jsr"))?);
    }
    files::check_sums(&shell)?;
    let all: Vec<_> =
        artefacts::all_artefacts()?.into_iter().map(|artefact| artefact.name).collect();
    let sections = table::sections(&built, &installed)?;
    if options.page {
        table::write_page(&sections)?;
    }
    let table = table::text(&all, &built, &sections);
    shell.write_file(folder.join("table.md"), &table)?;
    println!("\n{table}\nok: {VERSION} was rehearsed, and nothing was uploaded");
    Ok(())
}

/// Returns a hash of all files that the clients install and run.
fn hash_inputs(shell: &xshell::Shell) -> Result<String> {
    let sums = shell.read_file(files::sums_path())?;
    let programs = ["tests/packaging", "tests/release", "tools/xtask/src/release"];
    let programs = xshell::cmd!(shell, "git ls-files --stage -- {programs...}").quiet().read()?;
    files::hash(shell, &format!("{sums}{programs}"))
}
