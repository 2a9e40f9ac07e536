//! A decoder's result for a string, in a form that can be compared.

use polyflake::{Error, ErrorKind, Result};

/// A value, or the kind and position of the error.
pub(crate) type Verdict<T> = std::result::Result<T, (ErrorKind, Option<usize>)>;

/// Converts a decoder's result.
pub(crate) fn verdict<T>(result: Result<T>) -> Verdict<T> {
    result.map_err(|error| (error.kind(), error.position()))
}

/// Returns the error after checking its message.
pub(crate) fn check_message(error: &Error) -> &Error {
    let message = error.to_string();
    assert!(message.starts_with(char::is_lowercase), "{message}");
    error
}

/// Returns the result that the format's checks must produce: first the length, then each character. The error reports the
/// first invalid position.
pub(crate) fn expected_result(
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
