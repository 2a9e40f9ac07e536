//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::ops::Deref;

use super::{Generator, HotGuid, family::Identities};
use crate::{
    Result,
    clock::Clock,
    generator::{self, Mode},
};

/// Makes IDs of a shared [`Generator`] for one thread: see [`Handle`](crate::Handle). Its IDs of one second sort in the order in which
/// they were made, unless the counter, which starts at a random value, passes its end meanwhile.
///
/// ```
/// use polyflake::hotguid::{Generator, Handle};
///
/// let ids = Generator::new();
/// let mut handle: Handle<&Generator> = ids.handle();
/// assert_ne!(handle.generate(7)?, handle.generate(7)?);
/// # Ok::<(), polyflake::Error>(())
/// ```
pub type Handle<G> = generator::Handle<Identities, G>;

impl<C: Clock, G: Deref<Target = Generator<C>>> Handle<G> {
    /// One new ID.
    ///
    /// ```
    /// let ids = polyflake::hotguid::Generator::new();
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate(7)?, handle.generate(7)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self, shard_key: u32) -> Result<HotGuid> {
        self.one(Mode::Wait, shard_key)
    }

    /// One new ID without waiting, if there is one now.
    ///
    /// ```
    /// let ids = polyflake::hotguid::Generator::new();
    /// assert_eq!(ids.handle().try_generate(7)?.shard_key(), 7);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self, shard_key: u32) -> Result<HotGuid> {
        self.one(Mode::Try, shard_key)
    }
}

generator::by_own_calls!(HotGuid, &'b mut [HotGuid], shard_key => u32, shard_key);
