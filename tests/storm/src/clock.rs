//! A simulated wall clock. With libfaketime, processes read this clock instead of the machine's wall clock. The monotonic
//! clock of these processes is unchanged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

/// A wall clock whose offset from the machine's clock is stored in a file.
pub struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Clock {
    /// Creates a clock without an offset, and stores its file in `folder`.
    pub fn new(folder: &Path) -> Result<Self> {
        let library = library().context("libfaketime is not installed")?;
        let clock = Self { library, file: folder.join("clock") };
        clock.set(0.0)?;
        Ok(clock)
    }

    /// Configures `command` so that the process that it starts reads this clock.
    pub fn apply_to(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_TIMESTAMP_FILE", &self.file);
        command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }

    /// Sets the clock's offset. The change takes effect immediately in all processes that read this clock.
    pub fn set(&self, seconds: f64) -> Result<()> {
        let beside = self.file.with_extension("new");
        fs::write(&beside, format!("{seconds:+.3}\n"))?;
        Ok(fs::rename(beside, &self.file)?)
    }
}

/// Returns whether libfaketime is installed on this machine.
#[must_use]
pub fn is_available() -> bool {
    library().is_some()
}

/// Finds libfaketime in the usual folders. Some distributions have a separate folder for each architecture.
fn library() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let deeper = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let deeper: Vec<_> = deeper.map(|entry| entry.path()).collect();
    let mut places =
        folders.iter().chain(&deeper).map(|folder| folder.join("faketime/libfaketime.so.1"));
    places.find(|library| library.is_file())
}
