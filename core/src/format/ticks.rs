//! From Unix time to the ticks that a timestamp counts, and back.

use core::ops::Range;

use super::UnixTime;
use crate::Result;

/// The ticks of a timestamp.
pub(crate) trait Ticks {
    /// The last tick.
    fn last(&self) -> u64;

    /// Length of a tick, in nanoseconds.
    fn tick_nanos(&self) -> u64;

    /// The tick of a clock reading.
    ///
    /// # Errors
    /// `time_out_of_range` outside the format's time.
    fn tick_of_nanos(&self, unix_nanos: i64) -> Result<u64>;

    /// Returns whether a clock reading lies in a tick: cheaper than [`Ticks::tick_of_nanos`].
    fn is_within(&self, tick: u64, unix_nanos: i64) -> bool;

    /// The start of a tick, in Unix milliseconds.
    fn ms_of(&self, tick: u64) -> i64;

    /// The start of a tick, in Unix nanoseconds; the end of 64-bit time for a tick past it.
    fn nanos_of(&self, tick: u64) -> i64;

    /// The ticks that begin within a half-open span of time.
    ///
    /// # Errors
    /// `out_of_range` for an empty span; `time_out_of_range` outside the format's time.
    fn ticks_within(&self, start: UnixTime, end: UnixTime) -> Result<Range<u64>>;

    /// The tick after the last one that begins before the end of a window. The window begins with tick `start`.
    ///
    /// # Errors
    /// As [`Ticks::ticks_within`].
    fn end_of(&self, start: u64, end: UnixTime) -> Result<u64> {
        Ok(self.ticks_within(UnixTime::of_ms(self.ms_of(start)), end)?.end)
    }
}
