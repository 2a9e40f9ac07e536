//! Calls of Python's code by threads that CPython may end meanwhile.
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
/// CPython before 3.14 ends a daemon thread that wants to go on while the interpreter shuts down by unwinding it, and to unwind
/// through a function that does not expect it ends the process (SIGABRT). Such a thread stays here until the process is gone,
/// as it does in later versions.
pub(crate) fn call<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    // Opaque: the compiler knows of this very function that it does not unwind.
    let object_call = hint::black_box(ffi::PyObject_Call as *const ());
    // SAFETY: that function, which is called the same way whether it may unwind or not.
    let object_call = unsafe { mem::transmute::<*const (), Call>(object_call) };
    let unwound = Unwound;
    // SAFETY: both are objects of this interpreter, which the thread is attached to; there are no keywords.
    let result = unsafe { object_call(callable.as_ptr(), arguments.as_ptr(), ptr::null_mut()) };
    mem::forget(unwound);
    // SAFETY: a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), result) }
}

/// Dropped where a call is unwound.
struct Unwound;

impl Drop for Unwound {
    fn drop(&mut self) {
        loop {
            thread::sleep(Duration::from_secs(3600));
        }
    }
}
