//! Converts the core's errors to Python exceptions. The exception classes and the table of their codes are defined in
//! Python: `polyflake/_errors.py`.

use std::{error, fmt};

use polyflake::{Error, ErrorKind};

use pyo3::{exceptions::PyException, ffi, marker::Ungil, prelude::*};

use crate::first_value::FirstValue;

/// The cause of a failed call from the core to Python code. The cause is either an exception that the Python code raised,
/// or a string that states the reason. The core's error stores the cause as its source.
#[derive(Debug)]
pub(crate) enum RaisedError {
    /// An exception from a clock, which becomes the cause of `clock_failed`.
    ByClock(PyErr),
    /// An exception from a signal handler or a stall callback during a wait. It is raised unchanged.
    InWait(PyErr),
    /// The reason for an error. It becomes the error's message.
    Reason(String),
}

impl fmt::Display for RaisedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByClock(raised) | Self::InWait(raised) => raised.fmt(f),
            Self::Reason(reason) => reason.fmt(f),
        }
    }
}

impl error::Error for RaisedError {}

impl RaisedError {
    /// Returns the exception or reason in an error, if it has one.
    fn find_in(error: &Error) -> Option<&Self> {
        error::Error::source(error)?.downcast_ref()
    }
}

/// Returns the exception for an error from the core.
#[cold]
pub(crate) fn raise(error: Error) -> PyErr {
    with_python(|py| raise_about(py, &error, error.field()))
}

/// Calls a function that uses Python. Only code that was called from Python may call this function, so that the current
/// thread is attached. This function does not use `Python::attach`, because finalizers still make calls while the
/// interpreter shuts down, and `Python::attach` would panic at that time.
#[allow(unsafe_code)]
pub(crate) fn with_python<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    // SAFETY: only functions called from Python create exceptions. Their thread is attached at that time, because every
    // `detach` ends before its result is converted to an exception.
    work(unsafe { Python::assume_attached() })
}

/// Calls a function while other Python threads may run. While the interpreter shuts down, the thread stays attached,
/// because no other threads run and no thread may attach again.
#[allow(unsafe_code)]
pub(crate) fn detach<R: Ungil, F: Ungil + FnOnce() -> R>(py: Python<'_>, work: F) -> R {
    // SAFETY: this function is always safe to call.
    if unsafe { ffi::Py_IsInitialized() } == 0 { work() } else { py.detach(work) }
}

/// Returns the exception for an error. An exception from Python code becomes its cause. However, an exception that does not
/// derive from `Exception` (`KeyboardInterrupt`, `SystemExit`) is returned unchanged.
#[cold]
pub(crate) fn raise_from(
    py: Python<'_>,
    error: &Error,
    field: Option<&str>,
    cause: PyErr,
) -> PyErr {
    // `KeyboardInterrupt` and `SystemExit` pass through unchanged. Otherwise a program that catches errors would also catch
    // a request to stop.
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    let raised = build_exception(py, error, field);
    raised.set_cause(py, Some(cause));
    raised
}

/// Returns the exception for an error about a field. The core may mention the field only in the error's message. If the
/// error carries an exception, that exception becomes the cause, or is raised instead.
#[cold]
pub(crate) fn raise_about(py: Python<'_>, error: &Error, field: Option<&str>) -> PyErr {
    match RaisedError::find_in(error) {
        Some(RaisedError::ByClock(cause)) => raise_from(py, error, field, cause.clone_ref(py)),
        Some(RaisedError::InWait(raised)) => raised.clone_ref(py),
        Some(RaisedError::Reason(_)) | None => build_exception(py, error, field),
    }
}

fn build_exception(py: Python<'_>, error: &Error, field: Option<&str>) -> PyErr {
    let message = match RaisedError::find_in(error) {
        Some(RaisedError::Reason(reason)) => reason.clone(),
        _ => error.to_string(),
    };
    let said = (
        error.code(),
        message,
        error.position(),
        field,
        error.retry_at(),
        error.written(),
        error.item(),
    );
    let built = exception_builder(py).and_then(|build| build.call1(said));
    built.map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the exception for an error from outside the core, given its code, its message, and the time from which a retry
/// may succeed.
#[cold]
pub(crate) fn raise_as(
    py: Python<'_>,
    code: &str,
    message: String,
    retry_at: Option<u64>,
) -> PyErr {
    let none = || py.None();
    let said = (code, message, none(), none(), retry_at, none(), none());
    let built = exception_builder(py).and_then(|build| build.call1(said));
    built.map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the function that creates exceptions. It is imported early, because imports fail during interpreter shutdown.
pub(crate) fn exception_builder(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EXCEPTION_BUILDER: FirstValue<Py<PyAny>> = FirstValue::new();
    EXCEPTION_BUILDER.import(py, "polyflake._errors", "build")
}

/// Returns the error for copying or pickling an object of which only one instance may exist.
#[cold]
pub(crate) fn reject_copy(reason: &'static str) -> PyResult<()> {
    Err(raise(Error::with_reason(ErrorKind::InvalidType, reason)))
}
