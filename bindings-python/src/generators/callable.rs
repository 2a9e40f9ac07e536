//! Calls Python code on threads that CPython may terminate during the call.
#![allow(unsafe_code, reason = "the calls of PyO3 let nothing unwind through them")]

use std::{hint, mem, ptr, thread, time::Duration};

use pyo3::{ffi, prelude::*, types::PyTuple};

type Call = unsafe extern "C-unwind" fn(
    *mut ffi::PyObject,
    *mut ffi::PyObject,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// Calls a callable.
///
/// If a daemon thread tries to continue while the interpreter shuts down, CPython before 3.14 unwinds and terminates the
/// thread. Unwinding through a function that does not expect it aborts the process (SIGABRT). Here, such a thread sleeps
/// until the process exits, as it does in later versions.
pub(crate) fn call<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    // Hide the function from the compiler, which assumes that `PyObject_Call` does not unwind.
    let object_call = hint::black_box(ffi::PyObject_Call as *const ());
    // SAFETY: `object_call` is the address of `PyObject_Call`, whose parameters and result are those of `Call`. The calling
    // convention is the same whether or not a function may unwind.
    let object_call = unsafe { mem::transmute::<*const (), Call>(object_call) };
    let unwound = UnwindGuard;
    // SAFETY: `callable` and `arguments` are references to live objects, `arguments` is a tuple, and this thread is
    // attached. A null pointer stands for no keyword arguments. If the call is unwound, `UnwindGuard` never returns, so no
    // other frame is unwound.
    let result = unsafe { object_call(callable.as_ptr(), arguments.as_ptr(), ptr::null_mut()) };
    mem::forget(unwound);
    // SAFETY: `PyObject_Call` returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), result) }
}

/// A guard that is dropped when a call is unwound.
struct UnwindGuard;

impl Drop for UnwindGuard {
    fn drop(&mut self) {
        loop {
            thread::sleep(Duration::from_secs(3600));
        }
    }
}
