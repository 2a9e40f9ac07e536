//! Encodes and decodes integers of 1 to 13 base32hex digits, one integer at a time. As in sno's base32 encoding, eight
//! digits are processed at once.

use crate::{
    arch::{
        Slot,
        alphabet::{HEX, splat},
        machine::single,
    },
    narrow,
};

/// The number of digits of the largest integer.
pub(crate) const MAX_DIGITS: usize = 13;

/// Returns the digits of a number, followed by zero bytes.
#[inline]
#[allow(dead_code, reason = "wasm has registers for it")]
pub(crate) fn shifted_slot(number: u64) -> Slot {
    let before = 16 - u32::from(digit_count(number));
    let [first, last] = single::digits(HEX, number).map(u128::from);
    ((first << 64 | last) << (8 * before)).to_be_bytes()
}

/// Returns the number of digits that a number needs.
#[inline]
pub(crate) const fn digit_count(number: u64) -> u8 {
    // This is the number of bits divided by five, rounded up.
    let bits = u64::BITS - (number | 1).leading_zeros();
    // 205 / 1024 is slightly more than a fifth. For numbers up to 68, multiplying by this fraction and rounding down gives
    // the same result as an integer division by five.
    narrow::u8((((bits + 4) * 205) >> 10) as u64)
}

/// Decodes a string into a number, if the string is the number's canonical encoding.
#[inline]
pub(crate) fn decode_integer(text: &[u8]) -> Option<u64> {
    if text.len() > MAX_DIGITS || !matches!(text, [_] | [b'1'..=b'v', ..]) {
        return None;
    }
    single::decode_integer(HEX, padded_digits(text))
}

/// Pads a string of up to 13 digits with leading zeros to 16 digits, and returns the first eight and the last eight.
#[inline]
fn padded_digits(text: &[u8]) -> [u64; 2] {
    const ZEROS: u64 = splat(b'0');
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) if text.len() > 8 => {
            let before = 8 * (16 - text.len());
            let first = u64::from_be_bytes(*first) >> before | ZEROS << (64 - before);
            [first, u64::from_be_bytes(*last)]
        }
        _ => [ZEROS, text.iter().fold(ZEROS, |digits, &byte| digits << 8 | u64::from(byte))],
    }
}

/// Returns the string in a slot. The string consists of the bytes before the trailing zero bytes.
#[inline]
pub(crate) fn text_of(slot: &Slot) -> &[u8] {
    let after = u128::from_le_bytes(*slot).leading_zeros() / 8;
    &slot[..slot.len() - after as usize]
}

/// Returns the string between two offsets.
#[inline]
pub(crate) fn text_in_span(text: &[u8], [start, end]: [i32; 2]) -> Option<&[u8]> {
    let [from, to] = [start, end].map(|offset| usize::try_from(offset).unwrap_or(usize::MAX));
    text.get(from..to)
}

pub(super) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    numbers.iter().zip(slots).for_each(|(&number, place)| *place = single::slot(number));
}

pub(super) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    let mut pairs = slots.iter().zip(numbers);
    let bad = pairs.position(|(slot, place)| decode_into(slot, place).is_none());
    bad.unwrap_or(slots.len())
}

/// Decodes a slot and writes the number to `place`, if the slot is valid.
#[inline]
pub(in crate::arch) fn decode_into(slot: &Slot, place: &mut u64) -> Option<()> {
    decode_integer(text_of(slot)).map(|number| *place = number)
}

pub(super) fn decode_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize {
    let mut spans = offsets.windows(2).zip(&mut *numbers);
    let bad =
        spans.position(|(span, place)| decode_span(text, [span[0], span[1]], place).is_none());
    bad.unwrap_or(numbers.len())
}

/// Decodes the string between two offsets and writes the number to `place`, if the string is valid.
#[inline]
pub(in crate::arch) fn decode_span(text: &[u8], span: [i32; 2], place: &mut u64) -> Option<()> {
    decode_integer(text_in_span(text, span)?).map(|number| *place = number)
}
