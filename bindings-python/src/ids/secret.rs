//! Secrets passed as arguments. A secret is copied when a call begins, erased when the call ends, and never shown in a
//! message.

use polyflake::{Error, sparx64::KEY_BYTES};
use pyo3::prelude::*;
use zeroize::Zeroizing;

use super::{
    convert::{FromArgument, has_buffer, raise_named, wrong_kind_exception, wrong_type_exception},
    integers::get_buffer,
};

/// The bytes of any object that supports the buffer protocol. The default length is 16 bytes.
pub(crate) struct Secret<const N: usize = KEY_BYTES>(pub(crate) Zeroizing<[u8; N]>);

impl<'a, 'py, const N: usize> FromArgument<'a, 'py> for Secret<N> {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let py = value.py();
        if !has_buffer(&value) {
            return Err(wrong_type_exception(name, "bytes", &value));
        }
        let Some(buffer) = get_buffer(&value)? else {
            return Err(wrong_type_exception(name, "bytes", &value));
        };
        let Ok(buffer) = buffer.as_typed::<u8>() else {
            let found = format!("a buffer of format {}", buffer.format().to_string_lossy());
            return Err(wrong_kind_exception(name, "bytes", &found));
        };
        if buffer.item_count() != N {
            return Err(raise_named(Error::invalid_secret(buffer.item_count(), N), name));
        }
        let mut secret = Zeroizing::new([0; N]);
        buffer.copy_to_slice(py, &mut *secret)?;
        Ok(Self(secret))
    }
}
