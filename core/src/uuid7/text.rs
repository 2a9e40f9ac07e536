//! The string form of an ID: groups of 8, 4, 4, 4 and 12 hexadecimal digits.

use super::{Uuid7, id::wrong_version};
use crate::{
    Result,
    format::{Text, guid, impl_byte_id},
};

impl Uuid7 {
    /// The length of an encoded ID in characters.
    pub const TEXT_LEN: usize = guid::LENGTH;

    /// Returns the ID as a lowercase string.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// assert_eq!(Uuid7::MAX.text().as_str(), "ffffffff-ffff-7fff-bfff-ffffffffffff");
    /// ```
    #[inline]
    pub fn text(self) -> Text<{ Self::TEXT_LEN }> {
        guid::encode(self.as_bytes())
    }

    /// Parses a string of hexadecimal digits with hyphens, in upper or lower case.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// let id = Uuid7::parse("017F22E2-79B0-7CC3-98C4-DC0C0C07398F")?; // either case
    /// assert_eq!(id.to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    /// assert_eq!(Uuid7::parse("017f22e").unwrap_err().to_string(), "expected length 36, found 7");
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the string has the wrong length, `invalid_character` with the position of the first
    /// invalid character, or `not_canonical` if the UUID has a different version or variant.
    #[inline]
    pub fn parse(text: &str) -> Result<Self> {
        Self::from_bytes_checked(guid::decode(text)?).ok_or_else(wrong_version)
    }

    /// Works like [`Uuid7::parse`], but takes the string as bytes.
    ///
    /// Not part of the public API; used by bindings.
    #[doc(hidden)]
    pub fn parse_bytes(text: &[u8; Self::TEXT_LEN]) -> Result<Self> {
        Self::from_bytes_checked(guid::decode_bytes(text)?).ok_or_else(wrong_version)
    }

    /// Parses an ID at compile time. Returns `None` if [`Uuid7::parse`] would return an error.
    ///
    /// ```
    /// use polyflake::uuid7::Uuid7;
    ///
    /// const EXAMPLE: Uuid7 = Uuid7::parse_const("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").unwrap();
    /// assert_eq!(EXAMPLE.unix_ms(), 1_645_557_742_000);
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        match guid::bytes_of(text.as_bytes()) {
            Some(bytes) => Self::from_bytes_checked(bytes),
            None => None,
        }
    }
}

impl_byte_id!(Uuid7);
