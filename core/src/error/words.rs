//! Messages, put together from texts and numbers: the standard library's formatting of either adds 4 KB to a wasm module.

#[cfg(feature = "alloc")]
use alloc::string::String;
use core::fmt;

use super::decimal;

/// Most characters of a text that somebody else wrote.
#[cfg(feature = "alloc")]
const SHOWN: usize = 40;

/// A text or number in a message.
#[derive(Clone, Copy)]
pub(crate) enum Part<'p> {
    Text(&'p str),
    Number(u64),
    Wide(&'p i128),
}

#[cfg(feature = "alloc")]
impl<'p> Part<'p> {
    /// The first characters of a text of any length.
    pub(crate) fn start_of(text: &'p str) -> Self {
        Self::Text(
            text.char_indices().nth(SHOWN).and_then(|(end, _)| text.get(..end)).unwrap_or(text),
        )
    }
}

impl<'p> From<&'p str> for Part<'p> {
    fn from(text: &'p str) -> Self {
        Self::Text(text)
    }
}

#[cfg(feature = "alloc")]
impl<'p> From<&'p String> for Part<'p> {
    fn from(text: &'p String) -> Self {
        Self::Text(text)
    }
}

impl<'p> From<&'p i128> for Part<'p> {
    fn from(number: &'p i128) -> Self {
        Self::Wide(number)
    }
}

impl From<u64> for Part<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

#[cfg(feature = "alloc")]
impl From<u32> for Part<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Part<'_> {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

/// A message with a place, `{}`, for each of its parts.
#[derive(Clone, Copy)]
pub(crate) struct Words<'w> {
    pub(crate) template: &'static str,
    pub(crate) parts: &'w [Part<'w>],
}

/// The words of a message, as `format_args!` takes them, with a part for each place.
macro_rules! words {
    ($template:literal $(, $part:expr)* $(,)?) => {
        $crate::error::Words {
            template: const {
                assert!($crate::error::places($template) == <[&str]>::len(&[$(stringify!($part)),*]));
                $template
            },
            parts: &[$($crate::error::Part::from($part)),*],
        }
    };
}

pub(crate) use words;

/// The number of places in a template.
pub(crate) const fn places(template: &str) -> usize {
    let (bytes, mut at, mut found) = (template.as_bytes(), 0, 0);
    while at < bytes.len() {
        found += (bytes[at] == b'{') as usize;
        at += 1;
    }
    found
}

/// Writes a message.
pub(crate) fn put(to: &mut dyn fmt::Write, Words { template, parts }: Words<'_>) -> fmt::Result {
    let (mut rest, mut parts) = (template, parts.iter());
    while let Some((text, next)) = at_place(rest) {
        to.write_str(text)?;
        match parts.next() {
            Some(Part::Text(text)) => to.write_str(text)?,
            Some(Part::Number(number)) => decimal::put(to, (*number).into())?,
            Some(Part::Wide(number)) => decimal::put(to, **number)?,
            None => {}
        }
        rest = next;
    }
    to.write_str(rest)
}

/// The text before the first place, and the text after it. Neither is a slice that might panic, which would add 2 KB to a module.
fn at_place(text: &str) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == b'{')?;
    Some((text.get(..at)?, text.get(at + "{}".len()..)?))
}

/// The text of a message.
#[cfg(feature = "alloc")]
pub(crate) fn sentence(words: Words<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = put(&mut text, words);
    text
}

/// Writes the last `digits` hexadecimal digits of a number, in capitals or not.
pub(crate) fn hex(
    to: &mut dyn fmt::Write,
    number: u32,
    digits: u32,
    is_capital: bool,
) -> fmt::Result {
    let alphabet = if is_capital { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut shifts = (0..digits).rev().map(|digit| 4 * digit);
    shifts
        .try_for_each(|shift| to.write_char(char::from(alphabet[(number >> shift) as usize & 15])))
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_its_parts_in_their_places() {
        let (text, wide) = (String::from("x"), -2_i128);
        assert_eq!(sentence(words!("a {} {} {}.", 1_u32, &wide, &text)), "a 1 -2 x.");
        assert_eq!(sentence(words!("{}{}", u64::MAX, "")), alloc::format!("{}", u64::MAX));
        assert_eq!(sentence(words!("plain")), "plain");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "é".repeat(SHOWN + 1);
        let short = "é".repeat(SHOWN);
        assert_eq!(sentence(words!("{}", Part::start_of(&long))), short);
        assert_eq!(sentence(words!("{}", Part::start_of(&short))), short);
    }
}
