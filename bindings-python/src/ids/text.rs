//! IDs' texts as Python objects.

use std::ptr;

use polyflake::{base32::Text, sno::Sno};
use polyflake_columns::{
    Packed,
    arrow::Column,
    texts::{self, Chars},
};
use pyo3::{ffi, prelude::*, types::PyString};

use super::{
    array::{At, Columnar, Memory, at, columnar},
    memory::{fault, no_memory},
};

/// The text of an ID. It is ASCII, so it becomes a `str` 4 ns faster than other texts.
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

/// The `str` of an ASCII text.
#[allow(unsafe_code)]
#[inline]
fn ascii<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    let (start, length) = (text.as_ptr().cast(), text.len().cast_signed());
    // SAFETY: `start` leads to `length` bytes, which the call copies. It gives a new reference to a `str`, or null with an
    // exception set.
    unsafe {
        let text = ffi::PyUnicode_DecodeASCII(start, length, ptr::null());
        Ok(Bound::from_owned_ptr_or_err(py, text)?.cast_into_unchecked())
    }
}

#[doc = doc!("sno.TextColumn")]
#[pyclass(frozen, sequence, module = "polyflake.sno")]
pub(crate) struct TextColumn(Packed<Chars>);

impl TextColumn {
    pub(crate) fn of(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        let texts = py.detach(|| texts::of_snos(ids)).map_err(fault)?;
        Ok(Self(Packed::new(texts)))
    }
}

columnar!(TextColumn);

impl Columnar for TextColumn {
    fn format(&self) -> String {
        Column::format_of_texts(self.0.len()).to_owned()
    }

    fn column(&self, _: Python<'_>) -> PyResult<Column> {
        Column::of_texts(&self.0).map_err(no_memory)
    }

    fn memory(&self, _: Python<'_>) -> PyResult<Memory<'_>> {
        Ok((&self.0).into())
    }
}

#[pymethods]
impl TextColumn {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        match at(self.0.items(), index)? {
            At::One(text) => Ok(ascii(py, &text)?.into_any()),
            At::Many(texts) => Ok(Bound::new(py, Self(Packed::new(texts)))?.into_any()),
        }
    }

    fn __repr__(&self) -> String {
        format!("<TextColumn of {} texts>", self.0.len())
    }
}
