//! sno's base32 encoding, which represents 80 bits as 16 characters. Strings sort in the same order as bytes, and each ID
//! has one canonical encoding.
//!
//! Eight characters are processed at once, one in each byte of a word. Each group of 40 bits is spread over the bytes of a
//! word, five bits to each byte. The characters are computed instead of looked up.

use crate::{
    arch::{
        Id, Text,
        alphabet::{Alphabet, SNO, gather_from_bytes, spread_to_bytes},
    },
    narrow,
};

pub(super) fn encode_all(ids: &[Id], texts: &mut [Text]) {
    ids.iter().zip(texts).for_each(|(id, text)| *text = encode(id));
}

pub(super) fn decode_all(texts: &[Text], ids: &mut [Id]) -> usize {
    let mut decoded = texts.iter().zip(ids);
    let bad = decoded.position(|(text, id)| decode(text).map(|good| *id = good).is_none());
    bad.unwrap_or(texts.len())
}

/// Encodes an ID as a string.
#[inline]
pub(crate) fn encode(id: &Id) -> Text {
    let [a, b, c, d, e, f, g, h, i, j] = *id;
    let [high, low] = [[0, 0, 0, a, b, c, d, e], [0, 0, 0, f, g, h, i, j]]
        .map(|forty| SNO.characters(spread_to_bytes(u64::from_be_bytes(forty))));
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

/// Decodes a string into an ID, if it is valid.
#[inline]
pub(crate) fn decode(text: &Text) -> Option<Id> {
    let word = u128::from_be_bytes(*text);
    let [high, low] = decode_40_bits(SNO, [narrow::u64(word >> 64), narrow::low_u64(word)])?;
    let [_, _, _, _, _, _, id @ ..] = (u128::from(high) << 40 | u128::from(low)).to_be_bytes();
    Some(id)
}

/// Returns a number as 16 digits: the first eight and the last eight.
#[inline]
#[allow(dead_code, reason = "some machines have registers for them")]
pub(crate) fn digits(alphabet: Alphabet, number: u64) -> [u64; 2] {
    [number >> 40, number & 0xff_ffff_ffff].map(|forty| alphabet.characters(spread_to_bytes(forty)))
}

/// Returns the number that 16 digits represent. `digits` contains the first eight digits and the last eight. Returns `None`
/// if a digit is invalid, or if the number does not fit in 64 bits.
#[inline]
#[allow(dead_code, reason = "some machines have registers for them")]
pub(crate) fn decode_integer(alphabet: Alphabet, digits: [u64; 2]) -> Option<u64> {
    let [high, low] = decode_40_bits(alphabet, digits)?;
    (high >> 24 == 0).then_some(high << 40 | low)
}

/// Returns the bits of 16 characters, as two groups of 40, if all of the characters are in the alphabet.
#[inline]
fn decode_40_bits(alphabet: Alphabet, characters: [u64; 2]) -> Option<[u64; 2]> {
    let [(high, bad_high), (low, bad_low)] = characters.map(|half| alphabet.values(half));
    (bad_high | bad_low == 0).then(|| [gather_from_bytes(high), gather_from_bytes(low)])
}
