//! Python's UUID class.

use polyflake_columns::texts::GuidChars;
use pyo3::{prelude::*, types::PyDict};

use super::{
    convert::{FromArgument, Octets, texts, wrong_type_exception},
    object,
};

use crate::first_value::{FirstValue, intern};

texts! {
    /// The string of a UUID.
    UuidText size_of::<GuidChars>()..=size_of::<GuidChars>();
}

/// The 16 bytes of a `uuid.UUID`, in the order of the UUID's string form.
pub(crate) struct Uuid(pub(crate) [u8; 16]);

impl<'a, 'py> FromArgument<'a, 'py> for Uuid {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        Self::try_from_value(&value, name)?
            .ok_or_else(|| wrong_type_exception(name, "uuid.UUID", &value))
    }
}

impl Uuid {
    /// Returns the bytes of a value if it is a UUID.
    pub(crate) fn try_from_value(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Self>> {
        if !value.is_instance(uuid_class(value.py())?)? {
            return Ok(None);
        }
        let bytes = value.getattr(intern!(value.py(), "bytes"))?;
        Octets::from_argument(bytes.as_borrowed(), name)?
            .to_array(name)
            .map(|bytes| Some(Self(bytes)))
    }
}

/// Returns the `uuid.UUID` with the given 16 bytes, which are in the order of the UUID's string form.
pub(crate) fn from_bytes(py: Python<'_>, bytes: [u8; 16]) -> PyResult<Bound<'_, PyAny>> {
    if let Some(uuid) = object::uuid(py, bytes)? {
        return Ok(uuid);
    }
    let arguments = PyDict::new(py);
    // Passing an integer is 10% faster than passing bytes.
    arguments.set_item(intern!(py, "int"), u128::from_be_bytes(bytes))?;
    uuid_class(py)?.call((), Some(&arguments))
}

fn uuid_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: FirstValue<Py<PyAny>> = FirstValue::new();
    CLASS.import(py, "uuid", "UUID")
}
