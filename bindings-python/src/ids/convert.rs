//! Converts Python values to the core's arguments. All function parameters have the types that are defined here. A value of
//! the wrong type raises `invalid_type` with the parameter's name.
//!
//! A conversion may run the value's own code, such as its `__index__` or `__iter__` method. That code may change other
//! arguments, use the same generator, or raise. For this reason,
//!
//! - all arguments are converted before a call has any effect,
//! - mutable arguments, such as a `bytearray`, are copied when they are read,
//! - and exceptions pass through unchanged, because an exception that an iterable such as a cursor raises halfway through
//!   must not become `invalid_type`.
//!
//! The conversions never guess what a caller means. A `bool` is not accepted as an integer, although Python's `bool` is a
//! subclass of `int`, and a float is rejected even if it is whole.

mod names;
mod text;
mod times;

use std::{fmt, ops::RangeInclusive, time::Duration};

pub(crate) use names::{
    Argument, FromArgument, class_name, name, raise_named, type_name, wrong_kind_exception,
    wrong_type_error, wrong_type_exception,
};
use polyflake::{Error, ErrorKind, OnExhausted, sno::Sno};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError},
    prelude::*,
    types::{PyBool, PyByteArray, PyBytes, PyInt, PyIterator, PyList, PyMemoryView, PyTuple},
};
pub(crate) use text::{Octets, Text, check_length, has_buffer, owned_text, texts};
pub(crate) use times::{
    Span, UnixMs, UnixSeconds, datetime_from_micros, datetime_from_ms, datetime_to_micros,
    raise_about_time, raise_for_time_range, with_datetimes,
};

use crate::errors::raise_about;
use crate::first_value::{FirstValue, intern};

type Value<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// A Python integer of arbitrary size.
#[derive(Clone, Copy)]
pub(crate) enum AnyInteger {
    Fits(i128),
    Beyond,
}

impl AnyInteger {
    /// Reads the integer from an `int`, or from a value with `__index__`, but not from a `bool`.
    pub(crate) fn from_value(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        Self::try_from_value(value, "int", name)
    }

    /// Works like [`AnyInteger::from_value`], but errors state `expected` as the expected type. This function is for
    /// parameters that also accept other types.
    pub(crate) fn try_from_value(
        value: &Bound<'_, PyAny>,
        expected: &str,
        name: &str,
    ) -> PyResult<Self> {
        Self::from_int(&int(value, expected, name)?)
    }

    pub(crate) fn from_int(int: &Bound<'_, PyInt>) -> PyResult<Self> {
        match int.extract::<i64>() {
            Ok(fits) => Ok(Self::Fits(fits.into())),
            Err(beyond) if beyond.is_instance_of::<PyOverflowError>(int.py()) => {
                Ok(int.extract::<i128>().map_or(Self::Beyond, Self::Fits))
            }
            Err(raised) => Err(raised),
        }
    }

    pub(crate) fn try_to<T: TryFrom<i128>>(self) -> Option<T> {
        match self {
            Self::Fits(value) => T::try_from(value).ok(),
            Self::Beyond => None,
        }
    }

    /// Returns the integer if it is within the limits of a field.
    pub(crate) fn check_limits<T>(
        self,
        field: &'static str,
        limits: &RangeInclusive<T>,
    ) -> polyflake::Result<T>
    where
        T: Copy + PartialOrd + TryFrom<i128> + Into<i128>,
    {
        if let Some(number) = self.try_to().filter(|number| limits.contains(number)) {
            return Ok(number);
        }
        let (least, most): (i128, i128) = ((*limits.start()).into(), (*limits.end()).into());
        Err(match self {
            Self::Fits(found) => Error::out_of_range(field, found, least, most),
            Self::Beyond => Error::with_reason(
                ErrorKind::OutOfRange,
                format!("expected {field} from {least} to {most}, found {self}"),
            ),
        })
    }
}

/// Returns the value itself if it is an `int`, or else the `int` that it converts to.
pub(crate) fn int<'py>(
    value: &Bound<'py, PyAny>,
    expected: &str,
    name: &str,
) -> PyResult<Bound<'py, PyInt>> {
    static INDEX: FirstValue<Py<PyAny>> = FirstValue::new();
    let py = value.py();
    // `bool` is a subclass of `int`, so exclude it explicitly.
    let is_bool = value.is_instance_of::<PyBool>();
    if let (Ok(int), false) = (value.cast::<PyInt>(), is_bool) {
        return Ok(int.clone());
    }
    if is_bool || !has_index(value) {
        return Err(wrong_type_exception(name, expected, value));
    }
    Ok(INDEX.import(py, "operator", "index")?.call1((value,))?.cast_into()?)
}

/// Returns whether a value's type has `__index__`, which converts the value to an integer.
pub(crate) fn has_index(value: &Bound<'_, PyAny>) -> bool {
    // If the lookup raises an exception, the conversion will raise the exception again and propagate it.
    value.get_type().hasattr(intern!(value.py(), "__index__")).unwrap_or(true)
}

impl fmt::Display for AnyInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits(value) => value.fmt(f),
            Self::Beyond => f.write_str("an integer beyond 128 bits"),
        }
    }
}

/// Reads an integer within a parameter's limits.
pub(crate) fn number<T>(
    value: &Bound<'_, PyAny>,
    field: &'static str,
    limits: RangeInclusive<T>,
) -> PyResult<T>
where
    T: Copy + PartialOrd + TryFrom<i128> + Into<i128>,
{
    let whole = AnyInteger::from_value(value, field)?;
    whole.check_limits(field, &limits).map_err(|error| raise_about(value.py(), &error, Some(field)))
}

/// Declares integer parameters, each with its type, its name in errors, and its limits.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($type:ty) $field:literal $limits:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name(pub(crate) $type);

        impl pyo3::FromPyObject<'_, '_> for $name {
            type Error = pyo3::PyErr;
            fn extract(value: pyo3::Borrowed<'_, '_, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                $crate::ids::convert::number(&value, $field, $limits).map(Self)
            }
        }
    )*};
}
pub(crate) use numbers;

numbers! {
    Metabyte(u8) "metabyte" 0..=u8::MAX;
    Sequence(u16) "sequence" 0..=u16::MAX;
    SequenceMin(u16) "sequence_min" 0..=u16::MAX;
    SequenceMax(u16) "sequence_max" 0..=u16::MAX;
    Tick(u64) "tick" 0..=Sno::from_bytes([0xff; Sno::LEN]).tick();
    /// The number of IDs in one call. In the fixed formats, the maximum number of IDs occupies at most 256 MiB. Generating
    /// this number of IDs takes a few seconds at any format's highest rate.
    Count(u32) "n" 0..=1 << 24;
    /// The maximum waiting time in milliseconds.
    MaxWait(u32) "max_wait" 0..=u32::MAX;
}

impl From<MaxWait> for Duration {
    fn from(wait: MaxWait) -> Self {
        Self::from_millis(wait.0.into())
    }
}

/// A partition: an integer, or two bytes.
#[derive(Clone, Copy)]
pub(crate) struct Partition(pub(crate) u16);

impl FromPyObject<'_, '_> for Partition {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        let is_bytes = value.is_instance_of::<PyBytes>()
            || value.is_instance_of::<PyByteArray>()
            || value.is_instance_of::<PyMemoryView>();
        if !is_bytes {
            return number(&value, "partition", 0..=u16::MAX).map(Self);
        }
        let bytes: [u8; 2] = Octets::from_argument(value, "partition")?.to_array("partition")?;
        Ok(Self(u16::from_be_bytes(bytes)))
    }
}

/// Returns the items of a tuple or list of length `N`, such as a pair.
pub(crate) fn items<'py, const N: usize>(
    value: &Bound<'py, PyAny>,
    expected: &str,
    name: &str,
) -> PyResult<[Bound<'py, PyAny>; N]> {
    let items: Vec<_> = if let Ok(tuple) = value.cast::<PyTuple>() {
        tuple.iter().collect()
    } else if let Ok(list) = value.cast::<PyList>() {
        list.iter().collect()
    } else {
        return Err(wrong_type_exception(name, expected, value));
    };
    items
        .try_into()
        .map_err(|items: Vec<_>| raise_named(Error::invalid_length(items.len(), N, N), name))
}

/// Returns the exception for bytes that do not contain a whole number of items.
#[cold]
pub(crate) fn uneven_length_exception(name: &str, size: usize, found: usize) -> PyErr {
    raise_named(uneven_length_error(name, size, found), name)
}

/// Returns the error for bytes that do not contain a whole number of items.
#[cold]
pub(crate) fn uneven_length_error(name: &str, size: usize, found: usize) -> Error {
    let reason = format!("expected a multiple of {size} bytes for `{name}`, found {found}");
    Error::with_reason(ErrorKind::InvalidLength, reason)
}

/// The argument `on_exhausted`: `"wait"` or `"error"`.
#[derive(Clone, Copy)]
pub(crate) struct OnExhaustedArgument(pub(crate) OnExhausted);

impl OnExhaustedArgument {
    pub(crate) const WAIT: Self = Self(OnExhausted::Wait);
    pub(crate) const ERROR: Self = Self(OnExhausted::Error);
}

impl FromPyObject<'_, '_> for OnExhaustedArgument {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        match &*Text::from_argument(value, "on_exhausted")? {
            "wait" => Ok(Self::WAIT),
            "error" => Ok(Self::ERROR),
            _ => {
                let error = Error::with_reason(
                    ErrorKind::OutOfRange,
                    "expected on_exhausted \"wait\" or \"error\", found another text",
                );
                Err(raise_about(value.py(), &error, Some("on_exhausted")))
            }
        }
    }
}

/// A `bool`. Integers are rejected.
#[derive(Clone, Copy)]
pub(crate) struct Flag(pub(crate) bool);

impl<'a, 'py> FromArgument<'a, 'py> for Flag {
    fn from_argument(value: Value<'a, 'py>, name: &str) -> PyResult<Self> {
        match value.cast::<PyBool>() {
            Ok(flag) => Ok(Self(flag.is_true())),
            Err(_) => Err(wrong_type_exception(name, "bool", &value)),
        }
    }
}

/// A callable.
pub(crate) struct Callable(pub(crate) Py<PyAny>);

impl<'a, 'py> FromArgument<'a, 'py> for Callable {
    fn from_argument(value: Value<'a, 'py>, name: &str) -> PyResult<Self> {
        if !value.is_callable() {
            return Err(wrong_type_exception(name, "a callable", &value));
        }
        Ok(Self(value.to_owned().unbind()))
    }
}

/// The argument for a clock. [`StallArgument`] is the argument for a stall callback.
pub(crate) type ClockArgument = Option<Argument<Callable, name::clock>>;
pub(crate) type TestClockArgument = Option<Argument<Callable, name::test_clock>>;
pub(crate) type StallArgument = Option<Argument<Callable, name::on_stall>>;

/// Returns an iterator over an argument. Exceptions raised while creating or using the iterator are propagated.
pub(crate) fn iterator<'py>(
    value: &Bound<'py, PyAny>,
    expected: &str,
    name: &str,
) -> PyResult<Bound<'py, PyIterator>> {
    let py = value.py();
    let is_none = || {
        let class = py.import("collections.abc")?.getattr(intern!(py, "Iterable"))?;
        value.get_type().is_subclass(&class).map(|is| !is)
    };
    // A `TypeError` may also come from the value's own `__iter__`. Replace the exception only if it says that the type is
    // not iterable.
    let has_none =
        |raised: &PyErr| raised.is_instance_of::<PyTypeError>(py) && is_none().unwrap_or(false);
    value.try_iter().map_err(|raised| {
        if has_none(&raised) { wrong_type_exception(name, expected, value) } else { raised }
    })
}
