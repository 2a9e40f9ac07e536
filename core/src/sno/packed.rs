//! IDs side by side and their bytes are one memory: each can be seen as the other.

use super::Sno;
use crate::{Error, Result};

impl Sno {
    /// The bytes of IDs that lie side by side, 10 each.
    pub const fn slice_as_bytes(ids: &[Self]) -> &[u8] {
        arrays(ids).as_flattened()
    }

    /// The IDs that bytes are, 10 each; every 10 bytes are one.
    ///
    /// # Errors
    /// `invalid_length` where bytes are left over; it expects them in whole IDs.
    pub const fn slice_from_bytes(bytes: &[u8]) -> Result<&[Self]> {
        match bytes.as_chunks() {
            (arrays, []) => Ok(of_arrays(arrays)),
            _ => Err(left_over(bytes.len())),
        }
    }

    /// As [`Sno::slice_from_bytes`], to write to.
    ///
    /// # Errors
    /// As [`Sno::slice_from_bytes`].
    pub const fn slice_from_bytes_mut(bytes: &mut [u8]) -> Result<&mut [Self]> {
        let length = bytes.len();
        match bytes.as_chunks_mut() {
            (arrays, []) => Ok(of_arrays_mut(arrays)),
            _ => Err(left_over(length)),
        }
    }
}

#[cold]
const fn left_over(length: usize) -> Error {
    Error::not_a_multiple(length, Sno::LEN)
}

#[allow(unsafe_code)]
pub(super) const fn arrays(ids: &[Sno]) -> &[[u8; Sno::LEN]] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`.
    unsafe { &*(core::ptr::from_ref(ids) as *const [[u8; Sno::LEN]]) }
}

#[allow(unsafe_code)]
pub(super) const fn arrays_mut(ids: &mut [Sno]) -> &mut [[u8; Sno::LEN]] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, and every 10 bytes are one.
    unsafe { &mut *(core::ptr::from_mut(ids) as *mut [[u8; Sno::LEN]]) }
}

#[allow(unsafe_code)]
const fn of_arrays(arrays: &[[u8; Sno::LEN]]) -> &[Sno] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, and every 10 bytes are one.
    unsafe { &*(core::ptr::from_ref(arrays) as *const [Sno]) }
}

#[allow(unsafe_code)]
const fn of_arrays_mut(arrays: &mut [[u8; Sno::LEN]]) -> &mut [Sno] {
    // SAFETY: `Sno` is `repr(transparent)` over `[u8; 10]`, and every 10 bytes are one.
    unsafe { &mut *(core::ptr::from_mut(arrays) as *mut [Sno]) }
}
