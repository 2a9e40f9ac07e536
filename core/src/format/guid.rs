//! Converts between a GUID's 16 bytes and its string form, which consists of hyphen-separated groups of 8, 4, 4, 4 and 12
//! hexadecimal digits.

use super::{Text, length_or_character_error};
use crate::{Error, ErrorKind, Result, error::unit_of_byte};

/// The number of characters in a GUID's string form.
pub(crate) const LENGTH: usize = 36;

/// For each byte, the position of the first of its two digits in the string.
const DIGIT_POSITIONS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

const HYPHEN_POSITIONS: [usize; 4] = [8, 13, 18, 23];

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of a byte that is not a digit. No digit's value has this bit set.
const INVALID_DIGIT: u8 = 0x80;

/// The value of each byte as a hexadecimal digit of either case, or [`INVALID_DIGIT`] if the byte is not a digit.
const DIGIT_VALUES: [u8; 256] = {
    let mut values = [INVALID_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        let digit = DIGITS[value as usize];
        values[digit as usize] = value;
        values[digit.to_ascii_uppercase() as usize] = value;
        value += 1;
    }
    values
};

/// Converts bytes from string order to the order of .NET's `Guid.ToByteArray()`, or back, by reversing each of the first
/// three groups.
pub(crate) const fn reverse_groups(bytes: [u8; 16]) -> [u8; 16] {
    let [a0, a1, a2, a3, b0, b1, c0, c1, rest @ ..] = bytes;
    let [d0, d1, e0, e1, e2, e3, e4, e5] = rest;
    [a3, a2, a1, a0, b1, b0, c1, c0, d0, d1, e0, e1, e2, e3, e4, e5]
}

/// Rearranges `bytes` into a GUID in .NET's byte order, so that SQL Server sorts these GUIDs in the same order as the
/// string forms of the original bytes. SQL Server compares the groups of a GUID from the last to the first.
pub(crate) const fn to_sql_order(bytes: [u8; 16]) -> [u8; 16] {
    let [s0, s1, s2, s3, m1, m0, m3, m2, m4, c0, c1, c2, k0, k1, k2, k3] = bytes;
    [k0, k1, k2, k3, c1, c2, m4, c0, m3, m2, s0, s1, s2, s3, m1, m0]
}

/// Reverses [`to_sql_order`]. The result is in string order.
pub(crate) const fn from_sql_order(bytes: [u8; 16]) -> [u8; 16] {
    let [k0, k1, k2, k3, c1, c2, m4, c0, m3, m2, s0, s1, s2, s3, m1, m0] = bytes;
    [s0, s1, s2, s3, m1, m0, m3, m2, m4, c0, c1, c2, k0, k1, k2, k3]
}

/// Encodes 16 bytes as a lowercase string.
#[inline]
pub(crate) fn encode(bytes: &[u8; 16]) -> Text<LENGTH> {
    let mut text = [b'-'; LENGTH];
    for (&byte, at) in bytes.iter().zip(DIGIT_POSITIONS) {
        text[at] = DIGITS[usize::from(byte >> 4)];
        text[at + 1] = DIGITS[usize::from(byte & 15)];
    }
    // SAFETY: the string consists of hyphens and characters of `DIGITS`, all of which are ASCII.
    #[allow(unsafe_code)]
    unsafe {
        Text::new_unchecked(text, LENGTH)
    }
}

/// Decodes a string in upper or lower case into 16 bytes.
#[inline]
pub(crate) fn decode(text: &str) -> Result<[u8; 16]> {
    bytes_of(text.as_bytes()).ok_or_else(|| decode_error(text.chars().map(u32::from)))
}

/// Works like [`decode`], but accepts the string as bytes.
pub(crate) fn decode_bytes(text: &[u8; LENGTH]) -> Result<[u8; 16]> {
    bytes_of(text).ok_or_else(|| decode_error(text.iter().copied().map(unit_of_byte)))
}

/// Decodes a string in upper or lower case into 16 bytes, or returns `None` if the string is invalid. This function can be
/// evaluated at compile time.
#[inline]
pub(crate) const fn bytes_of(text: &[u8]) -> Option<[u8; 16]> {
    let Some((text, [])) = text.split_first_chunk::<LENGTH>() else { return None };
    let (mut bytes, mut seen, mut i) = ([0; 16], 0, 0);
    while i < 16 {
        let at = DIGIT_POSITIONS[i];
        let (high, low) = (DIGIT_VALUES[text[at] as usize], DIGIT_VALUES[text[at + 1] as usize]);
        // Invalid digits are accumulated and checked once at the end, which saves 32 branches. A `const fn` cannot use
        // iterators to search for the first invalid digit, so `decode_error` determines the digit's position.
        seen |= high | low;
        bytes[i] = high << 4 | low;
        i += 1;
    }
    let [a, b, c, d] = HYPHEN_POSITIONS;
    let hyphens = text[a] == b'-' && text[b] == b'-' && text[c] == b'-' && text[d] == b'-';
    if hyphens && seen & INVALID_DIGIT == 0 { Some(bytes) } else { None }
}

#[cold]
fn decode_error(units: impl Iterator<Item = u32> + Clone) -> Error {
    let is_good = |position, unit| {
        let byte = u8::try_from(unit).unwrap_or(INVALID_DIGIT);
        if HYPHEN_POSITIONS.contains(&position) {
            byte == b'-'
        } else {
            DIGIT_VALUES[usize::from(byte)] != INVALID_DIGIT
        }
    };
    length_or_character_error(units, LENGTH..=LENGTH, is_good)
        .unwrap_or_else(|| Error::new(ErrorKind::InvalidCharacter))
}
