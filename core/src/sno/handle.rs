//! Handles, which reserve blocks of a generator's sequence slots for one thread so that generation scales with the number
//! of threads.

use core::ops::Deref;

use super::{Generator, Sno, partition::SnoFamily};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Generates IDs for one thread from a shared [`Generator`]. See [`Handle`](crate::Handle). The handle reserves sequence
/// numbers in blocks, which are small compared to the 65,536 sequence numbers in a tick.
///
/// ```
/// use polyflake::sno::{Generator, Handle};
///
/// let ids = Generator::new();
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert!(handle.generate(1)? < handle.generate(1)?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<SnoFamily, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// Generates a new ID.
    ///
    /// ```
    /// let ids = polyflake::sno::Generator::new();
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate(7)?, handle.generate(7)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self, metabyte: u8) -> Result<Sno> {
        self.generate_in(Mode::Wait, metabyte)
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// let ids = polyflake::sno::Generator::new();
    /// assert_eq!(ids.handle().try_generate(7)?.metabyte(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self, metabyte: u8) -> Result<Sno> {
        self.generate_in(Mode::Try, metabyte)
    }
}

generator::impl_generate!(Sno, &'b mut [Sno], metabyte => u8, metabyte);
