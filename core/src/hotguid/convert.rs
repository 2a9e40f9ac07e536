//! Conversions from and to what holds an ID elsewhere, and the ends of the range of IDs.

use super::HotGuid;
use crate::{Error, Result, format::guid};

impl HotGuid {
    /// The lowest ID: all bits 0.
    pub const MIN: Self = Self::from_rfc_bytes([0; Self::LEN]);
    /// The highest ID: all bits 1.
    pub const MAX: Self = Self::from_rfc_bytes([0xff; Self::LEN]);

    /// The ID of a text that is known when the program is compiled; none where [`HotGuid::parse`] is an error.
    ///
    /// ```
    /// use polyflake::hotguid::HotGuid;
    ///
    /// const FIRST: HotGuid =
    ///     HotGuid::parse_const("691f29d0-bbaa-ddcc-ee01-0203ffffff7f").unwrap();
    /// assert_eq!(FIRST.to_string(), "691f29d0-bbaa-ddcc-ee01-0203ffffff7f");
    /// ```
    pub const fn parse_const(text: &str) -> Option<Self> {
        match guid::decode_const(text.as_bytes()) {
            Some(bytes) => Some(Self::from_rfc_bytes(bytes)),
            None => None,
        }
    }
}

/// As [`HotGuid::from_slice`].
impl TryFrom<&[u8]> for HotGuid {
    type Error = Error;
    fn try_from(bytes: &[u8]) -> Result<Self> {
        Self::from_slice(bytes)
    }
}
