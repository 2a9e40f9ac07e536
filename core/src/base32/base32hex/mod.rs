//! Randflake's base32hex encoding, which represents a 64-bit number as 1 to 13 digits. There are no leading zeros, so each
//! number has one canonical encoding.
//!
//! A number is first written as 16 digits (80 bits) with sno's algorithm and a different alphabet. The digits without the
//! leading zeros are then moved to the front of the 16 bytes. Decoding moves them back.

pub(crate) mod slices;

use super::{Text, length_or_character_error};
use crate::{
    Error, ErrorKind,
    arch::{
        HEX,
        scalar::base32hex::{decode_integer, digit_count},
        single, splat,
    },
};

pub(crate) use crate::arch::scalar::base32hex::MAX_DIGITS;

/// Encodes a number as digits.
#[inline]
pub(crate) fn encode(number: u64) -> Text<MAX_DIGITS> {
    let digits = single::slot(number);
    let mut text = [0; MAX_DIGITS];
    // The digits are copied in two pieces of known length, so that each piece is copied from a register.
    let (first, last) = text.split_at_mut(8);
    first.copy_from_slice(&digits[..8]);
    last.copy_from_slice(&digits[8..MAX_DIGITS]);
    // SAFETY: `single::slot` writes digits of the alphabet, which are ASCII, and zero bytes, so the string is ASCII.
    #[allow(unsafe_code)]
    unsafe {
        Text::new_unchecked(text, usize::from(digit_count(number)))
    }
}

/// Decodes a string into a number.
#[inline]
pub(crate) fn decode(text: &str) -> crate::Result<u64> {
    match decode_integer(text.as_bytes()) {
        Some(number) => Ok(number),
        None => Err(decode_error(text.chars().map(u32::from))),
    }
}

#[cold]
fn decode_error(units: impl Iterator<Item = u32> + Clone) -> Error {
    let value = |unit| u8::try_from(unit).ok().map(|byte| HEX.values(splat(byte)));
    let is_good = |_, unit| value(unit).is_some_and(|(_, bad)| bad == 0);
    if let Some(error) = length_or_character_error(units.clone(), 1..=MAX_DIGITS, is_good) {
        return error;
    }
    if units.clone().next() == Some(u32::from(b'0')) {
        return Error::with_static_reason(
            ErrorKind::NotCanonical,
            &"expected no leading zero, found one",
        );
    }
    // The only remaining error is a number that does not fit in 64 bits. 13 characters represent 65 bits, so the following
    // code loses only the top bit, which is 1.
    let values = units.filter_map(value).map(|(values, _)| values & 31);
    Error::too_large(values.fold(0, |number, value| number << 5 | value))
}
