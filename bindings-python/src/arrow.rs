//! The capsules in which Python passes Arrow's structs:
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
//!
//! A capsule is a pointer with a name and a destructor, which releases the struct unless a consumer has moved it out. All
//! `unsafe` code here relies on one guarantee of the interface: a capsule named `arrow_schema`, `arrow_array` or
//! `arrow_array_stream` holds the struct of that name. `polyflake-columns` checks the contents of the structs. That crate
//! does not need Python, and can therefore run under Miri and a fuzzer.
#![allow(unsafe_code, reason = "a capsule holds a pointer")]

use polyflake_columns::{
    Fault,
    arrow::{self, Array, CDataStruct, Chunks, Column, Schema, Stream, StreamError},
};
use pyo3::{exceptions::PyRuntimeError, prelude::*, types::PyCapsule};

use crate::{
    errors::raise_from,
    first_value::intern,
    ids::convert::{type_name, wrong_type_error},
};

/// A schema and an array, each in its own capsule: the result of `__arrow_c_array__`.
pub(crate) type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// Returns the result of `__arrow_c_array__`. The array has Arrow's UUID type if the caller requests it.
pub(crate) fn export<'py>(
    py: Python<'py>,
    column: Column,
    requested: Option<&Bound<'py, PyAny>>,
) -> PyResult<Capsules<'py>> {
    let requests_uuids = requested.is_some_and(requests_uuids);
    let (schema, array) = if requests_uuids { column.as_uuids() } else { column }.export();
    Ok((capsule(py, schema)?, capsule(py, array)?))
}

/// Returns the result of `__arrow_c_schema__`.
pub(crate) fn schema<'py>(py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyCapsule>> {
    capsule(py, arrow::schema(format))
}

fn capsule<T: CDataStruct + Send + 'static>(
    py: Python<'_>,
    value: T,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, value, T::NAME)
}

/// Returns whether a value is a capsule with a UUID schema. The schema stays in the capsule. A value of any other type is
/// ignored, because the caller's request is only a hint.
fn requests_uuids(requested: &Bound<'_, PyAny>) -> bool {
    let Ok(capsule) = requested.cast::<PyCapsule>() else { return false };
    let Ok(held) = capsule.pointer_checked(Some(Schema::NAME)) else { return false };
    // SAFETY: according to the interface, a capsule with this name holds a `Schema`. The caller keeps the capsule alive
    // during the call, so the reference is valid.
    unsafe { held.cast::<Schema>().as_ref() }.is_uuid()
}

/// Moves a struct out of its capsule.
fn take_struct<T: CDataStruct>(capsule: &Bound<'_, PyAny>) -> PyResult<T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let held = capsule.pointer_checked(Some(T::NAME))?.cast::<T>();
    // SAFETY: `held` comes from a capsule named `T::NAME`, which holds this struct according to the interface. A released
    // struct replaces it, so the capsule's destructor does not release it a second time.
    Ok(unsafe { T::take(held) })
}

/// Returns whether a value's type has a method that exports a column.
pub(crate) fn is_column(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(has_method(value, "__arrow_c_stream__")? || has_method(value, "__arrow_c_array__")?)
}

/// Returns the column that a value exports, after checking that it matches what an argument expects. Returns `None` if the
/// value's type does not export columns. Exceptions from the value's methods are propagated.
pub(crate) fn column(
    value: &Bound<'_, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<Option<Chunks>> {
    let py = value.py();
    let pieces = if has_method(value, "__arrow_c_stream__")? {
        let stream = value.call_method0(intern!(py, "__arrow_c_stream__"))?;
        import_stream(&stream)
    } else if has_method(value, "__arrow_c_array__")? {
        import_array(&value.call_method0(intern!(py, "__arrow_c_array__"))?)
    } else {
        return Ok(None);
    };
    let to_exception = |raised| {
        let error = wrong_type_error(name, expected, &type_name(value));
        raise_from(py, &error, Some(name), raised)
    };
    pieces.map(Some).map_err(to_exception)
}

/// Passes the column that a value exports to a function, and returns the function's result. Returns `None` if the value's
/// type does not export columns. Other Python threads can run while the function reads.
pub(crate) fn read_column<T: Send>(
    value: &Bound<'_, PyAny>,
    name: &str,
    expected: ExpectedColumn,
    read: impl FnOnce(&Chunks) -> Result<T, Fault> + Send,
) -> PyResult<Option<T>> {
    let Some(pieces) = column(value, name, expected.column)? else { return Ok(None) };
    let read = value.py().detach(|| read(&pieces));
    read.map(Some).map_err(|fault| expected.to_exception(fault, name))
}

/// The descriptions of an expected column and of its items, for error messages.
#[derive(Clone, Copy)]
pub(crate) struct ExpectedColumn {
    pub(crate) column: &'static str,
    pub(crate) item: &'static str,
}

fn import_stream(stream: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let stream: Stream = take_struct(stream)?;
    stream.collect().map_err(|StreamError(said)| PyRuntimeError::new_err(said))
}

fn import_array(capsules: &Bound<'_, PyAny>) -> PyResult<Chunks> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
    let (schema, array): (Schema, Array) = (take_struct(&schema)?, take_struct(&array)?);
    Ok(Chunks::import_array(schema, array))
}

fn has_method(value: &Bound<'_, PyAny>, method: &str) -> PyResult<bool> {
    value.get_type().hasattr(method)
}
