//! Calls without arguments that bypass PyO3's argument parsing.
//!
//! PyO3 parses the arguments of each call, and counts how deeply calls into this module are nested. Together, these steps
//! take 10 ns of the 80 ns that a call takes. Most calls of `generate()` have no arguments, and run no Python code while
//! they generate an ID, so they need neither step. Three kinds of calls still go through PyO3's function: calls with
//! arguments, calls that must wait, and calls of generators whose clock is a Python callable.
//!
//! The stable ABI allows replacing a module's function, but gives no access to a method's function. Therefore builds for
//! all versions of CPython keep PyO3's methods, and only builds for a single version replace them.
#![allow(unsafe_code, reason = "functions of the C interface have pointers as arguments")]

use std::{
    ffi::{CString, c_char, c_int},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
    sync::OnceLock,
};

use pyo3::{
    Borrowed,
    exceptions::PySystemError,
    ffi::{self, PyCFunctionFastWithKeywords as Function},
    prelude::*,
    types::PyCFunction,
};

/// A cell that stores PyO3's function once that function has been replaced.
pub(crate) type OriginalFunction = OnceLock<Function>;

/// A function of a module, or a method of a class, that is mostly called without arguments.
pub(crate) trait DirectFunction {
    const NAME: &'static str;

    /// Returns the cell that stores PyO3's function.
    fn original_function() -> &'static OriginalFunction;

    /// Returns the result of a call without arguments, or `None` if PyO3's function must handle the call. This function
    /// must not wait, run Python code, or leave an exception set. `owner` is the module, or an instance of the class.
    fn result<'py>(owner: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>>;
}

const FLAGS: c_int = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;

/// Replaces PyO3's function in its module.
///
/// # Errors
///
/// `SystemError` if PyO3 has defined the function differently than expected.
pub(crate) fn install<D: DirectFunction>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let original_function = module.getattr(D::NAME)?.cast_into::<PyCFunction>()?;
    // SAFETY: the cast has checked that `original_function` is a built-in function, so its function pointer and flags may
    // be read. A function with exactly `FLAGS` has the signature of `Function`, and all other functions are filtered out
    // before the conversion.
    let function = unsafe {
        let function = ffi::PyCFunction_GetFunction(original_function.as_ptr());
        let has_signature = ffi::PyCFunction_GetFlags(original_function.as_ptr()) == FLAGS;
        let function = function.filter(|_| has_signature);
        function.map(|function| mem::transmute::<ffi::PyCFunction, Function>(function))
    };
    let function = function.ok_or_else(|| PySystemError::new_err("expected fast calls"))?;
    D::original_function().get_or_init(|| function);
    let definition = ffi::PyMethodDef {
        ml_name: CString::new(D::NAME)?.into_raw(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call::<D> },
        ml_flags: FLAGS,
        ml_doc: documentation(D::NAME, &original_function)?,
    };
    let owner = original_function.getattr("__module__")?;
    // SAFETY: the definition is leaked, so it outlives the function, which refers to it. `module` and `owner` are
    // references to live objects, to which the function adds its own references. `PyCFunction_NewEx` returns a new
    // reference, or null with an exception set.
    let direct = unsafe {
        let definition = Box::leak(Box::new(definition));
        let direct = ffi::PyCFunction_NewEx(definition, module.as_ptr(), owner.as_ptr());
        Bound::from_owned_ptr_or_err(module.py(), direct)?
    };
    module.setattr(D::NAME, direct)
}

/// Replaces PyO3's method in its class. The stable ABI gives no access to a method's function, so builds for the stable ABI
/// keep PyO3's method.
///
/// # Errors
///
/// `SystemError` if PyO3 has defined the method differently than expected.
#[cfg(not(Py_LIMITED_API))]
pub(crate) fn install_method<D: DirectFunction>(
    class: &Bound<'_, pyo3::types::PyType>,
) -> PyResult<()> {
    let original_function = class.getattr(D::NAME)?;
    // SAFETY: the pointer is read only if the object is a method of a class that C or Rust code defines. Such a class keeps
    // the definition alive as long as the method is alive. The method is never freed, because `into_ptr` leaks a reference
    // to it. A function whose flags are equal to `FLAGS` has the signature of `PyCFunctionFastWithKeywords`.
    // `PyDescr_NewMethod` returns a new reference, or null with an exception set.
    let direct = unsafe {
        let is_method = original_function.get_type_ptr() == &raw mut ffi::PyMethodDescr_Type;
        let original_function = original_function.into_ptr().cast::<ffi::PyMethodDescrObject>();
        let definition =
            is_method.then(|| (*original_function).d_method).filter(|it| (**it).ml_flags == FLAGS);
        let definition = definition.ok_or_else(|| PySystemError::new_err("expected fast calls"))?;
        D::original_function().get_or_init(|| (*definition).ml_meth.PyCFunctionFastWithKeywords);
        let direct = Box::leak(Box::new(ffi::PyMethodDef {
            ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call::<D> },
            ..*definition
        }));
        let direct = ffi::PyDescr_NewMethod(class.as_type_ptr(), direct);
        Bound::from_owned_ptr_or_err(class.py(), direct)?
    };
    class.setattr(D::NAME, direct)
}

/// Returns the C string from which the interpreter reads a function's signature and docstring. The string lives as long as
/// the process.
fn documentation(name: &str, function: &Bound<'_, PyCFunction>) -> PyResult<*const c_char> {
    let signature: String = function.getattr("__text_signature__")?.extract()?;
    let doc: String = function.getattr("__doc__")?.extract()?;
    Ok(CString::new(format!("{name}{signature}\n--\n\n{doc}"))?.into_raw())
}

unsafe extern "C" fn call<D: DirectFunction>(
    owner: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    if count == 0 && keywords.is_null() {
        // SAFETY: the interpreter calls this function on an attached thread, and holds a reference to `owner` during the
        // call.
        let owner = unsafe { Borrowed::from_ptr(Python::assume_attached(), owner) };
        // If the direct call panics, PyO3's function raises the exception for the panic.
        if let Ok(Some(result)) = catch_unwind(AssertUnwindSafe(|| D::result(&owner))) {
            return result.into_ptr();
        }
    }
    match D::original_function().get() {
        // SAFETY: `function` is the function that this one replaced. It has the same signature, and receives the arguments
        // that the interpreter passed, unchanged.
        Some(function) => unsafe { function(owner, arguments, count, keywords) },
        None => ptr::null_mut(),
    }
}

/// Defines a format's direct calls: `generate` and `generate_text`, for both its default generator and its generator class.
/// The macro's arguments are the class and the value that is used if a call omits the format's argument.
macro_rules! direct_calls {
    ($class:ident $argument:expr) => {
        direct_calls! { Generate "generate" $class $argument, object, |owner| DEFAULT.generator_in_use(owner.py())? }
        direct_calls! { GenerateText "generate_text" $class $argument, text, |owner| DEFAULT.generator_in_use(owner.py())? }
        #[cfg(not(Py_LIMITED_API))]
        direct_calls! { MethodGenerate "generate" $class $argument, object, |owner| owner.cast::<$class>().ok()? }
        #[cfg(not(Py_LIMITED_API))]
        direct_calls! { MethodGenerateText "generate_text" $class $argument, text, |owner| owner.cast::<$class>().ok()? }

        /// Replaces PyO3's functions in the format's module, and its methods in the generator class.
        pub(crate) fn install_direct(module: &Bound<'_, PyModule>) -> PyResult<()> {
            direct::install::<Generate>(module)?;
            direct::install::<GenerateText>(module)?;
            #[cfg(not(Py_LIMITED_API))]
            direct::install_method::<MethodGenerate>(&module.py().get_type::<$class>())?;
            #[cfg(not(Py_LIMITED_API))]
            direct::install_method::<MethodGenerateText>(&module.py().get_type::<$class>())?;
            Ok(())
        }
    };
    ($Call:ident $name:literal $class:ident $argument:expr, $object:ident, |$owner:ident| $generator:expr) => {
        struct $Call;

        impl direct::DirectFunction for $Call {
            const NAME: &'static str = $name;

            fn original_function() -> &'static direct::OriginalFunction {
                static ORIGINAL_FUNCTION: direct::OriginalFunction = direct::OriginalFunction::new();
                &ORIGINAL_FUNCTION
            }

            #[inline]
            fn result<'py>($owner: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
                let generator = $generator.get();
                if generator.inner.may_run_python(|own| own.clock()) {
                    return None;
                }
                let object = <$class>::$object;
                making::generate_one($owner.py(), generator, Mode::Try, $argument, object).ok()
            }
        }
    };
}
pub(crate) use direct_calls;
