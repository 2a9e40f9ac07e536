//! Encodes and decodes many IDs at once, with the widest vector instructions that the CPU supports.

use super::{Sno, slice_bytes};
use crate::{Result, arch, base32::slices};

/// Encodes every ID as 16 ASCII characters. These 16 bytes are also the UUID that [`Sno::to_uuid_bytes`] returns.
///
/// Reuse the buffer when you encode many IDs, because the operating system must first map and clear newly allocated memory,
/// which takes ten times as long as the encoding.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let ids = [Sno::parse("93bm44ab22flxhjb")?, Sno::default()];
/// let mut texts = [[0; 16]; 2];
/// sno::encode_slice(&ids, &mut texts)?;
/// assert_eq!(texts, [*b"93bm44ab22flxhjb", *b"2222222222222222"]);
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns `invalid_length` unless both slices have the same length.
pub fn encode_slice(ids: &[Sno], texts: &mut [[u8; Sno::TEXT_LEN]]) -> Result<()> {
    slices::encode(arch::level(), slice_bytes::as_arrays(ids), texts)
}

/// Decodes every string into an ID. Decoding stops at the first invalid string, and the remaining elements of `ids` stay
/// unchanged.
///
/// ```
/// use polyflake::sno::{self, Sno};
///
/// let mut ids = [Sno::default(); 2];
/// sno::decode_slice(&[*b"93bm44ab22flxhjb", *b"9q6kc9o37a324328"], &mut ids)?;
/// assert_eq!(ids[0].to_string(), "93bm44ab22flxhjb");
///
/// let error = sno::decode_slice(&[*b"93bm44ab22flxhjb", *b"9q6kc9o37a32432!"], &mut ids).unwrap_err();
/// assert_eq!((error.item(), error.position()), (Some(1), Some(15)));
/// # Ok::<(), polyflake::Error>(())
/// ```
///
/// # Errors
/// Returns `invalid_length` unless both slices have the same length, or `invalid_character` with the string's index and the
/// character's position in it.
pub fn decode_slice(texts: &[[u8; Sno::TEXT_LEN]], ids: &mut [Sno]) -> Result<()> {
    slices::decode(arch::level(), texts, slice_bytes::as_arrays_mut(ids))
}
