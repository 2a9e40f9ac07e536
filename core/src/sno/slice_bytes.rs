//! Zero-copy conversions between slices of IDs and slices of their bytes.

use super::Sno;
use crate::{Error, Result};

impl Sno {
    /// Returns a slice of IDs as packed bytes, 10 per ID.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let ids = [Sno::MIN, Sno::MAX];
    /// assert_eq!(Sno::slice_as_bytes(&ids).len(), 20);
    /// ```
    pub const fn slice_as_bytes(ids: &[Self]) -> &[u8] {
        as_arrays(ids).as_flattened()
    }

    /// Returns packed bytes, 10 per ID, as a slice of IDs. Any 10 bytes are a valid ID.
    ///
    /// ```
    /// use polyflake::sno::Sno;
    ///
    /// let file = [0; 30]; // three IDs, packed
    /// assert_eq!(Sno::slice_from_bytes(&file)?, [Sno::MIN; 3]);
    /// assert!(Sno::slice_from_bytes(&file[1..]).is_err());
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns `invalid_length` if the length is not a multiple of 10.
    pub const fn slice_from_bytes(bytes: &[u8]) -> Result<&[Self]> {
        match bytes.as_chunks() {
            (arrays, []) => Ok(from_arrays(arrays)),
            _ => Err(incomplete_id(bytes.len())),
        }
    }

    /// Works like [`Sno::slice_from_bytes`], but with mutable slices.
    ///
    /// ```
    /// use polyflake::sno::{self, Generator, Sno};
    ///
    /// static IDS: Generator = Generator::new();
    ///
    /// let mut packet = [0; 30];
    /// IDS.fill(7, Sno::slice_from_bytes_mut(&mut packet)?)?;
    /// assert!(packet.chunks(10).all(|id| Sno::from_slice(id).is_ok_and(|id| id.metabyte() == 7)));
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Sno::slice_from_bytes`].
    pub const fn slice_from_bytes_mut(bytes: &mut [u8]) -> Result<&mut [Self]> {
        let length = bytes.len();
        match bytes.as_chunks_mut() {
            (arrays, []) => Ok(from_arrays_mut(arrays)),
            _ => Err(incomplete_id(length)),
        }
    }
}

#[cold]
const fn incomplete_id(length: usize) -> Error {
    Error::not_a_multiple(length, 10)
}

#[allow(unsafe_code)]
pub(super) const fn as_arrays(ids: &[Sno]) -> &[[u8; Sno::LEN]] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, so both slice types have the same layout.
    unsafe { &*(core::ptr::from_ref(ids) as *const [[u8; Sno::LEN]]) }
}

#[allow(unsafe_code)]
pub(super) const fn as_arrays_mut(ids: &mut [Sno]) -> &mut [[u8; Sno::LEN]] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, so both slice types have the same layout. Any 10 bytes are a
    // valid ID, so a caller may write any bytes.
    unsafe { &mut *(core::ptr::from_mut(ids) as *mut [[u8; Sno::LEN]]) }
}

#[allow(unsafe_code)]
const fn from_arrays(arrays: &[[u8; Sno::LEN]]) -> &[Sno] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, so both slice types have the same layout, and any 10 bytes are
    // a valid ID.
    unsafe { &*(core::ptr::from_ref(arrays) as *const [Sno]) }
}

#[allow(unsafe_code)]
const fn from_arrays_mut(arrays: &mut [[u8; Sno::LEN]]) -> &mut [Sno] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, so both slice types have the same layout. Any 10 bytes are a
    // valid ID, and every ID is a valid array.
    unsafe { &mut *(core::ptr::from_mut(arrays) as *mut [Sno]) }
}
