//! Slot sources, and batches of IDs that are filled from them. A batch stays correct even if the process forks while it is
//! being filled.

use core::time::Duration;

use super::{
    Call, CallTypes, Generator, Pack, Progress, Reservation, WrittenCount, engine::Observation,
};
use crate::{Error, ErrorKind, Result, clock::Clock, fork};

/// Whether a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The call waits according to the generator's policy.
    Wait,
    /// The call never waits.
    Try,
}

/// Reserved slots, and the ID format that packs them into IDs.
pub(crate) type FamilyReservation<'s, F> = (&'s F, Reservation<F>);

/// A source of slots: a generator, or the newest generator under a lease.
///
/// This trait is not part of the public API. Bindings use it to call the generators of all ID formats.
#[allow(async_fn_in_trait, private_bounds, private_interfaces, reason = "for this project alone")]
pub trait SlotSource {
    /// The ID format.
    type Family: Pack;

    /// Returns the family of the generators that provide the slots.
    fn family(&self) -> &Self::Family;

    /// Reserves slots for up to `want` IDs.
    fn reserve(&self, want: u32, mode: Mode) -> Result<FamilyReservation<'_, Self::Family>>;

    /// Reserves slots for up to `want` IDs, or returns how long to sleep before the next step. `observed` is the call's
    /// earlier observation, if any.
    fn step<'s>(
        &'s self,
        call: &mut Call<'s>,
        observed: Option<Observation<Self::Family>>,
        want: u32,
    ) -> Result<Progress<FamilyReservation<'s, Self::Family>>>;

    /// Blocks the thread for a number of nanoseconds, using the clock to sleep.
    fn sleep(&self, nanos: u64) -> Result<()>;

    /// The slow path of [`SlotSource::reserve`], out of line so that the fast path stays small. Under a lease, `grant` is
    /// the number of the observed grant.
    #[cold]
    #[inline(never)]
    fn reserve_slowly(
        &self,
        grant: Option<u32>,
        observed: Observation<Self::Family>,
        want: u32,
        mode: Mode,
    ) -> Result<FamilyReservation<'_, Self::Family>> {
        let (mut call, mut observed) = (Call::new(mode, grant), Some(observed));
        loop {
            match self.step(&mut call, observed.take(), want)? {
                Progress::Done(taken) => return Ok(taken),
                Progress::Sleep(nanos) => self.sleep(nanos)?,
            }
        }
    }

    /// Generates one ID. The code uses `?` instead of `map`, which would write the result to memory first. With `map`,
    /// generating a sno ID took 12 ns instead of 10 ns, and generating its string took 18 ns.
    #[inline]
    fn generate_in(
        &self,
        mode: Mode,
        param: Param<'_, Self>,
    ) -> Result<<Self::Family as CallTypes>::Id> {
        let (family, slots) = self.reserve(1, mode)?;
        Ok(family.id(slots, 0, param))
    }

    /// Generates one ID, awaiting `sleep` if necessary.
    async fn generate_in_async(
        &self,
        sleep: &impl AsyncFn(Duration),
        param: Param<'_, Self>,
    ) -> Result<<Self::Family as CallTypes>::Id> {
        let (family, slots) = reserve_async(self, 1, sleep).await?;
        Ok(family.id(slots, 0, param))
    }

    /// Generates one ID, or returns how long to sleep before the next step.
    fn generate_step<'s>(
        &'s self,
        call: &mut Call<'s>,
        param: Param<'_, Self>,
    ) -> Result<Progress<<Self::Family as CallTypes>::Id>> {
        let taken = self.step(call, None, 1)?;
        Ok(taken.map(|(family, slots)| family.id(slots, 0, param)))
    }

    /// Fills a buffer with IDs, or returns how long to sleep before the next step. The caller must pass the same buffer to
    /// each step.
    ///
    /// # Errors
    /// Returns the same errors as [`SlotSource::fill`].
    fn fill_step<'s, 'b>(
        &'s self,
        call: &mut Call<'s>,
        param: Param<'b, Self>,
        buffer: Buffer<'b, Self>,
        filled: &mut WrittenCount,
    ) -> Result<Progress<()>> {
        let mut batch = Batch::new(self.family(), param, buffer, filled)?;
        while let Some(want) = batch.next_count() {
            match self.step(call, None, want) {
                Ok(Progress::Sleep(nanos)) => return Ok(Progress::Sleep(nanos)),
                Ok(Progress::Done(taken)) => batch.write_slots(Ok(taken))?,
                Err(error) => batch.write_slots(Err(error))?,
            }
            // The maximum wait applies to each reservation, so the next reservation starts with a new call.
            *call = Call::asynchronous();
        }
        Ok(Progress::Done(()))
    }

    /// Fills a buffer with IDs.
    ///
    /// # Errors
    /// Returns the errors of `Pack::capacity` and [`SlotSource::reserve`]. The latter errors include the number of IDs that
    /// were written.
    fn fill<'b>(&self, mode: Mode, param: Param<'b, Self>, buffer: Buffer<'b, Self>) -> Result<()> {
        let mut filled = WrittenCount::new();
        let mut batch = Batch::new(self.family(), param, buffer, &mut filled)?;
        while let Some(want) = batch.next_count() {
            batch.write_slots(self.reserve(want, mode))?;
        }
        Ok(())
    }

    /// Writes as many IDs to the front of a buffer as are available without waiting, and returns the number of IDs written.
    ///
    /// # Errors
    /// Returns the same errors as [`SlotSource::fill`], except those that only occur after a wait.
    fn try_fill<'b>(&self, param: Param<'b, Self>, buffer: Buffer<'b, Self>) -> Result<usize> {
        let count = self.family().capacity(&buffer, param)?;
        match self.fill(Mode::Try, param, buffer) {
            Ok(()) => Ok(count),
            Err(error) if is_temporary(&error) => Ok(error.written().unwrap_or(0)),
            Err(error) => Err(error),
        }
    }

    /// Fills a buffer with IDs, awaiting `sleep` if necessary. `written` is always the number of IDs written so far, even
    /// if the caller drops the future or never polls it. If `param` is an error, the call returns that error.
    fn fill_async(
        &self,
        sleep: impl AsyncFn(Duration),
        param: Result<Param<'_, Self>>,
        buffer: Buffer<'_, Self>,
        written: &mut usize,
    ) -> impl Future<Output = Result<()>> {
        *written = 0;
        async move {
            let mut filled = WrittenCount::new();
            let mut batch = Batch::new(self.family(), param?, buffer, &mut filled)?;
            while let Some(want) = batch.next_count() {
                batch.write_slots(reserve_async(self, want, &sleep).await)?;
                *written = batch.filled.written;
            }
            Ok(())
        }
    }
}

/// Reserves slots for up to `want` IDs, awaiting `sleep` if necessary. This is not a trait method, because nightly
/// compilers reject an async method of a public trait if its output type is private.
async fn reserve_async<'s, S: SlotSource + ?Sized>(
    source: &'s S,
    want: u32,
    sleep: &impl AsyncFn(Duration),
) -> Result<FamilyReservation<'s, S::Family>> {
    let mut call = Call::asynchronous();
    loop {
        match source.step(&mut call, None, want)? {
            Progress::Done(taken) => return Ok(taken),
            Progress::Sleep(nanos) => sleep(Duration::from_nanos(nanos)).await,
        }
    }
}

/// The parameter of each ID from a source, which is the part of the ID that the caller chooses.
pub(crate) type Param<'g, S> = <<S as SlotSource>::Family as CallTypes>::Param<'g>;

/// A buffer for many IDs from a source.
pub(crate) type Buffer<'b, S> = <<S as SlotSource>::Family as CallTypes>::Batch<'b>;

#[allow(private_interfaces, reason = "as the trait's")]
impl<F: Pack, C: Clock> SlotSource for Generator<F, C> {
    type Family = F;

    fn family(&self) -> &F {
        &self.engine.family
    }

    #[inline(always)]
    #[allow(
        clippy::inline_always,
        reason = "a sno ID takes 96 instructions with its slot in registers, 141 without"
    )]
    fn reserve(&self, want: u32, mode: Mode) -> Result<FamilyReservation<'_, F>> {
        self.reserve_observed(self.engine.observe()?, want, mode)
    }

    fn step<'s>(
        &'s self,
        call: &mut Call<'s>,
        observed: Option<Observation<F>>,
        want: u32,
    ) -> Result<Progress<FamilyReservation<'s, F>>> {
        let slots = self.engine.step(call, observed, want)?;
        Ok(slots.map(|slots| (&self.engine.family, slots)))
    }

    fn sleep(&self, nanos: u64) -> Result<()> {
        self.engine.clock.sleep(nanos)
    }
}

/// A batch that is being filled.
struct Batch<'g, 'b, 'w, F: Pack> {
    param: F::Param<'g>,
    buffer: F::Batch<'b>,
    count: usize,
    filled: &'w mut WrittenCount,
}

impl<'g, 'b, 'w, F: Pack> Batch<'g, 'b, 'w, F> {
    fn new(
        family: &F,
        param: F::Param<'g>,
        buffer: F::Batch<'b>,
        filled: &'w mut WrittenCount,
    ) -> Result<Self> {
        let count = family.capacity(&buffer, param)?;
        Ok(Self { param, buffer, count, filled })
    }

    /// Returns the number of slots to request next, or `None` if the buffer is full.
    #[inline]
    fn next_count(&self) -> Option<u32> {
        let left = self.count - self.filled.written;
        (left > 0).then(|| u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Writes the IDs of the reserved slots, unless another process reserved the slots.
    #[inline]
    fn write_slots(&mut self, taken: Result<FamilyReservation<'_, F>>) -> Result<()> {
        let filled = &mut *self.filled;
        let is_here = filled.generation == fork::generation();
        let written = if is_here { filled.written } else { 0 };
        let (family, slots) = taken.map_err(|error| error.after_writing(written))?;
        if is_here {
            family
                .write(slots, self.param, &mut self.buffer, filled.written)
                .map_err(|error| error.after_writing(filled.written))?;
            filled.written += slots.1.len as usize;
        }
        if filled.generation != fork::generation() {
            // The process forked after the check above, so the parent has written the same IDs to its own copy of the
            // buffer. This child therefore starts over.
            *filled = WrittenCount::new();
        }
        Ok(())
    }
}

/// Returns whether an error is temporary: the tick is exhausted, or the clock is behind.
fn is_temporary(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}
