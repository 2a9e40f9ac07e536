//! The base32hex encoding with AVX-512 and VBMI: eight integers per group, each in two words of eight characters.
//!
//! Only integers of 12 and 13 digits are decoded here. Of 500 random-looking integers, 499 have one of these lengths.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512};

use super::{
    super::sse41::base32hex as sse41,
    base32::{character_table, value_table},
};
use crate::arch::{
    Slot,
    alphabet::{HEX, splat},
};

const GROUP_LEN: usize = 8;

/// The number of bits that 11 digits represent.
const BITS_IN_11_DIGITS: u32 = 55;
const BITS_IN_12_DIGITS: u32 = 60;

static CHARACTERS: [u8; 64] = character_table(HEX);

static VALUES: [[u8; 64]; 2] = value_table(HEX);

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn encode(numbers: &[u64], slots: &mut [Slot]) {
    let ((groups, last), (places, last_places)) =
        (numbers.as_chunks::<GROUP_LEN>(), slots.as_chunks_mut::<GROUP_LEN>());
    for (group, place) in groups.iter().zip(places) {
        if group.iter().any(|number| number >> BITS_IN_11_DIGITS == 0) {
            sse41::encode(group, place);
            continue;
        }
        let halves = place.as_flattened_mut().as_chunks_mut::<64>().0;
        for (half, digits) in halves.iter_mut().zip(digits(_mm512_loadu_si512(group))) {
            _mm512_storeu_si512(half, digits);
        }
    }
    sse41::encode(last, last_places);
}

/// Encodes eight integers as digits, which fill eight slots.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn digits(numbers: __m512i) -> [__m512i; 2] {
    let short = _mm512_cmplt_epu64_mask(numbers, _mm512_set1_epi64(1 << BITS_IN_12_DIGITS));
    let one_less = _mm512_maskz_set1_epi64(short, splat(5).cast_signed());
    // The position of each character's lowest bit. Bytes past the end of the string are cleared at the end of this
    // function.
    let first = broadcast_word(u64::from_le_bytes([60, 55, 50, 45, 40, 35, 30, 25]));
    let last = broadcast_word(u64::from_le_bytes([20, 15, 10, 5, 0, 0, 0, 0]));
    let [first, last] = [first, last]
        .map(|from| _mm512_multishift_epi64_epi8(_mm512_sub_epi8(from, one_less), numbers));
    // The first of 13 digits has only four bits. The multishift wraps around, so these bits are followed by bits from the
    // low end of the number, which are cleared here.
    let first = _mm512_mask_and_epi64(first, !short, first, broadcast_word(!0xf0));
    let table = _mm512_loadu_si512(&CHARACTERS);
    let [first, last] = [first, last].map(|values| _mm512_permutexvar_epi8(values, table));
    let text =
        _mm512_mask_blend_epi64(short, broadcast_word(0xff_ffff_ffff), broadcast_word(0xffff_ffff));
    let last = _mm512_and_si512(last, text);
    [[0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]].map(|order: [i64; 8]| {
        let [a, b, c, d, e, f, g, h] = order;
        let order = _mm512_setr_epi64(a, b, c, d, e, f, g, h);
        _mm512_permutex2var_epi64(first, order, last)
    })
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn decode(slots: &[Slot], numbers: &mut [u64]) -> usize {
    let ((groups, last), (places, last_places)) =
        (slots.as_chunks::<GROUP_LEN>(), numbers.as_chunks_mut::<GROUP_LEN>());
    for (done, (group, place)) in groups.iter().zip(places).enumerate() {
        let halves = group.as_flattened().as_chunks::<64>().0;
        let (read, bad) = values([0, 1].map(|half| _mm512_loadu_si512(&halves[half])));
        if !bad {
            _mm512_storeu_si512(place, read);
            continue;
        }
        let read = sse41::decode(group, place);
        if read < GROUP_LEN {
            return GROUP_LEN * done + read;
        }
    }
    GROUP_LEN * groups.len() + sse41::decode(last, last_places)
}

/// Decodes eight slots into integers. Also returns whether any slot is invalid or has fewer than 12 digits.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn values([low, high]: [__m512i; 2]) -> (__m512i, bool) {
    let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    let [first, last] = [even, odd].map(|order| _mm512_permutex2var_epi64(low, order, high));
    let short = _mm512_testn_epi64_mask(last, broadcast_word(!0xffff_ffff));
    let too_long = _mm512_test_epi64_mask(last, broadcast_word(!0xff_ffff_ffff));
    let zeros = splat(b'0');
    let padding =
        _mm512_mask_blend_epi64(short, broadcast_word(zeros << 40), broadcast_word(zeros << 32));
    let (first, bad_first) = join_40_bits(first);
    let (last, bad_last) = join_40_bits(_mm512_or_si512(last, padding));
    let bad = _mm512_movepi8_mask(_mm512_or_si512(bad_first, bad_last));
    let leading_zero = _mm512_testn_epi64_mask(first, broadcast_word(!0 << 35));
    let too_large = _mm512_mask_test_epi64_mask(!short, first, broadcast_word(1 << 39));
    let beside = _mm512_mask_blend_epi64(short, broadcast_word(25), broadcast_word(20));
    let beyond = _mm512_mask_blend_epi64(short, broadcast_word(15), broadcast_word(20));
    let numbers =
        _mm512_or_si512(_mm512_sllv_epi64(first, beside), _mm512_srlv_epi64(last, beyond));
    (numbers, bad != 0 || too_long | leading_zero | too_large != 0)
}

/// Joins the values of each group of eight characters into 40 bits. Also returns bytes whose highest bit is set for an
/// invalid character.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn join_40_bits(characters: __m512i) -> (__m512i, __m512i) {
    let [low, high] = [&VALUES[0], &VALUES[1]].map(|half| _mm512_loadu_si512(half));
    let values = _mm512_permutex2var_epi8(low, characters, high);
    let tens = _mm512_maddubs_epi16(values, _mm512_set1_epi16(1 << 8 | 32));
    let twenties = _mm512_madd_epi16(tens, _mm512_set1_epi32(1 << 16 | 1024));
    // The first twenty bits are in the lower half of each word.
    let upper = _mm512_srli_epi64::<12>(_mm512_slli_epi64::<32>(twenties));
    let forties = _mm512_or_si512(upper, _mm512_srli_epi64::<32>(twenties));
    (forties, _mm512_or_si512(values, characters))
}

/// Returns a register that contains eight copies of a word.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn broadcast_word(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}
