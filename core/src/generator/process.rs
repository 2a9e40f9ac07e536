//! The process to which a node ID, lease or window was assigned. A child process created by `fork()` must not use it, and
//! neither must a process that was restored from an image, because another copy may use it.

use crate::{Error, ErrorKind, Result, fork};

/// The process to which an explicit node, lease or window belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessGuard {
    generation: u64,
}

impl ProcessGuard {
    /// This process, after it was prepared for later forks.
    pub(crate) fn this_process() -> Result<Self> {
        fork::prepare()?;
        Ok(Self { generation: fork::current() })
    }

    /// Returns a guard of a process that was forked or restored since.
    #[cfg(test)]
    pub(crate) const fn never_current() -> Self {
        Self { generation: u64::MAX - 1 }
    }

    /// Returns the generation in which the guarded value was assigned.
    #[inline]
    pub(crate) const fn generation(self) -> u64 {
        self.generation
    }

    /// Rejects any other process with `forked`. Call it also after the step, to detect a fork in the clock or in a signal
    /// handler before the step.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.generation == fork::generation() {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::Forked))
        }
    }
}
