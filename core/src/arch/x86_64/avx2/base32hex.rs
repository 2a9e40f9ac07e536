//! The base32hex encoding with AVX2: two integers per register, four per group.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{
    _mm_loadu_si128, _mm256_loadu_si256, _mm256_loadu2_m128i, _mm256_storeu_si256,
};

use super::{
    super::sse41::base32hex as sse41,
    base32::{broadcast, characters, decode_characters, join_40_bits, splat, values},
};
use crate::arch::{
    Slot,
    alphabet::HEX,
    lanes::{
        base32hex::{
            BYTE_PAIRS, BYTE_POSITIONS, Digits, IDENTITY, MAX_RIGHT_ALIGNED, MAX_SLOT_DISTANCES,
            MAX_TEXT_DISTANCES, MIN_CHARACTERS, ZEROS, slot_digits, text_digits,
        },
        parts::{part, part_mut},
    },
};

const GROUP_LEN: usize = 4;

/// The number of bits that 11 digits represent.
const BITS_IN_11_DIGITS: i32 = 55;
const BITS_IN_12_DIGITS: i32 = 60;

#[target_feature(enable = "avx2")]
pub(super) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    let ((groups, last), (places, last_places)) =
        (numbers.as_chunks::<GROUP_LEN>(), slots.as_chunks_mut::<GROUP_LEN>());
    for (group, place) in groups.iter().zip(places) {
        let numbers = _mm256_loadu_si256(group);
        let short = are_zero(_mm256_srli_epi64::<BITS_IN_11_DIGITS>(numbers));
        if _mm256_testz_si256(short, short) == 0 {
            // A number of at most 11 digits needs different shuffles. Only one in 512 random 64-bit numbers is that short,
            // so it costs little to encode its whole group with the SSE4.1 kernel.
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

/// Encodes two integers as strings. In `numbers`, each lane holds two copies of its integer.
#[target_feature(enable = "avx2")]
fn texts(numbers: __m256i) -> __m256i {
    let digits =
        characters(HEX, values(_mm256_shuffle_epi8(numbers, broadcast_bytes(&BYTE_PAIRS))));
    // The shuffle begins at the first of 13 digits, or at the second one if the number has 12 digits. An index of 0x80 or
    // above makes the shuffle write a zero. Adding 0x70 moves the indices past the last digit into that range, and adding
    // 16 - 13 skips the positions before the first digit.
    let from_13 = _mm256_add_epi8(broadcast_bytes(&IDENTITY), splat(0x70 + 16 - 13));
    let one_less = are_zero(_mm256_srli_epi64::<BITS_IN_12_DIGITS>(numbers));
    _mm256_shuffle_epi8(digits, _mm256_sub_epi8(from_13, one_less))
}

#[target_feature(enable = "avx2")]
pub(super) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    let ((groups, last), (places, last_places)) =
        (slots.as_chunks::<GROUP_LEN>(), numbers.as_chunks_mut::<GROUP_LEN>());
    for (done, (group, place)) in groups.iter().zip(places).enumerate() {
        let slot = |at: usize| slot_digits(&group[at]);
        let first = decode_numbers(slot(0), slot(1), &MAX_SLOT_DISTANCES);
        let last = decode_numbers(slot(2), slot(3), &MAX_SLOT_DISTANCES);
        if store([first, last], place) {
            continue;
        }
        // The group contains a short number or an invalid character. The SSE4.1 kernel decodes short numbers and locates
        // invalid characters.
        let read = sse41::decode(group, place);
        if read < GROUP_LEN {
            return GROUP_LEN * done + read;
        }
    }
    GROUP_LEN * groups.len() + sse41::decode(last, last_places)
}

#[target_feature(enable = "avx2")]
pub(super) fn decode_column(offsets: &[i32], text: &[u8], numbers: &mut [u64]) -> usize {
    let (groups, last) = numbers.as_chunks_mut::<GROUP_LEN>();
    let mut done = 0;
    for place in groups {
        let offsets = part(offsets, done);
        if !decode_group(offsets, text, place) {
            let read = sse41::decode_column(offsets, text, place);
            if read < GROUP_LEN {
                return done + read;
            }
        }
        done += GROUP_LEN;
    }
    done + sse41::decode_column(&offsets[done..], text, last)
}

/// Decodes four strings into integers, if all of them have 12 or 13 digits.
#[inline]
#[target_feature(enable = "avx2")]
fn decode_group(offsets: &[i32; GROUP_LEN + 1], text: &[u8], place: &mut [u64; GROUP_LEN]) -> bool {
    let text = |at| text_digits(text, *part(offsets, at));
    let (Some(a), Some(b), Some(c), Some(d)) = (text(0), text(1), text(2), text(3)) else {
        return false;
    };
    store(
        [decode_numbers(a, b, &MAX_TEXT_DISTANCES), decode_numbers(c, d, &MAX_TEXT_DISTANCES)],
        place,
    )
}

/// Decodes two integers, each at the front of its lane. Also returns a register that is nonzero unless both integers have
/// 12 or 13 valid digits.
#[inline]
#[target_feature(enable = "avx2")]
fn decode_numbers(
    (low, low_places): Digits,
    (high, high_places): Digits,
    most: &[u8; 16],
) -> (__m256i, __m256i) {
    let bytes = _mm256_loadu2_m128i(high, low);
    let places = _mm256_loadu2_m128i(high_places, low_places);
    let outside = _mm256_subs_epu8(
        _mm256_sub_epi8(bytes, broadcast_bytes(&MIN_CHARACTERS)),
        broadcast_bytes(most),
    );
    let digits = _mm256_max_epu8(_mm256_shuffle_epi8(bytes, places), broadcast_bytes(&ZEROS));
    let too_large = _mm256_subs_epu8(digits, broadcast_bytes(&MAX_RIGHT_ALIGNED));
    let (values, bad) = decode_characters(HEX, digits);
    let bad = _mm256_or_si256(_mm256_or_si256(bad, too_large), outside);
    (_mm256_shuffle_epi8(join_40_bits(values), broadcast_bytes(&BYTE_POSITIONS)), bad)
}

/// Writes two pairs of integers, if all four are valid.
#[inline]
#[target_feature(enable = "avx2")]
fn store(
    [(first, bad), (last, last_bad)]: [(__m256i, __m256i); 2],
    place: &mut [u64; GROUP_LEN],
) -> bool {
    let bad = _mm256_or_si256(bad, last_bad);
    let is_good = _mm256_testz_si256(bad, bad) == 1;
    if is_good {
        // Unpacking works within each lane, so the numbers are in the order 0, 2, 1, 3 until they are permuted.
        let numbers = _mm256_unpacklo_epi64(first, last);
        _mm256_storeu_si256(place, _mm256_permute4x64_epi64::<0b11_01_10_00>(numbers));
    }
    is_good
}

/// Returns a mask with all bits set in the words that are 0.
#[inline]
#[target_feature(enable = "avx2")]
fn are_zero(words: __m256i) -> __m256i {
    _mm256_cmpeq_epi64(words, _mm256_setzero_si256())
}

/// Returns a register with the same bytes in both lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn broadcast_bytes(bytes: &[u8; 16]) -> __m256i {
    broadcast(_mm_loadu_si128(bytes))
}
