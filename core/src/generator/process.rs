//! The process to which a node ID, lease or window was assigned. A child process created by `fork()` must not use such a
//! value. A process restored from an image must not use it either, because another copy of the image may use it.

use crate::{Error, ErrorKind, Result, fork};

/// The process to which an explicit node, lease or window belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessGuard {
    generation: u64,
}

impl ProcessGuard {
    /// Returns a guard for this process, after preparing the process for later forks.
    pub(crate) fn this_process() -> Result<Self> {
        fork::prepare()?;
        Ok(Self { generation: fork::current() })
    }

    /// Returns a guard that is never current, as if the process had been forked or restored since then.
    #[cfg(test)]
    pub(crate) const fn never_current() -> Self {
        Self { generation: u64::MAX - 1 }
    }

    /// Returns the process generation in which the guarded value was assigned.
    #[inline]
    pub(crate) const fn generation(self) -> u64 {
        self.generation
    }

    /// Returns `forked` in any process other than the one to which the value was assigned. Call this function after the
    /// step as well, to detect a fork in the clock or in a signal handler before the step.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.generation == fork::generation() {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::Forked))
        }
    }
}
