//! Secrets: copied on entry, wiped when the call is over, in no message.

use polyflake::{Error, sparx64::KEY_BYTES};
use pyo3::{buffer::PyBuffer, prelude::*};
use zeroize::Zeroizing;

use super::convert::invalid_type;
use crate::errors::{raise, raise_from};

/// The 16 bytes of anything with the buffer protocol.
pub(crate) struct Secret(pub(crate) Zeroizing<[u8; KEY_BYTES]>);

impl FromPyObject<'_, '_> for Secret {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let buffer = PyBuffer::<u8>::get(&value)
            .map_err(|raised| raise_from(py, &invalid_type("bytes", &value), raised))?;
        if buffer.item_count() != KEY_BYTES {
            return Err(raise(Error::invalid_secret(buffer.item_count())));
        }
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        buffer.copy_to_slice(py, &mut *secret)?;
        Ok(Self(secret))
    }
}
