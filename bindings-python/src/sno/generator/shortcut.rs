//! A shortcut for the usual calls of the methods that are called most: without arguments, or with a plain `int` as the
//! metabyte, on a generator with the system's clock. All other calls go through `PyO3`'s own methods, which cost 7 ns more.
#![allow(unsafe_code, reason = "what Python calls directly has pointers for arguments")]

use std::{
    ffi::CString,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
};

use pyo3::{
    exceptions::PySystemError,
    ffi, intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyInt, PyTuple},
};

use super::Generator;
use crate::{
    generators::making::{self, Mode},
    ids::convert::Metabyte,
};

/// A method that takes an optional metabyte.
trait Method {
    const NAME: &'static str;
    /// The cell that holds `PyO3`'s own method.
    const LONG_WAY: &'static PyOnceLock<Py<PyAny>>;

    fn make<'py>(generator: &Bound<'py, Generator>, metabyte: u8) -> PyResult<Bound<'py, PyAny>>;
}

static LONG_GENERATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LONG_GENERATE_TEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

struct Generate;

impl Method for Generate {
    const NAME: &'static str = "generate";
    const LONG_WAY: &'static PyOnceLock<Py<PyAny>> = &LONG_GENERATE;

    fn make<'py>(generator: &Bound<'py, Generator>, metabyte: u8) -> PyResult<Bound<'py, PyAny>> {
        making::one(generator.py(), generator.get(), Mode::Wait, Some(Metabyte(metabyte)))
    }
}

struct GenerateText;

impl Method for GenerateText {
    const NAME: &'static str = "generate_text";
    const LONG_WAY: &'static PyOnceLock<Py<PyAny>> = &LONG_GENERATE_TEXT;

    fn make<'py>(generator: &Bound<'py, Generator>, metabyte: u8) -> PyResult<Bound<'py, PyAny>> {
        making::text(generator.py(), generator.get(), Mode::Wait, Some(Metabyte(metabyte)))
    }
}

/// Puts the shortcuts in place of `PyO3`'s methods.
pub(crate) fn put(py: Python<'_>) -> PyResult<()> {
    put_before::<Generate>(py)?;
    put_before::<GenerateText>(py)
}

fn put_before<M: Method>(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<Generator>();
    let long_way = class.getattr(M::NAME)?;
    let said = |name| long_way.getattr(name)?.extract::<String>();
    let (signature, summary) = (said("__text_signature__")?, said("__doc__")?);
    let doc = CString::new(format!("{}{signature}\n--\n\n{summary}", M::NAME))?;
    // Python keeps pointers to these for the life of the process.
    let method = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: CString::new(M::NAME)?.into_raw(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call::<M> },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: doc.into_raw(),
    }));
    // SAFETY: the class is a type, `method` and its strings are never freed, and `call` has the signature of the flags.
    // The call gives a new reference, or null with an exception set.
    let short_way = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), method))?
    };
    // Set first, since the shortcut needs it. A method that was set before is kept.
    let _ = M::LONG_WAY.set(py, long_way.unbind());
    class.setattr(M::NAME, short_way)
}

/// The function that Python calls.
///
/// # Safety
/// As for a method of [`Generator`] under `METH_FASTCALL | METH_KEYWORDS`: `slf` is a `Generator`, and `args` points to `count`
/// positional arguments and one for each name of the tuple `names`, which may be null.
unsafe extern "C" fn call<M: Method>(
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: Python calls methods while the thread is attached, and the method's descriptor has checked that `slf` is a `Generator`.
    let generator = unsafe {
        let py = Python::assume_attached();
        Borrowed::from_ptr(py, slf).cast_unchecked::<Generator>()
    };
    let made = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as the caller says.
        let given = unsafe { Given::new(generator.py(), args, count, names) };
        let short =
            generator.get().inner.clock().is_plain().then(|| given.metabyte(generator.get()));
        match short.flatten() {
            Some(metabyte) => M::make(&generator, metabyte),
            None => given.call(&generator, M::LONG_WAY),
        }
    }));
    match made.unwrap_or_else(|_| Err(PySystemError::new_err("a generator panicked"))) {
        Ok(made) => made.into_ptr(),
        Err(raised) => {
            raised.restore(generator.py());
            ptr::null_mut()
        }
    }
}

/// The arguments of a call.
struct Given<'a, 'py> {
    values: &'a [Borrowed<'a, 'py, PyAny>],
    names: Option<Borrowed<'a, 'py, PyTuple>>,
}

impl<'py> Given<'_, 'py> {
    /// # Safety
    /// As for [`call`].
    #[inline]
    unsafe fn new(
        py: Python<'py>,
        args: *const *mut ffi::PyObject,
        count: ffi::Py_ssize_t,
        names: *mut ffi::PyObject,
    ) -> Self {
        // SAFETY: the caller says that `names` is a tuple or null.
        let names = unsafe {
            Borrowed::from_ptr_or_opt(py, names).map(|names| names.cast_unchecked::<PyTuple>())
        };
        let values = match count.cast_unsigned() + names.map_or(0, |names| names.len()) {
            0 => &[],
            // SAFETY: the caller promises this many arguments. A `Borrowed` is a pointer that is not null.
            all => unsafe { slice::from_raw_parts(args.cast(), all) },
        };
        Self { values, names }
    }

    /// The metabyte, if the shortcut can take the call.
    #[inline]
    fn metabyte(&self, generator: &Generator) -> Option<u8> {
        match (self.values, self.names) {
            ([], _) => Some(generator.metabyte.0),
            ([value], names) if names.is_none_or(is_metabyte) => plain(*value),
            _ => None,
        }
    }

    /// Calls another method with the same arguments.
    #[cold]
    fn call(
        &self,
        generator: &Bound<'py, Generator>,
        method: &PyOnceLock<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = generator.py();
        let names = self.names.map_or_else(|| PyTuple::empty(py), Borrowed::to_owned);
        let (unnamed, named) = self.values.split_at(self.values.len() - names.len());
        let unnamed =
            std::iter::once(generator.as_any()).chain(unnamed.iter().map(|value| &**value));
        let keywords = PyDict::new(py);
        for (name, value) in names.iter().zip(named) {
            keywords.set_item(name, value)?;
        }
        let method = method.get(py).expect("put before the short way").bind(py);
        method.call(PyTuple::new(py, unnamed.collect::<Vec<_>>())?, Some(&keywords))
    }
}

/// Returns `true` if the only name is `metabyte`. Names in source code are interned, so equal names are the same object.
fn is_metabyte(names: Borrowed<'_, '_, PyTuple>) -> bool {
    names.len() == 1 && names.get_item(0).is_ok_and(|name| name.is(intern!(names.py(), "metabyte")))
}

/// The metabyte of a plain `int`: no Python code runs here.
fn plain(value: Borrowed<'_, '_, PyAny>) -> Option<u8> {
    let int = value.cast_exact::<PyInt>().ok()?;
    int.extract::<i64>().ok()?.try_into().ok()
}
