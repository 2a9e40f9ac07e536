//! Texts from bytes: the bytes themselves, and nearly right texts.

use crate::bytes::chances;

/// Characters that a decoder must not mistake for one of an alphabet.
const ODD: [char; 32] = [
    '\0', '\n', ' ', '-', '_', '=', '.', '/', ':', '@', '[', '`', '{', '~', '\u{7f}', '\u{80}',
    '\u{b2}', 'ß', 'ÿ', 'ı', 'а', 'о', 'K', 'ﬀ', '٣', '0', '2', 'a', '\u{feff}', '\u{fffd}', '😀',
    '𝟚',
];

/// Number of neighbours of a nearly right text that are tried, too.
const NEIGHBOURS: usize = 16;

/// Calls `check` with texts of the bytes, each with its characters: the bytes themselves, a nearly right text, and neighbours of
/// it, which differ in one character: 18 texts in all.
pub(crate) fn each(input: &[u8], near: &str, mut check: impl FnMut(&str, &[u32])) {
    let mut room = Room::default();
    if let Ok(text) = str::from_utf8(input) {
        room.check(text, &mut check);
    }
    let mut near: Vec<char> = near.chars().collect();
    room.check_chars(&near, &mut check);
    for [a, b, c, ..] in chances(input).take(NEIGHBOURS.min(near.len())) {
        let at = usize::from(a) % near.len();
        let odd = if b < 64 { ODD[usize::from(b) % ODD.len()] } else { char::from(c) };
        let right = std::mem::replace(&mut near[at], odd);
        room.check_chars(&near, &mut check);
        near[at] = right;
    }
}

/// Room for a text and its characters, used again for each.
#[derive(Default)]
struct Room {
    text: String,
    characters: Vec<u32>,
}

impl Room {
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

/// Returns whether a spelling is the text of these units.
pub(crate) fn spells(text: &str, units: &[u32]) -> bool {
    text.len() == units.len()
        && text.bytes().zip(units).all(|(byte, unit)| u32::from(byte) == *unit)
}

/// A nearly right text: mostly of the right length, mostly of the alphabet that `alphabet_at` gives for a position. The
/// first byte decides the length, and each one after it a character.
pub(crate) fn nearly(
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
        Some(odd) => ODD[usize::from(odd)],
        None => character_of(alphabet_at(position), byte),
    };
    bytes.take(length).enumerate().map(character).collect()
}

fn character_of(alphabet: &str, byte: u8) -> char {
    char::from(alphabet.as_bytes()[usize::from(byte) % alphabet.len()])
}
