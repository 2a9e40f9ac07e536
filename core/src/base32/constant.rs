//! Decodes strings at compile time, one character at a time.

use crate::arch::{Alphabet, HEX, SNO};

/// Decodes a sno ID into its 80 bits.
pub(crate) const fn decode_sno(text: &str) -> Option<u128> {
    if text.len() == 16 { decode_integer(text.as_bytes(), SNO) } else { None }
}

/// Decodes a Randflake into its number.
pub(crate) const fn decode_base32hex(text: &str) -> Option<u128> {
    let text = text.as_bytes();
    let is_canonical = text.len() == 1 || text.len() > 1 && text[0] != HEX.digit;
    if is_canonical && text.len() <= 13 { decode_integer(text, HEX) } else { None }
}

const fn decode_integer(text: &[u8], alphabet: Alphabet) -> Option<u128> {
    let (mut number, mut at) = (0, 0);
    while at < text.len() {
        let (value, bad) = alphabet.values(text[at] as u64);
        if bad & 0x80 != 0 {
            return None;
        }
        number = number << 5 | (value & 0xff) as u128;
        at += 1;
    }
    Some(number)
}
