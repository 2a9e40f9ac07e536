//! Why a text is refused: the cold path of the decoders, which only say that they cannot read it.

use core::ops::RangeInclusive;

use crate::Error;

/// The length is judged first, then the characters: the error for whichever is wrong, if one is.
///
/// `units` are the text's characters, or its UTF-16 units: lengths and positions count them.
#[cold]
pub(crate) fn refusal(
    units: impl Iterator<Item = u32> + Clone,
    lengths: RangeInclusive<usize>,
    is_good: impl Fn(usize, u32) -> bool,
) -> Option<Error> {
    let found = units.clone().count();
    if !lengths.contains(&found) {
        return Some(Error::invalid_length(found, *lengths.start(), *lengths.end()));
    }
    let first_bad = units.enumerate().find(|&(position, unit)| !is_good(position, unit));
    first_bad.map(|(position, _)| Error::invalid_character(position))
}
