//! Encodes and decodes the 15 characters after the type's name and the `_`: a version character, thirteen characters for
//! the block, and a check character.

use crate::{Error, ErrorKind, Result, error::unit_of_byte};

/// The number of characters after the type's name and the `_`.
pub(super) const LEN: usize = 15;

/// Crockford's base32 alphabet in lower case.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The value of a character outside the alphabet.
const INVALID_VALUE: u8 = 0xff;

/// The value of each character, or [`INVALID_VALUE`].
const CHARACTER_VALUES: [u8; 256] = {
    let (mut values, mut value) = ([INVALID_VALUE; 256], 0);
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Encodes the version and the block, and appends the check character.
pub(super) fn encode(version: u8, block: u64) -> [u8; LEN] {
    let mut values = [0; LEN];
    values[0] = version;
    for (at, value) in values[1..LEN - 1].iter_mut().enumerate() {
        *value = (block >> (60 - 5 * at) & 31) as u8;
    }
    values[LEN - 1] = values[..LEN - 1].iter().fold(0, |sum, value| gf32_double(sum ^ value));
    values.map(|value| ALPHABET[usize::from(value)])
}

/// Decodes the tail of a public ID into the version and the block. `from` is the position of the tail in the whole string,
/// so that errors can report positions in that string.
pub(super) fn decode(text: &[u8], from: usize) -> Result<(u8, u64)> {
    if text.len() != LEN {
        return Err(Error::invalid_length(from + text.len(), from + LEN, from + LEN));
    }
    let (mut all, mut sum, mut block) = (0, 0, 0_u64);
    let (last, first) = text.split_last().expect("15 characters");
    for character in first {
        let value = CHARACTER_VALUES[usize::from(*character)];
        all |= value;
        sum = gf32_double(sum ^ value & 31);
        block = block << 5 | u64::from(value & 31);
    }
    let (version, check) =
        (CHARACTER_VALUES[usize::from(first[0])], CHARACTER_VALUES[usize::from(*last)]);
    // Valid values fit in five bits, so the bitwise `or` of all values is `INVALID_VALUE` if and only if at least one
    // of them is `INVALID_VALUE`. The loop above therefore needs no branch for invalid characters. Errors are rare, so
    // a second pass to find the position is acceptable.
    if (all | check) == INVALID_VALUE {
        return Err(invalid_character_error(text.iter().map(|byte| unit_of_byte(*byte)), from));
    }
    // Thirteen characters encode 65 bits, but a block has only 64. Without this check, the top bit would be dropped, and
    // two strings would decode to the same block.
    if CHARACTER_VALUES[usize::from(first[1])] > 15 {
        return Err(Error::invalid_character_unit(from + 1, first[1].into()));
    }
    if sum != check {
        return Err(Error::new(ErrorKind::CheckFailed));
    }
    Ok((version, block))
}

/// Returns the error for a tail that is not ASCII. Lengths and positions are counted in characters.
#[cold]
pub(super) fn non_ascii_tail(text: &str, from: usize) -> Error {
    match text.chars().count() {
        LEN => invalid_character_error(text.chars().map(u32::from), from),
        length => Error::invalid_length(from + length, from + LEN, from + LEN),
    }
}

/// Returns the error for the first character outside the alphabet.
#[cold]
fn invalid_character_error(units: impl Iterator<Item = u32>, from: usize) -> Error {
    let byte = |unit| u8::try_from(unit).unwrap_or(u8::MAX);
    let is_bad =
        |(_, unit): &(usize, u32)| CHARACTER_VALUES[usize::from(byte(*unit))] == INVALID_VALUE;
    let (at, unit) = units.enumerate().find(is_bad).unwrap_or_default();
    Error::mistyped_character(from + at, unit, intended_character(byte(unit)))
}

/// Returns the character that was probably meant: the lowercase form of an uppercase letter, or the digit that `o`, `i` or
/// `l` resembles. Returns 0 if there is no such character.
const fn intended_character(character: u8) -> u8 {
    match character.to_ascii_lowercase() {
        b'o' => b'0',
        b'i' | b'l' => b'1',
        lower if CHARACTER_VALUES[lower as usize] == INVALID_VALUE => 0,
        lower => lower,
    }
}

/// Multiplies a value by two in the finite field of 32 elements with the polynomial x^5 + x^2 + 1. The check character uses
/// a distinct power of two as the weight of each position.
const fn gf32_double(value: u8) -> u8 {
    ((value << 1) ^ ((value >> 4) * 0b10_0101)) & 31
}
