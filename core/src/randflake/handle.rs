//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::{fmt, num::NonZeroU32, ops::Deref};

use super::{Generator, Randflake, family::Nodes, make::GROUP};
use crate::{
    Result,
    clock::Clock,
    generator::{BLOCK, Blocks, Mode},
};

/// Makes IDs of a shared [`Generator`] for one thread. Slots that it reserved in a second and did not use by its end are lost.
///
/// Handles share the grant, but never a slot.
///
/// It cannot be cloned, since a handle and its clone would both give out the rest of the block:
///
/// ```compile_fail
/// use polyflake::randflake::{Generator, Grant};
///
/// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
/// let ids = Generator::builder(grant, [0; 16]).build()?;
/// let twin = ids.handle().clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug)]
#[repr(align(128))] // Written with every ID: two side by side would share a cache line and slow each other down.
pub struct Handle<G> {
    generator: G,
    blocks: Blocks<Nodes>,
    group: Group,
}

/// The IDs of neighbouring slots of the block. Encrypting them together takes at most a fifth of the time of encrypting them
/// one by one.
struct Group([Randflake; GROUP]);

/// Hides IDs that have not been handed out yet.
impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Group")
    }
}

impl<C: Clock> Generator<C> {
    /// A handle for one thread; its first block of a tick has 64 IDs.
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
    /// use polyflake::randflake::{Generator, Grant, Handle};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Arc::new(Generator::builder(grant, *b"sixteen byte key").build()?);
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
        Self {
            generator,
            blocks: Blocks::new(first),
            group: Group([Randflake::from_u64(0); GROUP]),
        }
    }
}

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
        self.make(Mode::Wait)
    }

    /// One new ID without waiting, if there is one now.
    ///
    /// ```
    /// use polyflake::randflake::{Generator, Grant};
    ///
    /// let grant = Grant::new(42, 1_730_000_000, 2_803_741_824)?;
    /// let ids = Generator::builder(grant, *b"sixteen byte key").build()?;
    /// assert_eq!(ids.inspect(ids.handle().try_generate()?).node, 42);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self) -> Result<Randflake> {
        self.make(Mode::Try)
    }

    #[inline]
    fn make(&mut self, mode: Mode) -> Result<Randflake> {
        let Self { generator, blocks, group: Group(ids) } = self;
        let (((), run), k) = blocks.next(&generator.engine, mode)?;
        let k = k as usize;
        if k.is_multiple_of(GROUP) {
            let nodes = &generator.engine.family;
            nodes.encrypt(run, k, &mut ids[..GROUP.min(run.len as usize - k)]);
        }
        Ok(ids[k % GROUP])
    }
}
