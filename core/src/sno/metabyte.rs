//! Reads the metabyte of an encoded ID from two of its characters.

use super::Sno;
use crate::{Error, Result, base32};

/// The positions of the two characters that contain the metabyte: 5 bits in the first character, and the upper 3 bits in
/// the second.
const HIGH_POSITION: usize = 8;
const LOW_POSITION: usize = 9;

/// Returns the metabyte of an encoded ID without parsing the remaining characters. Only the length and the two characters
/// that contain the metabyte are checked.
///
/// ```
/// assert_eq!(polyflake::sno::metabyte("9afikjv326nct5if")?, 1);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns `invalid_length` if the string has the wrong length, or `invalid_character` with the position of the first
/// invalid character.
pub fn metabyte(text: &str) -> Result<u8> {
    // Byte positions equal character positions only if the string is ASCII.
    match text.as_bytes().try_into().ok().filter(|_| text.is_ascii()).and_then(metabyte_from_ascii)
    {
        Some(metabyte) => Ok(metabyte),
        None => metabyte_from_chars(text),
    }
}

/// The slow path for strings that are not ASCII, have the wrong length, or contain an invalid character. It ignores invalid
/// characters outside the metabyte's two positions, as the implementations in other languages do.
#[cold]
fn metabyte_from_chars(text: &str) -> Result<u8> {
    let found = text.chars().count();
    if found != Sno::TEXT_LEN {
        return Err(Error::invalid_length(found, Sno::TEXT_LEN, Sno::TEXT_LEN));
    }
    let value = |position| {
        let char = text.chars().nth(position).unwrap_or_default();
        let value = u8::try_from(char).ok().and_then(base32::value);
        value.ok_or_else(|| Error::invalid_character_unit(position, char.into()))
    };
    Ok(value(HIGH_POSITION)? << 3 | value(LOW_POSITION)? >> 2)
}

#[inline]
fn metabyte_from_ascii(text: &[u8; Sno::TEXT_LEN]) -> Option<u8> {
    Some(base32::value(text[HIGH_POSITION])? << 3 | base32::value(text[LOW_POSITION])? >> 2)
}
