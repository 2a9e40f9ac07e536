//! Integers as decimal text: the form in which JSON and JavaScript carry integers past 64 bits.

use crate::{Error, ErrorKind, Result, layout::Value};

/// The integer of `-?(0|[1-9][0-9]*)`.
pub(in crate::layout) fn read(text: &str) -> Result<Value<'static>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_plain || digits.starts_with('0') && text != "0" {
        return Err(not_decimal(text));
    }
    match (text.parse::<i128>(), text.parse::<u128>()) {
        (Ok(number), _) => Ok(number.into()),
        (_, Ok(number)) => Ok(number.into()),
        _ => Err(Error::because(
            ErrorKind::OutOfRange,
            "expected an integer of at most 128 bits, found a larger one",
        )),
    }
}

/// The error for a text that is no integer: for its characters first, then for their order.
#[cold]
fn not_decimal(text: &str) -> Error {
    let is_bad = |(i, c): &(usize, char)| !(c.is_ascii_digit() || *c == '-' && *i == 0);
    if let Some((position, character)) = text.chars().enumerate().find(is_bad) {
        return Error::bad_character(position, character.into());
    }
    Error::because(
        ErrorKind::InvalidCharacter,
        "expected an integer in decimal digits without leading zeros",
    )
}
