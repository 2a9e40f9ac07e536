//! Calls that never wait.

use super::{
    Generator, Sno, fill,
    generator::{fill_from, id, whole_ids},
};
use crate::{Result, base32::Text, clock::Clock, scheme::filled_now};

impl<C: Clock> Generator<C> {
    /// One new ID if there is one now. It never waits.
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with when to retry, instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self, metabyte: u8) -> Result<Sno> {
        let (partition, run) = self.try_reserve(1)?;
        Ok(id(partition, run, 0, metabyte))
    }

    /// The text of [`Generator::try_generate`], on the stack.
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_text(&self, metabyte: u8) -> Result<Text<{ Sno::TEXT_LEN }>> {
        Ok(self.try_generate(metabyte)?.text())
    }

    /// Fills the front of a slice with as many new IDs as there are now, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::fill`], but for `sequence_exhausted` and `clock_behind`, which end the batch.
    pub fn try_fill(&self, metabyte: u8, ids: &mut [Sno]) -> Result<usize> {
        self.try_fill_bytes(metabyte, fill::bytes_of(ids))
    }

    /// As [`Generator::try_fill`], into packed bytes, 10 an ID.
    ///
    /// # Errors
    /// As [`Generator::try_fill`], and `invalid_length` where the bytes are no whole number of IDs.
    pub fn try_fill_bytes(&self, metabyte: u8, bytes: &mut [u8]) -> Result<usize> {
        let count = whole_ids(bytes)?;
        filled_now(fill_from(|want| self.try_reserve(want), metabyte, bytes), count)
    }
}
