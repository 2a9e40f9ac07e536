//! The runtimes in which polyflake runs.

use clap::ValueEnum;

use super::Case;

/// A runtime in which polyflake runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "their names say it")]
pub enum Runtime {
    Rust,
    Python,
    NodeNative,
    NodeWasm,
    Workerd,
    Chromium,
    /// Another implementation, which counts characters in Unicode scalar values.
    #[value(skip)]
    Program,
}

impl Runtime {
    /// All runtimes in which polyflake runs.
    pub const ALL: [Self; 6] =
        [Self::Rust, Self::Python, Self::NodeNative, Self::NodeWasm, Self::Workerd, Self::Chromium];

    /// Returns the runtime's name, as used on the command line and in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::NodeNative => "node-native",
            Self::NodeWasm => "node-wasm",
            Self::Workerd => "workerd",
            Self::Chromium => "chromium",
            Self::Program => "program",
        }
    }

    /// Returns `true` if the runtime measures strings in UTF-16 code units, and `false` if it counts Unicode scalar values.
    pub(crate) const fn counts_utf16(self) -> bool {
        !matches!(self, Self::Rust | Self::Python | Self::Program)
    }

    /// Returns whether the runtime can run a case. Some values can be passed only by dynamically typed languages.
    pub(crate) fn can_run(self, case: &Case) -> bool {
        !case.dynamic || !matches!(self, Self::Rust | Self::Program)
    }
}
