//! Tests with clocks that jump. A preloaded library controls each process's time.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::server::required::find_or_skip;

/// Returns the path of the library, whose folder differs between distributions. If the library is missing, returns `None`,
/// or panics if tests must not be skipped.
pub fn library() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let deeper = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let deeper: Vec<_> = deeper.map(|entry| entry.path()).collect();
    let places = folders.iter().chain(&deeper).map(|it| it.join("faketime/libfaketime.so.1"));
    let found = places.into_iter().find(|library| library.is_file());
    find_or_skip("libfaketime", found)
}

/// A simulated clock for one slot of the test. The slot's processes run one after another and share this clock.
pub struct Clock {
    file: PathBuf,
    library: Option<PathBuf>,
}

impl Clock {
    pub fn new(folder: &Path, place: usize) -> Self {
        let clock = Self { file: folder.join(format!("{place}.time")), library: library() };
        clock.set(0);
        clock
    }

    /// Makes a program read this clock instead of the system clock. Monotonic clocks are not affected.
    pub fn apply_to(&self, program: &mut Command) {
        if let Some(library) = &self.library {
            program.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", &self.file);
            program.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            program.env("NO_FAKE_STAT", "1");
        }
    }

    pub fn steps(&self) -> bool {
        self.library.is_some()
    }

    /// Sets the difference between this clock and the system clock, in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "twenty years in milliseconds fit")]
    pub fn set(&self, ms: i64) {
        let beside = self.file.with_extension("new");
        fs::write(&beside, format!("{:+.3}\n", ms as f64 / 1000.0)).unwrap();
        fs::rename(beside, &self.file).unwrap();
    }
}
