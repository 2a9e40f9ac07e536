//! The base32hex encoding with SSSE3 and SSE4.1: one integer per register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128};

use super::base32::{characters, decode_characters, join_40_bits, splat, values};
use crate::arch::{
    Slot,
    alphabet::HEX,
    lanes::base32hex::{
        self as lane, BYTE_PAIRS, BYTE_POSITIONS, Digits, IDENTITY, MAX_RIGHT_ALIGNED,
        MIN_CHARACTERS, ZEROS,
    },
    scalar::base32hex::digit_count,
};

#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    for (number, slot) in numbers.iter().zip(slots) {
        let bytes = _mm_cvtsi64_si128(number.cast_signed());
        let lanes = _mm_shuffle_epi8(bytes, _mm_loadu_si128(&BYTE_PAIRS));
        let digits = characters(HEX, values(lanes));
        // The shuffle begins at the first digit. Positions past the last digit are raised above 0x7f, so that the shuffle
        // yields 0 for them.
        let lift = splat(0x70 + (16 - digit_count(*number)));
        let order = _mm_add_epi8(_mm_loadu_si128(&IDENTITY), lift);
        _mm_storeu_si128(slot, _mm_shuffle_epi8(digits, order));
    }
}

#[inline(never)] // Inlining this function would occupy registers in the wider kernels, which rarely call it.
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    lane::decode(slots, numbers, |digits, most| decode_integer(digits, most))
}

#[inline(never)] // Inlining this function would occupy registers in the wider kernels, which rarely call it.
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn decode_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize {
    lane::decode_column(offsets, text, numbers, |digits, most| decode_integer(digits, most))
}

/// Decodes the 12 or 13 digits at the given positions into an integer. Returns `None` if the digits are invalid.
#[inline]
#[target_feature(enable = "sse4.1")]
fn decode_integer((bytes, places): Digits, most: &[u8; 16]) -> Option<u64> {
    let [bytes, places, most] = [bytes, places, most].map(|bytes| _mm_loadu_si128(bytes));
    let outside = _mm_subs_epu8(_mm_sub_epi8(bytes, _mm_loadu_si128(&MIN_CHARACTERS)), most);
    let digits = _mm_max_epu8(_mm_shuffle_epi8(bytes, places), _mm_loadu_si128(&ZEROS));
    let too_large = _mm_subs_epu8(digits, _mm_loadu_si128(&MAX_RIGHT_ALIGNED));
    let (values, bad) = decode_characters(HEX, digits);
    let bad = _mm_or_si128(_mm_or_si128(bad, too_large), outside);
    let number = _mm_shuffle_epi8(join_40_bits(values), _mm_loadu_si128(&BYTE_POSITIONS));
    (_mm_testz_si128(bad, bad) == 1).then(|| _mm_cvtsi128_si64(number).cast_unsigned())
}
