//! ID strings as Python objects.

use polyflake::{base32::Text, sno::Sno};
use polyflake_columns::{
    Packed, Plain,
    texts::{self, AnyGuid, Chars, GuidChars},
};
use pyo3::{prelude::*, types::PyString};

use super::{
    array::{Array, ArrayClass, array},
    column::ids_from_column,
    fields::wrong_kind_error,
    memory::fault_exception,
    object::ascii,
};

/// The string of an ID. Because it is ASCII, it converts to a `str` faster than other strings do.
pub(crate) struct Ascii<const N: usize>(pub(crate) Text<N>);

impl<'py, const N: usize> IntoPyObject<'py> for Ascii<N> {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = PyErr;

    #[inline]
    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        ascii(py, self.0.as_bytes())
    }
}

#[doc = doc!("sno.TextColumn")]
#[pyclass(frozen, extends = Array, module = "polyflake.sno")]
pub(crate) struct TextColumn;

impl<T: Plain> ArrayClass<T> for TextColumn {
    const NOUN: &str = "texts";
    const IS_RECORD: bool = true;

    fn from_packed(_: Packed<T>) -> Self {
        Self
    }
}

impl TextColumn {
    pub(crate) fn new<'py>(py: Python<'py>, ids: &[Sno]) -> PyResult<Bound<'py, Self>> {
        let texts = py.detach(|| texts::encode_snos(ids)).map_err(fault_exception)?;
        array(py, Packed::new(texts))
    }

    pub(crate) fn encode_guids<'py, I: Copy + Sync>(
        py: Python<'py>,
        ids: &[I],
        text: fn(I) -> Text<{ size_of::<GuidChars>() }>,
    ) -> PyResult<Bound<'py, Self>> {
        let texts = py.detach(|| texts::encode_guids(ids, text)).map_err(fault_exception)?;
        array(py, Packed::new(texts))
    }
}

#[pymethods]
impl TextColumn {
    #[staticmethod]
    fn _restore<'py>(content: &Bound<'py, PyAny>, width: usize) -> PyResult<Bound<'py, Self>> {
        const SNO_TEXT_LEN: usize = size_of::<Chars>();
        const GUID_TEXT_LEN: usize = size_of::<GuidChars>();
        match width {
            SNO_TEXT_LEN => Self::new(content.py(), &ids_from_column(content)?),
            GUID_TEXT_LEN => {
                Self::encode_guids(content.py(), &ids_from_column(content)?, AnyGuid::text)
            }
            _ => Err(wrong_kind_error()),
        }
    }
}
