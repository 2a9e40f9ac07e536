//! Generates strings from the bytes of an input. The strings are the bytes themselves, and nearly valid strings.

use crate::bytes::random_bytes;

/// Characters that a decoder must not mistake for characters of its alphabet.
const UNUSUAL_CHARACTERS: [char; 32] = [
    '\0', '\n', ' ', '-', '_', '=', '.', '/', ':', '@', '[', '`', '{', '~', '\u{7f}', '\u{80}',
    '\u{b2}', 'ß', 'ÿ', 'ı', 'а', 'о', 'K', 'ﬀ', '٣', '0', '2', 'a', '\u{feff}', '\u{fffd}', '😀',
    '𝟚',
];

/// The number of neighbors to try for a nearly valid string.
const MAX_NEIGHBOURS: usize = 16;

/// Calls `check` for each of up to 18 strings, with the string and its characters. The first string is the input, if it is
/// valid UTF-8. The second one is `near`, and the others differ from `near` in one character.
pub(crate) fn for_each_string(input: &[u8], near: &str, mut check: impl FnMut(&str, &[u32])) {
    let mut room = TextBuffers::default();
    if let Ok(text) = str::from_utf8(input) {
        room.check(text, &mut check);
    }
    let mut near: Vec<char> = near.chars().collect();
    room.check_chars(&near, &mut check);
    for [a, b, c, ..] in random_bytes(input).take(MAX_NEIGHBOURS.min(near.len())) {
        let at = usize::from(a) % near.len();
        let odd = if b < 64 {
            UNUSUAL_CHARACTERS[usize::from(b) % UNUSUAL_CHARACTERS.len()]
        } else {
            char::from(c)
        };
        let right = std::mem::replace(&mut near[at], odd);
        room.check_chars(&near, &mut check);
        near[at] = right;
    }
}

/// Buffers for a string and its characters, reused for each string.
#[derive(Default)]
struct TextBuffers {
    text: String,
    characters: Vec<u32>,
}

impl TextBuffers {
    fn check_chars(&mut self, text: &[char], check: &mut impl FnMut(&str, &[u32])) {
        let mut utf8 = std::mem::take(&mut self.text);
        utf8.clear();
        utf8.extend(text);
        self.check(&utf8, check);
        self.text = utf8;
    }

    fn check(&mut self, text: &str, check: &mut impl FnMut(&str, &[u32])) {
        self.characters.clear();
        self.characters.extend(text.chars().map(u32::from));
        check(text, &self.characters);
    }
}

/// Returns whether an encoded string consists of these characters.
pub(crate) fn is_encoded_as(text: &str, units: &[u32]) -> bool {
    text.len() == units.len()
        && text.bytes().zip(units).all(|(byte, unit)| u32::from(byte) == *unit)
}

/// Returns a nearly valid string. Its length is usually correct, and its characters usually belong to the alphabet that
/// `alphabet_at` returns for each position. The first byte selects the length, and each following byte selects a character.
pub(crate) fn almost_valid_string(
    input: &[u8],
    right: usize,
    alphabet_at: impl Fn(usize) -> &'static str,
) -> String {
    let (length, bytes) = match input {
        [first, bytes @ ..] if *first >= 0xe0 => (usize::from(*first - 0xe0), bytes),
        [_, bytes @ ..] => (right, bytes),
        [] => (right, input),
    };
    let bytes = bytes.iter().copied().chain(std::iter::repeat(0));
    let character = |(position, byte): (usize, u8)| match byte.checked_sub(0xe0) {
        Some(odd) => UNUSUAL_CHARACTERS[usize::from(odd)],
        None => nth_character(alphabet_at(position), byte),
    };
    bytes.take(length).enumerate().map(character).collect()
}

fn nth_character(alphabet: &str, byte: u8) -> char {
    char::from(alphabet.as_bytes()[usize::from(byte) % alphabet.len()])
}
