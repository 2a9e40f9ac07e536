//! The base32hex encoding with WebAssembly SIMD: one integer per register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::wasm32::*;

use safe_unaligned_simd::wasm32::{v128_load, v128_store};

use super::base32::{characters, decode_characters, join_40_bits, lift_factors, values};
use crate::arch::{
    Slot,
    alphabet::HEX,
    lanes::base32hex::{
        self as lane, BYTE_PAIRS, BYTE_POSITIONS, Digits, IDENTITY, MAX_RIGHT_ALIGNED,
        MIN_CHARACTERS, ZEROS,
    },
    scalar::base32hex::digit_count,
};

pub(super) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    let lift = lift_factors();
    numbers
        .iter()
        .zip(slots)
        .for_each(|(number, slot)| v128_store(slot, encode_digits(*number, lift)));
}

/// Encodes a number into a slot.
#[inline]
pub(crate) fn slot(number: u64) -> Slot {
    let mut slot = [0; 16];
    v128_store(&mut slot, encode_digits(number, lift_factors()));
    slot
}

#[inline]
fn encode_digits(number: u64, lift: v128) -> v128 {
    let lanes = u8x16_swizzle(u64x2_splat(number), v128_load(&BYTE_PAIRS));
    let digits = characters(HEX, values(lanes, lift));
    // The lookup begins at the first digit. Positions past the last digit yield 0.
    let order = u8x16_add(v128_load(&IDENTITY), u8x16_splat(16 - digit_count(number)));
    u8x16_swizzle(digits, order)
}

pub(super) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    lane::decode(slots, numbers, decode_integer)
}

pub(super) fn decode_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize {
    lane::decode_column(offsets, text, numbers, decode_integer)
}

/// Decodes the 12 or 13 digits at the given positions into an integer. Returns `None` if the digits are invalid.
#[inline]
fn decode_integer((bytes, places): Digits, most: &[u8; 16]) -> Option<u64> {
    let [bytes, places, most] = [bytes, places, most].map(|bytes| v128_load(bytes));
    let outside = u8x16_sub_sat(u8x16_sub(bytes, v128_load(&MIN_CHARACTERS)), most);
    let digits = u8x16_max(u8x16_swizzle(bytes, places), v128_load(&ZEROS));
    let too_large = u8x16_sub_sat(digits, v128_load(&MAX_RIGHT_ALIGNED));
    let (values, bad) = decode_characters(HEX, digits);
    let bad = v128_or(v128_or(bad, too_large), outside);
    let number = u8x16_swizzle(join_40_bits(values), v128_load(&BYTE_POSITIONS));
    (!v128_any_true(bad)).then(|| u64x2_extract_lane::<0>(number))
}
