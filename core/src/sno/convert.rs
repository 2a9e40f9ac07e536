//! Conversions between IDs and other types, and constants for the lowest and the highest ID.

use super::Sno;
use crate::base32;

impl Sno {
    /// The lowest ID: all bits are 0.
    pub const MIN: Self = Self::from_bytes([0; Self::LEN]);
    /// The highest ID: all bits are 1.
    pub const MAX: Self = Self::from_bytes([0xff; Self::LEN]);

    /// Parses an ID at compile time. Returns `None` if [`Sno::parse`] would return an error.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// const ROOT: Sno = Sno::parse_const("9aaaaaaa55aaaaaa").unwrap();
    /// assert_eq!(ROOT.to_string(), "9aaaaaaa55aaaaaa");
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        let Some(number) = base32::constant::decode_sno(text) else { return None };
        let [_, _, _, _, _, _, a, b, c, d, e, f, g, h, i, j] = number.to_be_bytes();
        Some(Self::from_bytes([a, b, c, d, e, f, g, h, i, j]))
    }
}
