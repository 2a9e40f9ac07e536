//! Converts between Unix time and the ticks of a format.

use core::ops::Range;

use super::{Ticks, UnixTime, empty_range_error};
use crate::{Error, Result};

const NANOS_PER_MS: i64 = 1_000_000;

/// The time scale of a format. Each tick lasts a whole number of milliseconds, and tick 0 starts at the epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) epoch_ms: i64,
    pub(crate) tick_ms: i64,
    /// The last tick that the format can represent.
    pub(crate) last: u64,
}

impl Scale {
    /// Returns the tick that contains a time.
    pub(crate) fn tick_of(&self, time: UnixTime) -> Result<u64> {
        let unix_ms = time.floor_ms();
        self.tick_at(unix_ms).ok_or_else(|| self.time_out_of_range("time", unix_ms))
    }

    /// Returns the tick that contains a timestamp in Unix seconds.
    pub(crate) fn tick_of_seconds(&self, unix_seconds: i64) -> Result<u64> {
        self.tick_at(unix_seconds.saturating_mul(1000)).ok_or_else(|| {
            let [least, most] = [self.epoch_ms, self.last_ms()].map(|ms| (ms / 1000).into());
            Error::time_out_of_range("timestamp", unix_seconds.into(), least, most, "s")
        })
    }

    fn tick_at(&self, unix_ms: i64) -> Option<u64> {
        let since = unix_ms.saturating_sub(self.epoch_ms).div_euclid(self.tick_ms);
        u64::try_from(since).ok().filter(|tick| *tick <= self.last)
    }

    /// Returns the start of a tick in Unix milliseconds. The tick may also be `last_tick() + 1`, which is the end of
    /// the last tick.
    #[inline]
    pub(crate) const fn tick_start_ms(&self, tick: u64) -> i64 {
        self.epoch_ms + tick.cast_signed() * self.tick_ms
    }

    /// Returns the length of a tick, in nanoseconds.
    pub(crate) const fn tick_nanos(&self) -> u64 {
        (self.tick_ms * NANOS_PER_MS).cast_unsigned()
    }

    /// Returns the first tick that starts at or after a time.
    fn first_tick_from(&self, unix_ms: i64) -> u64 {
        let since = (unix_ms - self.epoch_ms).cast_unsigned();
        since.div_ceil(self.tick_ms.cast_unsigned())
    }

    /// Returns the last millisecond of the last tick.
    fn last_ms(&self) -> i64 {
        self.tick_start_ms(self.last) + (self.tick_ms - 1)
    }

    /// Returns the error for a time that the format cannot represent.
    #[cold]
    pub(crate) fn time_out_of_range(&self, field: &'static str, unix_ms: i64) -> Error {
        let (least, most) = (self.epoch_ms.into(), self.last_ms().into());
        Error::time_out_of_range(field, unix_ms.into(), least, most, "ms")
    }
}

impl Ticks for Scale {
    #[inline]
    fn last_tick(&self) -> u64 {
        self.last
    }

    fn tick_nanos(&self) -> u64 {
        self.tick_nanos()
    }

    #[inline]
    fn tick_of_nanos(&self, unix_nanos: i64) -> Result<u64> {
        let epoch = self.epoch_ms * NANOS_PER_MS;
        // For a clock reading before the epoch, the difference wraps around. The comparison below rejects such a reading,
        // so the common case needs no checked arithmetic.
        let tick = unix_nanos.wrapping_sub(epoch).cast_unsigned() / self.tick_nanos();
        if unix_nanos < epoch || tick > self.last {
            return Err(self.time_out_of_range("clock", unix_nanos.div_euclid(NANOS_PER_MS)));
        }
        Ok(tick)
    }

    #[inline]
    fn is_within(&self, tick: u64, unix_nanos: i64) -> bool {
        let begins =
            self.epoch_ms * NANOS_PER_MS + tick.cast_signed() * self.tick_ms * NANOS_PER_MS;
        is_within(begins, self.tick_nanos(), unix_nanos)
    }

    #[inline]
    fn tick_start_ms(&self, tick: u64) -> i64 {
        self.tick_start_ms(tick)
    }

    fn tick_start_nanos(&self, tick: u64) -> i64 {
        self.tick_start_ms(tick).saturating_mul(NANOS_PER_MS)
    }

    fn ticks_in_range(&self, start: UnixTime, end: UnixTime) -> Result<Range<u64>> {
        // Ticks begin at whole milliseconds, so both ends can be rounded up to a millisecond without changing the result.
        let (start_ms, end_ms) = (start.ceil_ms(), end.ceil_ms());
        let (latest, format_ends) =
            (self.tick_start_ms(self.last), self.tick_start_ms(self.last + 1));
        if !(self.epoch_ms..=latest).contains(&start_ms) {
            // No tick of the format begins in the range, so the start is wrong regardless of the end.
            if start_ms < end_ms && !(latest..format_ends).contains(&start_ms) {
                return Err(self.time_out_of_range("start", start_ms));
            }
            let (least, most) = (self.epoch_ms.into(), latest.into());
            return Err(Error::out_of_range("start", start_ms.into(), least, most).in_unit("ms"));
        }
        if end_ms > format_ends {
            return Err(self.time_out_of_range("end", end_ms));
        }
        let first = self.first_tick_from(start_ms);
        if end_ms <= self.tick_start_ms(first) {
            // A limit in whole milliseconds would contradict a bound that the caller passed with decimals.
            if start < end && (start.has_fraction() || end.has_fraction()) {
                return Err(empty_range_error("", start, end));
            }
            let least =
                if end_ms <= start_ms { start_ms + 1 } else { self.tick_start_ms(first) + 1 };
            let (end, most) = (end_ms.into(), format_ends.into());
            return Err(Error::out_of_range("end", end, least.into(), most).in_unit("ms"));
        }
        Ok(first..self.first_tick_from(end_ms))
    }
}

/// Returns whether a clock reading is within the tick that starts at `begins` and has length `lasts`. All values are in
/// nanoseconds.
#[inline]
pub(crate) const fn is_within(begins: i64, lasts: u64, unix_nanos: i64) -> bool {
    unix_nanos >= begins && unix_nanos.wrapping_sub(begins).cast_unsigned() < lasts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_within_matches_the_tick_of_the_reading() {
        let scale = Scale { epoch_ms: 1_262_304_000_000, tick_ms: 4, last: (1 << 39) - 1 };
        let begins = scale.tick_start_nanos(7);
        for (reading, within) in [
            (begins - 1, false),
            (begins, true),
            (begins + 3_999_999, true),
            (begins + 4_000_000, false),
            (i64::MIN, false),
            (i64::MAX, false),
        ] {
            assert_eq!(scale.is_within(7, reading), within, "{reading}");
            assert!(!within || scale.tick_of_nanos(reading).unwrap() == 7);
        }
        assert!(!is_within(i64::MAX, u64::MAX, i64::MIN));
        assert!(is_within(i64::MIN, u64::MAX, i64::MAX - 1));
    }
}
