//! Handles: each reserves blocks of a generator's slots for one thread, so that threads scale.

use core::{num::NonZeroU32, ops::Deref};

use crate::{
    Result,
    clock::Clock,
    generator::{BLOCK, Blocks, Mode},
    layout::{Generator, Id, Values, ids::family::Template},
};

/// Makes IDs of a shared [`Generator`] for one thread. Slots that it reserved in a tick and did not use by its end are lost.
///
/// Its IDs are in order; IDs of different handles mix.
///
/// It cannot be cloned, since a handle and its clone would both give out the rest of the block:
///
/// ```compile_fail
/// use polyflake::layout::{Generator, preset};
///
/// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
/// let twin = ids.handle().clone();
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Debug)]
#[repr(align(128))] // Written with every ID: two side by side would share a cache line and slow each other down.
pub struct Handle<G> {
    generator: G,
    blocks: Blocks<Template>,
}

impl<C: Clock> Generator<C> {
    /// A handle for one thread; its first block of a tick has 64 IDs.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("sonyflake", [])?).bind("machine", 7).build()?;
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
    /// use polyflake::layout::{Generator, Handle, preset};
    ///
    /// let builder = Generator::builder(preset("sonyflake", [])?).bind("machine", 7);
    /// let ids = Arc::new(builder.build()?);
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
    /// One new ID, if all bindables are fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// let mut handle = ids.handle();
    /// assert!(handle.generate()? < handle.generate()?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self) -> Result<Id> {
        self.make(Mode::Wait, None)
    }

    /// One new ID with these bindables.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let mut values = ids.values();
    /// let id = ids.handle().generate_with(values.bind("shard", 7)?)?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::generate_with`].
    #[inline]
    pub fn generate_with(&mut self, values: &Values<'_>) -> Result<Id> {
        self.make(Mode::Wait, Some(values))
    }

    /// One new ID without waiting, if all bindables are fixed.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).bind("shard", 7).build()?;
    /// assert!(ids.handle().try_generate()?.as_integer().is_some());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&mut self) -> Result<Id> {
        self.make(Mode::Try, None)
    }

    /// One new ID with these bindables, without waiting.
    ///
    /// ```
    /// use polyflake::layout::{Generator, preset};
    ///
    /// let ids = Generator::builder(preset("instagram", [])?).build()?;
    /// let mut values = ids.values();
    /// let id = ids.handle().try_generate_with(values.bind("shard", 7)?)?;
    /// assert_eq!(ids.layout().parse(&id)?.bindable("shard")?, 7.into());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::try_generate_with`].
    #[inline]
    pub fn try_generate_with(&mut self, values: &Values<'_>) -> Result<Id> {
        self.make(Mode::Try, Some(values))
    }

    #[inline]
    fn make(&mut self, mode: Mode, values: Option<&Values<'_>>) -> Result<Id> {
        let template = &self.generator.engine.family;
        let base = values.map_or_else(|| template.complete(), |values| template.base_of(values))?;
        self.blocks.one(&self.generator.engine, mode, Some(base))
    }
}
