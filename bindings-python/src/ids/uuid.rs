//! Python's own UUIDs.

use polyflake::Error;
use pyo3::{intern, prelude::*, sync::PyOnceLock, types::PyDict};

use super::convert::{Octets, invalid_type};
use crate::errors::raise;

/// The 16 bytes of a `uuid.UUID`, in the order of its text.
pub(crate) struct Uuid(pub(crate) [u8; 16]);

impl FromPyObject<'_, '_> for Uuid {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if !value.is_instance(class(value.py())?)? {
            return Err(raise(invalid_type("uuid.UUID", &value)));
        }
        let bytes: Octets<'_> = value.getattr(intern!(value.py(), "bytes"))?.extract()?;
        let bytes = bytes.as_bytes();
        let sixteen = bytes.try_into();
        sixteen.map(Self).map_err(|_| raise(Error::invalid_length(bytes.len(), 16, 16)))
    }
}

/// The `uuid.UUID` of 16 bytes in the order of its text.
pub(crate) fn of_bytes(py: Python<'_>, bytes: [u8; 16]) -> PyResult<Bound<'_, PyAny>> {
    let arguments = PyDict::new(py);
    // A tenth faster than out of bytes.
    arguments.set_item(intern!(py, "int"), u128::from_be_bytes(bytes))?;
    class(py)?.call((), Some(&arguments))
}

fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.import(py, "uuid", "UUID")
}
