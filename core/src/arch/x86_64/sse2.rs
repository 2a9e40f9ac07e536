//! The kernels for SSE2, which every x86-64 CPU supports. They are used for single IDs, for which detecting the CPU's level
//! would cost more than it saves.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{_mm_loadu_si128, _mm_storeu_si128};

use crate::arch::{
    Id, Text,
    alphabet::{Alphabet, FIRST_LETTER, SNO},
    lanes::parts::part,
};

/// Encodes an ID as a string.
#[inline]
pub(crate) fn encode(id: &Id) -> Text {
    let mut text = [0; 16];
    // The loads match the stores that packed the ID: one eight-byte load and one two-byte load. A load that spans both
    // stores would have to wait until the stores reach memory.
    let (low, tail) = (u64::from_le_bytes(*part(id, 0)), u16::from_le_bytes(*part(id, 8)));
    let high = low >> 16 | u64::from(tail) << 48;
    // SAFETY: this module is only compiled for targets on which every CPU has SSE2.
    #[allow(unsafe_code)]
    unsafe {
        _mm_storeu_si128(&mut text, characters(SNO, values(low, high)));
    }
    text
}

/// Decodes a string into an ID, if it is valid.
#[inline]
pub(crate) fn decode(text: &Text) -> Option<Id> {
    // SAFETY: this module is only compiled for targets on which every CPU has SSE2.
    #[allow(unsafe_code)]
    let [high, low] = unsafe { decode_40_bits(SNO, _mm_loadu_si128(text)) }?;
    // Code that copies an ID uses one eight-byte load and one two-byte load. The stores of the decoded ID have the same
    // sizes, so such a copy does not have to wait until the stores reach memory.
    let [a, b, c, d, e, f, g, h] = (high << 24 | low >> 16).to_be_bytes();
    let [.., i, j] = low.to_be_bytes();
    Some([a, b, c, d, e, f, g, h, i, j])
}

/// Returns a number as 16 digits: the first eight and the last eight.
#[inline]
pub(crate) fn digits(alphabet: Alphabet, number: u64) -> [u64; 2] {
    let bytes = number.swap_bytes();
    // SAFETY: this module is only compiled for targets on which every CPU has SSE2.
    #[allow(unsafe_code)]
    unsafe {
        let characters = characters(alphabet, values(bytes << 16, bytes));
        words_of(characters).map(u64::swap_bytes)
    }
}

/// Returns the number that 16 digits represent. `digits` contains the first eight digits and the last eight. Returns `None`
/// if a digit is invalid, or if the number does not fit in 64 bits.
#[inline]
pub(crate) fn decode_integer(alphabet: Alphabet, digits: [u64; 2]) -> Option<u64> {
    let [first, last] = digits.map(|half| half.swap_bytes().cast_signed());
    // SAFETY: this module is only compiled for targets on which every CPU has SSE2.
    #[allow(unsafe_code)]
    let [high, low] = unsafe { decode_40_bits(alphabet, _mm_set_epi64x(last, first)) }?;
    (high >> 24 == 0).then_some(high << 40 | low)
}

/// Returns the bits of 16 characters, as two groups of 40, if all of the characters are in the alphabet.
#[inline]
#[target_feature(enable = "sse2")]
fn decode_40_bits(alphabet: Alphabet, characters: __m128i) -> Option<[u64; 2]> {
    let Alphabet { digit, digits: ten } = alphabet;
    // Subtracting the offset of the wrong character range (digits or letters) yields a greater value, possibly by wrapping
    // around, so the minimum below selects the right value.
    let digits = _mm_sub_epi8(characters, splat(digit));
    let letters = _mm_sub_epi8(characters, splat(FIRST_LETTER));
    let no_digits = _mm_subs_epu8(digits, splat(ten - 1));
    let no_letters = _mm_subs_epu8(letters, splat(alphabet.letter_count() - 1));
    let values = _mm_min_epu8(digits, _mm_sub_epi8(characters, splat(FIRST_LETTER - ten)));
    let good = _mm_cmpeq_epi8(_mm_min_epu8(no_digits, no_letters), _mm_setzero_si128());
    (_mm_movemask_epi8(good) == 0xffff).then(|| pack_values(values))
}

/// Returns the two words of a register.
#[inline]
#[target_feature(enable = "sse2")]
fn words_of(register: __m128i) -> [u64; 2] {
    [register, _mm_unpackhi_epi64(register, register)]
        .map(|half| _mm_cvtsi128_si64(half).cast_unsigned())
}

/// Returns a register with the same value in every byte.
#[inline]
#[target_feature(enable = "sse2")]
fn splat(byte: u8) -> __m128i {
    _mm_set1_epi8(byte.cast_signed())
}

/// Splits ten bytes into sixteen values of five bits. `low` contains the first eight of these bytes, and `high` the last
/// eight.
#[inline]
#[target_feature(enable = "sse2")]
fn values(low: u64, high: u64) -> __m128i {
    let low = _mm_cvtsi64_si128(low.cast_signed());
    let high = _mm_cvtsi64_si128(high.cast_signed());
    // Bytes 0-3 and 5-8 become the upper bytes of the 16-bit words, and bytes 1-4 and 6-9 become the lower bytes. Each word
    // then contains the ten bits of two characters, which the multiplication moves to the top.
    let upper = _mm_unpacklo_epi32(low, _mm_srli_epi64::<24>(high));
    let lower = _mm_unpacklo_epi32(_mm_srli_epi64::<8>(low), _mm_srli_epi64::<32>(high));
    let lanes = _mm_unpacklo_epi8(lower, upper);
    let tens = _mm_mullo_epi16(lanes, _mm_setr_epi16(1, 4, 16, 64, 1, 4, 16, 64));
    _mm_or_si128(
        _mm_srli_epi16::<11>(tens),
        _mm_and_si128(_mm_slli_epi16::<2>(tens), _mm_set1_epi16(0x1f00)),
    )
}

#[inline]
#[target_feature(enable = "sse2")]
fn characters(Alphabet { digit, digits }: Alphabet, values: __m128i) -> __m128i {
    let letters = _mm_cmpgt_epi8(values, splat(digits - 1));
    let further = _mm_and_si128(letters, splat(FIRST_LETTER - digit - digits));
    _mm_add_epi8(values, _mm_add_epi8(splat(digit), further))
}

/// Joins the five bits in each byte into two groups of 40 bits.
#[inline]
#[target_feature(enable = "sse2")]
fn pack_values(values: __m128i) -> [u64; 2] {
    let first = _mm_slli_epi16::<5>(_mm_and_si128(values, _mm_set1_epi16(0xff)));
    let tens = _mm_or_si128(first, _mm_srli_epi16::<8>(values));
    let twenties = _mm_madd_epi16(tens, _mm_set1_epi32(1 << 16 | 1 << 10));
    let upper = _mm_srli_epi64::<12>(_mm_slli_epi64::<32>(twenties));
    words_of(_mm_or_si128(upper, _mm_srli_epi64::<32>(twenties)))
}
