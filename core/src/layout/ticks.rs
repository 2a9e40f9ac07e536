//! The ticks that a generator's clock can show.

use core::ops::Range;

use super::Timeline;
use crate::{
    Error, Result,
    format::{Ticks, UnixTime, is_within},
};

const NANOS_PER_MS: i64 = 1_000_000;

/// The ticks `0..=last` of a layout's timestamp. Those that no 64-bit clock shows are left out, so that few bits hold them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutTicks {
    timeline: Timeline,
    last: u64,
    /// When tick 0 begins, in Unix nanoseconds, where 64 bits hold that.
    begins: Option<i64>,
    /// How long each tick lasts, in nanoseconds.
    lasts: u64,
}

impl LayoutTicks {
    pub(super) fn new(timeline: Timeline) -> Self {
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

impl Ticks for LayoutTicks {
    #[inline]
    fn last(&self) -> u64 {
        self.last
    }

    /// Whether a clock reading lies in a tick up to the last: cheaper than to ask for the reading's tick.
    #[inline]
    fn is_within(&self, tick: u64, unix_nanos: i64) -> bool {
        let Some(first) = self.begins else { return false };
        // No overflow, but in the sum of a signed number and an unsigned one: a clock shows when the tick begins.
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

    /// When a tick begins, in Unix milliseconds, floored; the end of 64-bit time for what lies past it.
    fn ms_of(&self, tick: u64) -> i64 {
        self.timeline.ms_of(tick.into()).unwrap_or(i64::MAX)
    }

    /// When a tick begins, in Unix nanoseconds; the end of 64-bit time for what lies past it.
    fn nanos_of(&self, tick: u64) -> i64 {
        let micros = self.timeline.micros_of(tick.into());
        micros.and_then(|micros| i64::try_from(micros * 1000).ok()).unwrap_or(i64::MAX)
    }

    /// How long a tick lasts, in nanoseconds.
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

    /// One past the last tick that begins before the end of a window, which begins with `start`.
    fn end_of(&self, start: u64, end: UnixTime) -> Result<u64> {
        let last = self.timeline.last_before(end)?;
        if last < start || last > i64::MAX.cast_unsigned() {
            let least = i128::from(self.ms_of(start)) + 1;
            return Err(Error::out_of_range("end", end.floor_ms().into(), least, i64::MAX.into()));
        }
        Ok(last + 1)
    }
}
