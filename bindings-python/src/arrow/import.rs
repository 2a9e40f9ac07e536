//! Arrow columns, in pieces, as texts and as integers.

use std::{
    borrow::Cow,
    ffi::{CStr, c_int},
    ptr,
};

use pyo3::{exceptions::PyRuntimeError, intern, prelude::*};

use super::{
    Array, Handed, Schema, Stream,
    buffers::Buffers,
    texts::{Layout, Piece},
};
use crate::{
    errors::raise_from,
    ids::{
        column::Textual,
        convert::{mistyped, type_name},
    },
};

/// A column, piece by piece.
pub(crate) struct Pieces {
    schema: Schema,
    arrays: Vec<Array>,
}

impl Pieces {
    /// Returns whether a value's type has a method that exports a column.
    pub(crate) fn are_offered(value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(has(value, "__arrow_c_stream__")? || has(value, "__arrow_c_array__")?)
    }

    /// The column that a value exports; `None` if its type exports none. Exceptions of its methods pass through.
    pub(crate) fn of(
        value: &Bound<'_, PyAny>,
        name: &str,
        expected: &str,
    ) -> PyResult<Option<Self>> {
        let py = value.py();
        let pieces = if has(value, "__arrow_c_stream__")? {
            let stream = value.call_method0(intern!(py, "__arrow_c_stream__"))?;
            Stream::take(&stream).and_then(Stream::collect)
        } else if has(value, "__arrow_c_array__")? {
            Self::of_array(&value.call_method0(intern!(py, "__arrow_c_array__"))?)
        } else {
            return Ok(None);
        };
        let refused = |raised| {
            let error = mistyped(name, expected, &type_name(value));
            raise_from(py, &error, Some(name), raised)
        };
        pieces.map(Some).map_err(refused)
    }

    fn of_array(capsules: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
        let (schema, array) = (Schema::take(&schema)?, Array::take(&array)?);
        Ok(Self { schema, arrays: vec![array] })
    }

    /// The type, as Arrow's format string.
    pub(crate) fn format(&self) -> Cow<'_, str> {
        if self.schema.format.is_null() {
            return Cow::Borrowed("nothing");
        }
        // SAFETY: the interface says that the format is a C string, which lives as long as the schema.
        unsafe { CStr::from_ptr(self.schema.format) }.to_string_lossy()
    }

    /// The pieces, as texts; `None` if the column has another type or breaks the interface's rules.
    pub(crate) fn texts<I: Textual>(&self) -> Option<Vec<Piece<'_, I>>> {
        let layout = Layout::of(&self.format()).filter(|_| self.schema.dictionary.is_null())?;
        self.arrays.iter().map(|array| Piece::of(array, layout)).collect()
    }

    /// The pieces, as signed 64-bit integers up to the first null, each with `true` if a null follows; `None` as for texts.
    pub(crate) fn integers(&self) -> Option<Vec<(&[i64], bool)>> {
        let piece = |array| {
            let (buffers, length) = Buffers::before_null(array)?;
            Some((buffers.slice(1, buffers.offset, length)?, buffers.end_at_null(length)))
        };
        let are_integers = self.format() == "l" && self.schema.dictionary.is_null();
        are_integers.then(|| self.arrays.iter().map(piece).collect())?
    }
}

fn has(value: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
    value.get_type().hasattr(method)
}

impl Stream {
    /// All pieces of the stream.
    fn collect(mut self) -> PyResult<Pieces> {
        let mut schema = Schema::NONE;
        let get_schema = self.get_schema.ok_or_else(released)?;
        // SAFETY: the stream is not released, and the schema may be written.
        let failed = unsafe { get_schema(&raw mut self, &raw mut schema) };
        self.check(failed)?;
        let mut arrays = vec![];
        while let Some(array) = self.next()? {
            arrays.push(array);
        }
        Ok(Pieces { schema, arrays })
    }

    /// The next piece.
    fn next(&mut self) -> PyResult<Option<Array>> {
        let mut array = Array::NONE;
        let get_next = self.get_next.ok_or_else(released)?;
        // SAFETY: as for the schema.
        let failed = unsafe { get_next(self, &raw mut array) };
        self.check(failed)?;
        Ok(array.release.is_some().then_some(array))
    }

    /// The error of a failed call, with the stream's own message.
    fn check(&mut self, failed: c_int) -> PyResult<()> {
        if failed == 0 {
            return Ok(());
        }
        // SAFETY: the stream is not released; it says null or a C string, which lives until its next call.
        let said = unsafe {
            let said = self.get_last_error.map_or(ptr::null(), |get| get(self));
            if said.is_null() { c"no reason given" } else { CStr::from_ptr(said) }
        };
        Err(PyRuntimeError::new_err(said.to_string_lossy().into_owned()))
    }
}

fn released() -> PyErr {
    PyRuntimeError::new_err("expected a stream, found a released one")
}
