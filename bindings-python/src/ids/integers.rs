//! Columns of 64-bit integers: buffers and Arrow columns.
//!
//! A buffer is read in place if it is contiguous and aligned, and if the interpreter has a GIL. As in `buffer.rs`, the GIL
//! prevents other threads from writing: this thread holds the GIL and runs no Python code until the integers have been
//! read.
#![allow(unsafe_code, reason = "a buffer is a pointer and a length")]

use std::slice;

use polyflake_columns::arrow::Chunks;
use pyo3::{
    buffer::PyUntypedBuffer,
    prelude::*,
    types::{PyBool, PyMemoryView},
};

use super::{
    array::NATIVE_PREFIXES,
    column::is_packed,
    convert::{
        AnyInteger, Octets, has_buffer, has_index, type_name, wrong_kind_exception,
        wrong_type_error, wrong_type_exception,
    },
    memory::try_copy,
};
use crate::arrow::{self, ExpectedColumn};

pub(super) const INTEGERS: &str = "a buffer of signed 64-bit integers";

/// The description of an integer column in error messages.
pub(crate) const EXPECTED: &str = "a column of signed 64-bit integers";

const COLUMN: ExpectedColumn = ExpectedColumn { column: EXPECTED, item: "int" };

/// Returns whether items with this format and size are signed 64-bit integers. The sizes of C's integer types differ
/// between platforms.
pub(super) fn is_integer(kind: &str, size: usize) -> bool {
    matches!(kind, "q" | "l" | "n") && size == 8
}

/// 64-bit integers from an Arrow column or a buffer, in C order. Integers in a buffer may be read in place, so they must be
/// read while this thread holds the GIL, before any Python code runs.
pub(crate) struct Integers(Memory);

enum Memory {
    InPlace(PyUntypedBuffer),
    Copied(Vec<i64>),
}

impl Integers {
    /// Reads the integers in an Arrow column or in a buffer. If `dimensions` is given, the buffer must have exactly that
    /// many dimensions. Otherwise, it may have any number.
    pub(crate) fn from_value(
        value: &Bound<'_, PyAny>,
        name: &str,
        dimensions: Option<usize>,
    ) -> PyResult<Self> {
        let packed = Self::try_from_value(value, name, dimensions)?;
        packed.ok_or_else(|| wrong_type_exception(name, EXPECTED, value))
    }

    /// Works like [`Self::from_value`], but returns `None` for an object of any other type.
    pub(crate) fn try_from_value(
        value: &Bound<'_, PyAny>,
        name: &str,
        dimensions: Option<usize>,
    ) -> PyResult<Option<Self>> {
        if !is_packed(value)? {
            return Ok(None);
        }
        if !has_buffer(value) {
            let read = arrow::read_column(value, name, COLUMN, Chunks::integers)?;
            return Ok(read.map(|integers| Self(Memory::Copied(integers))));
        }
        let Some(buffer) = get_buffer(value)? else {
            return Err(wrong_type_exception(name, COLUMN.column, value));
        };
        let format = buffer.format().to_string_lossy();
        let fits = is_integer(format.trim_start_matches(NATIVE_PREFIXES), buffer.item_size());
        if !fits || dimensions.is_some_and(|expected| expected != buffer.dimensions()) {
            return Err(wrong_kind_exception(name, COLUMN.column, &describe_buffer(&buffer)));
        }
        let is_aligned = buffer.buf_ptr().cast::<i64>().is_aligned();
        if cfg!(not(Py_GIL_DISABLED)) && buffer.is_c_contiguous() && is_aligned {
            return Ok(Some(Self(Memory::InPlace(buffer))));
        }
        let copy = Octets::copy_buffer(value)?;
        let (integers, _) = copy.as_bytes().as_chunks();
        let integers = integers.iter().map(|bytes| i64::from_ne_bytes(*bytes));
        Ok(Some(Self(Memory::Copied(integers.collect()))))
    }

    pub(crate) fn as_slice(&self) -> &[i64] {
        match &self.0 {
            Memory::Copied(integers) => integers,
            Memory::InPlace(buffer) if buffer.len_bytes() == 0 => &[],
            // SAFETY: `self` holds the buffer. `try_from_value` has checked that the buffer is C-contiguous, aligned and
            // made of 8-byte items, so it consists of this many integers, and any bits are valid. No other code writes to
            // the buffer, because this thread holds the GIL and runs no Python code while the slice is in use.
            Memory::InPlace(buffer) => unsafe {
                slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes() / 8)
            },
        }
    }

    pub(crate) fn to_vec(&self) -> PyResult<Vec<i64>> {
        try_copy(self.as_slice())
    }
}

/// Reads an item of an iterable as a signed 64-bit integer.
pub(crate) fn parse_integer_item(
    item: &Bound<'_, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<polyflake::Result<i64>> {
    if item.is_instance_of::<PyBool>() || !has_index(item) {
        return Ok(Err(wrong_type_error(name, expected, &type_name(item))));
    }
    Ok(AnyInteger::from_value(item, name)?.check_limits("id", &(i64::MIN..=i64::MAX)))
}

/// Returns the description of a rejected buffer in error messages.
pub(crate) fn describe_buffer(buffer: &PyUntypedBuffer) -> String {
    let format = buffer.format().to_string_lossy();
    format!("one of format {format}, {} dimensions", buffer.dimensions())
}

/// Returns a value's buffer, or `None` for a scalar, which has no shape. `ctypes` buffers lack strides, but a memoryview of
/// a `ctypes` buffer has them.
pub(crate) fn get_buffer(value: &Bound<'_, PyAny>) -> PyResult<Option<PyUntypedBuffer>> {
    PyUntypedBuffer::get(value).map(Some).or_else(|_| {
        let view = PyMemoryView::from(value)?;
        Ok(PyUntypedBuffer::get(view.as_any()).ok())
    })
}
