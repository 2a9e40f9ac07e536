//! A generator that moves from grant to grant.

use core::{ops::Range, time::Duration};

use crate::{
    Result, UnixTime,
    clock::{Clock, DefaultClock},
    generator::{Engine, Grantee, Mode, Moving, Pack, Source, leases},
    layout::{Batch, Generator, Id, ids::family::Template},
};

/// Makes IDs under one grant after the other: constants or bindables. Threads may share it.
///
/// Generators of earlier grants are sealed, and a grant that comes back gets a new generator, so no two windows are joined. It
/// leaves no snapshot: the time after its end belongs to the next holder.
///
/// Not part of the public API: for leases.
#[derive(Debug)]
pub struct Leased<C = DefaultClock> {
    moving: Moving<Generator<C>>,
}

impl<C: Clock> Leased<C> {
    leases!(Generator<C>);

    /// One new ID, if all bindables are fixed.
    ///
    /// # Errors
    /// `lease_unavailable` after a wait of at most `max_wait` if there is no grant for now, with the time to retry if one begins
    /// later; all else as [`Generator::generate`].
    #[inline]
    pub fn generate(&self) -> Result<Id> {
        self.one(Mode::Wait)
    }

    /// As [`Generator::fill`].
    ///
    /// # Errors
    /// As [`Leased::generate`]; [`Error::written`](crate::Error::written) is the number of valid IDs at the front of the slice.
    pub fn fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<()> {
        self.moving.family().complete()?;
        self.moving.fill(Mode::Wait, None, ids.into())
    }

    /// As [`Generator::try_generate`].
    ///
    /// # Errors
    /// As [`Generator::try_generate`].
    #[inline]
    pub fn try_generate(&self) -> Result<Id> {
        self.one(Mode::Try)
    }

    /// One ID. The slots' own template is asked for its bindables: the way to another one would cost every ID a look.
    #[inline]
    fn one(&self, mode: Mode) -> Result<Id> {
        let (template, slots) = self.moving.take(1, mode)?;
        template.complete()?;
        Ok(template.id(slots, 0, None))
    }

    /// As [`Generator::try_fill`].
    ///
    /// # Errors
    /// As [`Generator::try_fill`].
    pub fn try_fill<'b>(&self, ids: impl Into<Batch<'b>>) -> Result<usize> {
        self.moving.family().complete()?;
        self.moving.try_fill(None, ids.into())
    }

    /// As [`Generator::generate_async`].
    ///
    /// # Errors
    /// As [`Leased::generate`].
    pub async fn generate_async(&self, sleep: impl AsyncFn(Duration)) -> Result<Id> {
        self.moving.family().complete()?;
        self.moving.one_async(&sleep, None).await
    }

    /// As [`Generator::fill_async`].
    ///
    /// # Errors
    /// As [`Leased::fill`].
    pub fn fill_async<'b>(
        &self,
        sleep: impl AsyncFn(Duration),
        ids: impl Into<Batch<'b>>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        *written = 0; // a call may be dropped before its first poll
        async move {
            self.moving.family().complete()?;
            self.moving.fill_async(&sleep, None, ids.into(), written).await
        }
    }
}

impl<C: Clock> Grantee for Generator<C> {
    type Family = Template;
    type Clock = C;

    #[inline]
    fn engine(&self) -> &Engine<Template, C> {
        &self.engine
    }

    fn may_repeat(&self, other: &Self) -> bool {
        self.engine.family.may_repeat(&other.engine.family)
    }
}
