//! Strings and bytes as arguments.

use std::{borrow::Cow, ops::RangeInclusive};

use polyflake::Error;
use pyo3::{
    Borrowed, ffi,
    prelude::*,
    types::{PyBytes, PyMemoryView, PyString},
};

use super::{
    super::{
        array::NATIVE_PREFIXES,
        integers::{describe_buffer, get_buffer},
    },
    FromArgument,
    names::raise_named,
    wrong_kind_exception, wrong_type_exception,
};
use crate::errors::raise;
use crate::first_value::intern;

/// Bytes, or a copy of any other object's buffer.
pub(crate) struct Octets<'py>(Bound<'py, PyBytes>);

impl<'py> Octets<'py> {
    /// Returns a copy of the memory of a value's buffer, in C order. The caller checks the type of the buffer's items.
    pub(crate) fn copy_buffer(value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let view = PyMemoryView::from(value)?;
        let copied = view.call_method0(intern!(value.py(), "tobytes"))?;
        Ok(Self(copied.cast_into()?))
    }
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the bytes if their number matches the size of a field.
    pub(crate) fn to_array<const N: usize>(&self, name: &str) -> PyResult<[u8; N]> {
        let bytes = self.as_bytes();
        bytes.try_into().map_err(|_| raise_named(Error::invalid_length(bytes.len(), N, N), name))
    }
}

impl<'py> FromArgument<'_, 'py> for Octets<'py> {
    fn from_argument(value: Borrowed<'_, 'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self(bytes.to_owned()));
        }
        if !has_buffer(&value) {
            return Err(wrong_type_exception(name, "bytes", &value));
        }
        check_is_bytes(&value, name)?;
        Self::copy_buffer(&value)
    }
}

/// Rejects a buffer unless it is a sequence of bytes, or a single byte string, like the `S` and `V` types of `NumPy`.
fn check_is_bytes(value: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    let Some(buffer) = get_buffer(value)? else {
        let format = PyMemoryView::from(value)?.getattr(intern!(value.py(), "format"))?;
        let is_text = matches!(item_kind(format.extract()?), "s" | "x");
        return if is_text { Ok(()) } else { Err(wrong_type_exception(name, "bytes", value)) };
    };
    let fits = match item_kind(&buffer.format().to_string_lossy()) {
        "B" | "b" | "c" => buffer.item_size() == 1 && buffer.dimensions() == 1,
        "s" | "x" => buffer.item_count() == 1,
        _ => false,
    };
    if fits { Ok(()) } else { Err(wrong_kind_exception(name, "bytes", &describe_buffer(&buffer))) }
}

/// Returns the kind of the items in a buffer's format, without their byte order and their length.
fn item_kind(format: &str) -> &str {
    format.trim_start_matches(NATIVE_PREFIXES).trim_start_matches(|c: char| c.is_ascii_digit())
}

/// Returns whether a value's type supports the buffer protocol.
#[allow(unsafe_code)]
pub(crate) fn has_buffer(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: `value` is a reference to a live object, and the check only reads its type.
    unsafe { ffi::PyObject_CheckBuffer(value.as_ptr()) != 0 }
}

/// A string in which each lone surrogate, which is not a character, is replaced with a character that no format allows.
pub(crate) struct Text<'a>(Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

/// The maximum length of a string that is read without a copy. When a non-ASCII string is borrowed, Python caches its UTF-8
/// form for as long as the string lives.
const MAX_SHORT_LENGTH: usize = 64;

impl<'a, 'py> FromArgument<'a, 'py> for Text<'a> {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let Ok(text) = value.cast::<PyString>() else {
            return Err(wrong_type_exception(name, "str", &value));
        };
        if length(&text) <= MAX_SHORT_LENGTH
            && let Ok(text) = value.extract()
        {
            return Ok(Self(Cow::Borrowed(text)));
        }
        let class = value.py().get_type::<PyString>();
        let replaced =
            class.call_method1(intern!(value.py(), "encode"), (text, "utf-8", "replace"))?;
        let bytes = replaced.cast::<PyBytes>()?.as_bytes().to_vec();
        let text = String::from_utf8(bytes);
        let text =
            text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Self(text.into()))
    }
}

impl<'a> Text<'a> {
    /// Reads an ID string, which must have one of the format's lengths. A string that is too long is rejected before its
    /// characters are read.
    pub(crate) fn from_id_argument(
        value: Borrowed<'a, '_, PyAny>,
        name: &str,
        lengths: &RangeInclusive<usize>,
    ) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            check_length(&text, lengths).map_err(raise)?;
        }
        Self::from_argument(value, name)
    }
}

/// Rejects a string that is longer than any ID string of the format.
pub(crate) fn check_length(
    text: &Bound<'_, PyString>,
    lengths: &RangeInclusive<usize>,
) -> polyflake::Result<()> {
    let found = length(text);
    if found <= *lengths.end() {
        return Ok(());
    }
    Err(Error::invalid_length(found, *lengths.start(), *lengths.end()))
}

/// Returns the number of characters in a string.
#[allow(unsafe_code)]
fn length(text: &Bound<'_, PyString>) -> usize {
    // SAFETY: `text` is a reference to a live `str`, whose length is stored in the object.
    let length = unsafe { ffi::PyUnicode_GetLength(text.as_ptr()) };
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// Returns a copy of a string of Unicode characters. Borrowing the string would make Python cache its UTF-8 form.
pub(crate) fn owned_text(text: &Bound<'_, PyString>) -> PyResult<String> {
    let bytes = text.encode_utf8()?.as_bytes().to_vec();
    Ok(String::from_utf8(bytes)?)
}

/// Declares types for ID strings, with their lengths in characters.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident $lengths:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<'a>(pub(crate) $crate::ids::convert::Text<'a>);

        impl<'a, 'py> $crate::ids::convert::FromArgument<'a, 'py> for $name<'a> {
            fn from_argument(value: pyo3::Borrowed<'a, 'py, pyo3::PyAny>, name: &str) -> pyo3::PyResult<Self> {
                $crate::ids::convert::Text::from_id_argument(value, name, &$lengths).map(Self)
            }
        }
    )*};
}
pub(crate) use texts;
