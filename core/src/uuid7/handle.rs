//! Handles, which reserve blocks of a generator's sequence for one thread so that generation scales with the number of
//! threads.

use core::ops::Deref;

use super::{Generator, Uuid7, family::Uuid7Family};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Generates IDs for one thread from a shared [`Generator`]. See [`Handle`](crate::Handle). A handle's IDs sort in the
/// order in which they were generated. IDs of different handles are interleaved within a millisecond.
///
/// ```
/// use polyflake::uuid7::{Generator, Handle};
///
/// let ids = Generator::new();
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert!(handle.generate()? < handle.generate()?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<Uuid7Family, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// Generates a new ID.
    ///
    /// ```
    /// let ids = polyflake::uuid7::Generator::new();
    /// let mut handle = ids.handle();
    /// assert!(handle.generate()? < handle.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self) -> Result<Uuid7> {
        self.generate_in(Mode::Wait, ())
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// let ids = polyflake::uuid7::Generator::new();
    /// assert!(ids.handle().try_generate()?.unix_ms() > 0);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self) -> Result<Uuid7> {
        self.generate_in(Mode::Try, ())
    }
}

generator::impl_generate!(Uuid7, &'b mut [Uuid7], () => ());
