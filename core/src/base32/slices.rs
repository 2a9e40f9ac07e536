//! sno's base32 encoding for slices. A kernel for this CPU encodes and decodes the IDs, and scalar code locates errors.

use super::decode_error_of_bytes;
use crate::{
    Result,
    arch::{Level, scalar::base32},
    error::check_same_length,
};

/// Encodes every ID as a string.
///
/// # Errors
/// Returns `invalid_length` unless both slices have the same length.
pub fn encode(level: Level, ids: &[[u8; 10]], texts: &mut [[u8; 16]]) -> Result<()> {
    check_same_length(ids.len(), texts.len())?;
    level.encode_sno(ids, texts);
    Ok(())
}

/// Decodes strings into IDs, up to the first invalid string.
///
/// # Errors
/// Returns `invalid_length` if the slices have different lengths. Returns `invalid_character`, with the string's index and
/// the character's position in the string, if a string is invalid.
pub fn decode(level: Level, texts: &[[u8; 16]], ids: &mut [[u8; 10]]) -> Result<()> {
    check_same_length(texts.len(), ids.len())?;
    let done = level.decode_sno(texts, ids);
    // The kernel stops before a group that contains an invalid string. Valid strings may precede the invalid one in that
    // group.
    for (item, (text, id)) in texts.iter().zip(ids).enumerate().skip(done) {
        *id = base32::decode(text).ok_or_else(|| decode_error_of_bytes(text).in_item(item))?;
    }
    Ok(())
}
