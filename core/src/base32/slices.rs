//! sno's base32 for whole slices: a kernel for the machine, and then the scalar code, which alone finds errors.

use super::refuse;
use crate::{
    Result,
    arch::{Level, scalar::base32},
    error::same_length,
};

/// Writes the text of every ID.
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn encode(level: Level, ids: &[[u8; 10]], texts: &mut [[u8; 16]]) -> Result<()> {
    same_length(ids.len(), texts.len())?;
    level.encode_sno(ids, texts);
    Ok(())
}

/// Writes the ID of every text, up to the first bad one.
///
/// # Errors
/// `invalid_length` unless the slices are equally long; `invalid_character` with item and position.
pub fn decode(level: Level, texts: &[[u8; 16]], ids: &mut [[u8; 10]]) -> Result<()> {
    same_length(texts.len(), ids.len())?;
    let done = level.decode_sno(texts, ids);
    // In the group at which the kernel stopped, good texts may come first.
    for (item, (text, id)) in texts.iter().zip(ids).enumerate().skip(done) {
        *id = base32::decode(text).ok_or_else(|| refuse(text).in_item(item))?;
    }
    Ok(())
}
