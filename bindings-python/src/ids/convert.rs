//! From Python values to the arguments of the core: every function's parameters are of these types. A value of another
//! type is `invalid_type`; if its own code raised, that is the cause.

use std::{borrow::Cow, fmt, ops::RangeInclusive, time::Duration};

use polyflake::{
    Error, ErrorKind,
    sno::{OnExhausted, Sno},
};
use pyo3::{
    exceptions::PyOverflowError,
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{
        PyBool, PyByteArray, PyBytes, PyDateTime, PyDelta, PyDeltaAccess, PyInt, PyList,
        PyMemoryView, PyString, PyTuple, PyTzInfo,
    },
};

use crate::errors::{raise, raise_about, raise_from};

type Value<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// The name of a value's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value
        .get_type()
        .qualname()
        .map_or_else(|_| "another type".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The error for a value of another type.
pub(crate) fn invalid_type(expected: &'static str, found: &Bound<'_, PyAny>) -> Error {
    Error::invalid_type(expected, type_name(found))
}

/// An integer as Python has it, of any size.
#[derive(Clone, Copy)]
pub(crate) enum Whole {
    Fits(i128),
    Beyond,
}

impl Whole {
    /// An `int`, or what stands for one (`__index__`); a `bool` does not.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::among(value, "int")
    }

    /// As [`Whole::of`], where other types would do too.
    fn among(value: &Bound<'_, PyAny>, expected: &'static str) -> PyResult<Self> {
        Self::of_int(&int(value, expected)?)
    }

    pub(crate) fn of_int(int: &Bound<'_, PyInt>) -> PyResult<Self> {
        match int.extract::<i64>() {
            Ok(fits) => Ok(Self::Fits(fits.into())),
            Err(beyond) if beyond.is_instance_of::<PyOverflowError>(int.py()) => {
                Ok(int.extract::<i128>().map_or(Self::Beyond, Self::Fits))
            }
            Err(raised) => Err(raised),
        }
    }

    pub(crate) fn to<T: TryFrom<i128>>(self) -> Option<T> {
        match self {
            Self::Fits(value) => T::try_from(value).ok(),
            Self::Beyond => None,
        }
    }
}

/// The `int` that a value is, or stands for.
pub(crate) fn int<'py>(
    value: &Bound<'py, PyAny>,
    expected: &'static str,
) -> PyResult<Bound<'py, PyInt>> {
    static INDEX: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let is_bool = value.is_instance_of::<PyBool>();
    if let (Ok(int), false) = (value.cast::<PyInt>(), is_bool) {
        return Ok(int.clone());
    }
    if is_bool || !has_index(value) {
        return Err(raise(invalid_type(expected, value)));
    }
    let int = INDEX.import(py, "operator", "index")?.call1((value,));
    let int = int.map_err(|raised| raise_from(py, &invalid_type(expected, value), raised))?;
    Ok(int.cast_into()?)
}

/// Whether a value's type claims that its values stand for integers.
pub(crate) fn has_index(value: &Bound<'_, PyAny>) -> bool {
    value.get_type().hasattr(intern!(value.py(), "__index__")).unwrap_or(true)
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits(value) => value.fmt(f),
            Self::Beyond => f.write_str("an integer beyond 128 bits"),
        }
    }
}

/// An integer within a parameter's limits.
pub(crate) fn number<T>(
    value: &Bound<'_, PyAny>,
    field: &'static str,
    limits: RangeInclusive<T>,
) -> PyResult<T>
where
    T: Copy + PartialOrd + TryFrom<i128> + Into<i128>,
{
    let whole = Whole::of(value)?;
    if let Some(number) = whole.to().filter(|number| limits.contains(number)) {
        return Ok(number);
    }
    let (least, most): (i128, i128) = ((*limits.start()).into(), (*limits.end()).into());
    let error = match whole {
        Whole::Fits(found) => Error::out_of_range(field, found, least, most),
        Whole::Beyond => Error::because(
            ErrorKind::OutOfRange,
            format!("expected {field} in {least}..={most}, found {whole}"),
        ),
    };
    Err(raise_about(value.py(), &error, Some(field)))
}

/// Integer parameters: the type, the name that errors give, the limits.
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
    /// How many IDs at once: 160 MiB of them at most, a few seconds' worth at the best rate of any family.
    Count(u32) "n" 0..=1 << 24;
    /// In milliseconds.
    MaxWait(u32) "max_wait" 0..=u32::MAX;
}

impl From<MaxWait> for Duration {
    fn from(wait: MaxWait) -> Self {
        Self::from_millis(wait.0.into())
    }
}

/// A partition: an integer, or its two bytes.
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
        let bytes = Octets::extract(value)?;
        let bytes = bytes.as_bytes();
        let two = bytes.try_into().map_err(|_| raise(Error::invalid_length(bytes.len(), 2, 2)))?;
        Ok(Self(u16::from_be_bytes(two)))
    }
}

/// Bytes, or the bytes of anything with the buffer protocol, in its order.
pub(crate) struct Octets<'py>(Bound<'py, PyBytes>);

impl Octets<'_> {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl<'py> FromPyObject<'_, 'py> for Octets<'py> {
    type Error = PyErr;
    fn extract(value: Value<'_, 'py>) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self(bytes.to_owned()));
        }
        let copied = PyMemoryView::from(&value)
            .and_then(|view| view.call_method0(intern!(value.py(), "tobytes")));
        let copied = copied
            .map_err(|raised| raise_from(value.py(), &invalid_type("bytes", &value), raised))?;
        Ok(Self(copied.cast_into()?))
    }
}

/// A text. A lone surrogate, which is no character, stands as one that no format has.
pub(crate) struct Text<'a>(Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> FromPyObject<'a, '_> for Text<'a> {
    type Error = PyErr;
    fn extract(value: Value<'a, '_>) -> PyResult<Self> {
        if let Ok(text) = value.extract() {
            return Ok(Self(Cow::Borrowed(text)));
        }
        let Ok(text) = value.cast::<PyString>() else {
            return Err(raise(invalid_type("str", &value)));
        };
        let class = value.py().get_type::<PyString>();
        let replaced =
            class.call_method1(intern!(value.py(), "encode"), (text, "utf-8", "replace"))?;
        Ok(Self(
            String::from_utf8_lossy(replaced.cast::<PyBytes>()?.as_bytes()).into_owned().into(),
        ))
    }
}

/// A time in Unix milliseconds: an integer, or an aware datetime, floored.
#[derive(Clone, Copy)]
pub(crate) struct UnixMs(pub(crate) i64);

impl FromPyObject<'_, '_> for UnixMs {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        if let Ok(datetime) = value.cast::<PyDateTime>() {
            return Ok(Self(micros_of_datetime(&datetime)?.div_euclid(1000)));
        }
        let whole = Whole::among(&value, "int or aware datetime")?;
        whole.to().map(Self).ok_or_else(|| beyond_64_bits(&value, "milliseconds", whole))
    }
}

/// A time in whole Unix seconds: an integer.
#[derive(Clone, Copy)]
pub(crate) struct UnixSeconds(pub(crate) i64);

impl FromPyObject<'_, '_> for UnixSeconds {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        let whole = Whole::of(&value)?;
        whole.to().map(Self).ok_or_else(|| beyond_64_bits(&value, "seconds", whole))
    }
}

/// The error for a time that no format can hold.
#[cold]
fn beyond_64_bits(value: &Bound<'_, PyAny>, unit: &str, found: Whole) -> PyErr {
    let reason = format!("expected time in 64-bit {unit}, found {found}");
    let error = Error::because(ErrorKind::TimeOutOfRange, reason);
    raise_about(value.py(), &error, Some("time"))
}

/// 1970-01-01T00:00:00Z.
fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyDateTime>> {
    static EPOCH: PyOnceLock<Py<PyDateTime>> = PyOnceLock::new();
    let epoch = EPOCH.get_or_try_init(py, || {
        PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&*PyTzInfo::utc(py)?)).map(Bound::unbind)
    })?;
    Ok(epoch.bind(py))
}

/// The Unix microseconds of an aware datetime.
pub(crate) fn micros_of_datetime(datetime: &Bound<'_, PyDateTime>) -> PyResult<i64> {
    let py = datetime.py();
    let expected = "int or aware datetime";
    let refused = |raised| raise_from(py, &invalid_type(expected, datetime), raised);
    if datetime.call_method0(intern!(py, "utcoffset")).map_err(refused)?.is_none() {
        return Err(raise(Error::invalid_type(expected, "naive datetime")));
    }
    let since = datetime.sub(epoch(py)?).map_err(refused)?;
    let since = since.cast::<PyDelta>().map_err(|other| refused(other.into()))?;
    let seconds = i64::from(since.get_days()) * 86400 + i64::from(since.get_seconds());
    Ok(seconds * 1_000_000 + i64::from(since.get_microseconds()))
}

/// The aware datetime, in UTC, of Unix milliseconds.
pub(crate) fn datetime_of_ms(py: Python<'_>, unix_ms: i64) -> PyResult<Bound<'_, PyAny>> {
    datetime_of_micros(py, i128::from(unix_ms) * 1000)
}

/// The aware datetime, in UTC, of Unix microseconds; an `OverflowError` outside of Python's years.
pub(crate) fn datetime_of_micros(py: Python<'_>, micros: i128) -> PyResult<Bound<'_, PyAny>> {
    const DAY: i128 = 86_400_000_000;
    let (days, micros) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let part = |value: i128| i32::try_from(value).unwrap_or(i32::MAX);
    let (seconds, micros) = (part(micros / 1_000_000), part(micros % 1_000_000));
    epoch(py)?.add(PyDelta::new(py, part(days), seconds, micros, false)?)
}

/// The two items of a tuple or a list.
pub(crate) fn pair<'py>(
    value: &Bound<'py, PyAny>,
    expected: &'static str,
) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let items: Vec<_> = if let Ok(tuple) = value.cast::<PyTuple>() {
        tuple.iter().collect()
    } else if let Ok(list) = value.cast::<PyList>() {
        list.iter().collect()
    } else {
        return Err(raise(invalid_type(expected, value)));
    };
    items.try_into().map_err(|items: Vec<_>| raise(Error::invalid_length(items.len(), 2, 2)))
}

/// A half-open span of time: a pair.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) start: UnixMs,
    pub(crate) end: UnixMs,
}

impl FromPyObject<'_, '_> for Span {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        let [start, end] = pair(&value, "a pair of times")?;
        Ok(Self { start: start.extract()?, end: end.extract()? })
    }
}

/// `"wait"` or `"error"`.
#[derive(Clone, Copy)]
pub(crate) struct Exhausted(pub(crate) OnExhausted);

impl Exhausted {
    pub(crate) const WAIT: Self = Self(OnExhausted::Wait);
    pub(crate) const ERROR: Self = Self(OnExhausted::Error);
}

impl FromPyObject<'_, '_> for Exhausted {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        match &*Text::extract(value)? {
            "wait" => Ok(Self::WAIT),
            "error" => Ok(Self::ERROR),
            _ => {
                let error = Error::because(
                    ErrorKind::OutOfRange,
                    "expected on_exhausted \"wait\" or \"error\", found another text",
                );
                Err(raise_about(value.py(), &error, Some("on_exhausted")))
            }
        }
    }
}

/// A bool, which no number stands for.
#[derive(Clone, Copy)]
pub(crate) struct Flag(pub(crate) bool);

impl FromPyObject<'_, '_> for Flag {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        match value.cast::<PyBool>() {
            Ok(flag) => Ok(Self(flag.is_true())),
            Err(_) => Err(raise(invalid_type("bool", &value))),
        }
    }
}

/// A callable.
pub(crate) struct Callable(pub(crate) Py<PyAny>);

impl FromPyObject<'_, '_> for Callable {
    type Error = PyErr;
    fn extract(value: Value<'_, '_>) -> PyResult<Self> {
        if !value.is_callable() {
            return Err(raise(invalid_type("a callable", &value)));
        }
        Ok(Self(value.to_owned().unbind()))
    }
}
