//! What a decoder says of a text, in a form that can be compared.

use polyflake::{Error, ErrorKind, Result};

/// A value, or why there is none: the kind of the error and its position.
pub(crate) type Verdict<T> = std::result::Result<T, (ErrorKind, Option<usize>)>;

/// What a decoder said.
pub(crate) fn verdict<T>(result: Result<T>) -> Verdict<T> {
    result.map_err(|error| (error.kind(), error.position()))
}

/// An error whose message can be told to people.
pub(crate) fn told(error: &Error) -> &Error {
    let message = error.to_string();
    assert!(message.starts_with(char::is_lowercase), "{message}");
    error
}

/// What the order of checks comes to: the length, then the characters, of which the first bad one is told.
pub(crate) fn judge(
    units: &[u32],
    lengths: std::ops::RangeInclusive<usize>,
    is_good: impl Fn(usize, u32) -> bool,
) -> Verdict<()> {
    if !lengths.contains(&units.len()) {
        return Err((ErrorKind::InvalidLength, None));
    }
    match units.iter().enumerate().find(|&(position, unit)| !is_good(position, *unit)) {
        Some((position, _)) => Err((ErrorKind::InvalidCharacter, Some(position))),
        None => Ok(()),
    }
}
