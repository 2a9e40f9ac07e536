//! sno's base32 encoding with WebAssembly SIMD: one ID per register.

#[allow(clippy::wildcard_imports, reason = "the names of intrinsics are their own")]
use core::arch::wasm32::*;
use core::hint::black_box;

use safe_unaligned_simd::wasm32::{v128_load, v128_store};

use crate::arch::{
    Id, Text,
    alphabet::{Alphabet, FIRST_LETTER, SNO},
    lanes::parts::part,
};

/// Encodes an ID as a string.
#[inline]
pub(crate) fn encode(id: &Id) -> Text {
    let mut text = [0; 16];
    // The loads match the stores that packed the ID: one eight-byte load and two one-byte loads. A load that spans several
    // stores would have to wait until all of those stores reach memory.
    let low = u64::from_le_bytes(*part(id, 0));
    let high = low >> 16 | u64::from(id[8]) << 48 | u64::from(id[9]) << 56;
    v128_store(&mut text, encode_characters(low, high, lift_factors()));
    text
}

/// Decodes a string into an ID, if it is valid.
#[inline]
pub(crate) fn decode(text: &Text) -> Option<Id> {
    let (values, bad) = decode_characters(SNO, v128_load(text));
    (!v128_any_true(bad)).then(|| pack_values(values))
}

pub(super) fn encode_all(ids: &[Id], texts: &mut [Text]) {
    let lift = lift_factors();
    for (id, text) in ids.iter().zip(texts) {
        let [low, high] = [0, 2].map(|at| u64::from_le_bytes(*part(id, at)));
        v128_store(text, encode_characters(low, high, lift));
    }
}

pub(super) fn decode_all(texts: &[Text], ids: &mut [Id]) -> usize {
    let mut decoded = texts.iter().zip(ids);
    let bad = decoded.position(|(text, id)| decode(text).map(|good| *id = good).is_none());
    bad.unwrap_or(texts.len())
}

/// Returns the factors that move the ten bits of each lane to the top of the lane. The factors are hidden from the
/// compiler. Otherwise, it would replace the multiplication with eight single shifts, because wasm cannot shift lanes by
/// different amounts.
#[inline]
pub(super) fn lift_factors() -> v128 {
    black_box(u16x8(1, 4, 16, 64, 1, 4, 16, 64))
}

/// Returns the characters that encode ten bytes. `low` contains the first eight of these bytes, and `high` the last eight.
#[inline]
fn encode_characters(low: u64, high: u64, lift: v128) -> v128 {
    // For each pair of characters, selects the two bytes that contain the pair's 10 bits. The bytes for the first eight
    // characters come from the first 64-bit word, and the bytes for the last eight characters come from the second word.
    let pairs = u8x16(1, 0, 2, 1, 3, 2, 4, 3, 12, 11, 13, 12, 14, 13, 15, 14);
    characters(SNO, values(u8x16_swizzle(u64x2(low, high), pairs), lift))
}

/// Returns a register with five bits in each byte. Each input lane holds ten bits, which represent two characters. The
/// position of these bits differs from lane to lane.
#[inline]
pub(super) fn values(lanes: v128, lift: v128) -> v128 {
    let tens = u16x8_mul(lanes, lift);
    let second = v128_and(u16x8_shl(tens, 2), u16x8_splat(0x1f00));
    v128_or(u16x8_shr(tens, 11), second)
}

#[inline]
pub(super) fn characters(alphabet: Alphabet, values: v128) -> v128 {
    let run = u8x16_min(values, u8x16_splat(alphabet.digits));
    u8x16_add(values, u8x16_swizzle(v128_load(&alphabet.offsets()), run))
}

/// Returns the values of characters, and a nonzero byte for each character that is not in the alphabet.
#[inline]
pub(super) fn decode_characters(alphabet: Alphabet, characters: v128) -> (v128, v128) {
    let Alphabet { digit, digits: ten } = alphabet;
    // Subtracting the offset of the wrong character range (digits or letters) yields a greater value, possibly by wrapping
    // around, so the minimum below selects the right value.
    let digits = u8x16_sub(characters, u8x16_splat(digit));
    let letters = u8x16_sub(characters, u8x16_splat(FIRST_LETTER));
    let no_digits = u8x16_sub_sat(digits, u8x16_splat(ten - 1));
    let no_letters = u8x16_sub_sat(letters, u8x16_splat(alphabet.letter_count() - 1));
    let values = u8x16_min(digits, u8x16_sub(characters, u8x16_splat(FIRST_LETTER - ten)));
    (values, u8x16_min(no_digits, no_letters))
}

/// Joins each group of eight values into forty bits. The resulting five bytes, from highest to lowest, are bytes 2, 1, 0, 5
/// and 4 of a word.
#[inline]
pub(super) fn join_40_bits(values: v128) -> v128 {
    let first = u16x8_shl(v128_and(values, u16x8_splat(0xff)), 5);
    let tens = v128_or(first, u16x8_shr(values, 8));
    // Each half of a 64-bit word receives twenty bits. The twenty bits in the first half are four bits higher than needed,
    // which leaves room for the top four bits of the second half.
    let (upper, lower) = (1 << 4 << 16 | 1 << 14, 1 << 16 | 1 << 10);
    let twenties = i32x4_dot_i16x8(tens, u32x4(upper, lower, upper, lower));
    v128_or(twenties, u64x2_shr(twenties, 48))
}

/// Joins sixteen values into ten bytes.
#[inline]
fn pack_values(values: v128) -> Id {
    // A lookup reverses the bytes, because wasm has no byte-swap instruction.
    let order = u8x16(2, 1, 0, 5, 4, 10, 9, 8, 13, 12, 0, 0, 0, 0, 0, 0);
    let bytes = u8x16_swizzle(join_40_bits(values), order);
    let [a, b, c, d, e, f, g, h] = u64x2_extract_lane::<0>(bytes).to_le_bytes();
    let [i, j] = u16x8_extract_lane::<4>(bytes).to_le_bytes();
    [a, b, c, d, e, f, g, h, i, j]
}
