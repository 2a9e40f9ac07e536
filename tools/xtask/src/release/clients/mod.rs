//! The clients that install the packages into empty projects, and run programs that use the packages.
//!
//! Each client downloads all packages again into its own project, so that the registries' log shows which packages the
//! client selected.

mod javascript;
mod python;
mod rust;

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

use super::{registries::Registries, state::State};
use crate::{artefacts::results::Installation, tools, workspace};

/// The address of the registries from which a client installs packages, and the version that it installs.
pub struct Source<'r> {
    pub address: &'r str,
    pub version: &'r str,
}

/// A client, which installs packages into the shell's current folder.
struct Client {
    name: &'static str,
    /// The command that prints the client's version.
    version: &'static [&'static str],
    target: Target,
}

enum Target {
    /// A project that depends on the library.
    Project(Project),
    /// The command-line program. The function installs and runs it, and returns a description of what was run.
    Program(fn(&Shell, &Source) -> Result<String>),
}

struct Project {
    /// The programs to copy into the project, relative to `tests/packaging`.
    programs: &'static [&'static str],
    create: fn(&Shell, &Source) -> Result<()>,
    /// Adds the packages to the project, or replaces their earlier version.
    add: fn(&Shell, &Source) -> Result<()>,
    /// Returns the command that runs the program with this name.
    run: for<'s> fn(&'s Shell, &Source, &str) -> Cmd<'s>,
    /// The environment in which the program runs, and the backend that the program must print.
    expected: (&'static str, &'static str),
}

const ALL: [Client; 13] = [
    Client { name: "pip", version: &["python", "-m", "pip"], target: python::PIP },
    Client { name: "uv", version: &["uv"], target: python::UV },
    Client { name: "uvx", version: &["uv"], target: Target::Program(python::uvx) },
    Client { name: "pipx", version: &["pipx"], target: Target::Program(python::pipx) },
    Client { name: "npm", version: &["npm"], target: javascript::NPM },
    Client { name: "npx", version: &["npm"], target: Target::Program(javascript::npx) },
    Client { name: "pnpm", version: &["pnpm"], target: javascript::PNPM },
    Client { name: "yarn", version: &["yarn"], target: javascript::YARN },
    Client { name: "yarn-pnp", version: &["yarn"], target: javascript::YARN_PNP },
    Client { name: "bun", version: &["bun"], target: javascript::BUN },
    Client { name: "deno", version: &["deno"], target: javascript::DENO },
    Client { name: "cargo", version: &["cargo"], target: rust::CARGO },
    Client { name: "cargo-install", version: &["cargo"], target: Target::Program(rust::install) },
];

/// Fails if any of the names is not the name of a client.
pub fn check_names(names: &[String]) -> Result<()> {
    let unknown = names.iter().find(|name| ALL.iter().all(|client| client.name != **name));
    let known = ALL.map(|client| client.name).join(", ");
    ensure!(unknown.is_none(), "expected a client ({known}), found {}", unknown.unwrap());
    Ok(())
}

/// Returns a shell whose `PATH` contains the client versions that the repository pins.
pub fn shell() -> Result<Shell> {
    let shell = workspace::shell()?;
    tools::npm_install(&shell, "tests/release")?;
    let python = tools::release_python(&shell)?;
    let ours = [
        workspace::root().join("tests/release/node_modules/.bin"),
        python.parent().context("expected a folder")?.to_owned(),
    ];
    let path = std::env::split_paths(&shell.var("PATH")?).collect::<Vec<_>>();
    shell.set_var("PATH", std::env::join_paths(ours.into_iter().chain(path))?);
    Ok(shell)
}

/// Installs the packages with the named clients, or with all clients. If the registries also serve an `earlier` version,
/// clients with a project first install that version and then update it.
pub fn install(
    state: &mut State,
    registries: &Registries,
    (version, earlier): (&str, Option<&str>),
    names: &[String],
    inputs: &str,
) -> Result<Vec<Installation>> {
    let shell = shell()?;
    let is_wanted = |client: &&Client| names.is_empty() || names.iter().any(|n| n == client.name);
    let source = Source { address: &registries.address, version };
    let one = |client: &Client| {
        let inputs = format!("{inputs} {earlier:?} {}", version_of(&shell, client.version)?);
        let step = format!("{} of {version}", client.name);
        state.run_once(
            &step,
            &inputs,
            |_| true,
            || {
                install_client(&shell, registries, &source, earlier, client)
                    .with_context(|| step.clone())
            },
        )
    };
    ALL.iter().filter(is_wanted).map(one).collect()
}

fn install_client(
    shell: &Shell,
    registries: &Registries,
    source: &Source,
    earlier: Option<&str>,
    client: &Client,
) -> Result<Installation> {
    let folder = tempfile::tempdir()?;
    let _there = shell.push_dir(folder.path());
    registries.downloads()?;
    let ran = match (&client.target, earlier) {
        (Target::Program(run), _) => run(shell, source)?,
        (Target::Project(project), None) => project.install(shell, source)?,
        (Target::Project(project), Some(version)) => {
            let earlier = Source { version, ..*source };
            project.update(shell, &earlier, source)?
        }
    };
    let packages = registries.downloads()?;
    ensure!(!packages.is_empty(), "expected downloads from the registries, found none");
    let name = format!("{} {}", client.name, version_of(shell, client.version)?);
    println!("ok: {name}: {ran}: {}", packages.join(", "));
    Ok(Installation { client: name, packages, ran })
}

impl Project {
    /// Creates the project, adds the packages, and runs the program that uses every format.
    fn install(&self, shell: &Shell, source: &Source) -> Result<String> {
        copy_files(shell, self.programs)?;
        (self.create)(shell, source)?;
        (self.add)(shell, source)?;
        self.check_every_format(shell, source)
    }

    /// Installs the earlier version and updates it. After the update, a program continues from the state that it stored
    /// before the update.
    fn update(&self, shell: &Shell, earlier: &Source, source: &Source) -> Result<String> {
        let keep = |source: &Source, expected: &str| {
            let output = (self.run)(shell, source, "keep").read()?;
            let is_expected = output.trim() == expected;
            ensure!(is_expected, "expected {expected}, found {output}");
            Ok(())
        };
        copy_files(shell, self.programs)?;
        (self.create)(shell, earlier)?;
        (self.add)(shell, earlier)?;
        keep(earlier, "stored")?;
        (self.add)(shell, source)?;
        keep(source, "continued")?;
        let uses = self.check_every_format(shell, source)?;
        Ok(format!("{uses}; state of {} is continued", earlier.version))
    }

    fn check_every_format(&self, shell: &Shell, source: &Source) -> Result<String> {
        let (environment, backend) = self.expected;
        let output = (self.run)(shell, source, "use").read()?;
        ensure!(output.trim() == backend, "expected {backend}, found {output}");
        let on = if backend.is_empty() { String::new() } else { format!(" on {backend}") };
        Ok(format!("{environment} uses every format{on}"))
    }
}

/// Returns the version that a client's command prints.
pub fn version_of(shell: &Shell, command: &[&str]) -> Result<String> {
    let (program, options) = (command[0], &command[1..]);
    let said = cmd!(shell, "{program} {options...} --version").quiet().read()?;
    let mut words = said.split_whitespace();
    let number = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    Ok(number.with_context(|| format!("expected a version, found {said}"))?.to_owned())
}

/// Copies a user's program from `tests/packaging` into the shell's current folder.
fn copy_files(shell: &Shell, files: &[&str]) -> Result<()> {
    let from = workspace::root().join("tests/packaging");
    files.iter().try_for_each(|file| {
        let name = Path::new(file).file_name().context("expected a file")?;
        Ok(fs::copy(from.join(file), shell.current_dir().join(name)).map(|_| ())?)
    })
}

/// Generates an ID with the installed program and identifies the ID.
fn generate_and_identify<'sh>(program: impl Fn() -> Cmd<'sh>) -> Result<String> {
    let id = program().args(["new", "sno", "--metabyte", "7"]).read()?;
    let said = program().args(["inspect", "--json", id.trim()]).read()?;
    let first = serde_json::from_str::<serde_json::Value>(&said)?["readings"][0]["format"].clone();
    ensure!(first == "sno", "expected the program to name {id} as a sno, found {first}");
    Ok("the program generates and names an ID".to_owned())
}
