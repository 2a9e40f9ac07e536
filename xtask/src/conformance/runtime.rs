//! The runtimes, and the code that sets up and starts the driver of each.

use std::{ffi::OsStr, process::Command};

use anyhow::Result;
use clap::ValueEnum;
use xshell::Shell;

use super::Case;
use crate::{build::Language, tools, workspace};

/// A runtime in which polyflake runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Runtime {
    Rust,
    Python,
    NodeNative,
    NodeWasm,
    Workerd,
    Chromium,
}

impl Runtime {
    pub const ALL: [Self; 6] =
        [Self::Rust, Self::Python, Self::NodeNative, Self::NodeWasm, Self::Workerd, Self::Chromium];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::NodeNative => "node-native",
            Self::NodeWasm => "node-wasm",
            Self::Workerd => "workerd",
            Self::Chromium => "chromium",
        }
    }

    /// Returns `true` if it counts texts in UTF-16 units, `false` for Unicode scalar values.
    pub const fn counts_utf16(self) -> bool {
        !matches!(self, Self::Rust | Self::Python)
    }

    /// Returns whether a case can be put to it: some values only dynamic languages can pass.
    pub fn is_asked(self, case: &Case) -> bool {
        !case.dynamic || self.language() != Language::Rust
    }

    pub const fn language(self) -> Language {
        match self {
            Self::Rust => Language::Rust,
            Self::Python => Language::Python,
            Self::NodeNative | Self::NodeWasm | Self::Workerd | Self::Chromium => {
                Language::JavaScript
            }
        }
    }

    /// Sets up the tools of this runtime; [`tools::Missing`] if the machine lacks a tool that cannot be fetched.
    pub fn set_up(self, shell: &Shell) -> Result<()> {
        match self {
            Self::Rust => Ok(()),
            Self::Python => tools::python(shell),
            Self::NodeNative | Self::NodeWasm => tools::node(shell),
            Self::Workerd => tools::workerd(shell),
            Self::Chromium => tools::node(shell).and_then(|()| tools::browser(shell)),
        }
    }

    /// The command that starts its driver, which reads a request a line and answers each with a line.
    pub fn driver(self) -> Command {
        match self {
            Self::Rust => Command::new(workspace::target().join("debug/conformance-rust")),
            Self::Python => script(workspace::python(), NO_OPTIONS, "python/driver.py"),
            Self::NodeNative => script("node", ["--conditions=native"], "js/node.mjs"),
            Self::NodeWasm => script("node", ["--conditions=wasm"], "js/node.mjs"),
            Self::Workerd => script("node", NO_OPTIONS, "js/workerd.mjs"),
            Self::Chromium => {
                let mut command = script("node", NO_OPTIONS, "js/chromium.mjs");
                command.args(tools::find_browser());
                command
            }
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
