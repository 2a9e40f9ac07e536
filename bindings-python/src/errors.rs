//! From the core's errors to Python's exceptions. The classes, and which code raises which, are Python: `polyflake/_errors.py`.

use std::cell::RefCell;

use polyflake::{Error, ErrorKind};
use pyo3::{exceptions::PyException, ffi, marker::Ungil, prelude::*, sync::PyOnceLock};

/// What Python code raised while the core was waiting for it.
pub(crate) enum Raised {
    /// By a clock: the cause of `clock_failed`.
    ByClock(PyErr),
    /// By a signal's handler or a stall's callback during a wait: raised as it is.
    InWait(PyErr),
}

thread_local! {
    /// What this thread's last clock reading or wait raised: the core's error has no room for it.
    static RAISED: RefCell<Option<Raised>> = const { RefCell::new(None) };
}

/// Keeps what Python code raised until the core's error, which is on its way then, comes back to [`raise`].
pub(crate) fn keep(raised: Raised) {
    RAISED.set(Some(raised));
}

/// The exception for an error of the core.
#[cold]
pub(crate) fn raise(error: Error) -> PyErr {
    attached(|py| {
        let raised = RAISED.take().filter(|_| error.kind() == ErrorKind::ClockFailed);
        match raised {
            Some(Raised::ByClock(cause)) => raise_from(py, &error, error.field(), cause),
            Some(Raised::InWait(raised)) => raised,
            None => raise_about(py, &error, error.field()),
        }
    })
}

/// Lets a function use Python on a thread that is in a call of Python's. `Python::attach` doubts that while the interpreter shuts
/// down, and panics, though finalisers run and call then.
#[allow(unsafe_code)]
pub(crate) fn attached<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    // SAFETY: only functions that Python calls make exceptions, and they do it while their thread is attached: every `detach` is
    // over when its result becomes one.
    work(unsafe { Python::assume_attached() })
}

/// Does work while other threads run. While the interpreter shuts down there are none, and no thread may come back to it.
#[allow(unsafe_code)]
pub(crate) fn detached<R: Ungil, F: Ungil + FnOnce() -> R>(py: Python<'_>, work: F) -> R {
    // SAFETY: always safe to call.
    if unsafe { ffi::Py_IsInitialized() } == 0 { work() } else { py.detach(work) }
}

/// The exception for an error, with what Python code raised as its cause. What is no `Exception` (`KeyboardInterrupt`,
/// `SystemExit`) goes through unchanged.
#[cold]
pub(crate) fn raise_from(
    py: Python<'_>,
    error: &Error,
    field: Option<&str>,
    cause: PyErr,
) -> PyErr {
    if !cause.is_instance_of::<PyException>(py) {
        return cause;
    }
    let refused = raise_about(py, error, field);
    refused.set_cause(py, Some(cause));
    refused
}

/// The exception for an error about a field, also where the core's error has it in words only.
#[cold]
pub(crate) fn raise_about(py: Python<'_>, error: &Error, field: Option<&str>) -> PyErr {
    let said = (
        error.code(),
        error.to_string(),
        error.position(),
        field,
        error.retry_at(),
        error.written(),
        error.item(),
    );
    let built = build(py).and_then(|build| build.call1(said));
    built.map_or_else(|failure| failure, PyErr::from_value)
}

/// The function that makes exceptions. Nothing can be imported when the interpreter shuts down, so it is asked for before.
pub(crate) fn build(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static BUILD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    BUILD.import(py, "polyflake._errors", "build")
}

/// What copying and pickling call of an object that must stay the only one of its kind.
#[cold]
pub(crate) fn no_copy(reason: &'static str) -> PyResult<()> {
    Err(raise(Error::because(ErrorKind::InvalidType, reason)))
}
