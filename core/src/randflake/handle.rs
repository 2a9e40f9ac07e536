//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::ops::Deref;

use super::{Generator, Randflake, family::Nodes};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Makes IDs of a shared [`Generator`] for one thread: see [`Handle`](crate::Handle). Handles share the grant, but never a slot.
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
pub type Handle<G> = generator::Handle<Nodes, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// One new ID.
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
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self) -> Result<Randflake> {
        self.one(Mode::Wait, ())
    }

    /// One new ID without waiting, if there is one now.
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
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self) -> Result<Randflake> {
        self.one(Mode::Try, ())
    }
}

generator::by_own_calls!(Randflake, &'b mut [Randflake], () => ());
