//! Randflake's base32hex: a 64-bit number in 1 to 13 digits, without leading zeros, so each has one spelling.

use super::{Text, refusal::refusal};
use crate::{Error, ErrorKind, Result};

/// Digits of the largest number.
pub(crate) const MAX_DIGITS: usize = 13;

/// The digits in order of value (RFC 4648, section 7, in lower case).
const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// Marks a byte that is no digit; no value has this bit.
const BAD: u8 = 0x80;

/// The value of each byte, or [`BAD`].
const VALUES: [u8; 256] = {
    let mut values = [BAD; 256];
    let mut value = 0;
    while value < 32 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// The digits of a number.
#[inline]
pub(crate) fn encode(number: u64) -> Text<MAX_DIGITS> {
    let bits = u64::BITS - (number | 1).leading_zeros();
    let length = bits.div_ceil(5) as usize;
    let mut digits = [b'0'; MAX_DIGITS];
    for (below, digit) in digits[..length].iter_mut().rev().enumerate() {
        *digit = DIGITS[(number >> (5 * below) & 31) as usize];
    }
    Text::new(digits, length)
}

/// The number of a text.
#[inline]
pub(crate) fn decode(text: &str) -> Result<u64> {
    match number(text.as_bytes()) {
        Some(number) => Ok(number),
        None => Err(why_not(text.chars().map(u32::from))),
    }
}

/// The number of a text in UTF-16, which lengths and positions count the units of.
pub(crate) fn decode_utf16(units: &[u16]) -> Result<u64> {
    let mut ascii = [0; MAX_DIGITS];
    let narrowed = ascii.get_mut(..units.len()).and_then(|ascii| {
        ascii
            .iter_mut()
            .zip(units)
            .for_each(|(byte, &unit)| *byte = u8::try_from(unit).unwrap_or(u8::MAX));
        number(ascii)
    });
    narrowed.ok_or_else(|| why_not(units.iter().copied().map(u32::from)))
}

/// The number, if this is the one spelling of one.
#[inline]
fn number(text: &[u8]) -> Option<u64> {
    let canonical = matches!(text, [_] | [b'1'..=b'v', ..]) && text.len() <= MAX_DIGITS;
    let (mut number, mut seen) = (0_u128, 0);
    for &byte in text.iter().take(MAX_DIGITS) {
        let value = VALUES[usize::from(byte)];
        seen |= value;
        number = number << 5 | u128::from(value);
    }
    if canonical && seen & BAD == 0 { u64::try_from(number).ok() } else { None }
}

#[cold]
fn why_not(units: impl Iterator<Item = u32> + Clone) -> Error {
    let value = |unit| u8::try_from(unit).map_or(BAD, |byte| VALUES[usize::from(byte)]);
    if let Some(error) = refusal(units.clone(), 1..=MAX_DIGITS, |_, unit| value(unit) != BAD) {
        return error;
    }
    if units.clone().next() == Some(u32::from(b'0')) {
        return Error::because(ErrorKind::NotCanonical, "expected no leading zero, found one");
    }
    let number = units.fold(0, |number, unit| number << 5 | i128::from(value(unit)));
    Error::out_of_range("id", number, 0, u64::MAX.into())
}
