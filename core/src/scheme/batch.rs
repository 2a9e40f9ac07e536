//! Filling a batch from runs of slots, and what a fork in the middle of one means.

use crate::{Error, ErrorKind, Result, fork};

/// Fills `count` places from runs that are reserved one after the other. `write` gets the first place that is still empty and what
/// was reserved, and returns how many places it filled.
///
/// A child that is forked in the middle has a copy of what the parent wrote so far, so it begins again, or is refused with nothing
/// written.
pub(crate) fn fill_runs<T>(
    count: usize,
    reserve: impl Fn(u32) -> Result<T>,
    mut write: impl FnMut(usize, T) -> usize,
) -> Result<()> {
    let (mut epoch, mut written) = (fork::current(), 0);
    while written < count {
        let want = u32::try_from(count - written).unwrap_or(u32::MAX);
        let reserved = reserve(want);
        if epoch == fork::epoch() {
            written += write(written, reserved.map_err(|error| error.after_writing(written))?);
        } else {
            reserved.map_err(|error| error.after_writing(0))?;
        }
        if epoch != fork::epoch() {
            (epoch, written) = (fork::current(), 0);
        }
    }
    Ok(())
}

/// How many of `count` places were filled, where those that would have had to wait are left alone.
pub(crate) fn filled_now(outcome: Result<()>, count: usize) -> Result<usize> {
    match outcome {
        Ok(()) => Ok(count),
        Err(error) if is_of_now(&error) => Ok(error.written().unwrap_or(0)),
        Err(error) => Err(error),
    }
}

/// Returns whether a generator refused what it will have later: its tick is used up, or the clock behind it.
pub(crate) fn is_of_now(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::SequenceExhausted | ErrorKind::ClockBehind)
}
