//! Stores of this process that are open. `SQLite` keeps the locks of a process in its memory, which a forked child has a copy of: a
//! child that was forked while a file was open would take its parent's locks for its own, so it opens none.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, ErrorKind, Result, forks};

/// The process in the upper half, and the number of its stores that are open in the lower.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// A store that counts as open until it is dropped.
#[derive(Debug)]
pub(super) struct Opened {
    process: u32,
}

impl Opened {
    /// Counts a store of this process.
    ///
    /// # Errors
    /// `lease_unavailable` in a child of a process in which a store was open.
    pub(super) fn here() -> Result<Self> {
        let process = forks::here()?;
        let next = |opened: u64| match of_word(opened) {
            (found, count) if found == process => Some(to_word(process, count + 1)),
            (_, 0) => Some(to_word(process, 1)),
            _ => None,
        };
        let counted = OPENED.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        counted.map(|_| Self { process }).map_err(|_| {
            let reason =
                "expected a process forked while no SQLite store was open, found an open one";
            Error::new(ErrorKind::LeaseUnavailable, reason)
        })
    }

    /// Refuses a child of the process that opened the store.
    pub(super) fn check(&self) -> Result<()> {
        forks::check(self.process)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if self.check().is_ok() {
            OPENED.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the word's halves")]
const fn of_word(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

const fn to_word(process: u32, count: u32) -> u64 {
    (process as u64) << 32 | count as u64
}
