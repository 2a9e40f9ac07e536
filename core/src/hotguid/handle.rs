//! Handles. A handle reserves blocks of a generator's counter values for one thread, so that throughput scales with the
//! number of threads.

use core::ops::Deref;

use super::{Generator, HotGuid, family::HotGuidFamily};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Generates IDs for one thread from a shared [`Generator`]. See [`Handle`](crate::Handle). Within one second, a handle's
/// IDs sort in the order in which they were generated, unless the generator uses
/// [`Builder::identity_from`](super::Builder::identity_from), in which case the counter may wrap around.
///
/// ```
/// use polyflake::hotguid::{Generator, Handle};
///
/// let ids = Generator::new();
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert_ne!(handle.generate(7)?, handle.generate(7)?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<HotGuidFamily, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// Generates a new ID.
    ///
    /// ```
    /// let ids = polyflake::hotguid::Generator::new();
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate(7)?, handle.generate(7)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self, shard_key: u32) -> Result<HotGuid> {
        self.generate_in(Mode::Wait, shard_key)
    }

    /// Generates a new ID if one is available without waiting.
    ///
    /// ```
    /// let ids = polyflake::hotguid::Generator::new();
    /// assert_eq!(ids.handle().try_generate(7)?.shard_key(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self, shard_key: u32) -> Result<HotGuid> {
        self.generate_in(Mode::Try, shard_key)
    }
}

generator::impl_generate!(HotGuid, &'b mut [HotGuid], shard_key => u32, shard_key);
