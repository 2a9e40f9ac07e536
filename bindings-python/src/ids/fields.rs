//! Columns with the fields of many IDs.

use polyflake::{Error, Result};
use polyflake_columns::{Packed, Plain};
use pyo3::{
    prelude::*,
    types::{PyDict, PyMemoryView},
};

use super::{
    array::{Array, ArrayClass, Item, array, array_items},
    convert::Octets,
    memory::{try_copy, try_with_capacity, zeroed},
};
use crate::errors::raise;
use crate::first_value::intern;

#[doc = doc!("sno.FieldColumn")]
#[pyclass(frozen, extends = Array, module = "polyflake.sno")]
pub(crate) struct FieldColumn;

impl<T: Plain> ArrayClass<T> for FieldColumn {
    const NOUN: &str = "values";
    const IS_RECORD: bool = true;

    fn from_packed(_: Packed<T>) -> Self {
        Self
    }
}

/// Returns the exception for pickled content that belongs to a different class.
#[cold]
pub(crate) fn wrong_kind_error() -> PyErr {
    raise(Error::invalid_type("the content of a column", "another one"))
}

impl FieldColumn {
    /// Returns a column of numbers.
    pub(crate) fn new<T: Item>(py: Python<'_>, numbers: Vec<T>) -> PyResult<Bound<'_, Self>> {
        array(py, Packed::new(numbers))
    }

    /// Returns a column of numbers, one per ID, which the given function writes. Other threads can run while the function
    /// writes.
    pub(crate) fn from_fill<'py, I: Sync, T: Item>(
        py: Python<'py>,
        ids: &[I],
        fill: impl FnOnce(&[I], &mut [T]) -> Result<()> + Send,
    ) -> PyResult<Bound<'py, Self>> {
        let mut numbers = zeroed(ids.len())?;
        py.detach(|| fill(ids, &mut numbers)).map_err(raise)?;
        Self::new(py, numbers)
    }

    /// Returns a column with one number for each ID. Other threads can run while the numbers are read.
    pub(crate) fn map_each<'py, I: Copy + Sync, T: Item>(
        py: Python<'py>,
        ids: &[I],
        field: fn(I) -> T,
    ) -> PyResult<Bound<'py, Self>> {
        let mut numbers = try_with_capacity(ids.len())?;
        py.detach(|| numbers.extend(ids.iter().map(|id| field(*id))));
        Self::new(py, numbers)
    }

    /// Returns a column with a fixed number of bytes for each ID.
    pub(crate) fn rows<'py, I: Copy + Sync, const N: usize>(
        py: Python<'py>,
        ids: &[I],
        field: fn(I) -> [u8; N],
    ) -> PyResult<Bound<'py, Self>> {
        let mut bytes = try_with_capacity(ids.len() * N)?;
        py.detach(|| bytes.extend(ids.iter().flat_map(|id| field(*id))));
        array(py, Packed::with_row_width(bytes, N))
    }

    /// Returns the numbers in a column.
    pub(crate) fn column_numbers<T: Item>(column: &Bound<'_, Self>) -> PyResult<Packed<T>> {
        array_items(column).ok_or_else(wrong_kind_error)
    }
}

#[pymethods]
impl FieldColumn {
    /// Returns a column as a `NumPy` array. The array shares the column's memory unless a copy is requested or required.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let options = PyDict::new(py);
        options.set_item(intern!(py, "dtype"), dtype)?;
        options.set_item(intern!(py, "copy"), copy)?;
        let view = PyMemoryView::from(slf.as_any())?;
        py.import("numpy")?.call_method(intern!(py, "array"), (view,), Some(&options))
    }

    #[staticmethod]
    #[pyo3(signature = (content, width = None))]
    fn _restore<'py>(
        content: &Bound<'py, PyAny>,
        width: Option<usize>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = content.py();
        let bytes = Octets::copy_buffer(content)?;
        let bytes = bytes.as_bytes();
        if let Some(width) = width {
            let is_whole = bytes.len().checked_rem(width) == Some(0);
            let rows = is_whole.then_some(bytes).ok_or_else(wrong_kind_error)?;
            return array(py, Packed::with_row_width(try_copy(rows)?, width));
        }
        match content.getattr(intern!(py, "typecode"))?.extract()? {
            'q' => Self::new(py, parse_numbers(bytes, i64::from_ne_bytes)),
            'I' => Self::new(py, parse_numbers(bytes, u32::from_ne_bytes)),
            'H' => Self::new(py, parse_numbers(bytes, u16::from_ne_bytes)),
            'B' => Self::new(py, try_copy(bytes)?),
            _ => Err(wrong_kind_error()),
        }
    }
}

fn parse_numbers<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|bytes| number(*bytes)).collect()
}
