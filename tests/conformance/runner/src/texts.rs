//! Strings that almost encode an ID.

use fastrand::Rng;

use super::random::choose;

/// Characters that some or all alphabets lack: neighbors of valid characters, look-alikes, and characters of other formats.
const FOREIGN_CHARACTERS: [char; 28] = [
    '0', '1', 'y', 'z', 'A', 'K', 'X', 'Z', ' ', '\t', '\n', '\r', '\0', '=', '-', '_', ':', '@',
    '`', '{', '\u{7f}', '\u{80}', 'é', '２', '٢', '\u{430}', '\u{212a}', '\u{feff}',
];

/// Corrupts the string with a probability of three in four, and otherwise returns it unchanged.
pub(crate) fn maybe_corrupt(rng: &mut Rng, text: String) -> String {
    if rng.u32(..4) == 0 { text } else { corrupt(rng, text) }
}

/// Changes, removes or adds some characters of an ASCII string.
pub(crate) fn corrupt(rng: &mut Rng, mut text: String) -> String {
    let length = text.len();
    match rng.u32(..6) {
        0 => replace_characters(rng, &text, 1),
        1 => {
            let most = rng.usize(2..=16);
            replace_characters(rng, &text, most)
        }
        2 => {
            text.truncate(rng.usize(..length.max(1)));
            text
        }
        3 => {
            let more = text[rng.usize(..length.max(1))..].to_owned();
            text + &more
        }
        4 => text.to_uppercase(),
        _ => {
            text.insert(rng.usize(..=length), foreign_character(rng));
            text
        }
    }
}

/// Replaces up to `most` characters of a string with characters from `FOREIGN_CHARACTERS` or random characters.
fn replace_characters(rng: &mut Rng, text: &str, most: usize) -> String {
    let mut characters: Vec<_> = text.chars().collect();
    for _ in 0..most.min(characters.len()) {
        let at = rng.usize(..characters.len());
        characters[at] = foreign_character(rng);
    }
    characters.into_iter().collect()
}

fn foreign_character(rng: &mut Rng) -> char {
    if rng.u32(..4) == 0 { rng.char(..) } else { choose(rng, &FOREIGN_CHARACTERS) }
}
