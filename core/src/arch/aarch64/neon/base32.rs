//! sno's base32 encoding with NEON: one ID per register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::aarch64::*;

use safe_unaligned_simd::aarch64::{vld1_u8, vld1q_s16, vld1q_u8, vld1q_u8_x2, vst1_u8, vst1q_u8};

use crate::arch::{
    Id, Text,
    alphabet::{Alphabet, FIRST_LETTER, SNO},
    lanes::parts::{part, part_mut},
};

static CHARACTERS: [[u8; 16]; 2] = character_table(SNO);

/// Returns the lookup table from values to characters.
pub(super) const fn character_table(alphabet: Alphabet) -> [[u8; 16]; 2] {
    let table = alphabet.table();
    let (halves, _) = table.as_chunks();
    [halves[0], halves[1]]
}

/// Encodes an ID as a string.
#[inline]
pub(crate) fn encode(id: &Id) -> Text {
    let mut text = [0; 16];
    // SAFETY: this module is only compiled for targets on which every CPU has NEON.
    #[allow(unsafe_code)]
    unsafe {
        vst1q_u8(&mut text, characters(id));
    }
    text
}

/// Decodes a string into an ID, if it is valid.
#[inline]
pub(crate) fn decode(text: &Text) -> Option<Id> {
    let mut id = [0; 10];
    // SAFETY: this module is only compiled for targets on which every CPU has NEON.
    #[allow(unsafe_code)]
    let is_good = unsafe { decode_into(text, &mut id) };
    is_good.then_some(id)
}

#[target_feature(enable = "neon")]
pub(super) fn encode_all(ids: &[Id], texts: &mut [Text]) {
    for (id, text) in ids.iter().zip(texts) {
        vst1q_u8(text, characters(id));
    }
}

#[target_feature(enable = "neon")]
pub(super) fn decode_all(texts: &[Text], ids: &mut [Id]) -> usize {
    let mut decoded = texts.iter().zip(ids);
    decoded.position(|(text, id)| !decode_into(text, id)).unwrap_or(texts.len())
}

#[inline]
#[target_feature(enable = "neon")]
fn characters(id: &Id) -> uint8x16_t {
    let bytes = vcombine_u8(vld1_u8(part(id, 0)), vld1_u8(part(id, 2)));
    // For each pair of characters, selects the two bytes that contain the pair's 10 bits. The bytes for the first eight
    // characters come from the first 64-bit word, and the bytes for the last eight characters come from the second word.
    let pairs = vld1q_u8(&[1, 0, 2, 1, 3, 2, 4, 3, 12, 11, 13, 12, 14, 13, 15, 14]);
    vqtbl2q_u8(vld1q_u8_x2(&CHARACTERS), values(vqtbl1q_u8(bytes, pairs)))
}

/// Returns a register with five bits in each byte. Each input lane holds ten bits, which represent two characters. The
/// position of these bits differs from lane to lane.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn values(lanes: uint8x16_t) -> uint8x16_t {
    let lanes = vreinterpretq_u16_u8(lanes);
    let tens = vshlq_u16(lanes, vld1q_s16(&[0, 2, 4, 6, 0, 2, 4, 6]));
    let second = vandq_u16(vshlq_n_u16::<2>(tens), vdupq_n_u16(0x1f00));
    vreinterpretq_u8_u16(vorrq_u16(vshrq_n_u16::<11>(tens), second))
}

/// Decodes a string into an ID. Returns `false` if the string is invalid.
#[inline]
#[target_feature(enable = "neon")]
fn decode_into(text: &Text, id: &mut Id) -> bool {
    let (values, bad) = decode_characters(SNO, vld1q_u8(text));
    let is_good = vmaxvq_u8(bad) == 0;
    if is_good {
        let bytes = pack_values(values);
        vst1_u8(part_mut(id, 0), vget_low_u8(bytes));
        *part_mut(id, 8) = vgetq_lane_u16::<4>(vreinterpretq_u16_u8(bytes)).to_le_bytes();
    }
    is_good
}

/// Returns the values of characters, and a nonzero byte for each character that is not in the alphabet.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn decode_characters(
    alphabet: Alphabet,
    characters: uint8x16_t,
) -> (uint8x16_t, uint8x16_t) {
    let Alphabet { digit, digits: ten } = alphabet;
    // Subtracting the offset of the wrong character range (digits or letters) yields a greater value, possibly by wrapping
    // around, so the minimum below selects the right value.
    let digits = vsubq_u8(characters, vdupq_n_u8(digit));
    let letters = vsubq_u8(characters, vdupq_n_u8(FIRST_LETTER));
    let no_digits = vqsubq_u8(digits, vdupq_n_u8(ten - 1));
    let no_letters = vqsubq_u8(letters, vdupq_n_u8(alphabet.letter_count() - 1));
    let values = vminq_u8(digits, vsubq_u8(characters, vdupq_n_u8(FIRST_LETTER - ten)));
    (values, vminq_u8(no_digits, no_letters))
}

/// Joins sixteen five-bit values into ten bytes at the front of the register.
#[inline]
#[target_feature(enable = "neon")]
fn pack_values(values: uint8x16_t) -> uint8x16_t {
    let order = [4, 3, 2, 1, 0, 12, 11, 10, 9, 8, 255, 255, 255, 255, 255, 255];
    vqtbl1q_u8(vreinterpretq_u8_u64(join_40_bits(values)), vld1q_u8(&order))
}

/// Joins each group of eight values into forty bits, at the low end of a word.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn join_40_bits(values: uint8x16_t) -> uint64x2_t {
    // Each step leaves meaningless bits above the bits that it joins. The next step overwrites or ignores these meaningless
    // bits.
    let lanes = vreinterpretq_u16_u8(values);
    let tens = vreinterpretq_u32_u16(vsliq_n_u16::<5>(vshrq_n_u16::<8>(lanes), lanes));
    let twenties = vreinterpretq_u64_u32(vsliq_n_u32::<10>(vshrq_n_u32::<16>(tens), tens));
    vsliq_n_u64::<20>(vshrq_n_u64::<32>(twenties), twenties)
}
