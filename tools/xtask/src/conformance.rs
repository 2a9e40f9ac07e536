//! Sets up, builds and starts the runtimes for the conformance suite in `tests/conformance`.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, ensure};
use clap::Args;
use conformance_runner::Suite;
pub use conformance_runner::{Driver, Runtime};
use xshell::Shell;

use crate::{
    build::{self, Part, Purpose},
    tools::{self, MissingTool},
    workspace,
};

#[derive(Args)]
pub struct Options {
    /// The folder of vector files
    #[arg(long, default_value_os_t = Options::default().vectors)]
    vectors: PathBuf,
    /// A runtime to test (may be repeated); by default, all that this machine provides
    #[arg(long = "runtime", value_name = "NAME")]
    runtimes: Vec<Runtime>,
    /// Another implementation to judge by the vectors instead: a shell command that answers requests as tests/README.md says
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["runtimes", "seed", "cases"])]
    program: Option<String>,
    /// The seed of the random cases; by default, a new seed, which is printed
    #[arg(long)]
    seed: Option<u64>,
    /// Number of random cases
    #[arg(long, default_value_t = Options::default().cases)]
    cases: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            vectors: workspace::root().join("tests/vectors"),
            runtimes: Vec::new(),
            program: None,
            seed: None,
            cases: 20_000,
        }
    }
}

/// Sets up, builds and runs the runtimes. Fails if their answers differ, or if a runtime is missing in continuous
/// integration, where no runtime may be skipped.
pub fn main(options: &Options) -> Result<()> {
    if let Some(program) = &options.program {
        return judge(&options.vectors, program);
    }
    let shell = workspace::shell()?;
    let ready = AvailableRuntimes::prepare_runtimes(&shell, &options.runtimes)?;
    ready.build(&shell, Purpose::Users)?;
    run(options, &ready)
}

/// The command that starts the example for implementers of other languages.
pub const PERL: &str = "perl examples/perl/ids.pl";

/// Judges another implementation by the vectors, and fails if any of its answers is wrong.
pub fn judge(vectors: &Path, program: &str) -> Result<()> {
    let mut command = Command::new("sh");
    command.args(["-c", program]).current_dir(workspace::root());
    ensure!(conformance_runner::judge(vectors, command)?, "answers are wrong");
    Ok(())
}

/// Judges the example for implementers of other languages.
pub fn judge_example() -> Result<()> {
    judge(&Options::default().vectors, PERL)
}

/// Queries the runtimes and fails if any answer is wrong.
pub fn run(options: &Options, ready: &AvailableRuntimes) -> Result<()> {
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    ensure!(ready.suite().run(&options.vectors, seed, options.cases)?, "answers differ");
    ready.check_complete()
}

/// The runtimes that can be queried, and whether they include all requested runtimes.
pub struct AvailableRuntimes {
    pub runtimes: Vec<Runtime>,
    complete: bool,
}

impl AvailableRuntimes {
    /// Sets up the requested runtimes (an empty list means all), and reports those that this machine cannot provide.
    pub fn prepare_runtimes(shell: &Shell, wanted: &[Runtime]) -> Result<Self> {
        let wanted = if wanted.is_empty() { &Runtime::ALL } else { wanted };
        let mut runtimes = Vec::new();
        for &runtime in wanted {
            match set_up(shell, runtime) {
                Ok(()) => runtimes.push(runtime),
                Err(error) => match error.downcast::<MissingTool>() {
                    Ok(missing) => println!("skipped: {}: {missing}", runtime.name()),
                    Err(error) => return Err(error),
                },
            }
        }
        ensure!(!runtimes.is_empty(), "expected at least one runtime, found none on this machine");
        Ok(Self { complete: runtimes.len() == wanted.len(), runtimes })
    }

    /// Builds the packages that the runtimes load.
    pub fn build(&self, shell: &Shell, purpose: Purpose) -> Result<()> {
        let used = |wanted: &Part| self.runtimes.iter().any(|runtime| part(*runtime) == *wanted);
        Part::ALL
            .into_iter()
            .filter(used)
            .try_for_each(|language| build::build(shell, language, purpose))
    }

    /// Fails if a requested runtime is missing in continuous integration, where nothing may be skipped.
    pub fn check_complete(&self) -> Result<()> {
        ensure!(self.complete || !workspace::is_ci(), "a runtime is missing");
        Ok(())
    }

    /// Returns the conformance suite for these runtimes.
    pub fn suite(&self) -> Suite<'_> {
        Suite { runtimes: &self.runtimes, driver }
    }
}

fn part(runtime: Runtime) -> Part {
    match runtime {
        Runtime::Rust => Part::Rust,
        Runtime::Python => Part::Python,
        Runtime::NodeNative | Runtime::NodeWasm | Runtime::Workerd | Runtime::Chromium => {
            Part::Javascript
        }
        Runtime::Program => unreachable!("{PROGRAM_HINT}"),
    }
}

/// Sets up the tools for a runtime. Fails with [`MissingTool`] if the machine lacks a tool that cannot be downloaded.
fn set_up(shell: &Shell, runtime: Runtime) -> Result<()> {
    match runtime {
        Runtime::Rust => Ok(()),
        Runtime::Python => tools::python(shell).map(drop),
        Runtime::NodeNative | Runtime::NodeWasm => tools::install_node_packages(shell),
        Runtime::Workerd => tools::install_workerd(shell),
        Runtime::Chromium => {
            tools::install_node_packages(shell).and_then(|()| tools::browser(shell).map(drop))
        }
        Runtime::Program => unreachable!("{PROGRAM_HINT}"),
    }
}

/// Returns the command that starts a runtime's driver.
pub fn driver(runtime: Runtime) -> Command {
    match runtime {
        Runtime::Rust => Command::new(workspace::target().join("debug/conformance-rust")),
        Runtime::Python => script_command(workspace::python(), NO_OPTIONS, "python/driver.py"),
        Runtime::NodeNative => script_command("node", ["--conditions=native"], "js/node.mjs"),
        Runtime::NodeWasm => script_command("node", ["--conditions=wasm"], "js/node.mjs"),
        Runtime::Workerd => script_command("node", NO_OPTIONS, "js/workerd.mjs"),
        Runtime::Chromium => {
            let mut command = script_command("node", NO_OPTIONS, "js/chromium.mjs");
            command.args(tools::find_browser());
            command
        }
        Runtime::Program => unreachable!("{PROGRAM_HINT}"),
    }
}

const PROGRAM_HINT: &str = "a program is not set up and built here, but judged";

const NO_OPTIONS: [&str; 0] = [];

/// Returns a command that runs one of the suite's scripts.
fn script_command<const N: usize>(
    program: impl AsRef<OsStr>,
    options: [&str; N],
    path: &str,
) -> Command {
    let mut command = Command::new(program);
    command.args(options).arg(workspace::root().join("tests/conformance").join(path));
    command
}
