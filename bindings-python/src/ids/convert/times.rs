//! Times passed as arguments, and times as Python objects.

use polyflake::{Error, ErrorKind, UnixTime};
use pyo3::{
    Borrowed,
    exceptions::PyOverflowError,
    prelude::*,
    types::{PyDateTime, PyDelta, PyDeltaAccess, PyTzInfo},
};

use super::{
    AnyInteger, FromArgument, items, names::raise_named, wrong_kind_exception, wrong_type_exception,
};
use crate::errors::{raise, raise_about, with_python};
use crate::first_value::{FirstValue, intern};

const EXPECTED_TIME: &str = "int or aware datetime";

/// A time in Unix milliseconds: an integer, or the millisecond that contains an aware datetime. Converting the time to
/// [`UnixTime`] keeps a datetime's microseconds.
#[derive(Clone, Copy)]
pub(crate) struct UnixMs(pub(crate) i64, TimeForm);

/// The form in which a caller passed a time. Error messages show the time in the same form.
#[derive(Clone, Copy)]
enum TimeForm {
    Integer,
    Datetime { unix_micros: i64 },
}

impl From<UnixMs> for UnixTime {
    fn from(time: UnixMs) -> Self {
        match time.1 {
            TimeForm::Integer => time.0.into(),
            TimeForm::Datetime { unix_micros } => Self::from_micros(unix_micros),
        }
    }
}

impl UnixMs {
    /// Returns the first whole millisecond at or after the time.
    fn ceil(self) -> i64 {
        let is_within =
            matches!(self.1, TimeForm::Datetime { unix_micros } if unix_micros % 1000 != 0);
        self.0 + i64::from(is_within)
    }

    /// Returns the time in the form in which the caller passed it.
    fn to_display(self) -> String {
        match self.1 {
            TimeForm::Integer => format!("{} ms", self.0),
            TimeForm::Datetime { unix_micros } => display_micros(unix_micros.into()),
        }
    }

    /// Returns the exception for an error. If the error is about this time and the caller passed a datetime, the message
    /// shows times as datetimes.
    #[cold]
    pub(crate) fn raise(self, error: Error, name: &str) -> PyErr {
        let is_told = matches!(self.1, TimeForm::Datetime { .. }) && is_time_error(&error);
        let told = if is_told { with_datetimes(&error) } else { None };
        told.map_or_else(|| raise_about_time(error, name), |told| raise_named(told, name))
    }
}

impl<'a, 'py> FromArgument<'a, 'py> for UnixMs {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(datetime) = value.cast::<PyDateTime>() {
            let unix_micros = datetime_to_micros(&datetime, name)?;
            return Ok(Self(unix_micros.div_euclid(1000), TimeForm::Datetime { unix_micros }));
        }
        let whole = AnyInteger::try_from_value(&value, EXPECTED_TIME, name)?;
        let unix_ms = whole.try_to().map(|unix_ms| Self(unix_ms, TimeForm::Integer));
        unix_ms.ok_or_else(|| oversized_time_exception(&value, "milliseconds", whole, name))
    }
}

/// A time in whole Unix seconds, as an integer.
#[derive(Clone, Copy)]
pub(crate) struct UnixSeconds(pub(crate) i64);

impl<'a, 'py> FromArgument<'a, 'py> for UnixSeconds {
    fn from_argument(value: Borrowed<'a, 'py, PyAny>, name: &str) -> PyResult<Self> {
        let whole = AnyInteger::from_value(&value, name)?;
        whole
            .try_to()
            .map(Self)
            .ok_or_else(|| oversized_time_exception(&value, "seconds", whole, name))
    }
}

/// Returns the error for a time that no format can represent.
#[cold]
fn oversized_time_exception(
    value: &Bound<'_, PyAny>,
    unit: &str,
    found: AnyInteger,
    name: &str,
) -> PyErr {
    let reason = format!("expected {name} in 64-bit {unit}, found {found}");
    let error = Error::with_reason(ErrorKind::TimeOutOfRange, reason);
    raise_about(value.py(), &error, Some(name))
}

/// A half-open time span, passed as a pair.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: UnixMs,
    pub(crate) end: UnixMs,
}

impl Span {
    const NAME: &str = "window";

    /// Returns the exception for an error from a generator that was created with this window.
    #[cold]
    pub(crate) fn raise(window: Option<Self>, error: Error) -> PyErr {
        let Some(Self { start, end }) = window else { return raise(error) };
        let error = with_bounds(error, start, end);
        (if error.field() == Some("end") { end } else { start }).raise(error, Self::NAME)
    }
}

impl FromPyObject<'_, '_> for Span {
    type Error = PyErr;
    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let [start, end] = items(&value, "a pair of times", Self::NAME)?;
        let time = |time: Bound<'_, PyAny>| UnixMs::from_argument(time.as_borrowed(), Self::NAME);
        Ok(Self { start: time(start)?, end: time(end)? })
    }
}

/// Returns the exception for a time range that the core rejects because of its start or its end.
#[cold]
pub(crate) fn raise_for_time_range(error: Error, start: UnixMs, end: UnixMs) -> PyErr {
    let error = with_bounds(error, start, end);
    let is_named = error.field() == Some("start");
    let is_start = is_named
        || error.kind() == ErrorKind::TimeOutOfRange
            && error.range().is_some_and(|(found, ..)| found == i128::from(start.ceil()));
    if is_start { start.raise(error, "start") } else { end.raise(error, "end") }
}

/// Returns the error for a range in which no tick starts with the bounds as the caller passed them, and any other error
/// unchanged.
fn with_bounds(error: Error, start: UnixMs, end: UnixMs) -> Error {
    let is_empty = error.kind() == ErrorKind::OutOfRange && error.field() == Some("end");
    let [start, end] = match error.range() {
        None if is_empty => [start, end].map(UnixMs::to_display),
        _ => return error,
    };
    let reason = format!("expected a time range in which a tick starts, found {start} to {end}");
    Error::with_reason(ErrorKind::OutOfRange, reason).with_field("end")
}

/// Returns a time as a datetime, or as milliseconds if it is after the year 9999.
fn display_micros(unix_micros: i128) -> String {
    let datetime =
        with_python(|py| Some(datetime_from_micros(py, unix_micros).ok()?.str().ok()?.to_string()));
    datetime.unwrap_or_else(|| format!("{} ms", unix_micros.div_euclid(1000)))
}

/// Returns a copy of an error whose message shows the times in its range as datetimes, or `None` if the error has no range.
#[cold]
pub(crate) fn with_datetimes(error: &Error) -> Option<Error> {
    let (field, (found, least, most)) = (error.field().unwrap_or("time"), error.range()?);
    let told = |unix_ms: i128| display_micros(unix_ms.saturating_mul(1000));
    let [found, least, most] = [found, least, most].map(told);
    let reason = format!("expected {field} from {least} to {most}, found {found}");
    Some(Error::with_reason(error.kind(), reason))
}

/// Returns the exception for an error. If the error is about a time, the exception's field is `name`.
#[cold]
pub(crate) fn raise_about_time(error: Error, name: &str) -> PyErr {
    if is_time_error(&error) { raise_named(error, name) } else { raise(error) }
}

/// Returns whether an error is about a time or a bound of a time span, rather than about a field that the caller named.
fn is_time_error(error: &Error) -> bool {
    const TIME_SPAN_FIELDS: [&str; 4] = ["time range", "window", "start", "end"];
    let names_span = |field: &str| TIME_SPAN_FIELDS.iter().any(|span| field.contains(span));
    match error.kind() {
        ErrorKind::TimeOutOfRange => true,
        ErrorKind::OutOfRange => error.field().is_some_and(names_span),
        _ => false,
    }
}

/// Returns 1970-01-01T00:00:00Z.
fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyDateTime>> {
    static EPOCH: FirstValue<Py<PyDateTime>> = FirstValue::new();
    let epoch = EPOCH.get_or_create(py, || {
        PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&*PyTzInfo::utc(py)?)).map(Bound::unbind)
    })?;
    Ok(epoch.bind(py))
}

/// Converts an aware datetime to Unix microseconds.
pub(crate) fn datetime_to_micros(datetime: &Bound<'_, PyDateTime>, name: &str) -> PyResult<i64> {
    let py = datetime.py();
    if datetime.call_method0(intern!(py, "utcoffset"))?.is_none() {
        return Err(wrong_kind_exception(name, EXPECTED_TIME, "naive datetime"));
    }
    let since = datetime.sub(epoch(py)?)?;
    let since =
        since.cast::<PyDelta>().map_err(|_| wrong_type_exception(name, EXPECTED_TIME, datetime))?;
    let seconds = i64::from(since.get_days()) * 86400 + i64::from(since.get_seconds());
    Ok(seconds * 1_000_000 + i64::from(since.get_microseconds()))
}

/// Converts Unix milliseconds to an aware datetime in UTC.
pub(crate) fn datetime_from_ms(py: Python<'_>, unix_ms: i64) -> PyResult<Bound<'_, PyAny>> {
    datetime_from_micros(py, i128::from(unix_ms) * 1000)
}

/// Converts Unix microseconds to an aware datetime in UTC. Fails with an `OverflowError` outside the years 1 to 9999.
pub(crate) fn datetime_from_micros(py: Python<'_>, micros: i128) -> PyResult<Bound<'_, PyAny>> {
    const MICROS_PER_DAY: i128 = 86_400_000_000;
    let (days, micros) = (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY));
    let part = |value: i128| {
        i32::try_from(value)
            .map_err(|_| PyOverflowError::new_err("expected a year from 1 to 9999, found another"))
    };
    let (seconds, micros) = (part(micros / 1_000_000)?, part(micros % 1_000_000)?);
    epoch(py)?.add(PyDelta::new(py, part(days)?, seconds, micros, false)?)
}
