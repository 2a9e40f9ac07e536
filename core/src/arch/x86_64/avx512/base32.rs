//! sno's base32 encoding with AVX-512 and VBMI: four IDs per register, eight per group.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{
    _mm_storeu_si64, _mm256_storeu_si256, _mm512_loadu_si512, _mm512_storeu_si512,
};

use super::super::sse41::base32 as sse41;
use crate::arch::{
    Id, Text,
    alphabet::{Alphabet, SNO},
    lanes::parts::{part, part_mut},
};

const GROUP_LEN: usize = 8;

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn encode(ids: &[Id], texts: &mut [Text]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<GROUP_LEN>(), texts.as_chunks_mut::<GROUP_LEN>());
    let [front, back] = [&FRONT_BYTES, &BACK_BYTES].map(|order| _mm512_loadu_si512(order));
    for (group, place) in groups.iter().zip(places) {
        let (group, place) = (group.as_flattened(), place.as_flattened_mut());
        // The second load ends where the group ends. Therefore four IDs are at the front of the first register, and four
        // are at the end of the second.
        for (at, order) in [(0, front), (1, back)] {
            let ids = _mm512_loadu_si512(part::<_, 64>(group, 16 * at));
            let forties = _mm512_permutexvar_epi8(order, ids);
            _mm512_storeu_si512(part_mut(place, 64 * at), characters(forties));
        }
    }
    sse41::encode(last, last_places);
}

#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
pub(super) fn decode(texts: &[Text], ids: &mut [Id]) -> usize {
    let ((groups, last), (places, last_places)) =
        (texts.as_chunks::<GROUP_LEN>(), ids.as_chunks_mut::<GROUP_LEN>());
    for (done, (group, place)) in groups.iter().zip(places).enumerate() {
        let group = group.as_flattened();
        let (values, bad) = decode_characters(_mm512_loadu_si512(part::<_, 64>(group, 0)));
        let (next_values, next_bad) =
            decode_characters(_mm512_loadu_si512(part::<_, 64>(group, 64)));
        if _mm512_movepi8_mask(_mm512_or_si512(bad, next_bad)) != 0 {
            return GROUP_LEN * done;
        }
        store([pack_values(values), pack_values(next_values)], place.as_flattened_mut());
    }
    GROUP_LEN * groups.len() + sse41::decode(last, last_places)
}

/// Writes eight IDs, four from the front of each register.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn store([first, second]: [__m512i; 2], place: &mut [u8]) {
    // The second store overwrites the surplus bytes of the first.
    _mm512_storeu_si512(part_mut::<_, 64>(place, 0), first);
    _mm256_storeu_si256(part_mut::<_, 32>(place, 40), _mm512_castsi512_si256(second));
    _mm_storeu_si64(part_mut::<_, 8>(place, 72), _mm512_extracti32x4_epi32::<2>(second));
}

/// Returns the characters that encode the lowest 40 bits of each 64-bit word.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn characters(forties: __m512i) -> __m512i {
    // Each byte of the result receives the eight bits that begin at the bit position given in `shifts`. A character
    // represents five bits, but the lookup uses six, so the table contains the alphabet twice.
    let shifts = i64::from_le_bytes([35, 30, 25, 20, 15, 10, 5, 0]);
    let values = _mm512_multishift_epi64_epi8(_mm512_set1_epi64(shifts), forties);
    _mm512_permutexvar_epi8(values, _mm512_loadu_si512(&CHARACTERS))
}

/// Returns the values of characters, and a byte whose high bit is set for each character that is not in the alphabet.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn decode_characters(characters: __m512i) -> (__m512i, __m512i) {
    let [low, high] = [&VALUES[0], &VALUES[1]].map(|half| _mm512_loadu_si512(half));
    let values = _mm512_permutex2var_epi8(low, characters, high);
    (values, _mm512_or_si512(values, characters))
}

/// Joins sixty-four values into forty bytes, at the front of the register.
#[target_feature(enable = "avx512bw,avx512vl,avx512vbmi")]
fn pack_values(values: __m512i) -> __m512i {
    let tens = _mm512_maddubs_epi16(values, _mm512_set1_epi16(1 << 8 | 1 << 5));
    let places = i64::from(1 << 10 | 1 << 16) << 32 | i64::from(1 << 14 | 1 << 4 << 16);
    let twenties = _mm512_madd_epi16(tens, _mm512_set1_epi64(places));
    let forties = _mm512_or_si512(twenties, _mm512_srli_epi64::<48>(twenties));
    _mm512_permutexvar_epi8(_mm512_loadu_si512(&PACK_GROUPS_OF_FIVE), forties)
}

/// For each word, the positions of the five bytes that its eight characters represent, in reverse order. The other three
/// bytes of the word are not used.
const FRONT_BYTES: [u8; 64] = reverse_groups_of_five(0);
const BACK_BYTES: [u8; 64] = reverse_groups_of_five(24);

const fn reverse_groups_of_five(from: u8) -> [u8; 64] {
    let mut order = [0; 64];
    let mut place = 0;
    while place < 64 {
        let (word, byte) = (place / 8, place % 8);
        if byte < 5 {
            order[place as usize] = from + 5 * word + 4 - byte;
        }
        place += 1;
    }
    order
}

/// The positions of the forty decoded bytes. Each 64-bit word contains five of these bytes: from highest to lowest, bytes
/// 2, 1, 0, 5 and 4.
const PACK_GROUPS_OF_FIVE: [u8; 64] = {
    let mut order = [0; 64];
    let mut place: u8 = 0;
    while place < 40 {
        order[place as usize] = 8 * (place / 5) + [2, 1, 0, 5, 4][(place % 5) as usize];
        place += 1;
    }
    order
};

static CHARACTERS: [u8; 64] = character_table(SNO);

static VALUES: [[u8; 64]; 2] = value_table(SNO);

/// Returns a lookup table from six bits to a character. Only five of the six bits form a value, so the table contains the
/// alphabet twice.
pub(super) const fn character_table(alphabet: Alphabet) -> [u8; 64] {
    let mut twice = [0; 64];
    let mut place = 0;
    while place < 64 {
        twice[place] = alphabet.table()[place % 32];
        place += 1;
    }
    twice
}

/// Returns a lookup table from ASCII characters to their values. A set high bit marks a character that is not in the
/// alphabet.
pub(super) const fn value_table(alphabet: Alphabet) -> [[u8; 64]; 2] {
    let mut values = [[0x80; 64]; 2];
    let mut value: u8 = 0;
    while value < 32 {
        let character = alphabet.table()[value as usize] as usize;
        values[character / 64][character % 64] = value;
        value += 1;
    }
    values
}
