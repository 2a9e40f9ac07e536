//! Encodes IDs as fixed-size keys, so that a billion IDs can be sorted without allocations. Different IDs have different
//! keys.

use anyhow::{Result, ensure};

/// The characters that IDs may contain. Each is encoded in six bits.
const CHARACTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";

/// The maximum number of characters in a word. The characters use 60 bits, and the other four bits store the actual number
/// of characters.
const CHARACTERS_PER_WORD: usize = 10;

/// The maximum length of an ID.
pub const MAX_ID_LEN: usize = 4 * CHARACTERS_PER_WORD;

/// The encoded characters of an ID. The last character of a word is stored in low bits, so the keys of consecutive IDs
/// differ only slightly.
pub type Key = [u64; 4];

const BITS_BY_CHARACTER: [u8; 256] = bits_by_character();

const fn bits_by_character() -> [u8; 256] {
    let (mut bits, mut index) = ([u8::MAX; 256], 0);
    while index < 64 {
        bits[CHARACTERS[index as usize] as usize] = index;
        index += 1;
    }
    bits
}

/// Returns the key of an ID.
pub fn key(id: &str) -> Result<Key> {
    let is_known = id.bytes().all(|byte| BITS_BY_CHARACTER[usize::from(byte)] != u8::MAX);
    ensure!(
        is_known && (1..=MAX_ID_LEN).contains(&id.len()),
        "expected an ID of 1 to {MAX_ID_LEN} letters, digits, `-` and `_`, found {id:?}"
    );
    let mut key = [0; 4];
    for (word, characters) in key.iter_mut().zip(id.as_bytes().chunks(CHARACTERS_PER_WORD)) {
        let bits = |word, byte: &u8| word << 6 | u64::from(BITS_BY_CHARACTER[usize::from(*byte)]);
        *word = characters.iter().fold(0, bits) << 4 | characters.len() as u64;
    }
    Ok(key)
}

/// Returns the ID that a key encodes.
#[must_use]
pub fn id(key: &Key) -> String {
    let character = |word: u64, place: u64| {
        let [low, ..] = (word >> (4 + 6 * place)).to_le_bytes();
        char::from(CHARACTERS[usize::from(low & 63)])
    };
    let characters = |&word: &u64| (0..word & 15).rev().map(move |place| character(word, place));
    key.iter().flat_map(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_contains_the_whole_id() {
        let longest: String =
            (0..MAX_ID_LEN).map(|index| char::from(CHARACTERS[63 - index])).collect();
        for text in ["0", "00", "7", "z", "-", "01ARZ3NDEKTSV4RRFFQ69G5FAV", &longest] {
            assert_eq!(id(&key(text).unwrap()), text);
        }
    }

    #[test]
    fn ids_that_do_not_fit_are_rejected() {
        for text in ["", "a b", "é", &"0".repeat(MAX_ID_LEN + 1)] {
            assert!(key(text).is_err(), "{text}");
        }
    }
}
