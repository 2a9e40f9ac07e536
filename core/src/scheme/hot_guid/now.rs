//! Calls that never wait.

use super::{
    Generator, HotGuid,
    generator::{fill_from, id},
};
use crate::{Result, base32::Text, clock::Clock, scheme::filled_now};

impl<C: Clock> Generator<C> {
    /// One new ID if there is one now. It never waits.
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with when to retry, instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self, shard_key: u32) -> Result<HotGuid> {
        let (identity, run) = self.try_reserve(1)?;
        Ok(id(identity, run, 0, shard_key))
    }

    /// The text of [`Generator::try_generate`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_text(&self, shard_key: u32) -> Result<Text<{ HotGuid::TEXT_LEN }>> {
        Ok(self.try_generate(shard_key)?.text())
    }

    /// Fills the front of a slice with as many new IDs as there are now, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::fill`], but for `sequence_exhausted` and `clock_behind`, which end the batch.
    pub fn try_fill(&self, shard_key: u32, ids: &mut [HotGuid]) -> Result<usize> {
        filled_now(fill_from(|want| self.try_reserve(want), shard_key, ids), ids.len())
    }
}
