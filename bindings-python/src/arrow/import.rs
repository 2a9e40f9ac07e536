//! Columns of Arrow's, in pieces, as texts and as integers.

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
use crate::ids::column::Textual;

/// A column, piece by piece.
pub(crate) struct Pieces {
    schema: Schema,
    arrays: Vec<Array>,
}

impl Pieces {
    /// Whether a value says that it offers a column.
    pub(crate) fn are_offered(value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = value.py();
        Ok(value.hasattr(intern!(py, "__arrow_c_stream__"))?
            || value.hasattr(intern!(py, "__arrow_c_array__"))?)
    }

    /// The column that a value offers; none if it offers none.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = value.py();
        if let Some(stream) = value.getattr_opt(intern!(py, "__arrow_c_stream__"))? {
            return Stream::take(&stream.call0()?)?.collect().map(Some);
        }
        if let Some(array) = value.getattr_opt(intern!(py, "__arrow_c_array__"))? {
            let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = array.call0()?.extract()?;
            let (schema, array) = (Schema::take(&schema)?, Array::take(&array)?);
            return Ok(Some(Self { schema, arrays: vec![array] }));
        }
        Ok(None)
    }

    /// The type, in Arrow's letters.
    pub(crate) fn format(&self) -> Cow<'_, str> {
        if self.schema.format.is_null() {
            return Cow::Borrowed("nothing");
        }
        // SAFETY: the interface says that the format is a C string, which lives as long as the schema.
        unsafe { CStr::from_ptr(self.schema.format) }.to_string_lossy()
    }

    /// Each piece, as texts; nothing if the column is one of something else, or not as the interface has it.
    pub(crate) fn texts<I: Textual>(&self) -> Option<Vec<Piece<'_, I>>> {
        let layout = Layout::of(&self.format()).filter(|_| self.schema.dictionary.is_null())?;
        self.arrays.iter().map(|array| Piece::of(array, layout)).collect()
    }

    /// Each piece, as signed 64-bit integers up to its first null, and whether one follows; nothing as for texts.
    pub(crate) fn integers(&self) -> Option<Vec<(&[i64], bool)>> {
        let piece = |array| {
            let (buffers, length) = Buffers::before_null(array)?;
            Some((buffers.slice(1, buffers.offset, length)?, buffers.end_at_null(length)))
        };
        let are_integers = self.format() == "l" && self.schema.dictionary.is_null();
        are_integers.then(|| self.arrays.iter().map(piece).collect())?
    }
}

impl Stream {
    /// All of its pieces.
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

    /// What the stream says of its failure.
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
