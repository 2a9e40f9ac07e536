//! Parameter types that include the parameters' names, so that errors can report these names.
//!
//! PyO3 converts an argument according to its type, and does not pass the name of the parameter to the conversion.
//! Therefore the name is part of the type. For example, the errors of a parameter of the type `Argument<UnixMs, name::end>`
//! have `end` as their `field`.

use std::marker::PhantomData;

use polyflake::{Error, ErrorKind};
use pyo3::{Borrowed, FromPyObject, prelude::*, types::PyType};

use crate::errors::raise_about;

/// The name of a parameter, as a type.
pub(crate) trait Name {
    const NAME: &str;
}

/// A type that can be read from an argument. Errors include the argument's name.
pub(crate) trait FromArgument<'a, 'py>: Sized {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self>;
}

/// A parameter's value, with the parameter's name as a type.
#[derive(Clone, Copy)]
pub(crate) struct Argument<T, N>(pub(crate) T, PhantomData<N>);

impl<T, N> Argument<T, N> {
    /// Creates a parameter with a default value.
    pub(crate) const fn new(value: T) -> Self {
        Self(value, PhantomData)
    }
}

impl<'a, 'py, T: FromArgument<'a, 'py>, N: Name> FromPyObject<'a, 'py> for Argument<T, N> {
    type Error = PyErr;
    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        T::from_argument(value, N::NAME).map(Self::new)
    }
}

/// Defines the types for names that several parameters share.
macro_rules! names {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, reason = "the parameters' own names")]
        pub(crate) mod name {
            $(
                pub(crate) enum $name {}
                impl super::Name for $name {
                    const NAME: &str = stringify!($name);
                }
            )*
        }
    };
}

names! {
    bindables block blocks clock constants data end fields follow_rollbacks generator grant guid id key layout lease name
    null_is_zero on_stall range secret sequence sequence_only snapshot sql start text test_clock tick_tock time timestamp
    unix_ms uuid uuid8
}

/// Returns the name of a value's type, for use in messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    class_name(&value.get_type())
}

/// Returns a class's name for use in messages. Several formats have classes with the same name, so the returned name begins
/// with the format. So do several libraries (`uuid.UUID` and `uuid_utils.UUID`), so it begins with the module of any other
/// class.
pub(crate) fn class_name(class: &Bound<'_, PyType>) -> String {
    let Ok(name) = class.qualname() else { return "another type".to_owned() };
    let module = class.module().map(|module| module.to_string_lossy().into_owned());
    let module = module.unwrap_or_default();
    let name = name.to_string_lossy();
    match module.strip_prefix("polyflake.").unwrap_or(&module) {
        "" | "builtins" | "__main__" | "polyflake" => name.into_owned(),
        module => format!("{module}.{name}"),
    }
}

/// Returns the error for an argument of the wrong type. `expected` and `found` describe the types in words.
#[cold]
pub(crate) fn wrong_type_error(name: &str, expected: &str, found: &str) -> Error {
    let reason = format!("expected {expected} for `{name}`, found {found}");
    Error::with_reason(ErrorKind::InvalidType, reason)
}

/// Returns the exception for an argument of the wrong type.
#[cold]
pub(crate) fn wrong_type_exception(name: &str, expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    raise_about(found.py(), &wrong_type_error(name, expected, &type_name(found)), Some(name))
}

/// Returns the exception for an argument that has the right type but the wrong content, which `found` describes in words.
#[cold]
pub(crate) fn wrong_kind_exception(name: &str, expected: &str, found: &str) -> PyErr {
    raise_named(wrong_type_error(name, expected, found), name)
}

/// Returns the exception for an error about a parameter that has a different name in the core.
#[cold]
pub(crate) fn raise_named(error: Error, name: &str) -> PyErr {
    crate::errors::with_python(|py| raise_about(py, &error, Some(name)))
}
