//! Calls that never wait.

use super::{Batch, Generator, generator::fill_from};
use crate::{
    Result,
    clock::Clock,
    layout::{Draft, Id, Values},
    scheme::filled_now,
};

impl<C: Clock> Generator<C> {
    /// One new ID if there is one now, where all bindables are fixed. It never waits.
    ///
    /// # Errors
    /// `sequence_exhausted` or `clock_behind`, with when to retry, instead of a wait; all else as [`Generator::generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        let base = self.complete()?;
        let run = self.try_reserve(1)?;
        Ok(self.id_at(base, run.tick, run.first))
    }

    /// One new ID with these bindables, if there is one now. It never waits.
    ///
    /// # Errors
    /// As [`Generator::generate_with`], and [`Generator::try_generate`].
    #[inline]
    pub fn try_generate_with(&self, values: &Values<'_>) -> Result<Id> {
        let base = self.base_of(values)?;
        let run = self.try_reserve(1)?;
        Ok(self.id_at(base, run.tick, run.first))
    }

    /// Fills the front of a slice with as many new IDs as there are now, and returns how many. It never waits.
    ///
    /// # Errors
    /// As [`Generator::fill`], but for `sequence_exhausted` and `clock_behind`, which end the batch.
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        self.fill_now(self.complete()?, ids.into())
    }

    /// As [`Generator::try_fill`], with these bindables.
    ///
    /// # Errors
    /// As [`Generator::try_fill`] and [`Generator::generate_with`].
    pub fn try_fill_with<'b>(
        &self,
        values: &Values<'_>,
        ids: impl Into<Batch<'b>>,
    ) -> Result<usize> {
        self.fill_now(self.base_of(values)?, ids.into())
    }

    fn fill_now(&self, base: &Draft, ids: Batch<'_>) -> Result<usize> {
        let count = ids.count(base);
        filled_now(fill_from(&|want| Ok((self, base, self.try_reserve(want)?)), base, ids), count)
    }
}
