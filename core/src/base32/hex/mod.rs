//! Randflake's base32hex: a 64-bit number in 1 to 13 digits, without leading zeros, so that each number has one spelling.
//!
//! The digits are the last of 16 digits, which are 80 bits. So a number is written and read like sno's bytes, in another
//! alphabet, and its text is moved between the two ends of 16 bytes.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod avx512;
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod lane;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
pub(crate) mod slices;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod sse41;

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
use super::scalar as one;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use super::sse2 as one;
// The other `slot` shifts 128 bits, which is a call in wasm.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128::slot;

use super::{
    Text,
    alphabet::{HEX, all},
    refusal,
};
use crate::{Error, ErrorKind};

/// Digits of the largest number.
pub(crate) const MAX_DIGITS: usize = 13;

/// The digits of a number.
#[inline]
pub(crate) fn encode(number: u64) -> Text<MAX_DIGITS> {
    let digits = slot(number);
    let mut text = [0; MAX_DIGITS];
    // In two pieces, each from a register.
    let (first, last) = text.split_at_mut(8);
    first.copy_from_slice(&digits[..8]);
    last.copy_from_slice(&digits[8..MAX_DIGITS]);
    // SAFETY: `slot` writes digits of the alphabet, which are ASCII, and zero bytes.
    #[allow(unsafe_code)]
    unsafe {
        Text::new_unchecked(text, usize::from(length_of(number)))
    }
}

/// The digits of a number, with zero bytes after them.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline]
fn slot(number: u64) -> slices::Slot {
    let before = 16 - u32::from(length_of(number));
    let [first, last] = one::digits(HEX, number).map(u128::from);
    ((first << 64 | last) << (8 * before)).to_be_bytes()
}

/// Number of digits of a number.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "13 at most")]
const fn length_of(number: u64) -> u8 {
    // Bits divided by five, rounded up.
    let bits = u64::BITS - (number | 1).leading_zeros();
    (((bits + 4) * 205) >> 10) as u8
}

/// The number of a text.
#[inline]
pub(crate) fn decode(text: &str) -> crate::Result<u64> {
    match number(text.as_bytes()) {
        Some(number) => Ok(number),
        None => Err(why_not(text.chars().map(u32::from))),
    }
}

/// The number of a text in UTF-16; lengths and positions count its units.
pub(crate) fn decode_utf16(units: &[u16]) -> crate::Result<u64> {
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

/// The number of a text, if the text is its one spelling.
#[inline]
fn number(text: &[u8]) -> Option<u64> {
    if text.len() > MAX_DIGITS || !matches!(text, [_] | [b'1'..=b'v', ..]) {
        return None;
    }
    one::number(HEX, padded(text))
}

/// The first and the last eight of 16 digits: a text of up to 13 digits, after zeros.
#[inline]
fn padded(text: &[u8]) -> [u64; 2] {
    const ZEROS: u64 = all(b'0');
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) if text.len() > 8 => {
            let before = 8 * (16 - text.len());
            let first = u64::from_be_bytes(*first) >> before | ZEROS << (64 - before);
            [first, u64::from_be_bytes(*last)]
        }
        _ => [ZEROS, text.iter().fold(ZEROS, |digits, &byte| digits << 8 | u64::from(byte))],
    }
}

#[cold]
fn why_not(units: impl Iterator<Item = u32> + Clone) -> Error {
    let value = |unit| u8::try_from(unit).ok().map(|byte| HEX.values(all(byte)));
    let is_good = |_, unit| value(unit).is_some_and(|(_, bad)| bad == 0);
    if let Some(error) = refusal(units.clone(), 1..=MAX_DIGITS, is_good) {
        return error;
    }
    if units.clone().next() == Some(u32::from(b'0')) {
        return Error::because(ErrorKind::NotCanonical, "expected no leading zero, found one");
    }
    // 13 characters of 5 bits each, so only the top bit is lost.
    let values = units.filter_map(value).map(|(values, _)| values & 31);
    Error::too_large(values.fold(0, |number, value| number << 5 | value))
}
