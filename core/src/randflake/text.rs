//! Encodes and decodes many IDs at once, with the widest vector instructions that the CPU supports.

use super::Randflake;
use crate::{Result, arch, base32::base32hex::slices};

/// The length of a slot in bytes. A slot contains an encoded ID followed by zero bytes, like an element of a fixed-width
/// string column in most libraries.
pub const SLOT: usize = 16;

/// Encodes each ID into the slot at the same index, and fills the rest of the slot with zero bytes.
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
/// Returns `invalid_length` unless both slices have the same length.
pub fn encode_slice(ids: &[Randflake], slots: &mut [[u8; SLOT]]) -> Result<()> {
    slices::encode(arch::level(), as_u64_slice(ids), slots)
}

/// Decodes each slot into an ID. The string in a slot ends at the first zero byte. Decoding stops at the first invalid
/// string, and the remaining elements of `ids` stay unchanged.
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
/// Returns `invalid_length` unless both slices have the same length, or any error that [`Randflake::parse`] returns, with
/// the index of the string.
pub fn decode_slice(slots: &[[u8; SLOT]], ids: &mut [Randflake]) -> Result<()> {
    slices::decode(arch::level(), slots, as_u64_slice_mut(ids))
}

/// Encodes all IDs as concatenated strings, and writes the offset at which each string begins. One more offset, which is
/// also returned, marks the end of the last string. The two buffers have the layout of an Arrow string column. Bytes of
/// `text` after the last string may be overwritten.
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
/// Returns `invalid_length` unless `offsets` has one more element than `ids` and `text` has room for 13 bytes per ID, or
/// `out_of_range` for more than 165,191,049 IDs, the maximum for 32-bit offsets.
pub fn encode_column(ids: &[Randflake], offsets: &mut [i32], text: &mut [u8]) -> Result<usize> {
    slices::encode_column(arch::level(), as_u64_slice(ids), offsets, text)
}

/// Decodes the concatenated strings that begin at the given offsets, and writes the IDs to `ids`. Decoding stops at the
/// first invalid string, and the remaining elements of `ids` stay unchanged.
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
/// Returns `invalid_length` unless `offsets` has one more element than `ids`; `out_of_range` for an offset that is below
/// the previous one or past the end of the strings; or any error that [`Randflake::parse`] returns. All errors about an
/// offset or a string include the index of the item.
pub fn decode_column(offsets: &[i32], text: &[u8], ids: &mut [Randflake]) -> Result<()> {
    slices::decode_column(arch::level(), offsets, text, as_u64_slice_mut(ids))
}

#[allow(unsafe_code)]
const fn as_u64_slice(ids: &[Randflake]) -> &[u64] {
    // SAFETY: `Randflake` is `repr(transparent)` over `i64`, which has the same size and alignment as `u64`, and any 64
    // bits are a valid `u64`, so the slice can be read as `u64` values.
    unsafe { &*(core::ptr::from_ref(ids) as *const [u64]) }
}

#[allow(unsafe_code)]
const fn as_u64_slice_mut(ids: &mut [Randflake]) -> &mut [u64] {
    // SAFETY: `Randflake` and `u64` have the same size and alignment, as explained in `as_u64_slice`. In addition, any 64
    // bits are a valid ID, so writing through the returned slice is sound.
    unsafe { &mut *(core::ptr::from_mut(ids) as *mut [u64]) }
}
