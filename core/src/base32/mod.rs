//! Encodes and decodes five bits per character with fixed alphabets: sno's alphabet in this module, and Randflake's in
//! `base32hex`.
//!
//! ```
//! let text = polyflake::sno::Sno::MIN.text(); // a `Text`, on the stack
//! assert_eq!(text.as_str(), "2222222222222222");
//! ```
//!
//! The kernels in `arch` encode and decode but do not locate errors, so this module finds the position of an error.

pub(crate) mod base32hex;
pub(crate) mod constant;
pub(crate) mod slices;

pub use crate::format::Text;
pub(crate) use crate::format::length_or_character_error;

use crate::{
    Error, ErrorKind,
    arch::{SNO, single, splat},
    error::unit_of_byte,
};

/// Encodes 10 bytes as a string.
#[inline]
pub(crate) fn encode(id: &[u8; 10]) -> [u8; 16] {
    single::encode(id)
}

/// Decodes a string into 10 bytes, if it is valid.
#[inline]
pub(crate) fn decode(text: &[u8; 16]) -> Option<[u8; 10]> {
    single::decode(text)
}

/// Returns the value of one character.
#[inline]
pub(crate) fn value(byte: u8) -> Option<u8> {
    let (value, bad) = SNO.values(splat(byte));
    (bad == 0).then(|| value.to_le_bytes()[0])
}

/// Returns the error for 16 bytes that are not an encoded ID.
#[cold]
pub(crate) fn decode_error_of_bytes(text: &[u8; 16]) -> Error {
    decode_error(text.iter().copied().map(unit_of_byte))
}

/// Returns the error for a string that is not an encoded ID.
#[cold]
pub(crate) fn decode_error(units: impl Iterator<Item = u32> + Clone) -> Error {
    let is_good = |_, unit| u8::try_from(unit).ok().and_then(value).is_some();
    let length = size_of::<crate::arch::Text>();
    length_or_character_error(units, length..=length, is_good)
        .unwrap_or_else(|| Error::new(ErrorKind::InvalidCharacter))
}
