//! Determines why a string was rejected. This is a cold path: the decoders only report that they cannot decode a string.

use core::ops::RangeInclusive;

use crate::Error;

/// Returns the error for a string with a wrong length or an invalid character, or `None` if its length and all of its
/// characters are valid. A wrong length takes precedence, and only the first invalid character is reported.
///
/// `units` are the characters or the bytes of the string. Lengths and positions are counted in these units.
#[cold]
pub(crate) fn length_or_character_error(
    units: impl Iterator<Item = u32> + Clone,
    lengths: RangeInclusive<usize>,
    is_good: impl Fn(usize, u32) -> bool,
) -> Option<Error> {
    let found = units.clone().count();
    if !lengths.contains(&found) {
        return Some(Error::invalid_length(found, *lengths.start(), *lengths.end()));
    }
    let first_bad = units.enumerate().find(|&(position, unit)| !is_good(position, unit));
    first_bad.map(|(position, unit)| Error::invalid_character_unit(position, unit))
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn the_error_shows_the_invalid_character() {
        let message = |units: &[u32]| {
            let error =
                length_or_character_error(units.iter().copied(), 0..=9, |_, unit| unit == 0x61)
                    .unwrap();
            error.to_string()
        };
        assert_eq!(message(&[0x61, 0x21]), "invalid character `!` at position 1");
        assert_eq!(message(&[0x0a]), "invalid character U+000A at position 0");
        assert_eq!(message(&[0x202e]), "invalid character U+202E at position 0");
        assert_eq!(message(&[0x1_f600]), "invalid character U+01F600 at position 0");
        assert_eq!(message(&[0xd83d, 0x61]), "invalid character U+D83D at position 0");
        assert_eq!(
            message(&[crate::error::unit_of_byte(0xc3)]),
            "invalid character byte 0x00C3 at position 0"
        );
    }
}
