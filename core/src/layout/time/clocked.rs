//! The ticks that a generator's clock can show.

use core::ops::Range;

use crate::{
    Error, Result,
    format::{Ticks, UnixTime, is_within},
    layout::Timeline,
};

const NANOS_PER_MS: i64 = 1_000_000;

/// The ticks `0..=last` of a layout's timestamp. Ticks that no 64-bit clock shows are left out, to save bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockTicks {
    timeline: Timeline,
    last: u64,
    /// The start of tick 0, in Unix nanoseconds, if 64 bits hold it.
    begins: Option<i64>,
    /// Length of a tick, in nanoseconds.
    lasts: u64,
}

impl ClockTicks {
    pub(in crate::layout) fn new(timeline: Timeline) -> Self {
        // A timestamp of 64 bits is read as a signed number.
        let most = i128::from(timeline.most()).min(i64::MAX.into());
        let shown = timeline.value_of_reading(i64::MAX).clamp(0, most);
        let begins = timeline.micros_of(0).and_then(|micros| micros.checked_mul(1000));
        Self {
            timeline,
            last: u64::try_from(shown).unwrap_or(0),
            begins: begins.and_then(|begins| i64::try_from(begins).ok()),
            lasts: timeline.tick().as_micros().saturating_mul(1000),
        }
    }
}

impl Ticks for ClockTicks {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }

    /// Returns whether a clock reading lies in a tick, which is at most the last one. Cheaper than computing the reading's tick.
    #[inline]
    fn is_within(&self, tick: u64, unix_nanos: i64) -> bool {
        let Some(first) = self.begins else { return false };
        // This overflows only because a signed and an unsigned number are added: the start of the tick fits 64 bits.
        let begins = first.wrapping_add(tick.wrapping_mul(self.lasts).cast_signed());
        is_within(begins, self.lasts, unix_nanos)
    }

    /// The tick of a clock reading.
    #[inline]
    fn tick_of_nanos(&self, unix_nanos: i64) -> Result<u64> {
        let tick = u64::try_from(self.timeline.value_of_reading(unix_nanos));
        match tick {
            Ok(tick) if tick <= self.last => Ok(tick),
            _ => Err(self.timeline.outside("clock", unix_nanos.div_euclid(NANOS_PER_MS).into())),
        }
    }

    /// The start of a tick, in Unix milliseconds, floored; the end of 64-bit time for a tick past it.
    fn ms_of(&self, tick: u64) -> i64 {
        self.timeline.ms_of(tick.into()).unwrap_or(i64::MAX)
    }

    /// The start of a tick, in Unix nanoseconds; the end of 64-bit time for a tick past it.
    fn nanos_of(&self, tick: u64) -> i64 {
        let micros = self.timeline.micros_of(tick.into());
        micros.and_then(|micros| i64::try_from(micros * 1000).ok()).unwrap_or(i64::MAX)
    }

    /// Length of a tick, in nanoseconds.
    #[inline]
    fn tick_nanos(&self) -> u64 {
        self.lasts
    }

    /// The ticks that begin in a half-open span of time.
    fn ticks_within(&self, start: UnixTime, end: UnixTime) -> Result<Range<u64>> {
        let (first, last) = self.timeline.ticks_within(start, end)?;
        if last > i64::MAX.cast_unsigned() {
            return Err(self.timeline.outside("start", start.floor_ms().into()));
        }
        Ok(first..last + 1)
    }

    /// The tick after the last one that begins before the end of a window. The window begins with tick `start`.
    fn end_of(&self, start: u64, end: UnixTime) -> Result<u64> {
        let last = self.timeline.last_before(end)?;
        if last < start || last > i64::MAX.cast_unsigned() {
            let least = i128::from(self.ms_of(start)) + 1;
            return Err(Error::out_of_range("end", end.floor_ms().into(), least, i64::MAX.into()));
        }
        Ok(last + 1)
    }
}
