//! Sets up, builds and starts the runtimes for the conformance suite, which lies in `tests/conformance`.

use std::{ffi::OsStr, path::PathBuf, process::Command};

use anyhow::{Result, ensure};
use clap::Args;
use conformance_runner::Suite;
pub use conformance_runner::{Driver, Runtime};
use xshell::Shell;

use crate::{
    build::{self, Part, Purpose},
    tools::{self, Missing},
    workspace,
};

#[derive(Args)]
pub struct Options {
    /// The folder of vector files
    #[arg(long, default_value_os_t = Options::default().vectors)]
    vectors: PathBuf,
    /// A runtime to ask (may be repeated); by default all that the machine has
    #[arg(long = "runtime", value_name = "NAME")]
    runtimes: Vec<Runtime>,
    /// The seed of the random cases; by default a new one, which is printed
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
            seed: None,
            cases: 20_000,
        }
    }
}

/// Sets up, builds and runs; fails for any difference, or for a missing runtime if none may be missing.
pub fn main(options: &Options) -> Result<()> {
    let shell = workspace::shell()?;
    let ready = Ready::on_this_machine(&shell, &options.runtimes)?;
    ready.build(&shell, Purpose::Users)?;
    run(options, &ready)
}

/// Asks the runtimes; fails for any wrong answer.
pub fn run(options: &Options, ready: &Ready) -> Result<()> {
    let seed = options.seed.unwrap_or_else(|| fastrand::u64(..));
    ensure!(ready.suite().run(&options.vectors, seed, options.cases)?, "answers differ");
    ready.suffices()
}

/// The runtimes that can be asked, and `true` if they are all the wanted ones.
pub struct Ready {
    pub runtimes: Vec<Runtime>,
    complete: bool,
}

impl Ready {
    /// Sets up the wanted runtimes (none means all), and says which the machine cannot have.
    pub fn on_this_machine(shell: &Shell, wanted: &[Runtime]) -> Result<Self> {
        let wanted = if wanted.is_empty() { &Runtime::ALL } else { wanted };
        let mut runtimes = Vec::new();
        for &runtime in wanted {
            match set_up(shell, runtime) {
                Ok(()) => runtimes.push(runtime),
                Err(error) => match error.downcast::<Missing>() {
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

    /// Fails if these runtimes are not enough: in continuous integration nothing may be skipped.
    pub fn suffices(&self) -> Result<()> {
        ensure!(self.complete || !workspace::in_ci(), "a runtime is missing");
        Ok(())
    }

    /// The suite, for these runtimes.
    pub fn suite(&self) -> Suite<'_> {
        Suite { runtimes: &self.runtimes, driver }
    }
}

const fn part(runtime: Runtime) -> Part {
    match runtime {
        Runtime::Rust => Part::Rust,
        Runtime::Python => Part::Python,
        Runtime::NodeNative | Runtime::NodeWasm | Runtime::Workerd | Runtime::Chromium => {
            Part::Javascript
        }
    }
}

/// Sets up the tools of a runtime; [`Missing`] if the machine lacks a tool that cannot be fetched.
fn set_up(shell: &Shell, runtime: Runtime) -> Result<()> {
    match runtime {
        Runtime::Rust => Ok(()),
        Runtime::Python => tools::python(shell).map(drop),
        Runtime::NodeNative | Runtime::NodeWasm => tools::node(shell),
        Runtime::Workerd => tools::workerd(shell),
        Runtime::Chromium => tools::node(shell).and_then(|()| tools::browser(shell).map(drop)),
    }
}

/// The command that starts the driver of a runtime.
pub fn driver(runtime: Runtime) -> Command {
    match runtime {
        Runtime::Rust => Command::new(workspace::target().join("debug/conformance-rust")),
        Runtime::Python => script(workspace::python(), NO_OPTIONS, "python/driver.py"),
        Runtime::NodeNative => script("node", ["--conditions=native"], "js/node.mjs"),
        Runtime::NodeWasm => script("node", ["--conditions=wasm"], "js/node.mjs"),
        Runtime::Workerd => script("node", NO_OPTIONS, "js/workerd.mjs"),
        Runtime::Chromium => {
            let mut command = script("node", NO_OPTIONS, "js/chromium.mjs");
            command.args(tools::find_browser());
            command
        }
    }
}

const NO_OPTIONS: [&str; 0] = [];

/// A program that runs a script of the suite.
fn script<const N: usize>(program: impl AsRef<OsStr>, options: [&str; N], path: &str) -> Command {
    let mut command = Command::new(program);
    command.args(options).arg(workspace::root().join("tests/conformance").join(path));
    command
}
