//! Field values: integers, bytes and strings.

use polyflake::{Error, ErrorKind, layout::Value};
use pyo3::{
    prelude::*,
    types::{PyBool, PyByteArray, PyBytes, PyDateTime, PyInt, PyMapping, PyMemoryView, PyString},
};

use crate::{
    errors::{raise, raise_from},
    ids::convert::{
        self, AnyInteger, FromArgument, Octets, Text, datetime_to_micros, has_index, int,
        owned_text, raise_named, type_name, with_datetimes, wrong_type_exception,
    },
};

/// A value passed as an argument. The layout determines which type a field accepts. If no field accepts the value's type,
/// this struct contains the name of the type instead, for the error message.
pub(crate) struct ValueArgument(pub(crate) Value<'static>);

impl<'a, 'py> FromArgument<'a, 'py> for ValueArgument {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        read_value(&value, name).map(Self)
    }
}

/// Reads the value for the named field.
pub(super) fn read_value(value: &Bound<'_, PyAny>, field: &str) -> PyResult<Value<'static>> {
    if let Ok(text) = value.cast::<PyString>() {
        let text =
            owned_text(text).map_err(|raised| invalid_unicode_exception(value, field, raised));
        return text.map(Value::from);
    }
    let is_bytes = value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyMemoryView>();
    if is_bytes {
        return Ok(Octets::from_argument(value.as_borrowed(), field)?.as_bytes().to_vec().into());
    }
    if value.is_instance_of::<PyBool>() || !has_index(value) {
        return Ok(Value::Other(type_name(value).into()));
    }
    integer(&int(value, "int", field)?)
}

fn integer(int: &Bound<'_, PyInt>) -> PyResult<Value<'static>> {
    Ok(match AnyInteger::from_int(int)? {
        AnyInteger::Fits(number) => number.into(),
        AnyInteger::Beyond => int.extract::<u128>().map_or(Value::Beyond, Value::from),
    })
}

#[cold]
fn invalid_unicode_exception(text: &Bound<'_, PyAny>, field: &str, raised: PyErr) -> PyErr {
    let error = Error::field_error(ErrorKind::InvalidCharacter, field.to_owned());
    raise_from(text.py(), &error, Some(field), raised)
}

/// Returns the Python object for a value.
pub(super) fn to_object<'py>(py: Python<'py>, value: &Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Integer(number) => Ok(number.into_pyobject(py)?.into_any()),
        Value::Bytes(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
        Value::Text(text) => Ok(PyString::new(py, text).into_any()),
        Value::Wide(number) => Ok(number.into_pyobject(py)?.into_any()),
        // The core has other value types, but no ID contains them.
        _ => Ok(py.None().into_bound(py)),
    }
}

/// A time: either integer Unix milliseconds, or an aware datetime with microsecond precision. The layout rejects other
/// types.
pub(crate) struct Time {
    pub(crate) value: Value<'static>,
    pub(crate) is_datetime: bool,
}

impl<'a, 'py> FromArgument<'a, 'py> for Time {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let Ok(datetime) = value.cast::<PyDateTime>() else {
            return Ok(Self { value: read_value(&value, name)?, is_datetime: false });
        };
        let micros = i128::from(datetime_to_micros(&datetime, name)?);
        Ok(Self { value: Value::Nanos(micros * 1000), is_datetime: true })
    }
}

/// The parameter names of the fields that every layout recognizes.
const TIMESTAMP: &str = "timestamp";
const SEQUENCE: &str = "sequence";

/// The names of the values passed for an ID, for use in errors.
#[derive(Default)]
pub(crate) struct Names {
    names: Vec<String>,
    /// Whether the time was passed as a datetime.
    pub(super) has_datetime: bool,
}

impl Names {
    pub(crate) fn add(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    /// Returns the exception for an error that the core reports about an ID's values.
    #[cold]
    pub(crate) fn raise(&self, error: Error) -> PyErr {
        if error.kind() == ErrorKind::TimeOutOfRange {
            let told = if self.has_datetime { with_datetimes(&error) } else { None };
            return raise_named(told.unwrap_or(error), TIMESTAMP);
        }
        self.raise_typed(error)
    }

    /// Returns the exception for an error from a call that receives these values. If a value has the wrong type, the core
    /// mentions the value's name only in the error's message.
    #[cold]
    pub(crate) fn raise_typed(&self, error: Error) -> PyErr {
        if error.kind() != ErrorKind::InvalidType || error.field().is_some() {
            return raise(error);
        }
        let reason = error.to_string();
        let mut names =
            [TIMESTAMP, SEQUENCE].into_iter().chain(self.names.iter().map(|name| &**name));
        match names.find(|name| reason.contains(name)) {
            Some(name) => raise_named(error, name),
            None => raise(error),
        }
    }
}

impl NamedValues {
    /// Returns the names without the values.
    pub(crate) fn names(&self) -> Names {
        let names = self.0.iter().map(|(name, _)| name.clone()).collect();
        Names { names, has_datetime: false }
    }
}

/// Named values, read from a mapping.
#[derive(Default)]
pub(crate) struct NamedValues(pub(crate) Vec<(String, Value<'static>)>);

impl<'a, 'py> FromArgument<'a, 'py> for NamedValues {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, parameter: &str) -> PyResult<Self> {
        let named = |(name, value): (String, Bound<'_, PyAny>)| {
            let value = read_value(&value, &name)?;
            Ok((name, value))
        };
        items(&value, parameter)?.into_iter().map(named).collect::<PyResult<_>>().map(Self)
    }
}

/// Returns the items of a mapping whose keys are names.
pub(super) fn items<'py>(
    value: &Bound<'py, PyAny>,
    parameter: &str,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let Ok(mapping) = value.cast::<PyMapping>() else {
        return Err(wrong_type_exception(parameter, "a mapping", value));
    };
    mapping.items()?.iter().map(|item| split_item(&item, parameter)).collect()
}

fn split_item<'py>(
    item: &Bound<'py, PyAny>,
    parameter: &str,
) -> PyResult<(String, Bound<'py, PyAny>)> {
    let [name, value] = convert::items(item, "pairs of a name and a value", parameter)?;
    let text = Text::from_argument(name.as_borrowed(), parameter)?;
    // A name that is not valid Unicode never matches a field's name, although its lossy replacement might.
    if name.cast::<PyString>().is_ok_and(|name| name.encode_utf8().is_err()) {
        return Err(raise(Error::field_error(ErrorKind::UnknownField, text.to_string())));
    }
    Ok((text.to_string(), value))
}

impl NamedValues {
    /// Returns an iterator over the names and values, in the form that the core accepts.
    pub(crate) fn iter<'v>(&'v self) -> impl Iterator<Item = (&'v str, Value<'v>)> {
        self.0.iter().map(|(name, value)| -> (&'v str, Value<'v>) { (name, value.clone()) })
    }
}
