//! Converts between times and timestamp values.

use core::ops::Range;

use crate::{
    Error, ErrorKind, Result,
    format::{Ticks, UnixTime, empty_range_error, is_within},
    layout::{Tick, Width},
};

const NANOS_PER_MS: i64 = 1_000_000;

/// The timeline of a timestamp, which maps a time to the value `floor(time / tick) - floor(epoch / tick)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    tick: Tick,
    epoch_ms: i64,
    width: Width,
    /// The length of a tick in milliseconds, or 0 if the length is not a whole number of milliseconds.
    whole_ms: i64,
    /// The tick that contains the epoch, as a number of ticks since 1970.
    epoch: i128,
    /// The last value that a generator uses. Values beyond the range of 64-bit clocks are excluded, so that a tick needs
    /// fewer bits in the state word.
    last: u64,
    /// The time at which value 0 begins, in Unix nanoseconds, or `None` if the time does not fit in 64 bits.
    begins: Option<i64>,
}

impl Timeline {
    pub(crate) fn new(tick: Tick, epoch_ms: i64, width: Width) -> Self {
        let micros = tick.as_micros().cast_signed();
        let whole_ms = if micros % 1000 == 0 { micros / 1000 } else { 0 };
        let mut timeline =
            Self { tick, epoch_ms, width, whole_ms, epoch: 0, last: 0, begins: None };
        timeline.epoch = timeline.value_at_ms(epoch_ms);
        // A 64-bit timestamp is read as a signed integer.
        let most = i128::from(width.most).min(i64::MAX.into());
        let shown = timeline.value_at_reading(i64::MAX).clamp(0, most);
        timeline.last = u64::try_from(shown).unwrap_or(0);
        timeline.begins = timeline.start_nanos(0).and_then(|begins| i64::try_from(begins).ok());
        timeline
    }

    pub(crate) const fn tick(&self) -> Tick {
        self.tick
    }

    pub(crate) const fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }

    /// Returns the timestamp value for a time in Unix milliseconds.
    #[inline]
    pub(crate) fn value_at_ms(&self, unix_ms: i64) -> i128 {
        match self.whole_ms {
            // Ticks whose length is not a whole number of milliseconds are rare and require a 128-bit division.
            0 => self.value_at_ms_wide(unix_ms),
            1 => i128::from(unix_ms) - self.epoch, // this case needs no division
            ms => i128::from(unix_ms.div_euclid(ms)) - self.epoch,
        }
    }

    /// Returns the timestamp value for a time in Unix milliseconds, for ticks whose length is not a whole number of
    /// milliseconds. This function uses 128-bit arithmetic. It is separate so that `value_at_ms` stays small.
    #[inline(never)]
    fn value_at_ms_wide(&self, unix_ms: i64) -> i128 {
        let tick = i128::from(self.tick.as_micros());
        (i128::from(unix_ms) * 1000).div_euclid(tick) - self.epoch
    }

    /// Returns the timestamp value for a time in Unix nanoseconds, or `None` if the value does not fit in 128 bits.
    pub(crate) fn value_at_nanos(&self, unix_nanos: i128) -> Option<i128> {
        let tick = i128::from(self.tick.as_micros()) * 1000;
        unix_nanos.div_euclid(tick).checked_sub(self.epoch)
    }

    /// Returns the timestamp value for a clock reading.
    #[inline]
    pub(crate) fn value_at_reading(&self, unix_nanos: i64) -> i128 {
        let tick = self.tick.as_micros().cast_signed();
        // The code divides twice, because the length of a long tick in nanoseconds may not fit in 64 bits, and a single
        // 128-bit division would be slow.
        i128::from(unix_nanos.div_euclid(1000).div_euclid(tick)) - self.epoch
    }

    /// Returns the start of a value's tick in Unix milliseconds, rounded down, or `None` if the start does not fit in 64
    /// bits.
    #[inline]
    pub(crate) fn start_ms(&self, value: i128) -> Option<i64> {
        match self.whole_ms {
            0 => i64::try_from(self.start_micros(value)?.div_euclid(1000)).ok(),
            // If the number of ticks since 1970 does not fit in 64 bits, neither does the start of the tick in
            // milliseconds.
            whole => i64::try_from(value + self.epoch).ok()?.checked_mul(whole),
        }
    }

    /// Returns the Unix time of value 0 and the step between consecutive values, both in milliseconds. Returns `None` if
    /// the step is not a whole number, or if not all times fit in 64 bits.
    pub(crate) fn first_and_step(&self) -> Option<(i64, i64)> {
        // A 64-bit timestamp is signed, so checking the times of value 0 and the largest value would not be enough.
        let is_line = self.whole_ms > 0 && self.width.bits < 64;
        self.start_ms(self.width.most.into()).filter(|_| is_line)?;
        Some((self.start_ms(0)?, self.whole_ms))
    }

    /// Returns the start of a value's tick, in Unix microseconds.
    pub(crate) fn start_micros(&self, value: i128) -> Option<i128> {
        value.checked_add(self.epoch)?.checked_mul(self.tick.as_micros().into())
    }

    /// Returns the start of a value's tick, in Unix nanoseconds.
    pub(crate) fn start_nanos(&self, value: i128) -> Option<i128> {
        self.start_micros(value)?.checked_mul(1000)
    }

    /// Works like [`Timeline::start_ms`], but returns an error if the time does not fit in 64 bits.
    #[inline]
    pub(crate) fn checked_start_ms(&self, value: i128) -> Result<i64> {
        self.start_ms(value).ok_or_else(|| self.time_overflow(value))
    }

    /// Returns the error for a value whose time does not fit in 64-bit milliseconds.
    #[cold]
    fn time_overflow(&self, value: i128) -> Error {
        let unix_ms = self.start_micros(value).map_or(i128::MAX, |micros| micros.div_euclid(1000));
        Error::time_out_of_range("timestamp", unix_ms, i64::MIN.into(), i64::MAX.into(), "ms")
    }

    /// Returns the error for a time that the field cannot represent.
    #[cold]
    pub(crate) fn time_out_of_range(&self, field: &'static str, unix_ms: i128) -> Error {
        let least = if self.width.bits == 64 { i64::MIN.into() } else { 0 };
        // Both limits are rounded to whole milliseconds within the range.
        let first = self.start_micros(least).map_or(i128::MIN, |begin| -(-begin).div_euclid(1000));
        let end = self.start_micros(i128::from(self.width.most) + 1);
        let last = end.map_or(i128::MAX, |end| (end - 1).div_euclid(1000));
        let (first, last) = (first.max(i64::MIN.into()), last.min(i64::MAX.into()));
        Error::time_out_of_range(field, unix_ms, first, last, "ms")
    }

    /// Returns the first and the last value, as raw bits, whose ticks begin in the half-open range `start .. end`. The
    /// field must be able to represent the whole range.
    pub(crate) fn values_in_range(&self, start: UnixTime, end: UnixTime) -> Result<(u64, u64)> {
        if self.width.narrow(self.value_at(start)).is_none() {
            let kind = if start >= end { ErrorKind::OutOfRange } else { ErrorKind::TimeOutOfRange };
            return Err(self.time_out_of_range("start", start.floor_ms().into()).with_kind(kind));
        }
        if start >= end {
            let least = i128::from(start.floor_ms()) + 1;
            let most = least.max(i64::MAX.into());
            return Err(
                Error::out_of_range("end", end.floor_ms().into(), least, most).in_unit("ms")
            );
        }
        let last = self.last_value_before(end)?;
        match self.width.narrow(self.first_value_from(start)) {
            Some(first) if first <= last => Ok((first, last)),
            _ => Err(empty_range_error(", on one side of the epoch", start, end)),
        }
    }

    /// Returns the raw bits of the last value whose tick begins before `time`.
    pub(crate) fn last_value_before(&self, time: UnixTime) -> Result<u64> {
        let last = self.width.narrow(self.first_value_from(time) - 1);
        last.ok_or_else(|| self.time_out_of_range("end", time.floor_ms().into()))
    }

    /// Returns the first value whose tick starts at or after a time.
    fn first_value_from(&self, time: UnixTime) -> i128 {
        let value = self.value_at(time);
        value + i128::from(self.start_nanos(value) != Some(time.nanos()))
    }

    /// Returns the timestamp value for a time.
    fn value_at(&self, time: UnixTime) -> i128 {
        // The time fits in 94 bits and the epoch in 74 bits, so their difference does not overflow.
        self.value_at_nanos(time.nanos()).unwrap_or(i128::MAX)
    }

    /// Returns the start, in Unix milliseconds, of the last tick that both the field and 64-bit milliseconds can represent.
    pub(crate) fn last_ms(&self) -> Option<i64> {
        let last = i64::try_from(self.width.most).unwrap_or(i64::MAX);
        self.start_ms(last.into()).or_else(|| self.start_ms(self.value_at_ms(i64::MAX)))
    }
}

/// A generator uses only the ticks `0..=last`.
impl Ticks for Timeline {
    #[inline]
    fn last_tick(&self) -> u64 {
        self.last
    }

    /// Returns whether a clock reading is within a tick. The tick must not be after the last tick. This check is cheaper
    /// than computing the clock reading's tick.
    #[inline]
    fn is_within(&self, tick: u64, unix_nanos: i64) -> bool {
        let Some(first) = self.begins else { return false };
        // The sum wraps around only because a signed and an unsigned number are added. The result, the start of the tick,
        // always fits in 64 bits.
        let begins = first.wrapping_add(tick.wrapping_mul(self.tick_nanos()).cast_signed());
        is_within(begins, self.tick_nanos(), unix_nanos)
    }

    /// Returns the tick that contains a clock reading.
    #[inline]
    fn tick_of_nanos(&self, unix_nanos: i64) -> Result<u64> {
        let tick = u64::try_from(self.value_at_reading(unix_nanos));
        match tick {
            Ok(tick) if tick <= self.last => Ok(tick),
            _ => Err(self.time_out_of_range("clock", unix_nanos.div_euclid(NANOS_PER_MS).into())),
        }
    }

    /// Returns the start of a tick in Unix milliseconds, rounded down, or `i64::MAX` if the start does not fit in 64 bits.
    fn tick_start_ms(&self, tick: u64) -> i64 {
        self.start_ms(tick.into()).unwrap_or(i64::MAX)
    }

    /// Returns the start of a tick in Unix nanoseconds, or `i64::MAX` if the start is too late to fit in 64 bits.
    fn tick_start_nanos(&self, tick: u64) -> i64 {
        let nanos = self.start_nanos(tick.into());
        nanos.and_then(|nanos| i64::try_from(nanos).ok()).unwrap_or(i64::MAX)
    }

    /// Returns the length of a tick in nanoseconds.
    #[inline]
    fn tick_nanos(&self) -> u64 {
        self.tick.as_micros().saturating_mul(1000)
    }

    /// Returns the ticks that start in a half-open time range.
    fn ticks_in_range(&self, start: UnixTime, end: UnixTime) -> Result<Range<u64>> {
        let (first, last) = self.values_in_range(start, end)?;
        // Values above this limit are the negative values of a 64-bit timestamp, which represent times before the epoch.
        // Generators create no IDs before the epoch.
        if last > i64::MAX.cast_unsigned() {
            return Err(self.time_out_of_range("start", start.floor_ms().into()));
        }
        Ok(first..last + 1)
    }

    /// Returns the exclusive end tick of a window that lasts from the tick `start` to the time `end`. The result directly
    /// follows the last tick that starts before `end`.
    fn end_tick(&self, start: u64, end: UnixTime) -> Result<u64> {
        let last = self.last_value_before(end)?;
        if last < start || last > i64::MAX.cast_unsigned() {
            let least = i128::from(self.tick_start_ms(start)) + 1;
            return Err(Error::out_of_range("end", end.floor_ms().into(), least, i64::MAX.into())
                .in_unit("ms"));
        }
        Ok(last + 1)
    }
}
