//! What a kind of machine stands on: its time, and how chance gets to it.

use polyflake::{Error, ErrorKind, Result, clock::Clock, fork::partitions::FindTable};

/// The clock of a kind of machine.
pub trait Host: Clock + 'static {
    /// The system's clock.
    fn system() -> Self;

    /// Whether it is the system's clock, which calls nothing back.
    fn is_system(&self) -> bool;

    /// The table that default partitions are leased from: the one that JavaScript lent, or the machine's own where it has one and
    /// none was lent.
    fn table(is_lent: bool) -> FindTable;
}

/// Stands where generators draw: the caller provides what they are to be, before their first ID.
pub(crate) fn undrawn<T>() -> Result<T> {
    Err(Error::new(ErrorKind::EntropyUnavailable))
}
