//! A thread's own way into a generator: it reserves blocks, so that threads scale.

use core::num::NonZeroU32;

use super::{Generator, Randflake};
use crate::{
    Result,
    clock::Clock,
    scheme::{BLOCK, Block, Blocks},
    sequence::per_tick::Run,
};

/// Makes IDs of a shared [`Generator`] for one thread. What it has reserved in a second and not used by its end is lost.
///
/// Handles share the lease: their slots never meet.
#[derive(Debug)]
#[repr(align(128))] // Written with every ID: two side by side would share a cache line and slow each other down.
pub struct Handle<'g, C> {
    generator: &'g Generator<C>,
    blocks: Blocks<Run>,
}

impl<C: Clock> Generator<C> {
    /// A handle for one thread, whose first block of a tick has 64 IDs.
    pub const fn handle(&self) -> Handle<'_, C> {
        self.handle_with(BLOCK)
    }

    /// A handle that reserves `first` IDs when it is first asked in a tick, then twice as many as before, up to 16 times
    /// `first`.
    pub const fn handle_with(&self, first: NonZeroU32) -> Handle<'_, C> {
        Handle { generator: self, blocks: Blocks::new(first) }
    }
}

impl<C: Clock> Handle<'_, C> {
    /// One new ID.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    #[inline]
    pub fn generate(&mut self) -> Result<Randflake> {
        let tick = self.generator.look()?;
        let (run, k) = self.blocks.next(tick, |size| {
            let run = self.generator.reserve(size)?;
            Ok(Block::new(run, run.tick, run.len))
        })?;
        Ok(self.generator.encrypt_slot(run, k))
    }
}
