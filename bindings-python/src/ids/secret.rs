//! Secrets: copied on entry, wiped at the end of the call, and shown in no message.

use polyflake::{Error, sparx64::KEY_BYTES};
use pyo3::prelude::*;
use zeroize::Zeroizing;

use super::{
    convert::{Take, has_buffer, raise_named, wrong_kind, wrong_type},
    integers::buffer_of,
};

/// The 16 bytes of anything with the buffer protocol.
pub(crate) struct Secret(pub(crate) Zeroizing<[u8; KEY_BYTES]>);

impl<'a, 'py> Take<'a, 'py> for Secret {
    fn take(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let py = value.py();
        if !has_buffer(&value) {
            return Err(wrong_type(name, "bytes", &value));
        }
        let Some(buffer) = buffer_of(&value)? else {
            return Err(wrong_type(name, "bytes", &value));
        };
        let Ok(buffer) = buffer.as_typed::<u8>() else {
            let found = format!("a buffer of format {}", buffer.format().to_string_lossy());
            return Err(wrong_kind(name, "bytes", &found));
        };
        if buffer.item_count() != KEY_BYTES {
            return Err(raise_named(Error::invalid_secret(buffer.item_count()), name));
        }
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        buffer.copy_to_slice(py, &mut *secret)?;
        Ok(Self(secret))
    }
}
