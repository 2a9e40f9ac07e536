//! sno's base32 for whole slices: a kernel for the machine, and then the scalar code, which alone finds errors.

use super::scalar;
use crate::{
    Error, Result,
    cpu::{Level, kernels_of, memory},
};

pub(super) type Id = [u8; 10];
pub(super) type Text = [u8; 16];

/// The functions of each instruction set's file, for slices that are equally long.
pub(super) struct Kernels {
    /// Writes the text of every ID.
    pub(super) encode: unsafe fn(&[Id], &mut [Text]),
    /// As `encode`, with non-temporal stores if the set has them.
    pub(super) stream: unsafe fn(&[Id], &mut [Text]),
    /// Writes the IDs of texts up to a group that holds a bad text, and returns how many. The other places stay unchanged.
    pub(super) decode: unsafe fn(&[Text], &mut [Id]) -> usize,
}

const fn kernels(level: Level) -> &'static Kernels {
    kernels_of!(level)
}

/// Writes the text of every ID.
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn encode(level: Level, ids: &[[u8; 10]], texts: &mut [[u8; 16]]) -> Result<()> {
    same_length(ids.len(), texts.len())?;
    let bytes = texts.as_flattened();
    let past_caches = bytes.len() >= memory::MANY && memory::is_touched(bytes);
    let kernels = kernels(level);
    let kernel = if past_caches { kernels.stream } else { kernels.encode };
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        kernel(ids, texts);
    }
    Ok(())
}

/// As [`encode`], but with non-temporal stores, if the level has them, whatever the memory.
///
/// # Errors
/// As there.
pub fn stream(level: Level, ids: &[[u8; 10]], texts: &mut [[u8; 16]]) -> Result<()> {
    same_length(ids.len(), texts.len())?;
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    unsafe {
        (kernels(level).stream)(ids, texts);
    }
    Ok(())
}

/// Writes the ID of every text, up to the first bad one.
///
/// # Errors
/// `invalid_length` unless the slices are equally long; `invalid_character` with item and position.
pub fn decode(level: Level, texts: &[[u8; 16]], ids: &mut [[u8; 10]]) -> Result<()> {
    same_length(texts.len(), ids.len())?;
    // SAFETY: holding a `Level` proves that the machine has its instructions.
    #[allow(unsafe_code)]
    let done = unsafe { (kernels(level).decode)(texts, ids) };
    // In the group at which the kernel stopped, good texts may come first.
    for (item, (text, id)) in texts.iter().zip(ids).enumerate().skip(done) {
        *id = scalar::decode(text).ok_or_else(|| scalar::refuse(text).in_item(item))?;
    }
    Ok(())
}

fn same_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::invalid_length(found, expected, expected)) }
}
