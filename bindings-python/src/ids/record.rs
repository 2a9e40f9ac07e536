//! Records: values that only this module creates. Records can be copied, pickled and sent to other processes.

use pyo3::{PyClass, prelude::*, types::PyType};

use crate::first_value::FirstValue;

/// The function that recreates a record, and the function's arguments.
pub(crate) type PickleParts<'py, F> = (Bound<'py, PyAny>, (Bound<'py, PyType>, F));

/// Returns the result of a record's `__reduce__`. The class's `_restore` recreates the record from its fields.
pub(crate) fn reduce_record<'py, T: PyClass, F>(
    record: &Bound<'py, T>,
    fields: F,
) -> PyResult<PickleParts<'py, F>> {
    Ok((restore_function(record.py())?.clone(), (record.as_any().get_type(), fields)))
}

/// Returns the function that recreates records.
pub(crate) fn restore_function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static RESTORE_FUNCTION: FirstValue<Py<PyAny>> = FirstValue::new();
    RESTORE_FUNCTION.import(py, "polyflake._records", "restore")
}

/// Returns the result of `__reduce__` for a record that can be recreated from its attributes.
pub(crate) fn reduce_by_attributes<'py, T: PyClass>(
    record: &Bound<'py, T>,
) -> PyResult<Bound<'py, PyAny>> {
    static REDUCE_FUNCTION: FirstValue<Py<PyAny>> = FirstValue::new();
    REDUCE_FUNCTION.import(record.py(), "polyflake._records", "reduce")?.call1((record,))
}
