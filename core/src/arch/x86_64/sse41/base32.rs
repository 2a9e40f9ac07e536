//! sno's base32 encoding with SSSE3 and SSE4.1: one ID per register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{
    _mm_loadu_si128, _mm_storeu_si16, _mm_storeu_si64, _mm_storeu_si128,
};

use crate::arch::{
    Id, Text,
    alphabet::{Alphabet, FIRST_LETTER, SNO},
    lanes::parts::{part, part_mut},
};

#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn encode(ids: &[Id], texts: &mut [Text]) {
    for (id, text) in ids.iter().zip(texts) {
        let [low, high] = [0, 2].map(|at| i64::from_le_bytes(*part(id, at)));
        // For each pair of characters, selects the two bytes that contain the pair's 10 bits. The bytes for the first eight
        // characters come from the first 64-bit word, and the bytes for the last eight characters come from the second
        // word.
        let pairs = _mm_setr_epi8(1, 0, 2, 1, 3, 2, 4, 3, 12, 11, 13, 12, 14, 13, 15, 14);
        let lanes = _mm_shuffle_epi8(_mm_set_epi64x(high, low), pairs);
        _mm_storeu_si128(text, characters(SNO, values(lanes)));
    }
}

#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn decode(texts: &[Text], ids: &mut [Id]) -> usize {
    for (done, (text, id)) in texts.iter().zip(ids).enumerate() {
        let (values, bad) = decode_characters(SNO, _mm_loadu_si128(text));
        if _mm_testz_si128(bad, bad) == 0 {
            return done;
        }
        let order = _mm_setr_epi8(2, 1, 0, 5, 4, 10, 9, 8, 13, 12, -1, -1, -1, -1, -1, -1);
        let bytes = _mm_shuffle_epi8(join_40_bits(values), order);
        _mm_storeu_si64(part_mut::<_, 8>(id, 0), bytes);
        _mm_storeu_si16(part_mut::<_, 2>(id, 8), _mm_srli_si128::<8>(bytes));
    }
    texts.len()
}

/// Returns a register with five bits in each byte. Each input lane holds ten bits, which represent two characters. The
/// position of these bits differs from lane to lane.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn values(lanes: __m128i) -> __m128i {
    let tens = _mm_mullo_epi16(lanes, _mm_setr_epi16(1, 4, 16, 64, 1, 4, 16, 64));
    let second = _mm_and_si128(_mm_slli_epi16::<2>(tens), _mm_set1_epi16(0x1f00));
    _mm_or_si128(_mm_srli_epi16::<11>(tens), second)
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn characters(alphabet: Alphabet, values: __m128i) -> __m128i {
    let run = _mm_min_epu8(values, splat(alphabet.digits));
    _mm_add_epi8(values, _mm_shuffle_epi8(_mm_loadu_si128(&alphabet.offsets()), run))
}

/// Returns the values of characters, and a nonzero byte for each character that is not in the alphabet.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn decode_characters(
    alphabet: Alphabet,
    characters: __m128i,
) -> (__m128i, __m128i) {
    let Alphabet { digit, digits: ten } = alphabet;
    // Subtracting the offset of the wrong character range (digits or letters) yields a greater value, possibly by wrapping
    // around, so the minimum below selects the right value.
    let digits = _mm_sub_epi8(characters, splat(digit));
    let letters = _mm_sub_epi8(characters, splat(FIRST_LETTER));
    let no_digits = _mm_subs_epu8(digits, splat(ten - 1));
    let no_letters = _mm_subs_epu8(letters, splat(alphabet.letter_count() - 1));
    let values = _mm_min_epu8(digits, _mm_sub_epi8(characters, splat(FIRST_LETTER - ten)));
    (values, _mm_min_epu8(no_digits, no_letters))
}

/// Returns a register with the same value in every byte.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn splat(byte: u8) -> __m128i {
    _mm_set1_epi8(byte.cast_signed())
}

/// Joins each group of eight values into forty bits. The resulting five bytes, from highest to lowest, are bytes 2, 1, 0, 5
/// and 4 of a word.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::arch) fn join_40_bits(values: __m128i) -> __m128i {
    let tens = _mm_maddubs_epi16(values, _mm_set1_epi16(1 << 8 | 1 << 5));
    // Each half of a 64-bit word receives twenty bits. The twenty bits in the first half are four bits higher than needed,
    // which leaves room for the top four bits of the second half.
    let twenties = _mm_madd_epi16(
        tens,
        _mm_setr_epi16(1 << 14, 1 << 4, 1 << 10, 1, 1 << 14, 1 << 4, 1 << 10, 1),
    );
    _mm_or_si128(twenties, _mm_srli_epi64::<48>(twenties))
}
