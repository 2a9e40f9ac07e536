//! The type that callers use to specify a moment in time.

use alloc::format;
use core::fmt;

use crate::{Error, ErrorKind};

/// A moment in Unix time. It can be created from an integer number of milliseconds or, without loss of precision, from a
/// standard-library `SystemTime`.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use polyflake::sno::Sno;
///
/// let hour_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_763_650_000);
/// let (lowest, _) = Sno::time_range(hour_ago, hour_ago + Duration::from_secs(3600))?;
/// assert_eq!(lowest.unix_ms(), 1_763_650_000_000);
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime {
    nanos: i128,
}

const NANOS_PER_MS: i128 = 1_000_000;

impl UnixTime {
    pub(crate) const fn from_ms(unix_ms: i64) -> Self {
        Self { nanos: unix_ms as i128 * NANOS_PER_MS }
    }

    /// Creates a moment from Unix microseconds.
    ///
    /// This function is not part of the public API. It exists for the Python binding, because Python's `datetime` has
    /// microsecond precision.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub const fn from_micros(unix_micros: i64) -> Self {
        Self { nanos: unix_micros as i128 * 1000 }
    }

    pub(crate) const fn nanos(self) -> i128 {
        self.nanos
    }

    /// Returns whether the moment is not the start of a millisecond. Without the standard library, no moment has a
    /// fraction, and the division of 128-bit integers would make each WebAssembly module 5 % larger.
    pub(crate) const fn has_fraction(self) -> bool {
        cfg!(feature = "std") && self.nanos % NANOS_PER_MS != 0
    }

    /// Returns the millisecond that contains the moment, or the nearest 64-bit value if that millisecond does not fit in 64
    /// bits.
    pub(crate) fn floor_ms(self) -> i64 {
        saturate_to_i64(self.nanos.div_euclid(NANOS_PER_MS))
    }

    /// Returns the first millisecond that begins at or after the moment, or the nearest 64-bit value if that millisecond
    /// does not fit in 64 bits.
    pub(crate) fn ceil_ms(self) -> i64 {
        saturate_to_i64(-(-self.nanos).div_euclid(NANOS_PER_MS))
    }
}

/// Clamps a time to 64 bits. Clamping does not affect formats with ticks of whole milliseconds, because their time ranges
/// end before the 64-bit range does.
fn saturate_to_i64(unix_ms: i128) -> i64 {
    let end = if unix_ms < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(unix_ms).unwrap_or(end)
}

/// Writes the moment in Unix milliseconds, with all decimals.
impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.has_fraction() {
            return write!(f, "{}", self.floor_ms());
        }
        let sign = if self.nanos < 0 { "-" } else { "" };
        let (nanos, per_ms) = (self.nanos.unsigned_abs(), NANOS_PER_MS.unsigned_abs());
        write!(f, "{sign}{}", nanos / per_ms)?;
        let fraction = format!("{:06}", nanos % per_ms);
        write!(f, ".{}", fraction.trim_end_matches('0'))
    }
}

/// Returns the error for a time range in which no tick starts. It states both bounds as the caller passed them. The range
/// may also have to fulfill another `condition`.
#[cold]
pub(crate) fn empty_range_error(condition: &str, start: UnixTime, end: UnixTime) -> Error {
    let reason = format!(
        "expected a time range in which a tick starts{condition}, found {start} to {end} ms"
    );
    Error::with_reason(ErrorKind::OutOfRange, reason).with_field("end")
}

impl From<i64> for UnixTime {
    fn from(unix_ms: i64) -> Self {
        Self::from_ms(unix_ms)
    }
}

#[cfg(feature = "std")]
impl From<std::time::SystemTime> for UnixTime {
    fn from(time: std::time::SystemTime) -> Self {
        // A `Duration` counts seconds in 64 bits, so its length in nanoseconds is below 2^94 and fits in an `i128`.
        let nanos = |since: std::time::Duration| since.as_nanos().cast_signed();
        let nanos = match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => nanos(since),
            Err(before) => -nanos(before.duration()),
        };
        Self { nanos }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn system_times_convert_exactly_before_and_after_1970() {
        let part = Duration::from_nanos(1_500_001);
        let (after, before) =
            (UnixTime::from(UNIX_EPOCH + part), UnixTime::from(UNIX_EPOCH - part));
        assert_eq!((after.floor_ms(), after.ceil_ms()), (1, 2));
        assert_eq!((before.floor_ms(), before.ceil_ms()), (-2, -1));
        assert_eq!(UnixTime::from(-7), UnixTime::from(UNIX_EPOCH - Duration::from_millis(7)));
    }

    #[test]
    fn an_empty_range_shows_both_bounds_exactly() {
        for (nanos, shown) in [(1_500_000, "1.5"), (-1, "-0.000001"), (2_000_000, "2"), (0, "0")] {
            let time = UnixTime { nanos };
            let end = UnixTime { nanos: nanos + 1_000_020 };
            let message = format!("{}", empty_range_error("", time, end));
            assert!(message.contains(&format!(", found {shown} to ")), "{message}");
            assert_eq!(time.has_fraction(), shown.contains('.'));
        }
    }

    #[test]
    fn times_past_64_bits_saturate() {
        for ms in [i64::MIN, i64::MAX] {
            assert_eq!((UnixTime::from(ms).floor_ms(), UnixTime::from(ms).ceil_ms()), (ms, ms));
            let past = UnixTime { nanos: i128::from(ms) * NANOS_PER_MS * 2 };
            assert_eq!((past.floor_ms(), past.ceil_ms()), (ms, ms));
        }
    }
}
