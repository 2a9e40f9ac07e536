//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::ops::Deref;

use super::{Generator, Sno, partition::Partitions};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Makes IDs of a shared [`Generator`] for one thread: see [`Handle`](crate::Handle). A block is small against a tick's
/// 65,536 sequences.
///
/// ```
/// use polyflake::sno::{Generator, Handle};
///
/// let ids = Generator::new();
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert!(handle.generate(1)? < handle.generate(1)?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<Partitions, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// One new ID.
    ///
    /// ```
    /// let ids = polyflake::sno::Generator::new();
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate(7)?, handle.generate(7)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self, metabyte: u8) -> Result<Sno> {
        self.one(Mode::Wait, metabyte)
    }

    /// One new ID without waiting, if there is one now.
    ///
    /// ```
    /// let ids = polyflake::sno::Generator::new();
    /// assert_eq!(ids.handle().try_generate(7)?.metabyte(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self, metabyte: u8) -> Result<Sno> {
        self.one(Mode::Try, metabyte)
    }
}

generator::by_own_calls!(Sno, &'b mut [Sno], metabyte => u8, metabyte);
