//! Calls without arguments that skip the parsing of arguments.
//!
//! PyO3 parses the arguments of each call, and counts how deep calls into this module are nested. That takes about as long as
//! generating the ID. Most calls of `generate()` have no arguments, and run no Python code while they generate an ID, so they
//! need neither. All other calls are passed on to PyO3's function.
#![allow(unsafe_code, reason = "functions of the C interface have pointers as arguments")]

use std::{
    ffi::{CString, c_char, c_int},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::OnceLock,
};

use pyo3::{
    exceptions::PySystemError,
    ffi::{self, PyCFunctionFastWithKeywords as Function},
    prelude::*,
    types::PyCFunction,
};

/// PyO3's function, once it is replaced.
pub(crate) type Parsing = OnceLock<Function>;

/// A function of a module that is mostly called without arguments.
pub(crate) trait Direct {
    const NAME: &'static str;

    /// The location of PyO3's function.
    fn parsing() -> &'static Parsing;

    /// Returns the result of a call without arguments, or `None` if PyO3's function must be called. It must not wait, run Python
    /// code, or leave an exception set.
    fn result(py: Python<'_>) -> Option<Bound<'_, PyAny>>;
}

const FLAGS: c_int = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;

/// Replaces PyO3's function in its module.
///
/// # Errors
/// `SystemError` if PyO3 has defined the function in another way.
pub(crate) fn install<D: Direct>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let parsing = module.getattr(D::NAME)?.cast_into::<PyCFunction>()?;
    // SAFETY: it is a built-in function. These flags are those of functions with this signature.
    let function = unsafe {
        let function = ffi::PyCFunction_GetFunction(parsing.as_ptr());
        let has_signature = ffi::PyCFunction_GetFlags(parsing.as_ptr()) == FLAGS;
        let function = function.filter(|_| has_signature);
        function.map(|function| mem::transmute::<ffi::PyCFunction, Function>(function))
    };
    let function = function.ok_or_else(|| PySystemError::new_err("expected fast calls"))?;
    D::parsing().get_or_init(|| function);
    let definition = ffi::PyMethodDef {
        ml_name: CString::new(D::NAME)?.into_raw(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call::<D> },
        ml_flags: FLAGS,
        ml_doc: documentation(D::NAME, &parsing)?,
    };
    let owner = parsing.getattr("__module__")?;
    // SAFETY: the definition lives as long as the process, and the objects are alive. The result is a new reference or null
    // with an exception set.
    let direct = unsafe {
        let definition = Box::leak(Box::new(definition));
        let direct = ffi::PyCFunction_NewEx(definition, module.as_ptr(), owner.as_ptr());
        Bound::from_owned_ptr_or_err(module.py(), direct)?
    };
    module.setattr(D::NAME, direct)
}

/// Returns the text from which the interpreter reads a function's signature and docstring. It lives as long as the process.
fn documentation(name: &str, function: &Bound<'_, PyCFunction>) -> PyResult<*const c_char> {
    let signature: String = function.getattr("__text_signature__")?.extract()?;
    let doc: String = function.getattr("__doc__")?.extract()?;
    Ok(CString::new(format!("{name}{signature}\n--\n\n{doc}"))?.into_raw())
}

unsafe extern "C" fn call<D: Direct>(
    module: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    if count == 0 && keywords.is_null() {
        // SAFETY: the interpreter calls functions on attached threads only.
        let py = unsafe { Python::assume_attached() };
        // If it panics, PyO3's function raises the exception for that.
        if let Ok(Some(result)) = catch_unwind(AssertUnwindSafe(|| D::result(py))) {
            return result.into_ptr();
        }
    }
    match D::parsing().get() {
        // SAFETY: all arguments are the interpreter's, and the function has the same signature as this one.
        Some(function) => unsafe { function(module, arguments, count, keywords) },
        None => ptr::null_mut(),
    }
}

/// Defines the direct functions of a format: `generate` and `generate_text` of its default generator. The arguments are the
/// class of generators, and the argument of a call that has none.
macro_rules! direct_defaults {
    ($class:ident $argument:expr) => {
        direct_defaults! { Generate "generate" $class $argument, object }
        direct_defaults! { GenerateText "generate_text" $class $argument, text }

        /// Replaces PyO3's functions in the format's module.
        pub(crate) fn install_direct(module: &Bound<'_, PyModule>) -> PyResult<()> {
            direct::install::<Generate>(module)?;
            direct::install::<GenerateText>(module)
        }
    };
    ($Call:ident $name:literal $class:ident $argument:expr, $object:ident) => {
        struct $Call;

        impl direct::Direct for $Call {
            const NAME: &'static str = $name;

            fn parsing() -> &'static direct::Parsing {
                static PARSING: direct::Parsing = direct::Parsing::new();
                &PARSING
            }

            #[inline]
            fn result(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
                let generator = DEFAULT.in_use(py)?.get();
                let object = <$class>::$object;
                making::one(py, generator, Mode::Try, $argument, object).ok()
            }
        }
    };
}
pub(crate) use direct_defaults;
