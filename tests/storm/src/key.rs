//! IDs as words of a fixed size, so that a billion of them can be sorted without allocations. Different IDs have different keys.

use anyhow::{Result, ensure};

/// The characters of IDs, each with six bits.
const CHARACTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";

/// The longest ID: 41 characters of six bits, and ten bits for the length.
pub const LONGEST: usize = 41;

/// An ID's characters and its length.
pub type Key = [u64; 4];

const BITS: [u8; 256] = bits();

const fn bits() -> [u8; 256] {
    let (mut bits, mut index) = ([u8::MAX; 256], 0);
    while index < 64 {
        bits[CHARACTERS[index as usize] as usize] = index;
        index += 1;
    }
    bits
}

/// Returns the key of an ID.
pub fn key(id: &str) -> Result<Key> {
    let is_known = id.bytes().all(|byte| BITS[usize::from(byte)] != u8::MAX);
    ensure!(
        is_known && (1..=LONGEST).contains(&id.len()),
        "expected an ID of 1 to {LONGEST} letters, digits, `-` and `_`, found {id:?}"
    );
    let mut key = [0; 4];
    for (index, byte) in id.bytes().enumerate() {
        put(&mut key, index * 6, BITS[usize::from(byte)].into());
    }
    put(&mut key, LONGEST * 6, id.len() as u64);
    Ok(key)
}

/// Returns the ID of a key.
#[must_use]
pub fn id(key: &Key) -> String {
    (0..get(key, LONGEST * 6))
        .map(|index| char::from(CHARACTERS[get(key, index * 6) & 63]))
        .collect()
}

/// Adds bits from a position on. They may extend into the next word.
fn put(key: &mut Key, position: usize, bits: u64) {
    let (word, shift) = (position / 64, position % 64);
    key[word] |= bits << shift;
    if shift > 54 && word < 3 {
        key[word + 1] |= bits >> (64 - shift);
    }
}

/// Returns the ten bits from a position on.
fn get(key: &Key, position: usize) -> usize {
    let (word, shift) = (position / 64, position % 64);
    let above = if shift > 54 && word < 3 { key[word + 1] << (64 - shift) } else { 0 };
    let [low, high, ..] = (key[word] >> shift | above).to_le_bytes();
    usize::from(u16::from_le_bytes([low, high & 3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_contains_the_whole_id() {
        let longest: String =
            (0..LONGEST).map(|index| char::from(CHARACTERS[63 - index])).collect();
        for text in ["0", "00", "7", "z", "-", "01ARZ3NDEKTSV4RRFFQ69G5FAV", &longest] {
            assert_eq!(id(&key(text).unwrap()), text);
        }
    }

    #[test]
    fn ids_that_do_not_fit_are_rejected() {
        for text in ["", "a b", "é", &"0".repeat(LONGEST + 1)] {
            assert!(key(text).is_err(), "{text}");
        }
    }
}
