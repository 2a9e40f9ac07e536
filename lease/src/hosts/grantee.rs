//! The interface between a lease and its generator.

use crate::{Grant, Result};

/// The owner of a lease's generator. Each grant gets a new generator: its number, its window and its state are one object,
/// made for the grant and dropped with it.
pub trait Grantee {
    /// Seals the current generator, and replaces it by one that uses nothing outside `grant`, and no tick before the last one of
    /// the generator that it replaces.
    ///
    /// # Errors
    /// The reason why the generator cannot be made.
    fn begin(&self, grant: Grant) -> Result<()>;

    /// Moves the end of the generator's window to a later time, in Unix milliseconds. An earlier time changes nothing.
    fn extend(&self, end: u64);

    /// Ends the generator for good, and returns the end of the highest tick that it ever reserved, handed out or not. This is one
    /// atomic step: no slot is reserved afterwards. `None` if it reserved no tick, or if there is no generator.
    fn seal(&self) -> Option<u64>;

    /// Notes that the user has closed the lease, before its number is returned: the generator makes no further ID in this process,
    /// and its calls need not wait for another grant. [`Grantee::seal`] follows. A child of a fork may begin a lease of its own.
    fn close(&self) {}
}
