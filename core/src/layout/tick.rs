//! How long a tick lasts, and the way from time to a timestamp's value and back.

use alloc::format;
use core::{fmt, str::FromStr};

use crate::{Error, ErrorKind, Result};

/// The unit that a layout's timestamp counts: a whole number of microseconds.
///
/// Written as an integer and `us`, `ms` or `s`.
///
/// ```
/// use polyflake::layout::Tick;
///
/// let tick: Tick = "10ms".parse()?;
/// assert_eq!(tick.as_micros(), 10_000);
/// assert_eq!(Tick::SECOND.to_string(), "1s");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tick {
    micros: u64,
}

impl Tick {
    /// One millionth of a second.
    pub const MICROSECOND: Self = Self { micros: 1 };
    /// One thousandth of a second.
    pub const MILLISECOND: Self = Self { micros: 1000 };
    /// One hundredth of a second.
    pub const TEN_MILLISECONDS: Self = Self { micros: 10_000 };
    /// One second.
    pub const SECOND: Self = Self { micros: 1_000_000 };

    /// A tick of so many microseconds: `1..=i64::MAX`, else `invalid_layout`.
    pub fn from_micros(micros: u64) -> Result<Self> {
        if micros == 0 || micros > i64::MAX.cast_unsigned() {
            return Err(Error::because(
                ErrorKind::InvalidLayout,
                format!("expected a tick in 1..=2^63-1 us, found {micros} us"),
            ));
        }
        Ok(Self { micros })
    }

    /// A tick of so many milliseconds.
    pub fn from_millis(millis: u64) -> Result<Self> {
        Self::from_micros(millis.saturating_mul(1000))
    }

    /// A tick of so many seconds.
    pub fn from_secs(seconds: u64) -> Result<Self> {
        Self::from_micros(seconds.saturating_mul(1_000_000))
    }

    /// How long it is, in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.micros
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.micros {
            us if us % 1_000_000 == 0 => write!(f, "{}s", us / 1_000_000),
            us if us % 1000 == 0 => write!(f, "{}ms", us / 1000),
            us => write!(f, "{us}us"),
        }
    }
}

impl FromStr for Tick {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::because(
                ErrorKind::InvalidLayout,
                format!("expected a tick as 1us, 10ms or 60s, found {text:?}"),
            )
        };
        let unit_at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (count, unit) = text.split_at(unit_at);
        let count: u64 =
            if count.starts_with('0') { None } else { count.parse().ok() }.ok_or_else(wrong)?;
        match unit {
            "us" => Self::from_micros(count),
            "ms" => Self::from_millis(count),
            "s" => Self::from_secs(count),
            _ => Err(wrong()),
        }
    }
}

/// A timestamp's value is `floor(time / tick) - floor(epoch / tick)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeline {
    tick: Tick,
    epoch_ms: i64,
    /// The tick in whole milliseconds, 0 where it isn't: milliseconds need no 128-bit division then.
    whole_ms: i64,
    /// The epoch's own tick, counted from 1970.
    epoch: i128,
}

impl Timeline {
    pub(crate) fn new(tick: Tick, epoch_ms: i64) -> Self {
        let micros = tick.micros.cast_signed();
        let whole_ms = if micros % 1000 == 0 { micros / 1000 } else { 0 };
        Self { tick, epoch_ms, whole_ms, epoch: floor_ticks(epoch_ms, whole_ms, micros) }
    }

    pub(crate) const fn tick(&self) -> Tick {
        self.tick
    }

    #[cfg(feature = "serde")]
    pub(crate) const fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }

    /// The value of a time in Unix milliseconds.
    #[inline]
    pub(crate) fn value_of_ms(&self, unix_ms: i64) -> i128 {
        floor_ticks(unix_ms, self.whole_ms, self.tick.micros.cast_signed()) - self.epoch
    }

    /// The value of a time in Unix nanoseconds; none past 2^127.
    pub(crate) fn value_of_nanos(&self, unix_nanos: i128) -> Option<i128> {
        let tick = i128::from(self.tick.micros) * 1000;
        unix_nanos.div_euclid(tick).checked_sub(self.epoch)
    }

    /// When the tick of a value begins, in Unix milliseconds, floored; none outside 64 bits.
    #[inline]
    pub(crate) fn ms_of(&self, value: i128) -> Option<i64> {
        let ms = match self.whole_ms {
            0 => self.micros_of(value)?.div_euclid(1000),
            whole => value.checked_add(self.epoch)?.checked_mul(whole.into())?,
        };
        i64::try_from(ms).ok()
    }

    /// When the tick of a value begins, in Unix microseconds.
    pub(crate) fn micros_of(&self, value: i128) -> Option<i128> {
        value.checked_add(self.epoch)?.checked_mul(self.tick.micros.into())
    }

    /// The error for a value whose time 64-bit milliseconds don't hold.
    #[cold]
    pub(crate) fn past_64_bits(&self, value: i128) -> Error {
        let unix_ms = self.micros_of(value).map_or(i128::MAX, |micros| micros.div_euclid(1000));
        Error::time_out_of_range(unix_ms, i64::MIN.into(), i64::MAX.into())
    }

    /// The first value whose tick begins at a time in Unix milliseconds or after it.
    pub(crate) fn first_from(&self, unix_ms: i64) -> i128 {
        let begins_there =
            self.micros_of(self.value_of_ms(unix_ms)) == Some(i128::from(unix_ms) * 1000);
        self.value_of_ms(unix_ms) + i128::from(!begins_there)
    }
}

/// The tick of a time, counted from 1970.
#[inline]
fn floor_ticks(unix_ms: i64, whole_ms: i64, micros: i64) -> i128 {
    match whole_ms {
        0 => (i128::from(unix_ms) * 1000).div_euclid(micros.into()),
        1 => unix_ms.into(),
        whole => unix_ms.div_euclid(whole).into(),
    }
}
