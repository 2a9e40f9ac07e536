//! Records: values that only this module makes, which may be copied, pickled and sent to other processes.

use pyo3::{PyClass, prelude::*, sync::PyOnceLock, types::PyType};

/// The function that makes a record anew, and its arguments.
pub(crate) type Reduced<'py, F> = (Bound<'py, PyAny>, (Bound<'py, PyType>, F));

/// The result of a record's `__reduce__`: its class gets its fields back by `_restore`.
pub(crate) fn reduced<'py, T: PyClass, F>(
    record: &Bound<'py, T>,
    fields: F,
) -> PyResult<Reduced<'py, F>> {
    Ok((restore(record.py())?.clone(), (record.as_any().get_type(), fields)))
}

/// The function that makes records anew.
pub(crate) fn restore(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static RESTORE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    RESTORE.import(py, "polyflake._records", "restore")
}
