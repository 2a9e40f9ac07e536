//! The services that a kind of machine needs: its clock, and its source of random bytes.

use polyflake::{Error, ErrorKind, Result, clock::Clock, fork::partitions::FindTable};

/// The clock of a kind of machine.
pub trait Host: Clock + 'static {
    /// The system's clock.
    fn system() -> Self;

    /// Returns `true` for the system's clock, which never calls back into JavaScript.
    fn is_system(&self) -> bool;

    /// Finds the table from which default partitions are leased: the one that JavaScript lent, or else the machine's own if it
    /// has one.
    fn table(is_lent: bool) -> FindTable;
}

/// Takes the place of a draw of random bytes: the caller provides them before a generator's first ID.
pub(crate) fn undrawn<T>() -> Result<T> {
    Err(Error::new(ErrorKind::EntropyUnavailable))
}
