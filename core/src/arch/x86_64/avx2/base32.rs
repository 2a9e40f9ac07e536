//! sno's base32 encoding with AVX2: two IDs per register, four per group.
//!
//! An ID has 80 bits, and its string has 16 characters of five bits each. Eight characters represent 40 bits, or five
//! bytes. Therefore each half of an ID is encoded separately, and a register of two 16-byte lanes holds one ID per lane.
//!
//! # Encoding
//!
//! A plain loop would shift out five bits for each character. Instead, the same few instructions process all 32 characters
//! of two IDs.
//!
//! ```text
//! half an ID       byte 0          byte 1          byte 2          byte 3          byte 4
//! bits             aaaaabbb        bbcccccd        ddddeeee        efffffgg        ggghhhhh
//!
//! pairs            aaaaabbbbbcccccd   bbcccccdddddeeee   ddddeeeeefffffgg   efffffggggghhhhh     16-bit words
//! times 1 4 16 64  aaaaabbbbb......   cccccddddd......   eeeeefffff......   ggggghhhhh......
//! values           000bbbbb 000aaaaa  000ddddd 000ccccc  ...                                     high byte, low byte
//! ```
//!
//! 1. A shuffle puts byte `p` of a half into the high byte of word `p`, and byte `p + 1` into its low byte. The word
//!    contains the ten bits of characters `2p` and `2p + 1`, but at a different position in each word.
//! 2. AVX2 cannot shift 16-bit words by different distances. Instead, a multiplication by 4^p moves each group of ten bits
//!    to the top of its word.
//! 3. The first character's five bits are shifted down into the low byte. The second character's bits are shifted up by
//!    two, into the high byte, and masked. In memory the low byte comes first, so the characters are in order.
//! 4. Adding an offset to a value yields its character. The offset depends only on whether the character is a digit or a
//!    letter. `min(value, number of digits)` is an index into a table of offsets that is small enough for a single shuffle.
//!
//! # Decoding
//!
//! 1. If a character is a digit, its value is the character minus `'2'`. If it is a letter, its value is the character
//!    minus the letters' offset. As unsigned bytes, the wrong difference is always larger than the right one, so the
//!    minimum selects the value. Saturating subtractions, one for digits and one for letters, leave 0 for a character in
//!    the respective range. Therefore their minimum is nonzero only for an invalid character.
//! 2. Two multiply-add instructions join adjacent values: first two groups of five bits into ten bits in each 16-bit word,
//!    then two groups of ten bits into twenty bits in each 32-bit word. The factors are powers of two, chosen so that the
//!    first twenty bits of each half of an ID end at bit 4, and the last twenty bits end at bit 0.
//! 3. One shift and one `or` insert the missing four bits. A final shuffle reverses the bytes and removes the gaps between
//!    them.
//!
//! ```text
//! values           000aaaaa 000bbbbb 000ccccc 000ddddd   000eeeee 000fffff 000ggggg 000hhhhh     bytes
//! tens             ......aaaaabbbbb  ......cccccddddd    ......eeeeefffff  ......ggggghhhhh      16-bit words
//! twenties         ........aaaaabbbbbcccccddddd....      ............eeeeefffffggggghhhhh        32-bit words
//! with the shift   ........aaaaabbbbbcccccdddddeeee      ............eeeeefffffggggghhhhh
//! taken            byte 0, byte 1 and byte 2             byte 3 and byte 4, without the upper eeee
//! ```
//!
//! The caller handles a group that contains an invalid character: it finds the position of the character and creates the
//! error. This path does not need to be fast.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::x86_64::*;

use safe_unaligned_simd::x86_64::{
    _mm_loadu_si128, _mm_storeu_si16, _mm_storeu_si64, _mm_storeu_si128, _mm256_loadu_si256,
    _mm256_loadu2_m128i, _mm256_storeu_si256,
};

use super::super::sse41::base32 as sse41;
use crate::arch::{
    Id, Text,
    alphabet::{Alphabet, FIRST_LETTER, SNO},
    lanes::parts::{part, part_mut},
};

const GROUP_LEN: usize = 4;

#[target_feature(enable = "avx2")]
pub(super) fn encode(ids: &[Id], texts: &mut [Text]) {
    let ((groups, last), (places, last_places)) =
        (ids.as_chunks::<GROUP_LEN>(), texts.as_chunks_mut::<GROUP_LEN>());
    // For each pair of characters, these indices select the two bytes that contain the pair's 10 bits. The first ID is at
    // the front of the first lane, and the second ID is at the end of the second lane.
    let pairs = _mm256_setr_epi8(
        1, 0, 2, 1, 3, 2, 4, 3, 6, 5, 7, 6, 8, 7, 9, 8, //
        7, 6, 8, 7, 9, 8, 10, 9, 12, 11, 13, 12, 14, 13, 15, 14,
    );
    for (group, place) in groups.iter().zip(places) {
        let (group, place) = (group.as_flattened(), place.as_flattened_mut());
        for pair in 0..2 {
            // The second ID is at the end of its lane. If it were at the front, the group's last load would reach past the
            // end of the group.
            let (low, high) =
                (part::<_, 16>(group, 20 * pair), part::<_, 16>(group, 20 * pair + 4));
            let lanes = _mm256_shuffle_epi8(_mm256_loadu2_m128i(high, low), pairs);
            _mm256_storeu_si256(part_mut(place, 32 * pair), characters(SNO, values(lanes)));
        }
    }
    sse41::encode(last, last_places);
}

#[target_feature(enable = "avx2")]
pub(super) fn decode(texts: &[Text], ids: &mut [Id]) -> usize {
    let ((groups, last), (places, last_places)) =
        (texts.as_chunks::<GROUP_LEN>(), ids.as_chunks_mut::<GROUP_LEN>());
    for (done, (group, place)) in groups.iter().zip(places).enumerate() {
        let group = group.as_flattened();
        let (values, bad) = decode_characters(SNO, _mm256_loadu_si256(part::<_, 32>(group, 0)));
        let (next_values, next_bad) =
            decode_characters(SNO, _mm256_loadu_si256(part::<_, 32>(group, 32)));
        let bad = _mm256_or_si256(bad, next_bad);
        if _mm256_testz_si256(bad, bad) == 0 {
            return GROUP_LEN * done;
        }
        store([pack_values(values), pack_values(next_values)], place.as_flattened_mut());
    }
    GROUP_LEN * groups.len() + sse41::decode(last, last_places)
}

/// Writes four IDs as whole registers. Each store overwrites the surplus bytes of the previous one.
#[target_feature(enable = "avx2")]
fn store([first, second]: [__m256i; 2], place: &mut [u8]) {
    let lanes = [
        _mm256_castsi256_si128(first),
        _mm256_extracti128_si256::<1>(first),
        _mm256_castsi256_si128(second),
    ];
    for (at, lane) in lanes.into_iter().enumerate() {
        _mm_storeu_si128(part_mut::<_, 16>(place, 10 * at), lane);
    }
    let last = _mm256_extracti128_si256::<1>(second);
    _mm_storeu_si64(part_mut::<_, 8>(place, 30), last);
    _mm_storeu_si16(part_mut::<_, 2>(place, 38), _mm_srli_si128::<8>(last));
}

/// Returns a register that contains two copies of a lane.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(lane: __m128i) -> __m256i {
    _mm256_broadcastsi128_si256(lane)
}

/// Returns a register with the same value in every byte.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat(byte: u8) -> __m256i {
    _mm256_set1_epi8(byte.cast_signed())
}

/// Returns a register with five bits in each byte. Each input word holds ten bits, which represent two characters. The
/// position of these bits differs from word to word.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn values(lanes: __m256i) -> __m256i {
    let lift = broadcast(_mm_setr_epi16(1, 4, 16, 64, 1, 4, 16, 64));
    let tens = _mm256_mullo_epi16(lanes, lift);
    let second = _mm256_and_si256(_mm256_slli_epi16::<2>(tens), _mm256_set1_epi16(0x1f00));
    _mm256_or_si256(_mm256_srli_epi16::<11>(tens), second)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn characters(alphabet: Alphabet, values: __m256i) -> __m256i {
    let offsets = broadcast(_mm_loadu_si128(&alphabet.offsets()));
    let run = _mm256_min_epu8(values, splat(alphabet.digits));
    _mm256_add_epi8(values, _mm256_shuffle_epi8(offsets, run))
}

/// Returns the values of characters, and a nonzero byte for each character that is not in the alphabet.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn decode_characters(alphabet: Alphabet, characters: __m256i) -> (__m256i, __m256i) {
    let Alphabet { digit, digits: ten } = alphabet;
    let digits = _mm256_sub_epi8(characters, splat(digit));
    let letters = _mm256_sub_epi8(characters, splat(FIRST_LETTER));
    let no_digits = _mm256_subs_epu8(digits, splat(ten - 1));
    let no_letters = _mm256_subs_epu8(letters, splat(alphabet.letter_count() - 1));
    let values = _mm256_min_epu8(digits, _mm256_sub_epi8(characters, splat(FIRST_LETTER - ten)));
    (values, _mm256_min_epu8(no_digits, no_letters))
}

/// Joins the sixteen five-bit values in each lane into ten bytes at the front of the lane.
#[target_feature(enable = "avx2")]
fn pack_values(values: __m256i) -> __m256i {
    let order = _mm_setr_epi8(2, 1, 0, 5, 4, 10, 9, 8, 13, 12, -1, -1, -1, -1, -1, -1);
    _mm256_shuffle_epi8(join_40_bits(values), broadcast(order))
}

/// Joins each group of eight values into forty bits. The resulting five bytes, from highest to lowest, are bytes 2, 1, 0, 5
/// and 4 of a 64-bit word.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn join_40_bits(values: __m256i) -> __m256i {
    let tens = _mm256_maddubs_epi16(values, _mm256_set1_epi16(1 << 8 | 1 << 5));
    let places = _mm_setr_epi16(1 << 14, 1 << 4, 1 << 10, 1, 1 << 14, 1 << 4, 1 << 10, 1);
    let twenties = _mm256_madd_epi16(tens, broadcast(places));
    _mm256_or_si256(twenties, _mm256_srli_epi64::<48>(twenties))
}
