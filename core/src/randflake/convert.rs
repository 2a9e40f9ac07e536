//! Conversions between IDs and other types, and constants for the lowest and the highest ID.

use super::Randflake;
use crate::{base32, narrow};

impl Randflake {
    /// The ID with the lowest value as a signed integer.
    pub const MIN: Self = Self::from_i64(i64::MIN);
    /// The ID with the highest value as a signed integer.
    pub const MAX: Self = Self::from_i64(i64::MAX);

    /// Parses an ID at compile time. Returns `None` if [`Randflake::parse`] would return an error.
    ///
    /// ```
    /// use polyflake::randflake::Randflake;
    ///
    /// const FIRST: Randflake = Randflake::parse_const("3vgoe12ccb8gh").unwrap();
    /// assert_eq!(FIRST.to_i64(), 4594531474933654033);
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        match base32::constant::decode_base32hex(text) {
            Some(number) if number <= u64::MAX as u128 => Some(Self::from_u64(narrow::u64(number))),
            _ => None,
        }
    }
}

impl From<i64> for Randflake {
    fn from(id: i64) -> Self {
        Self::from_i64(id)
    }
}

impl From<Randflake> for i64 {
    fn from(id: Randflake) -> Self {
        id.to_i64()
    }
}
