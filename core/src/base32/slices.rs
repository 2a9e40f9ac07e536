//! sno's base32 for whole slices: a kernel for the machine, and behind it the scalar code, which alone says what is wrong.

use super::scalar;
use crate::{
    Error, Result,
    cpu::{Level, kernels_of, memory},
};

pub(super) type Id = [u8; 10];
pub(super) type Text = [u8; 16];

/// What each instruction set's file has, for slices that are equally long.
pub(super) struct Kernels {
    /// Writes the text of every ID.
    pub(super) encode: unsafe fn(&[Id], &mut [Text]),
    /// The same past the caches, where there are instructions for that.
    pub(super) stream: unsafe fn(&[Id], &mut [Text]),
    /// Writes the IDs of texts up to a group of them that holds a bad one, and says how many. The others' places stay as they are.
    pub(super) decode: unsafe fn(&[Text], &mut [Id]) -> usize,
}

const fn kernels(level: Level) -> &'static Kernels {
    kernels_of!(level)
}

/// Writes the text of every ID.
///
/// # Errors
/// `invalid_length` where the slices are not equally long.
pub fn encode(level: Level, ids: &[[u8; 10]], texts: &mut [[u8; 16]]) -> Result<()> {
    same_length(ids.len(), texts.len())?;
    let bytes = texts.as_flattened();
    let past_caches = bytes.len() >= memory::MANY && memory::is_touched(bytes);
    let kernels = kernels(level);
    let kernel = if past_caches { kernels.stream } else { kernels.encode };
    // SAFETY: a level is one of this machine.
    #[allow(unsafe_code)]
    unsafe {
        kernel(ids, texts);
    }
    Ok(())
}

/// As [`encode`], into any memory past the caches.
///
/// # Errors
/// As there.
pub fn stream(level: Level, ids: &[[u8; 10]], texts: &mut [[u8; 16]]) -> Result<()> {
    same_length(ids.len(), texts.len())?;
    // SAFETY: a level is one of this machine.
    #[allow(unsafe_code)]
    unsafe {
        (kernels(level).stream)(ids, texts);
    }
    Ok(())
}

/// Writes the ID of every text, as far as they are good.
///
/// # Errors
/// `invalid_length` where the slices are not equally long; `invalid_character` with item and position.
pub fn decode(level: Level, texts: &[[u8; 16]], ids: &mut [[u8; 10]]) -> Result<()> {
    same_length(texts.len(), ids.len())?;
    // SAFETY: a level is one of this machine.
    #[allow(unsafe_code)]
    let done = unsafe { (kernels(level).decode)(texts, ids) };
    // In the group that the kernel stopped at, good ones may come first.
    for (item, (text, id)) in texts.iter().zip(ids).enumerate().skip(done) {
        *id = scalar::decode(text).ok_or_else(|| scalar::refuse(text).in_item(item))?;
    }
    Ok(())
}

fn same_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::invalid_length(found, expected, expected)) }
}
