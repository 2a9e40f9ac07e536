//! Encodes and decodes base32hex with one slot in each 16-byte register or lane. This module contains the parts that the
//! instruction sets share.
//!
//! Only integers of 12 and 13 digits are decoded here; all others are decoded one by one. Of 500 random-looking integers,
//! 499 have 12 or 13 digits. Their digits are right-aligned in sixteen bytes, after leading zeros.

#![allow(clippy::inline_always, reason = "a function that is not inlined lacks the set's features")]

use super::parts::part;
use crate::arch::{Slot, scalar::base32hex as scalar};

/// A shuffle index past the end of the source register. For such an index, a shuffle returns 0.
const ZERO_INDEX: u8 = 0x80;

/// For each of the eight pairs of digits, the two positions of the number's bytes that contain the pair's bits.
pub(in crate::arch) const BYTE_PAIRS: [u8; 16] =
    [ZERO_INDEX, ZERO_INDEX, 7, ZERO_INDEX, 6, 7, 5, 6, 3, 4, 2, 3, 1, 2, 0, 1];

/// The identity permutation: every position in order.
pub(in crate::arch) const IDENTITY: [u8; 16] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The shuffle indices that move twelve or thirteen digits to the end.
const SHIFT_12_DIGITS: [u8; 16] = [252, 253, 254, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const SHIFT_13_DIGITS: [u8; 16] = [253, 254, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// The character `0` at the positions before the number's digits, and zero bytes elsewhere. Kernels insert these leading
/// zeros by taking the maximum of each pair of bytes, which preserves the first digit of a 13-digit string.
pub(in crate::arch) const ZEROS: [u8; 16] =
    [b'0', b'0', b'0', b'0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The largest valid character at each position of right-aligned digits. The first of 13 digits represents four bits, so it
/// is at most `f`.
pub(in crate::arch) const MAX_RIGHT_ALIGNED: [u8; 16] =
    [255, 255, 255, b'f', 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255];

/// The smallest valid character at each position. The first digit of a number is not zero. Kernels subtract these
/// characters from the input characters. If an input character is smaller, the subtraction wraps around, and the resulting
/// distance is too large to be valid.
pub(in crate::arch) const MIN_CHARACTERS: [u8; 16] =
    [b'1', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The largest valid distance from [`MIN_CHARACTERS`] at each position of a concatenated string. The bytes after 13 digits
/// can have any value.
pub(in crate::arch) const MAX_TEXT_DISTANCES: [u8; 16] = {
    let mut most = [255; 16];
    most[0] -= b'1';
    most
};

/// The largest valid distance from [`MIN_CHARACTERS`] at each position of a slot. The last three bytes of a slot are 0.
pub(in crate::arch) const MAX_SLOT_DISTANCES: [u8; 16] =
    [255 - b'1', 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0];

/// The positions of a number's bytes in two groups of forty bits, starting with the number's lowest byte.
#[allow(dead_code, reason = "NEON yields the bytes in order")]
pub(in crate::arch) const BYTE_POSITIONS: [u8; 16] = [
    12, 13, 8, 9, 10, 4, 5, 0, ZERO_INDEX, ZERO_INDEX, ZERO_INDEX, ZERO_INDEX, ZERO_INDEX,
    ZERO_INDEX, ZERO_INDEX, ZERO_INDEX,
];

/// Sixteen bytes that contain the digits of a number, and the shuffle indices that move these digits to the end.
pub(in crate::arch) type Digits<'t> = (&'t Slot, &'static [u8; 16]);

/// Returns the 12 or 13 digits of a slot.
#[inline]
pub(in crate::arch) const fn slot_digits(slot: &Slot) -> Digits<'_> {
    (slot, if slot[12] == 0 { &SHIFT_12_DIGITS } else { &SHIFT_13_DIGITS })
}

/// Returns the digits of the string between two offsets, if there are 12 or 13 digits and sixteen bytes can be loaded from
/// the first offset.
#[inline]
pub(in crate::arch) fn text_digits(text: &[u8], [start, end]: [i32; 2]) -> Option<Digits<'_>> {
    let bytes = text.get(usize::try_from(start).ok()?..)?.first_chunk()?;
    match end.checked_sub(start)? {
        12 => Some((bytes, &SHIFT_12_DIGITS)),
        13 => Some((bytes, &SHIFT_13_DIGITS)),
        _ => None,
    }
}

/// Decodes slots with a function that receives each slot's digits and the largest valid distances.
#[inline(always)]
pub(in crate::arch) fn decode(
    slots: &[Slot],
    numbers: &mut [u64],
    decode_integer: impl Fn(Digits, &[u8; 16]) -> Option<u64>,
) -> usize {
    for (done, (slot, place)) in slots.iter().zip(numbers).enumerate() {
        match decode_integer(slot_digits(slot), &MAX_SLOT_DISTANCES) {
            Some(number) => *place = number,
            None if scalar::decode_into(slot, place).is_none() => return done,
            None => {}
        }
    }
    slots.len()
}

/// Works like [`decode`], but for concatenated strings.
#[inline(always)]
pub(in crate::arch) fn decode_column(
    offsets: &[i32],
    text: &[u8],
    numbers: &mut [u64],
    decode_integer: impl Fn(Digits, &[u8; 16]) -> Option<u64>,
) -> usize {
    let count = numbers.len();
    for (done, (span, place)) in offsets.windows(2).zip(numbers).enumerate() {
        let span = *part(span, 0);
        if let Some(digits) = text_digits(text, span)
            && let Some(number) = decode_integer(digits, &MAX_TEXT_DISTANCES)
        {
            *place = number;
        } else if decode_single(text, span, place).is_none() {
            return done;
        }
    }
    count
}

/// Decodes a single string. This is a separate function because inlining it would occupy registers in a loop that rarely
/// calls it.
#[cold]
#[inline(never)]
fn decode_single(text: &[u8], span: [i32; 2], place: &mut u64) -> Option<()> {
    scalar::decode_span(text, span, place)
}
