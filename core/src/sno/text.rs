//! Many texts at once, with the widest instructions that the machine has.

use super::{Sno, packed};
use crate::{Result, arch, base32::slices};

/// Writes the text of every ID, 16 ASCII characters each; these are also the 16 bytes of a UUID column's value.
///
/// For many texts, reuse the buffer: fresh memory, which the system must find and clear first, takes ten times as long as the
/// texts.
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
/// `invalid_length` unless the slices are equally long.
pub fn encode_slice(ids: &[Sno], texts: &mut [[u8; Sno::TEXT_LEN]]) -> Result<()> {
    slices::encode(arch::level(), packed::arrays(ids), texts)
}

/// Writes the ID of every text. It stops at the first bad text, and leaves the places from there on unchanged.
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
/// `invalid_length` unless the slices are equally long; `invalid_character` with the item and the position in it.
pub fn decode_slice(texts: &[[u8; Sno::TEXT_LEN]], ids: &mut [Sno]) -> Result<()> {
    slices::decode(arch::level(), texts, packed::arrays_mut(ids))
}
