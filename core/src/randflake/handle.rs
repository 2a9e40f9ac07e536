//! Handles, which reserve blocks of a generator's sequence slots for one thread so that generation scales with threads.

use core::ops::Deref;

use super::{Generator, Randflake, family::RandflakeFamily};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Generates IDs for one thread from a shared [`Generator`]. See [`Handle`](crate::Handle). Handles share the grant, but
/// never a sequence slot.
///
/// ```
/// use polyflake::randflake::{Generator, Grant, Handle};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert_ne!(handle.generate()?, handle.generate()?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<RandflakeFamily, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// Generates a new ID.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate()?, handle.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self) -> Result<Randflake> {
        self.generate_in(Mode::Wait, ())
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// ids.generate()?; // waits for the first second
    /// assert_eq!(ids.inspect(ids.handle().try_generate()?).node, 42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self) -> Result<Randflake> {
        self.generate_in(Mode::Try, ())
    }
}

generator::impl_generate!(Randflake, &'b mut [Randflake], () => ());
