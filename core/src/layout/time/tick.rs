//! The length of a tick.

use alloc::format;
use core::{fmt, str::FromStr};

use crate::{Error, ErrorKind, Result, layout::fields::validation::truncate_for_message};

/// The unit of a layout's timestamp, which is a whole number of microseconds.
///
/// In JSON, a tick is an integer followed by a unit: `us`, `ms` or `s`.
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
    /// One microsecond.
    pub const MICROSECOND: Self = Self { micros: 1 };
    /// One millisecond.
    pub const MILLISECOND: Self = Self { micros: 1000 };
    /// Ten milliseconds.
    pub const TEN_MILLISECONDS: Self = Self { micros: 10_000 };
    /// One second.
    pub const SECOND: Self = Self { micros: 1_000_000 };

    /// Creates a tick of `micros` microseconds, which must be from 1 to `i64::MAX`. Returns `invalid_layout` for any other
    /// value.
    ///
    /// ```
    /// use polyflake::layout::Tick;
    ///
    /// assert_eq!(Tick::from_micros(250)?.to_string(), "250us");
    /// assert!(Tick::from_micros(0).is_err());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn from_micros(micros: u64) -> Result<Self> {
        Self::from_units(micros, 1, "us")
    }

    /// Creates a tick of `millis` milliseconds.
    ///
    /// ```
    /// use polyflake::layout::Tick;
    ///
    /// assert_eq!(Tick::from_millis(10)?, Tick::TEN_MILLISECONDS);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn from_millis(millis: u64) -> Result<Self> {
        Self::from_units(millis, 1000, "ms")
    }

    /// Creates a tick of `seconds` seconds.
    ///
    /// ```
    /// use polyflake::layout::Tick;
    ///
    /// assert_eq!(Tick::from_secs(60)?.to_string(), "60s");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn from_secs(seconds: u64) -> Result<Self> {
        Self::from_units(seconds, 1_000_000, "s")
    }

    fn from_units(count: u64, micros: u64, unit: &str) -> Result<Self> {
        let most = i64::MAX.cast_unsigned() / micros;
        if count == 0 || count > most {
            let reason = format!("expected a tick from 1 to {most} {unit}, found {count}");
            return Err(Error::with_reason(ErrorKind::InvalidLayout, reason));
        }
        Ok(Self { micros: count * micros })
    }

    /// Returns the length of the tick in microseconds.
    ///
    /// ```
    /// use polyflake::layout::Tick;
    ///
    /// assert_eq!(Tick::MILLISECOND.as_micros(), 1000);
    /// ```
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
        let units = [("us", 1), ("ms", 1000), ("s", 1_000_000)];
        let count = units
            .iter()
            .find_map(|(unit, micros)| Some((text.strip_suffix(unit)?, *micros, *unit)));
        // Only digits without a leading 0 are accepted, so that each tick length has one canonical form.
        let tick = count.and_then(|(count, micros, unit)| {
            let is_plain = count.starts_with(|c: char| ('1'..='9').contains(&c));
            let count = count.parse().ok().filter(|_| is_plain)?;
            Some(Self::from_units(count, micros, unit))
        });
        tick.unwrap_or_else(|| {
            let found = truncate_for_message(text);
            let reason = format!("expected a tick such as 1us, 10ms or 60s, found `{found}`");
            Err(Error::with_reason(ErrorKind::InvalidLayout, reason))
        })
    }
}
