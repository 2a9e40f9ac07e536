//! AVX2: two numbers in a register, four in a group.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm256_loadu_si256, _mm256_storeu_si256};

use super::{
    lane::{AT_THE_END, BYTES, LEAST, MOST, MOST_AT_THE_END, PAIRS, PLACES, THIRTEENTH, ZEROS},
    slices::{Kernels, Slot},
    sse41,
};
use crate::{
    base32::{
        alphabet::HEX,
        avx2::{all, both, characters, forties, values, values_of},
    },
    cpu::parts::{part, part_mut},
};

pub(super) const KERNELS: Kernels = Kernels { encode, decode };

const GROUP: usize = 4;

/// Bits of 11 and of 12 digits.
const ELEVEN: i32 = 55;
const TWELVE: i32 = 60;

#[target_feature(enable = "avx2")]
fn encode(numbers: &[u64], slots: &mut [Slot]) {
    let ((groups, last), (places, last_places)) =
        (numbers.as_chunks::<GROUP>(), slots.as_chunks_mut::<GROUP>());
    for (group, place) in groups.iter().zip(places) {
        let numbers = _mm256_loadu_si256(group);
        let short = are_zero(_mm256_srli_epi64::<ELEVEN>(numbers));
        if _mm256_testz_si256(short, short) == 0 {
            sse41::encode(group, place);
            continue;
        }
        let pairs = [
            _mm256_permute4x64_epi64::<0b01_01_00_00>(numbers),
            _mm256_permute4x64_epi64::<0b11_11_10_10>(numbers),
        ];
        for (at, pair) in pairs.into_iter().enumerate() {
            let half = part_mut::<_, 32>(place.as_flattened_mut(), 32 * at);
            _mm256_storeu_si256(half, texts(pair));
        }
    }
    sse41::encode(last, last_places);
}

/// The slots of two numbers, each of which fills a lane twice.
#[target_feature(enable = "avx2")]
fn texts(numbers: __m256i) -> __m256i {
    let digits = characters(HEX, values(_mm256_shuffle_epi8(numbers, lanes(&PAIRS))));
    // From the first of 13 digits on, or from the one after it.
    let from_13 = _mm256_add_epi8(lanes(&PLACES), all(0x70 + 16 - 13));
    let one_less = are_zero(_mm256_srli_epi64::<TWELVE>(numbers));
    _mm256_shuffle_epi8(digits, _mm256_sub_epi8(from_13, one_less))
}

#[target_feature(enable = "avx2")]
fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    let ((groups, last), (places, last_places)) =
        (slots.as_chunks::<GROUP>(), numbers.as_chunks_mut::<GROUP>());
    for (done, (group, place)) in groups.iter().zip(places).enumerate() {
        let [(even, bad), (odd, odd_bad)] =
            [0, 32].map(|at| numbers_of(_mm256_loadu_si256(part(group.as_flattened(), at))));
        let bad = _mm256_or_si256(bad, odd_bad);
        if _mm256_testz_si256(bad, bad) == 1 {
            let numbers = _mm256_unpacklo_epi64(even, odd);
            _mm256_storeu_si256(place, _mm256_permute4x64_epi64::<0b11_01_10_00>(numbers));
            continue;
        }
        let read = sse41::decode(group, place);
        if read < GROUP {
            return GROUP * done + read;
        }
    }
    GROUP * groups.len() + sse41::decode(last, last_places)
}

/// The numbers of two slots, in front of their lanes, and something other than 0 unless both have 12 or 13 digits.
#[target_feature(enable = "avx2")]
fn numbers_of(slots: __m256i) -> (__m256i, __m256i) {
    let thirteenth = _mm256_shuffle_epi8(slots, lanes(&THIRTEENTH));
    let one_less = _mm256_cmpeq_epi8(thirteenth, _mm256_setzero_si256());
    let moved = _mm256_shuffle_epi8(slots, _mm256_add_epi8(lanes(&AT_THE_END), one_less));
    let digits = _mm256_max_epu8(moved, lanes(&ZEROS));
    let (values, bad) = values_of(HEX, digits);
    let too_large = _mm256_subs_epu8(digits, lanes(&MOST_AT_THE_END));
    let outside = _mm256_subs_epu8(_mm256_sub_epi8(slots, lanes(&LEAST)), lanes(&MOST));
    let bad = _mm256_or_si256(_mm256_or_si256(bad, too_large), outside);
    (_mm256_shuffle_epi8(forties(values), lanes(&BYTES)), bad)
}

/// All bits of the words that are 0.
#[inline]
#[target_feature(enable = "avx2")]
fn are_zero(words: __m256i) -> __m256i {
    _mm256_cmpeq_epi64(words, _mm256_setzero_si256())
}

/// The same in both lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(bytes: &[u8; 16]) -> __m256i {
    both(_mm_loadu_si128(bytes))
}
