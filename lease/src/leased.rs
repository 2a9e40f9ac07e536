//! What a keeper's host does with a generator.

use crate::{Grant, Result};

/// A generator that lives in one grant: its number, its window and its state are one object, made for the grant and gone with it.
pub trait Leased: Sized {
    /// Makes a generator that uses nothing outside of `grant`, and no tick before `after`, in Unix milliseconds: the generator that it
    /// replaces was there until then.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    fn begin(grant: Grant, after: Option<u64>) -> Result<Self>;

    /// Moves the end of its window to a later time, in Unix milliseconds. An earlier one changes nothing.
    fn extend(&self, end: u64);

    /// Ends it for good, and returns the end of the highest tick that it ever reserved, handed out or not, in one atomic step: no slot
    /// of it is reserved afterwards. Nothing if it reserved none.
    fn seal(&self) -> Option<u64>;
}
