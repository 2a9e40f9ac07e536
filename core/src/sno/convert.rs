//! Conversions from and to other types that hold an ID, and the lowest and the highest ID.

use super::Sno;
use crate::base32;

impl Sno {
    /// The lowest ID: all bits 0.
    pub const MIN: Self = Self::from_bytes([0; Self::LEN]);
    /// The highest ID: all bits 1.
    pub const MAX: Self = Self::from_bytes([0xff; Self::LEN]);

    /// The ID of a text, at compile time; `None` where [`Sno::parse`] would fail.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// const ROOT: Sno = Sno::parse_const("9aaaaaaa55aaaaaa").unwrap();
    /// assert_eq!(ROOT.to_string(), "9aaaaaaa55aaaaaa");
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        let Some(number) = base32::constant::sno(text) else { return None };
        let [_, _, _, _, _, _, a, b, c, d, e, f, g, h, i, j] = number.to_be_bytes();
        Some(Self::from_bytes([a, b, c, d, e, f, g, h, i, j]))
    }
}
