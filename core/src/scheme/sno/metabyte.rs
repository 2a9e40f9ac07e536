//! The metabyte of a text, read from its two characters.

use super::{
    Sno,
    id::{length_error, sixteen},
};
use crate::{Result, base32};

/// The characters that hold it: 5 bits of the first, the upper 3 of the second.
const HIGH: usize = 8;
const LOW: usize = 9;

/// The metabyte of a text, without parsing the rest of it: the length and the two characters that hold it are checked,
/// the other characters are not.
///
/// ```
/// assert_eq!(polyflake::sno::metabyte("a7rdmuv326nct5if")?, 1);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` (in characters) or `invalid_character` with the position.
pub fn metabyte(text: &str) -> Result<u8> {
    match text.as_bytes().try_into() {
        Ok(bytes) if text.is_ascii() => of_ascii(bytes),
        _ => of_chars(text),
    }
}

/// The slow way, for a text that is not ASCII or has the wrong length: no other language refuses a character that it does
/// not look at.
#[cold]
fn of_chars(text: &str) -> Result<u8> {
    let mut bytes = [0; Sno::TEXT_LEN];
    let length = text
        .chars()
        .zip(&mut bytes)
        .map(|(char, byte)| *byte = u8::try_from(char).unwrap_or(u8::MAX))
        .count();
    if length < Sno::TEXT_LEN || text.chars().count() > Sno::TEXT_LEN {
        return Err(length_error(text));
    }
    of_ascii(&bytes)
}

/// As [`metabyte`], for UTF-16: length and position are counted in its units.
pub fn metabyte_utf16(text: &[u16]) -> Result<u8> {
    of_ascii(&base32::ascii_of_utf16(sixteen(text)?))
}

fn of_ascii(text: &[u8; Sno::TEXT_LEN]) -> Result<u8> {
    let (high, low) = (base32::value(text, HIGH)?, base32::value(text, LOW)?);
    Ok(high << 3 | low >> 2)
}
