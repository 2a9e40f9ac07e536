//! Where slots come from, and filling a batch with them, whatever a fork in the middle of one does.

use core::time::Duration;

use super::{Engine, Family, Reserved};
use crate::{Error, ErrorKind, Result, clock::Clock, fork};

/// Whether a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As the generator's policy says.
    Wait,
    /// Never.
    Try,
}

/// Slots, and the family that packs IDs from them.
pub(crate) type Taken<'s, F> = (&'s F, Reserved<F>);

/// What gives out slots: a generator's engine, or the members of a pool.
pub(crate) trait Source {
    type Family: Family;

    /// Slots for up to `want` IDs.
    fn take(&self, want: u32, mode: Mode) -> Result<Taken<'_, Self::Family>>;

    /// Slots for up to `want` IDs, after waiting in `sleep` if need be.
    async fn take_async(
        &self,
        want: u32,
        sleep: &impl AsyncFn(Duration),
    ) -> Result<Taken<'_, Self::Family>>;
}

impl<F: Family, C: Clock> Source for Engine<F, C> {
    type Family = F;

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[allow(clippy::inline_always, reason = "as Engine::reserve")]
    fn take(&self, want: u32, mode: Mode) -> Result<Taken<'_, F>> {
        Ok((&self.family, self.reserve(want, mode)?))
    }

    async fn take_async(&self, want: u32, sleep: &impl AsyncFn(Duration)) -> Result<Taken<'_, F>> {
        Ok((&self.family, self.reserve_async(want, sleep).await?))
    }
}

/// A batch that is being filled.
///
/// A child that is forked in the middle has a copy of what the parent wrote so far, so it begins again, or is refused with nothing
/// written.
struct Batch {
    count: usize,
    written: usize,
    epoch: u32,
}

impl Batch {
    fn new(count: usize) -> Self {
        Self { count, written: 0, epoch: fork::current() }
    }

    /// How many slots to ask for next; none when all places are filled.
    fn want(&self) -> Option<u32> {
        let left = self.count - self.written;
        (left > 0).then(|| u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Writes what was reserved, unless this process is no longer the one that reserved it.
    fn put<T>(
        &mut self,
        reserved: Result<T>,
        mut write: impl FnMut(usize, T) -> usize,
    ) -> Result<()> {
        let is_here = self.epoch == fork::epoch();
        let written = if is_here { self.written } else { 0 };
        let reserved = reserved.map_err(|error| error.after_writing(written))?;
        if is_here {
            self.written += write(self.written, reserved);
        }
        if self.epoch != fork::epoch() {
            (self.epoch, self.written) = (fork::current(), 0);
        }
        Ok(())
    }
}

/// Fills `count` places. `write` gets the first place that is still empty and what was reserved, and returns how many places it
/// filled.
///
/// # Errors
/// Those of the source, which tell how many places were filled.
pub(crate) fn fill<S: Source>(
    source: &S,
    mode: Mode,
    count: usize,
    mut write: impl FnMut(usize, Taken<'_, S::Family>) -> usize,
) -> Result<()> {
    let mut batch = Batch::new(count);
    while let Some(want) = batch.want() {
        batch.put(source.take(want, mode), &mut write)?;
    }
    Ok(())
}

/// Fills as many of `count` places as there are slots now, and returns how many.
///
/// # Errors
/// As [`fill`], but for those that a wait would mend.
pub(crate) fn try_fill<S: Source>(
    source: &S,
    count: usize,
    write: impl FnMut(usize, Taken<'_, S::Family>) -> usize,
) -> Result<usize> {
    match fill(source, Mode::Try, count, write) {
        Ok(()) => Ok(count),
        Err(error) if is_of_now(&error) => Ok(error.written().unwrap_or(0)),
        Err(error) => Err(error),
    }
}

/// As [`fill`], waiting in `sleep`.
pub(crate) async fn fill_async<S: Source>(
    source: &S,
    sleep: &impl AsyncFn(Duration),
    count: usize,
    mut write: impl FnMut(usize, Taken<'_, S::Family>) -> usize,
) -> Result<()> {
    let mut batch = Batch::new(count);
    while let Some(want) = batch.want() {
        batch.put(source.take_async(want, sleep).await, &mut write)?;
    }
    Ok(())
}

/// Returns whether a generator refused what it will have later: its tick is used up, or the clock behind it.
pub(crate) fn is_of_now(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}
