//! Sources of slots, and batches that are filled from them. Filling is safe even if a fork happens in the middle of a batch.

use core::time::Duration;

use super::{Calls, Engine, Pack, Reservation};
use crate::{Error, ErrorKind, Result, clock::Clock, fork};

/// The permission of a call to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The call waits according to the generator's policy.
    Wait,
    /// The call never waits.
    Try,
}

/// Slots, and the ID format that packs IDs from them.
pub(crate) type Packable<'s, F> = (&'s F, Reservation<F>);

/// A source of slots: a generator's engine, or the newest generator under a lease.
pub(crate) trait SlotSource {
    type Family: Pack;

    /// Returns the family of the generators that provide the slots.
    fn family(&self) -> &Self::Family;

    /// Reserves slots for up to `want` IDs.
    fn take(&self, want: u32, mode: Mode) -> Result<Packable<'_, Self::Family>>;

    /// Reserves slots for up to `want` IDs. It awaits `sleep` if necessary.
    async fn take_async(
        &self,
        want: u32,
        sleep: &impl AsyncFn(Duration),
    ) -> Result<Packable<'_, Self::Family>>;

    /// Generates one ID. With `map` instead of `?`, the result would be built in memory: a sno ID then took 12 ns instead of 10
    /// ns, and its string 18 ns.
    #[inline]
    fn one(&self, mode: Mode, param: Param<'_, Self>) -> Result<<Self::Family as Calls>::Id> {
        let (family, slots) = self.take(1, mode)?;
        Ok(family.id(slots, 0, param))
    }

    /// Generates one ID. It awaits `sleep` if necessary.
    async fn one_async(
        &self,
        sleep: &impl AsyncFn(Duration),
        param: Param<'_, Self>,
    ) -> Result<<Self::Family as Calls>::Id> {
        let (family, slots) = self.take_async(1, sleep).await?;
        Ok(family.id(slots, 0, param))
    }

    /// Fills a buffer with IDs.
    ///
    /// # Errors
    /// Returns the errors of [`Pack::capacity`], or the errors of [`SlotSource::take`] with the number of IDs that were
    /// written.
    fn fill<'b>(&self, mode: Mode, param: Param<'b, Self>, buffer: Buffer<'b, Self>) -> Result<()> {
        let mut written = 0;
        let mut batch = Batch::new(self.family(), param, buffer, &mut written)?;
        while let Some(want) = batch.want() {
            batch.put(self.take(want, mode))?;
        }
        Ok(())
    }

    /// Writes as many IDs to the front of a buffer as are available without waiting, and returns the number of IDs written.
    ///
    /// # Errors
    /// Returns the same errors as [`SlotSource::fill`], except those that end after a wait.
    fn try_fill<'b>(&self, param: Param<'b, Self>, buffer: Buffer<'b, Self>) -> Result<usize> {
        let count = self.family().capacity(&buffer, param)?;
        match self.fill(Mode::Try, param, buffer) {
            Ok(()) => Ok(count),
            Err(error) if is_temporary(&error) => Ok(error.written().unwrap_or(0)),
            Err(error) => Err(error),
        }
    }

    /// Fills a buffer with IDs and awaits `sleep` if necessary. `written` counts the IDs, so it is correct for a caller that
    /// drops the future, even before the first poll. An error in `param` becomes the error of the call.
    fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        param: Result<Param<'_, Self>>,
        buffer: Buffer<'_, Self>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        *written = 0;
        async move {
            let mut batch = Batch::new(self.family(), param?, buffer, written)?;
            while let Some(want) = batch.want() {
                batch.put(self.take_async(want, &sleep).await)?;
            }
            Ok(())
        }
    }
}

/// The part that the caller chooses for each ID of a source.
pub(crate) type Param<'g, S> = <<S as SlotSource>::Family as Calls>::Param<'g>;

/// A buffer for many IDs of a source.
pub(crate) type Buffer<'b, S> = <<S as SlotSource>::Family as Calls>::Batch<'b>;

impl<F: Pack, C: Clock> SlotSource for Engine<F, C> {
    type Family = F;

    fn family(&self) -> &F {
        &self.family
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "as Engine::reserve")]
    fn take(&self, want: u32, mode: Mode) -> Result<Packable<'_, F>> {
        Ok((&self.family, self.reserve(want, mode)?))
    }

    async fn take_async(
        &self,
        want: u32,
        sleep: &impl AsyncFn(Duration),
    ) -> Result<Packable<'_, F>> {
        Ok((&self.family, self.reserve_async(want, sleep).await?))
    }
}

/// A batch that is being filled.
///
/// A child that is forked in the middle has a copy of the IDs that the parent wrote so far. So it fills the batch from the
/// start, or is rejected with 0 IDs written.
struct Batch<'g, 'b, 'w, F: Pack> {
    param: F::Param<'g>,
    buffer: F::Batch<'b>,
    count: usize,
    written: &'w mut usize,
    generation: u64,
}

impl<'g, 'b, 'w, F: Pack> Batch<'g, 'b, 'w, F> {
    fn new(
        family: &F,
        param: F::Param<'g>,
        buffer: F::Batch<'b>,
        written: &'w mut usize,
    ) -> Result<Self> {
        let count = family.capacity(&buffer, param)?;
        Ok(Self { buffer, param, count, written, generation: fork::current() })
    }

    /// Returns the number of slots to request next, or `None` if the buffer is full.
    #[inline]
    fn want(&self) -> Option<u32> {
        let left = self.count - *self.written;
        (left > 0).then(|| u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Writes IDs of the reserved slots, unless another process reserved them.
    #[inline]
    fn put(&mut self, taken: Result<Packable<'_, F>>) -> Result<()> {
        let is_here = self.generation == fork::generation();
        let written = if is_here { *self.written } else { 0 };
        let (family, slots) = taken.map_err(|error| error.after_writing(written))?;
        if is_here {
            family
                .write(slots, self.param, &mut self.buffer, *self.written)
                .map_err(|error| error.after_writing(*self.written))?;
            *self.written += slots.1.len as usize;
        }
        if self.generation != fork::generation() {
            // The fork happened between the check above and here, so the parent has written the same IDs to its copy of the
            // buffer.
            (self.generation, *self.written) = (fork::current(), 0);
        }
        Ok(())
    }
}

/// Returns whether an error is temporary: the tick is exhausted, or the clock is behind.
fn is_temporary(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}
