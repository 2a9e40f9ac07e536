//! The base32hex encoding with NEON: one integer per register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::aarch64::*;

use safe_unaligned_simd::aarch64::{vld1q_u8, vld1q_u8_x2, vst1q_u8};

use super::base32::{character_table, decode_characters, join_40_bits, values};
use crate::arch::{
    Slot,
    alphabet::HEX,
    lanes::base32hex::{
        self as lane, BYTE_PAIRS, Digits, IDENTITY, MAX_RIGHT_ALIGNED, MIN_CHARACTERS, ZEROS,
    },
    scalar::base32hex::digit_count,
};

static CHARACTERS: [[u8; 16]; 2] = character_table(HEX);

#[target_feature(enable = "neon")]
pub(super) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    for (number, slot) in numbers.iter().zip(slots) {
        let bytes = vreinterpretq_u8_u64(vdupq_n_u64(*number));
        let values = values(vqtbl1q_u8(bytes, vld1q_u8(&BYTE_PAIRS)));
        let digits = vqtbl2q_u8(vld1q_u8_x2(&CHARACTERS), values);
        // The lookup begins at the first digit. Positions past the last digit yield 0.
        let order = vaddq_u8(vld1q_u8(&IDENTITY), vdupq_n_u8(16 - digit_count(*number)));
        vst1q_u8(slot, vqtbl1q_u8(digits, order));
    }
}

#[target_feature(enable = "neon")]
pub(super) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    lane::decode(slots, numbers, |digits, most| decode_integer(digits, most))
}

#[target_feature(enable = "neon")]
pub(super) fn decode_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize {
    lane::decode_column(offsets, text, numbers, |digits, most| decode_integer(digits, most))
}

/// Decodes the 12 or 13 digits at the given positions into an integer. Returns `None` if the digits are invalid.
#[inline]
#[target_feature(enable = "neon")]
fn decode_integer((bytes, places): Digits, most: &[u8; 16]) -> Option<u64> {
    let [bytes, places, most] = [bytes, places, most].map(|bytes| vld1q_u8(bytes));
    let outside = vqsubq_u8(vsubq_u8(bytes, vld1q_u8(&MIN_CHARACTERS)), most);
    let digits = vmaxq_u8(vqtbl1q_u8(bytes, places), vld1q_u8(&ZEROS));
    let too_large = vqsubq_u8(digits, vld1q_u8(&MAX_RIGHT_ALIGNED));
    let (values, bad) = decode_characters(HEX, digits);
    let bad = vmaxvq_u8(vorrq_u8(vorrq_u8(bad, too_large), outside));
    let forties = join_40_bits(values);
    let (high, low) = (vgetq_lane_u64::<0>(forties), vgetq_lane_u64::<1>(forties));
    (bad == 0).then_some(high << 40 | low & ((1 << 40) - 1))
}
