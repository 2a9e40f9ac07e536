//! Converts between Unix time and the ticks of a timestamp.

use core::ops::Range;

use super::UnixTime;
use crate::Result;

/// A conversion between Unix time and the ticks of a format's timestamp.
pub(crate) trait Ticks {
    /// Returns the last tick.
    fn last_tick(&self) -> u64;

    /// Returns the length of a tick in nanoseconds.
    fn tick_nanos(&self) -> u64;

    /// Returns the tick that contains a clock reading.
    ///
    /// # Errors
    /// Returns `time_out_of_range` if the reading is outside the format's time range.
    fn tick_of_nanos(&self, unix_nanos: i64) -> Result<u64>;

    /// Returns whether a clock reading is within a tick. This is cheaper than [`Ticks::tick_of_nanos`].
    fn is_within(&self, tick: u64, unix_nanos: i64) -> bool;

    /// Returns the start of a tick in Unix milliseconds.
    fn tick_start_ms(&self, tick: u64) -> i64;

    /// Returns the start of a tick in Unix nanoseconds, or `i64::MAX` if the start is later than the end of the 64-bit time
    /// range.
    fn tick_start_nanos(&self, tick: u64) -> i64;

    /// Returns the ticks that start in a half-open time range.
    ///
    /// # Errors
    /// Returns `out_of_range` for an empty range, or `time_out_of_range` for a range that is not within the format's time
    /// range.
    fn ticks_in_range(&self, start: UnixTime, end: UnixTime) -> Result<Range<u64>>;

    /// Returns the exclusive end tick of a window that lasts from the tick `start` to the time `end`. The result directly
    /// follows the last tick that starts before `end`.
    ///
    /// # Errors
    /// Returns the same errors as [`Ticks::ticks_in_range`].
    fn end_tick(&self, start: u64, end: UnixTime) -> Result<u64> {
        Ok(self.ticks_in_range(UnixTime::from_ms(self.tick_start_ms(start)), end)?.end)
    }
}
