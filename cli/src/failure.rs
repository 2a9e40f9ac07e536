//! Failures of the program. Each failure has a stable code and a reason, and makes the program exit with status 1.

use std::{
    io::{self, Write},
    process::ExitCode,
};

/// An error's code and reason, or an exit without an error.
pub(crate) enum Failure {
    Rejected {
        code: &'static str,
        reason: String,
    },
    /// The reader of standard output has closed it, so the program exits silently.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self::Rejected { code, reason: reason.into() }
    }

    /// Prints the reason to standard error.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::ClosedPipe => ExitCode::SUCCESS,
            Self::Rejected { code, reason } => {
                let style = anstyle::AnsiColor::Red.on_default().bold();
                anstream::eprintln!("{style}error[{code}]{style:#}: {reason}");
                ExitCode::FAILURE
            }
        }
    }
}

impl From<polyflake::Error> for Failure {
    fn from(error: polyflake::Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<polyflake_lease::Error> for Failure {
    fn from(error: polyflake_lease::Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::new("io_failed", error.to_string()),
        }
    }
}

/// Writes bytes to standard output without formatting.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    Ok(io::stdout().lock().write_all(bytes)?)
}

/// Reads a file. Errors name the file.
pub(crate) fn read_file(path: &std::path::Path) -> Result<Vec<u8>, Failure> {
    let named = |error| Failure::new("io_failed", format!("{}: {error}", path.display()));
    std::fs::read(path).map_err(named)
}
