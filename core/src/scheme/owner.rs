//! The process that something given belongs to: a child made by `fork()` must not use it.

use crate::{Error, ErrorKind, Result, fork};

/// Which process a given node, lease or window belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner(u32);

impl Owner {
    /// This process, readied for forks to come.
    pub(crate) fn this_process() -> Self {
        fork::prepare();
        Self(fork::epoch())
    }

    /// Whether this is still the owner's process. Ask after the clock was read, whose callback may have forked.
    #[inline]
    pub(crate) fn check(self) -> Result<()> {
        if self.0 == fork::epoch() { Ok(()) } else { Err(Error::new(ErrorKind::Forked)) }
    }
}
