//! What a keeper's host does with a generator.

use crate::{Grant, Result};

/// A place for the generator of a lease. Each grant gets a new one: its number, its window and its state are one object, made for the
/// grant and gone with it.
pub trait Leased {
    /// Seals the generator that is there, and puts one in its place that uses nothing outside of `grant`, and no tick before the last one
    /// of the generator that it replaces.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    fn begin(&self, grant: Grant) -> Result<()>;

    /// Moves the end of the generator's window to a later time, in Unix milliseconds. An earlier one changes nothing.
    fn extend(&self, end: u64);

    /// Ends the generator for good, and returns the end of the highest tick that it ever reserved, handed out or not, in one atomic step: no
    /// slot of it is reserved afterwards. Nothing if it reserved none, or if there is no generator.
    fn seal(&self) -> Option<u64>;
}
