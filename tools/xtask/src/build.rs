//! Builds the packages that the tests and the demo load: the wheel, the npm package, and the test drivers.

use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueEnum};
use xshell::{Shell, cmd};

use crate::{tools, workspace};

#[derive(Args)]
pub struct Options {
    /// Build only these languages or parts; by default, all
    #[arg(value_name = "LANGUAGE")]
    only: Vec<Part>,
    /// Build faster, without whole-program optimization; the result is larger and slower, so do not use it for benchmarks
    /// or packaging tests
    #[arg(long)]
    dev: bool,
}

/// A component that can be built: one language's package, part of the npm package, or the conformance driver.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The Rust driver of the conformance suite
    Rust,
    /// The wheel, installed into the tests' virtual environment
    Python,
    /// The whole npm package
    Javascript,
    /// The Node addon of the npm package
    Node,
    /// The wasm modules of the npm package, and the scripts that contain them
    Wasm,
    /// Only the scripts and types of the npm package
    Typescript,
}

impl Part {
    /// The parts that are built by default, one for each language.
    pub const ALL: [Self; 3] = [Self::Rust, Self::Python, Self::Javascript];
}

/// The purpose of a build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Users,
    Developers,
}

pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    let purpose = if options.dev { Purpose::Developers } else { Purpose::Users };
    let parts = if options.only.is_empty() { &Part::ALL[..] } else { &options.only };
    parts.iter().try_for_each(|part| build(&shell, *part, purpose))
}

/// Builds the packages of all languages in the form that users install.
pub fn build_all(shell: &Shell) -> Result<()> {
    Part::ALL.into_iter().try_for_each(|part| build(shell, part, Purpose::Users))
}

/// Builds the packages that a language's tests load, and sets up the required tools.
pub fn build(shell: &Shell, part: Part, purpose: Purpose) -> Result<()> {
    match part {
        Part::Rust => Ok(cmd!(shell, "cargo build --quiet --package conformance-rust").run()?),
        Part::Python => build_python(shell, purpose),
        Part::Javascript => build_javascript(shell, purpose, &[]),
        Part::Node => build_javascript(shell, purpose, &["native"]),
        Part::Wasm => build_javascript(shell, purpose, &["wasm", "script"]),
        Part::Typescript => build_javascript(shell, purpose, &["script"]),
    }
}

/// Builds the wheel and installs it into the repository's virtual environment.
fn build_python(shell: &Shell, purpose: Purpose) -> Result<()> {
    tools::python(shell)?;
    let wheels = workspace::wheels();
    shell.remove_path(&wheels)?;
    {
        let _there = shell.push_dir(workspace::root().join("packages/python"));
        let build =
            |profile| cmd!(shell, "maturin build --quiet --profile {profile} --out {wheels}");
        match purpose {
            Purpose::Users => {
                build("release").env("RUSTFLAGS", rustflags_without_local_paths(shell)?)
            }
            Purpose::Developers => build("quick"),
        }
        .run()?;
    }
    install_wheel(shell, &workspace::python())
}

/// Returns the compiler flags that keep this machine's paths out of the built files. The flags are necessary because no
/// stable Cargo setting removes the paths in Cargo's own folder.
pub fn rustflags_without_local_paths(shell: &Shell) -> Result<String> {
    let sysroot = cmd!(shell, "rustc --print sysroot").quiet().read()?;
    let (root, cargo) = (workspace::root().display().to_string(), workspace::cargo_home()?);
    let mut folders = vec![(cargo.clone(), "/cargo"), (sysroot, "/rust"), (root, "/polyflake")];
    // Replace the path of each registry's folder separately, because the folder's name contains a hash of the registry's
    // address. Add the flags for these nested folders last, because the compiler uses the last flag that matches.
    let registries = Path::new(&cargo).join("registry/src");
    for registry in shell.read_dir(registries).unwrap_or_default() {
        folders.push((registry.display().to_string(), "/cargo"));
    }
    let flags = folders.iter().map(|(folder, name)| format!("--remap-path-prefix={folder}={name}"));
    Ok(flags.collect::<Vec<_>>().join(" "))
}

/// Installs the built wheel into the virtual environment of an interpreter.
pub fn install_wheel(shell: &Shell, python: &Path) -> Result<()> {
    let wheels = workspace::wheels();
    let options = ["--quiet", "--force-reinstall", "--no-deps", "--no-index"];
    Ok(cmd!(shell, "{python} -m pip install {options...} --find-links {wheels} polyflake").run()?)
}

/// Builds the npm package with its build script, which also installs the tools that it needs. The parts are the native
/// addon, the wasm modules, and TypeScript. An empty list means all parts.
fn build_javascript(shell: &Shell, purpose: Purpose, parts: &[&str]) -> Result<()> {
    tools::install_node_packages(shell)?;
    let _there = shell.push_dir(workspace::root().join("packages/js"));
    let dev = (purpose == Purpose::Developers).then_some("--dev");
    Ok(cmd!(shell, "npm run --silent build -- {parts...} {dev...}").run()?)
}
