//! Equal-width strings in buffers, such as `NumPy` arrays.
//!
//! The strings are decoded in place, without a copy. This is sound although a buffer is shared, mutable memory. All Python
//! code that could write to the buffer needs the GIL, and this thread holds the GIL until the last string is decoded. A
//! free-threaded interpreter has no GIL, so the rows are first copied block by block there (`may_change`).
#![allow(unsafe_code, reason = "a buffer is a pointer and a length")]

use std::slice;

use polyflake::Error;
use polyflake_columns::texts::{Rows, Textual, Unit};
use pyo3::{
    buffer::PyUntypedBuffer,
    exceptions::{PyBufferError, PyTypeError, PyValueError},
    ffi,
    prelude::*,
    types::{PyBytes, PyMemoryView},
};

use super::{
    array::NATIVE_PREFIXES,
    column::{NAME, TEXTS},
    convert::{raise_named, uneven_length_error, wrong_kind_exception},
    integers::get_buffer,
};

use crate::first_value::intern;

/// Strings in a buffer. If other code may write to the buffer while the strings are read, the strings are copied first.
pub(super) struct BufferedTexts<'py> {
    memory: Memory<'py>,
    /// The number of bytes in a row.
    width: usize,
    unit: Unit,
}

enum Memory<'py> {
    /// A contiguous buffer that is read in place.
    InPlace(PyUntypedBuffer),
    Copied(Bound<'py, PyBytes>),
}

impl<'py> BufferedTexts<'py> {
    /// Returns the strings in a value's buffer. Returns `None` if the value has no buffer or the buffer contains Python
    /// objects.
    pub(super) fn from_value<I: Textual>(value: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        // SAFETY: `value` is a reference to a live object, and the check only reads its type.
        if unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) } == 0 {
            return Ok(None);
        }
        let buffer = match get_buffer(value) {
            Ok(Some(buffer)) => buffer,
            Ok(None) => return Ok(None),
            // `NumPy` does not export buffers for some types of arrays.
            Err(raised) if is_rejection(&raised, value)? => return Ok(None),
            Err(raised) => return Err(raised),
        };
        let format = buffer.format().to_string_lossy();
        if format == "O" {
            return Ok(None);
        }
        let Some(unit) =
            Unit::from_format(format.trim_start_matches(NATIVE_PREFIXES), buffer.dimensions())
        else {
            let found = format!("a buffer of format {format}, {} dimensions", buffer.dimensions());
            return Err(wrong_kind_exception(NAME, TEXTS.column, &found));
        };
        let width = row_width::<I>(&buffer, unit).map_err(|error| raise_named(error, NAME))?;
        let memory = if buffer.is_c_contiguous() {
            Memory::InPlace(buffer)
        } else {
            let bytes = PyMemoryView::from(value)?.call_method0(intern!(value.py(), "tobytes"))?;
            Memory::Copied(bytes.cast_into()?)
        };
        Ok(Some(Self { memory, width, unit }))
    }

    /// Returns the rows. No other code writes to the rows while this thread holds the GIL.
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            bytes: self.bytes(),
            width: self.width,
            unit: self.unit,
            may_change: cfg!(Py_GIL_DISABLED),
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.memory {
            Memory::InPlace(buffer) if buffer.len_bytes() == 0 => &[],
            // SAFETY: `self` holds the buffer, so its memory stays in place. `from_value` has checked that the buffer is
            // C-contiguous, so it consists of `len_bytes` bytes starting at `buf_ptr`, and any bytes are valid. The module
            // documentation explains whether the bytes can change while they are read.
            Memory::InPlace(buffer) => unsafe {
                slice::from_raw_parts(buffer.buf_ptr().cast(), buffer.len_bytes())
            },
            Memory::Copied(bytes) => bytes.as_bytes(),
        }
    }
}

/// Returns whether an error means that a value does not provide access to its memory but can be iterated.
fn is_rejection(raised: &PyErr, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let is_rejection = raised.is_instance_of::<PyValueError>(py)
        || raised.is_instance_of::<PyBufferError>(py)
        || raised.is_instance_of::<PyTypeError>(py);
    Ok(is_rejection && value.get_type().hasattr(intern!(py, "__iter__"))?)
}

/// Returns the number of bytes in a row.
fn row_width<I: Textual>(buffer: &PyUntypedBuffer, unit: Unit) -> polyflake::Result<usize> {
    let width = size_of::<I::TextBuffer>();
    let wrong = |found| Err(Error::invalid_length(found, width, width));
    match buffer.shape() {
        _ if unit != Unit::Byte => Ok(buffer.item_size()),
        [_, found] if *found != width => wrong(*found),
        [bytes] if bytes % width != 0 => Err(uneven_length_error(NAME, width, *bytes)),
        _ => Ok(width),
    }
}
