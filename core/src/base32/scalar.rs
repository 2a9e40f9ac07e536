//! sno's base32: 80 bits as 16 characters, byte order = text order, one spelling for each ID.
//!
//! Eight characters are worked on at once, one in each byte of a word: 40 bits are spread over its bytes, five to each, and
//! the characters are computed rather than looked up.

use super::slices::{Id, Kernels, Text};
use crate::{Error, Result};

pub(super) const KERNELS: Kernels = Kernels { encode: encode_all, decode: decode_all };

/// The alphabet has two runs, `2`-`9` for 0..=7 and `a`-`x` for 8..=31 (source: sno 1.2.1).
const DIGIT: u64 = b'2' as u64;
const LETTER: u64 = b'a' as u64;
const DIGITS: u64 = 8;
const LETTERS: u64 = 24;

/// The characters in the order of value, for kernels that look them up.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
pub(super) const ALPHABET: [u8; 32] = {
    let mut alphabet = [0; 32];
    let mut value = 0;
    while value < 32 {
        alphabet[value] = characters(value as u64).to_le_bytes()[0];
        value += 1;
    }
    alphabet
};

/// A value in every byte of a word.
const fn all(byte: u64) -> u64 {
    byte * 0x0101_0101_0101_0101
}

const HIGH_BITS: u64 = all(0x80);

fn encode_all(ids: &[Id], texts: &mut [Text]) {
    ids.iter().zip(texts).for_each(|(id, text)| *text = encode(id));
}

fn decode_all(texts: &[Text], ids: &mut [Id]) -> usize {
    let mut decoded = texts.iter().zip(ids);
    let bad = decoded.position(|(text, id)| decode(text).map(|good| *id = good).is_none());
    bad.unwrap_or(texts.len())
}

/// The text of an ID.
#[inline]
pub(super) fn encode(id: &Id) -> Text {
    let [a, b, c, d, e, f, g, h, i, j] = *id;
    let high = characters(spread(u64::from_be_bytes([0, 0, 0, a, b, c, d, e])));
    let low = characters(spread(u64::from_be_bytes([0, 0, 0, f, g, h, i, j])));
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

/// The ID of a text, if it is one.
#[inline]
pub(super) fn decode(text: &Text) -> Option<Id> {
    let word = u128::from_be_bytes(*text);
    #[allow(clippy::cast_possible_truncation, reason = "the two halves of a word")]
    let ((high, bad_high), (low, bad_low)) = (values((word >> 64) as u64), values(word as u64));
    if bad_high | bad_low != 0 {
        return None;
    }
    let word = u128::from(gather(high)) << 40 | u128::from(gather(low));
    let [_, _, _, _, _, _, id @ ..] = word.to_be_bytes();
    Some(id)
}

/// The value of one byte of a text.
#[inline]
pub(crate) fn value(text: &[u8], position: usize) -> Result<u8> {
    let (value, bad) = values(all(text[position].into()));
    if bad == 0 { Ok(value.to_le_bytes()[0]) } else { Err(Error::invalid_character(position)) }
}

/// 40 bits, five in each byte.
const fn spread(bits: u64) -> u64 {
    let twenties = (bits & 0xff_fff0_0000) << 12 | bits & 0xf_ffff;
    let tens = (twenties & 0x000f_fc00_000f_fc00) << 6 | twenties & 0x0000_03ff_0000_03ff;
    (tens & 0x03e0_03e0_03e0_03e0) << 3 | tens & 0x001f_001f_001f_001f
}

/// 40 bits from five in each byte.
const fn gather(fives: u64) -> u64 {
    let tens = (fives & 0x1f00_1f00_1f00_1f00) >> 3 | fives & 0x001f_001f_001f_001f;
    let twenties = (tens & 0x03ff_0000_03ff_0000) >> 6 | tens & 0x0000_03ff_0000_03ff;
    (twenties & 0x000f_ffff_0000_0000) >> 12 | twenties & 0xf_ffff
}

/// The characters of eight values below 32.
const fn characters(values: u64) -> u64 {
    let letters = (values + all(0x80 - DIGITS)) >> 7 & all(1);
    values + all(DIGIT) + letters * (LETTER - DIGIT - DIGITS)
}

/// The values of eight characters, and a bit for each byte that is not in the alphabet.
const fn values(characters: u64) -> (u64, u64) {
    let letters = characters >> 6 & all(1);
    let lifted = characters | HIGH_BITS;
    // The high bit of each byte survives a subtraction if the character is not below what is subtracted.
    let above_first = lifted - (all(DIGIT) + letters * (LETTER - DIGIT));
    let past_last = lifted - (all(DIGIT + DIGITS) + letters * (LETTER + LETTERS - DIGIT - DIGITS));
    let bad = (characters | !above_first | past_last) & HIGH_BITS;
    ((above_first & !HIGH_BITS) + letters * DIGITS, bad)
}

/// Why a text is none: the position of its first bad byte.
#[cold]
pub(super) fn refuse(text: &Text) -> Error {
    let is_bad = |byte: &u8| values(all((*byte).into())).1 != 0;
    Error::invalid_character(text.iter().position(is_bad).unwrap_or(text.len()))
}
