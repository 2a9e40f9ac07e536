//! A slot in a register of sixteen bytes, or in such a lane of a wider one: what instruction sets have in common.
//!
//! What is read here are numbers of 12 and 13 digits, which are all but one of 500 that look random; others go one by one.
//! Their digits are moved to the end of sixteen, after zeros.

#![allow(clippy::inline_always, reason = "what is not inlined would lack the set's features")]

use super::{scalar, slices::Slot};
use crate::cpu::parts::part;

/// No byte: what is looked up there is 0.
const NONE: u8 = 0x80;

/// Two bytes of a number for each two of its sixteen digits.
pub(super) const PAIRS: [u8; 16] = [NONE, NONE, 7, NONE, 6, 7, 5, 6, 3, 4, 2, 3, 1, 2, 0, 1];

/// Every place.
pub(super) const PLACES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Twelve or thirteen digits at the end.
const TWELVE: [u8; 16] = [252, 253, 254, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const THIRTEEN: [u8; 16] = [253, 254, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// Zeros in front of the digits, as the least that there may be. The first digit, which may lie there too, is not less.
pub(super) const ZEROS: [u8; 16] = [b'0', b'0', b'0', b'0', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The first of 13 digits stands for four bits.
pub(super) const MOST_AT_THE_END: [u8; 16] =
    [255, 255, 255, b'f', 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255];

/// The first digit is no zero. What is less, wraps to more than there may be.
pub(super) const LEAST: [u8; 16] = [b'1', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Above the least. What comes after 13 digits may be anything.
pub(super) const MOST_OF_TEXTS: [u8; 16] = {
    let mut most = [255; 16];
    most[0] -= b'1';
    most
};

/// Above the least, in a slot. Nothing is in the last three places.
pub(super) const MOST_OF_SLOTS: [u8; 16] =
    [255 - b'1', 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0];

/// Where the bytes of a number are in twice forty bits, the lowest first.
#[cfg(not(target_arch = "aarch64"))]
pub(super) const BYTES: [u8; 16] =
    [12, 13, 8, 9, 10, 4, 5, 0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE];

/// The digits of a number among sixteen bytes, and the places that are looked up there, so that they are at the end.
pub(super) type Digits<'t> = (&'t Slot, &'static [u8; 16]);

/// The 12 or 13 digits of a slot.
#[inline]
pub(super) const fn of_slot(slot: &Slot) -> Digits<'_> {
    (slot, if slot[12] == 0 { &TWELVE } else { &THIRTEEN })
}

/// The digits of a text between two offsets, if they are 12 or 13 and sixteen bytes lie there.
#[inline]
pub(super) fn of_text(text: &[u8], [start, end]: [i32; 2]) -> Option<Digits<'_>> {
    let bytes = text.get(usize::try_from(start).ok()?..)?.first_chunk()?;
    match end.checked_sub(start)? {
        12 => Some((bytes, &TWELVE)),
        13 => Some((bytes, &THIRTEEN)),
        _ => None,
    }
}

/// Decodes slots with a function for their digits and the most that is allowed among them.
#[inline(always)]
pub(super) fn decode(
    slots: &[Slot],
    numbers: &mut [u64],
    number: impl Fn(Digits, &[u8; 16]) -> Option<u64>,
) -> usize {
    for (done, (slot, place)) in slots.iter().zip(numbers).enumerate() {
        match number(of_slot(slot), &MOST_OF_SLOTS) {
            Some(number) => *place = number,
            None if scalar::decode_to(slot, place).is_none() => return done,
            None => {}
        }
    }
    slots.len()
}

/// As [`decode`], texts side by side.
#[inline(always)]
pub(super) fn decode_column(
    offsets: &[i32],
    text: &[u8],
    numbers: &mut [u64],
    number: impl Fn(Digits, &[u8; 16]) -> Option<u64>,
) -> usize {
    let count = numbers.len();
    for (done, (span, place)) in offsets.windows(2).zip(numbers).enumerate() {
        let span = *part(span, 0);
        if let Some(digits) = of_text(text, span)
            && let Some(number) = number(digits, &MOST_OF_TEXTS)
        {
            *place = number;
        } else if scalar::decode_within(text, span, place).is_none() {
            return done;
        }
    }
    count
}
