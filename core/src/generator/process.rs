//! Guards a node ID, lease or window against use in a process other than the one to which it was assigned. A child process
//! created by `fork()` must not use the value. Neither must a process restored from an image, because another copy of the
//! image may use the same value.

use crate::{Result, fork};

/// The reason for `forked` if an identity function returns an identity that another process may use.
pub(crate) const REPEATED_IDENTITY: &str = "expected another identity after a fork or a restore, found the one from before; \
     return an identity that differs in each process";

/// The process to which an explicit node, lease or window belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessGuard {
    generation: u64,
}

impl ProcessGuard {
    /// Returns a guard for the current process, and prepares the process for detecting later forks.
    pub(crate) fn this_process() -> Result<Self> {
        fork::prepare()?;
        Ok(Self { generation: fork::ensure_generation() })
    }

    /// Returns a guard that rejects every process, as if the process had been forked or restored after the value was
    /// assigned.
    #[cfg(test)]
    pub(crate) const fn never_current() -> Self {
        Self { generation: u64::MAX - 1 }
    }

    /// Returns the process generation in which the guarded value was assigned.
    #[inline]
    pub(crate) const fn generation(self) -> u64 {
        self.generation
    }

    /// Returns `forked` in any process other than the one to which the value was assigned. After reserving slots, call this
    /// function again to detect a fork that happened before the reservation, for example in a custom clock or a signal
    /// handler.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.generation == fork::generation() {
            Ok(())
        } else {
            Err(fork::foreign_error(self.generation))
        }
    }
}
