//! sno's base32: 80 bits as 16 characters, byte order = text order, one spelling for each ID.

use crate::{Error, Result};

/// The alphabet in order of value (source: sno 1.2.1).
const ALPHABET: &[u8; 32] = b"23456789abcdefghijklmnopqrstuvwx";

/// Marks a byte that is not in the alphabet; no value has this bit.
const BAD: u8 = 0x80;

/// The value of each byte, or [`BAD`].
const VALUES: [u8; 256] = {
    let mut values = [BAD; 256];
    let mut value = 0;
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// The text of 10 bytes.
#[inline]
pub(crate) fn encode(bytes: &[u8; 10]) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, i, j] = *bytes;
    let high = u64::from_be_bytes([0, 0, 0, a, b, c, d, e]);
    let low = u64::from_be_bytes([0, 0, 0, f, g, h, i, j]);
    let mut text = [0; 16];
    for k in 0..8 {
        let shift = 35 - 5 * k;
        text[k] = ALPHABET[(high >> shift & 31) as usize];
        text[k + 8] = ALPHABET[(low >> shift & 31) as usize];
    }
    text
}

/// The bytes of a text, or the position of its first bad byte.
#[inline]
pub(crate) fn decode(text: &[u8; 16]) -> Result<[u8; 10]> {
    let (mut high, mut low, mut seen) = (0_u64, 0_u64, 0);
    for k in 0..8 {
        let (first, second) = (VALUES[usize::from(text[k])], VALUES[usize::from(text[k + 8])]);
        seen |= first | second;
        high = high << 5 | u64::from(first);
        low = low << 5 | u64::from(second);
    }
    if seen & BAD != 0 {
        return Err(first_bad(text));
    }
    let ([_, _, _, a, b, c, d, e], [_, _, _, f, g, h, i, j]) =
        (high.to_be_bytes(), low.to_be_bytes());
    Ok([a, b, c, d, e, f, g, h, i, j])
}

/// The value of one byte of a text.
#[inline]
pub(crate) fn value(text: &[u8], position: usize) -> Result<u8> {
    match VALUES[usize::from(text[position])] {
        BAD => Err(Error::invalid_character(position)),
        value => Ok(value),
    }
}

#[cold]
fn first_bad(text: &[u8; 16]) -> Error {
    let position = text.iter().position(|&byte| VALUES[usize::from(byte)] == BAD);
    Error::invalid_character(position.unwrap_or(text.len()))
}
