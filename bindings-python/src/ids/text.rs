//! IDs' texts as Python objects.

use std::ptr;

use polyflake::{base32::Text, hotguid::HotGuid, sno::Sno};
use polyflake_columns::{
    Packed,
    arrow::Column,
    texts::{self, Chars, GuidChars},
};
use pyo3::{ffi, prelude::*, types::PyString};

use super::{
    array::{At, Columnar, Memory, at, columnar, content},
    column::ids_of,
    memory::{fault, no_memory},
    record::{Reduced, reduced},
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
#[pyclass(frozen, eq, hash, sequence, module = "polyflake.sno")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct TextColumn(Texts);

#[derive(PartialEq, Eq, Hash)]
enum Texts {
    Sno(Packed<Chars>),
    HotGuid(Packed<GuidChars>),
}

impl TextColumn {
    pub(crate) fn of(py: Python<'_>, ids: &[Sno]) -> PyResult<Self> {
        let texts = py.detach(|| texts::of_snos(ids)).map_err(fault)?;
        Ok(Self(Texts::Sno(Packed::new(texts))))
    }

    pub(crate) fn of_hot_guids(py: Python<'_>, ids: &[HotGuid]) -> PyResult<Self> {
        let texts = py.detach(|| texts::of_hot_guids(ids)).map_err(fault)?;
        Ok(Self(Texts::HotGuid(Packed::new(texts))))
    }
}

/// Evaluates one expression for the texts of either family.
macro_rules! of_either {
    ($column:expr, $texts:ident => $value:expr) => {
        match &$column.0 {
            Texts::Sno($texts) => $value,
            Texts::HotGuid($texts) => $value,
        }
    };
}

columnar!(TextColumn);

impl Columnar for TextColumn {
    fn format(&self) -> String {
        of_either!(self, texts => Column::format_of_texts(texts).to_owned())
    }

    fn column(&self, _: Python<'_>) -> PyResult<Column> {
        of_either!(self, texts => Column::of_texts(texts).map_err(no_memory))
    }

    fn memory(&self, _: Python<'_>) -> PyResult<Memory<'_>> {
        Ok(of_either!(self, texts => texts.into()))
    }
}

#[pymethods]
impl TextColumn {
    fn __len__(&self) -> usize {
        of_either!(self, texts => texts.len())
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let some = |texts| Ok(Bound::new(py, Self(texts))?.into_any());
        match &self.0 {
            Texts::Sno(texts) => match at(texts.items(), index)? {
                At::One(text) => Ok(ascii(py, &text)?.into_any()),
                At::Many(texts) => some(Texts::Sno(Packed::new(texts))),
            },
            Texts::HotGuid(texts) => match at(texts.items(), index)? {
                At::One(text) => Ok(ascii(py, &text)?.into_any()),
                At::Many(texts) => some(Texts::HotGuid(Packed::new(texts))),
            },
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Content<'py>>> {
        let is_sno = matches!(slf.get().0, Texts::Sno(_));
        reduced(slf, (content(slf)?, is_sno))
    }

    #[staticmethod]
    fn _restore(content: &Bound<'_, PyAny>, is_sno: bool) -> PyResult<Self> {
        if is_sno {
            return Self::of(content.py(), &ids_of(content)?);
        }
        Self::of_hot_guids(content.py(), &ids_of(content)?)
    }

    fn __repr__(&self) -> String {
        format!("<TextColumn of {} texts>", self.__len__())
    }
}

/// The content of a column's pickle: its texts side by side, and their family.
type Content<'py> = (Bound<'py, PyAny>, bool);
