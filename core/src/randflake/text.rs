//! Many texts at once, with the widest instructions that the machine has.

use super::Randflake;
use crate::{Result, arch, base32::hex::slices};

/// Bytes of a slot, which holds a text and zero bytes after it, as in the fixed-width columns of most libraries.
pub const SLOT: usize = 16;

/// Writes the text of every ID into its slot, and zero bytes after it.
///
/// ```
/// use polyflake::randflake::{self, Randflake};
///
/// let mut slots = [[0; 16]; 2];
/// randflake::encode_slice(&[Randflake::parse("3vgoe12ccb8gh")?, Randflake::from_i64(7)], &mut slots)?;
/// assert_eq!(slots, [*b"3vgoe12ccb8gh\0\0\0", *b"7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the slices are equally long.
pub fn encode_slice(ids: &[Randflake], slots: &mut [[u8; SLOT]]) -> Result<()> {
    slices::encode(arch::level(), numbers(ids), slots)
}

/// Writes the ID of every text, which ends before its slot's zero bytes. It stops at the first bad text, and leaves the places
/// from there on unchanged.
///
/// ```
/// use polyflake::randflake::{self, Randflake};
///
/// let mut ids = [Randflake::default(); 2];
/// let error = randflake::decode_slice(&[*b"3vgoe12ccb8gh\0\0\0", *b"3vgoe!\0\0\0\0\0\0\0\0\0\0"], &mut ids);
/// let error = error.unwrap_err();
/// assert_eq!((error.item(), error.position()), (Some(1), Some(5)));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless the slices are equally long; else as [`Randflake::parse`], with the item.
pub fn decode_slice(slots: &[[u8; SLOT]], ids: &mut [Randflake]) -> Result<()> {
    slices::decode(arch::level(), slots, numbers_mut(ids))
}

/// Writes the texts of all IDs one after the other, and the offset at which each begins. The last offset, which is also
/// returned, is the end of all texts. These are the two buffers of an Arrow column of strings. Bytes after the end may be
/// overwritten.
///
/// ```
/// use polyflake::randflake::{self, Randflake};
///
/// let (mut offsets, mut text) = ([0; 3], [0; 26]);
/// let ids = [7, 1 << 10].map(Randflake::from_i64);
/// let end = randflake::encode_column(&ids, &mut offsets, &mut text)?;
/// assert_eq!((offsets, &text[..end]), ([0, 1, 4], &b"7100"[..]));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless there is one more offset than IDs, and room for 13 bytes an ID; `out_of_range` for more IDs than
/// 32-bit offsets can hold: 165,191,049.
pub fn encode_column(ids: &[Randflake], offsets: &mut [i32], text: &mut [u8]) -> Result<usize> {
    slices::encode_column(arch::level(), numbers(ids), offsets, text)
}

/// Writes the ID of every text, given texts one after the other and their offsets. It stops at the first bad text, and leaves
/// the places from there on unchanged.
///
/// ```
/// use polyflake::randflake::{self, Randflake};
///
/// let mut ids = [Randflake::default(); 2];
/// randflake::decode_column(&[0, 1, 4], b"7100", &mut ids)?;
/// assert_eq!(ids, [7, 1 << 10].map(Randflake::from_i64));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// `invalid_length` unless there is one more offset than IDs; `out_of_range` for an offset below the previous one, or past the
/// texts; else as [`Randflake::parse`]. All but the first come with the item.
pub fn decode_column(offsets: &[i32], text: &[u8], ids: &mut [Randflake]) -> Result<()> {
    slices::decode_column(arch::level(), offsets, text, numbers_mut(ids))
}

#[allow(unsafe_code)]
const fn numbers(ids: &[Randflake]) -> &[u64] {
    // SAFETY: `Randflake` is `repr(transparent)` over `i64`, which has the size and alignment of `u64`.
    unsafe { &*(core::ptr::from_ref(ids) as *const [u64]) }
}

#[allow(unsafe_code)]
const fn numbers_mut(ids: &mut [Randflake]) -> &mut [u64] {
    // SAFETY: as above; and any 64 bits are an ID.
    unsafe { &mut *(core::ptr::from_mut(ids) as *mut [u64]) }
}
