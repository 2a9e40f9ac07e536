//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::{num::NonZeroU32, ops::Deref};

use super::{Generator, HotGuid, family::Identities};
use crate::{
    Result,
    clock::Clock,
    generator::{BLOCK, Blocks, Mode},
};

/// Makes IDs of a shared [`Generator`] for one thread. Slots that it reserved in a second and did not use by its end are lost.
///
/// Its IDs are in order as long as a block lasts and the counter does not pass its end; IDs of different handles mix.
///
/// It cannot be cloned, since a handle and its clone would both give out the rest of the block:
///
/// ```compile_fail
/// let ids = polyflake::hotguid::Generator::new();
/// let twin = ids.handle().clone();
/// ```
#[derive(Debug)]
#[repr(align(128))] // Written with every ID: two side by side would share a cache line and slow each other down.
pub struct Handle<G> {
    generator: G,
    blocks: Blocks<Identities>,
}

impl<C: Clock> Generator<C> {
    /// A handle for one thread; its first block of a tick has 64 IDs.
    ///
    /// ```
    /// use polyflake::hotguid::Generator;
    ///
    /// let ids = Generator::new();
    /// let mut handle = ids.handle();
    /// assert_ne!(handle.generate(7)?, handle.generate(7)?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn handle(&self) -> Handle<&Self> {
        Handle::new(self)
    }
}

impl<G> Handle<G> {
    /// A handle that owns its generator, for example in an `Arc`. As [`Generator::handle`].
    ///
    /// ```
    /// use std::{sync::Arc, thread};
    ///
    /// use polyflake::hotguid::{Generator, Handle};
    ///
    /// let ids = Arc::new(Generator::new());
    /// let handle = Handle::new(ids.clone());
    /// thread::spawn(move || drop(handle)).join().unwrap(); // it borrows nothing
    /// assert_eq!(Arc::strong_count(&ids), 1);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub const fn new(generator: G) -> Self {
        Self::with_first(generator, BLOCK)
    }

    /// A handle that reserves `first` IDs at its first ID of a tick, then twice as many each time, up to 64 times `first`.
    ///
    /// Not part of the public API: for tests.
    #[doc(hidden)]
    pub const fn with_first(generator: G, first: NonZeroU32) -> Self {
        Self { generator, blocks: Blocks::new(first) }
    }
}

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
        self.blocks.one(&self.generator.engine, Mode::Wait, shard_key)
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
        self.blocks.one(&self.generator.engine, Mode::Try, shard_key)
    }
}
