//! Integers of any size as decimal text: the form in which JSON and JavaScript carry integers past 64 bits.

use alloc::{string::String, vec::Vec};

/// Digits handled at a time: the most that 32 bits hold.
const DIGITS: usize = 9;
const BASE: u64 = 1_000_000_000;

/// The largest number of digits that is read. No field holds more, and the time to read grows with their square.
pub(in crate::layout) const MOST_DIGITS: usize = 160_000;

/// The sign and big-endian magnitude of `-?(0|[1-9][0-9]*)`, without leading zero bytes.
pub(in crate::layout) fn read(text: &str) -> Option<(bool, Vec<u8>)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let all_digits = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    let canonical =
        if negative { !digits.starts_with('0') } else { digits == "0" || !digits.starts_with('0') };
    (all_digits && canonical && digits.len() <= MOST_DIGITS)
        .then(|| (negative, magnitude(digits.as_bytes())))
}

/// Big-endian bytes of decimal digits.
fn magnitude(digits: &[u8]) -> Vec<u8> {
    let mut limbs: Vec<u32> = Vec::new();
    let (head, groups) = digits.split_at(digits.len() % DIGITS);
    for group in core::iter::once(head).chain(groups.chunks(DIGITS)) {
        let mut carry = group.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        for limb in &mut limbs {
            let wide = u64::from(*limb) * BASE + carry;
            *limb = low(wide);
            carry = wide >> 32;
        }
        if carry > 0 {
            limbs.push(low(carry));
        }
    }
    let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    without_leading_zeros(&bytes).into()
}

/// The decimal digits of a big-endian magnitude.
pub(in crate::layout) fn write(magnitude: &[u8]) -> String {
    let (mut limbs, mut pieces, mut text) = (limbs(magnitude), Vec::new(), String::new());
    loop {
        pieces.push(divide(&mut limbs));
        if limbs.last() == Some(&0) {
            limbs.pop();
        }
        if limbs.is_empty() {
            break;
        }
    }
    put_pieces(&mut text, &pieces);
    text
}

/// 32-bit limbs of a big-endian magnitude, the lowest first, without zeros on top.
fn limbs(magnitude: &[u8]) -> Vec<u32> {
    let chunks = without_leading_zeros(magnitude).rchunks(4);
    chunks.map(|chunk| chunk.iter().fold(0, |limb, byte| limb << 8 | u32::from(*byte))).collect()
}

#[allow(clippy::cast_possible_truncation, reason = "the low limb is what is wanted")]
const fn low(wide: u64) -> u32 {
    wide as u32
}

/// A big-endian magnitude in its shortest form; zero is empty.
pub(in crate::layout) fn without_leading_zeros(magnitude: &[u8]) -> &[u8] {
    let zeros = magnitude.iter().take_while(|byte| **byte == 0).count();
    &magnitude[zeros..]
}

/// Writes nine digits each of pieces, whose lowest is the first, without leading zeros.
#[allow(clippy::cast_possible_truncation, reason = "a digit")]
fn put_pieces(to: &mut String, pieces: &[u32]) {
    let mut is_leading = true;
    for (place, piece) in pieces.iter().enumerate().rev() {
        let mut unit = BASE as u32 / 10;
        while unit > 0 {
            let digit = piece / unit % 10;
            is_leading &= digit == 0 && (place, unit) != (0, 1);
            if !is_leading {
                to.push(char::from(b'0' + digit as u8));
            }
            unit /= 10;
        }
    }
}

/// Divides an integer in limbs, whose lowest is the first, by 10^9, and returns the remainder: by divisions of 64 bits, since one of
/// 128 takes 1 KB.
#[allow(clippy::cast_possible_truncation, reason = "quotients and remainders fit 32 bits")]
fn divide(limbs: &mut [u32]) -> u32 {
    let mut rest = 0;
    for limb in limbs.iter_mut().rev() {
        let part = rest << 32 | u64::from(*limb);
        (*limb, rest) = ((part / BASE) as u32, part % BASE);
    }
    rest as u32
}
