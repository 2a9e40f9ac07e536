//! The process that something given belongs to: a child made by `fork()` must not use it.

use crate::{Error, ErrorKind, Result, fork};

/// Which process a given node, lease or window belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessGuard {
    epoch: u32,
}

impl ProcessGuard {
    /// This process, readied for forks to come.
    pub(crate) fn this_process() -> Result<Self> {
        fork::prepare()?;
        Ok(Self { epoch: fork::current() })
    }

    /// The epoch of the process.
    #[inline]
    pub(crate) const fn epoch(self) -> u32 {
        self.epoch
    }

    /// Refuses another process with `forked`. Ask after the step too: a fork in the clock, or in a signal's handler up to then, is
    /// seen.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.epoch == fork::epoch() { Ok(()) } else { Err(Error::new(ErrorKind::Forked)) }
    }
}
