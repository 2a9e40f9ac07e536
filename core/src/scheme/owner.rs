//! The process that something given belongs to: a child made by `fork()` must not use it.

use crate::{Error, ErrorKind, Result, fork};

/// Which process a given node, lease or window belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner(u32);

impl Owner {
    /// This process, readied for forks to come.
    pub(crate) fn this_process() -> Result<Self> {
        fork::prepare()?;
        Ok(Self(fork::current()))
    }

    /// Returns whether this is still the owner's process. Ask after the step: a fork in the clock, or in a signal's handler up to
    /// then, is seen.
    #[inline]
    pub(crate) fn is_here(self) -> bool {
        self.0 == fork::epoch()
    }

    /// Refuses another process than the owner's with `forked`.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(Error::new(ErrorKind::Forked)) }
    }
}
