//! SSSE3 and SSE4.1: one number in a register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128};

use super::{
    lane::{AT_THE_END, BYTES, LEAST, MOST, MOST_AT_THE_END, PAIRS, PLACES, THIRTEENTH, ZEROS},
    length_of, scalar,
    slices::{Kernels, Slot},
};
use crate::base32::{
    alphabet::HEX,
    sse41::{all, characters, forties, values, values_of},
};

pub(super) const KERNELS: Kernels = Kernels { encode, decode };

#[target_feature(enable = "sse4.1")]
pub(super) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    for (number, slot) in numbers.iter().zip(slots) {
        let bytes = _mm_cvtsi64_si128(number.cast_signed());
        let lanes = _mm_shuffle_epi8(bytes, _mm_loadu_si128(&PAIRS));
        let digits = characters(HEX, values(lanes));
        // From the first digit on. Places past the last are lifted above 0x7f, where there is none.
        let lift = all(0x70 + (16 - length_of(*number)));
        let order = _mm_add_epi8(_mm_loadu_si128(&PLACES), lift);
        _mm_storeu_si128(slot, _mm_shuffle_epi8(digits, order));
    }
}

#[target_feature(enable = "sse4.1")]
pub(super) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    for (done, (slot, place)) in slots.iter().zip(numbers).enumerate() {
        let (number, bad) = number(_mm_loadu_si128(slot));
        if _mm_testz_si128(bad, bad) == 1 {
            *place = _mm_cvtsi128_si64(number).cast_unsigned();
        } else if scalar::decode_to(slot, place).is_none() {
            return done;
        }
    }
    slots.len()
}

/// The number of a slot, and something other than 0 unless it has 12 or 13 digits.
#[target_feature(enable = "sse4.1")]
fn number(slot: __m128i) -> (__m128i, __m128i) {
    let [places, zeros, most_at_the_end, least, most] =
        [&AT_THE_END, &ZEROS, &MOST_AT_THE_END, &LEAST, &MOST].map(|bytes| _mm_loadu_si128(bytes));
    let thirteenth = _mm_shuffle_epi8(slot, _mm_loadu_si128(&THIRTEENTH));
    let one_less = _mm_cmpeq_epi8(thirteenth, _mm_setzero_si128());
    let moved = _mm_shuffle_epi8(slot, _mm_add_epi8(places, one_less));
    let digits = _mm_max_epu8(moved, zeros);
    let (values, bad) = values_of(HEX, digits);
    let too_large = _mm_subs_epu8(digits, most_at_the_end);
    let outside = _mm_subs_epu8(_mm_sub_epi8(slot, least), most);
    let bad = _mm_or_si128(_mm_or_si128(bad, too_large), outside);
    (_mm_shuffle_epi8(forties(values), _mm_loadu_si128(&BYTES)), bad)
}
