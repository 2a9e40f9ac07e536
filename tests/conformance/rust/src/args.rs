//! Converts the protocol's arguments to Rust values, and polyflake's errors to the protocol's form.

use data_encoding::HEXLOWER;
use polyflake::{Error, ErrorKind};
use serde_json::{Value, json};

pub(crate) type Answer = Result<Value, Failure>;

/// The reason that a request failed.
pub(crate) enum Failure {
    Refused(Error),
    UnknownOp,
    /// The request violates the protocol, or an operation returned an error although it should never fail.
    Unexpected(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// Returns the properties of an error that all languages provide.
pub(crate) fn error_to_json(error: &Error) -> Value {
    let mut members = json!({"code": error.code()});
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            members[name] = value;
        }
    };
    set("position", error.position().map(Value::from));
    set("retry_at", error.retry_at().map(|unix_ms| unix_ms.to_string().into()));
    set("written", error.written().map(Value::from));
    members
}

/// Returns the failure for an error that occurs only if the request violates the protocol.
#[allow(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
pub(crate) fn unexpected_failure(error: impl ToString) -> Failure {
    Failure::Unexpected(error.to_string())
}

pub(crate) fn text<'a>(args: &'a Value, name: &str) -> Result<&'a str, Failure> {
    args[name].as_str().ok_or_else(|| {
        Failure::Unexpected(format!("expected a text as {name}, found {}", args[name]))
    })
}

/// Reads bytes from a hexadecimal string.
pub(crate) fn bytes(args: &Value, name: &str) -> Result<Vec<u8>, Failure> {
    HEXLOWER.decode(text(args, name)?.as_bytes()).map_err(unexpected_failure)
}

/// Reads `N` bytes from a hexadecimal string. Fails with `invalid_length` for any other length.
pub(crate) fn array<const N: usize>(args: &Value, name: &str) -> Result<[u8; N], Failure> {
    let invalid_length = |_| Error::new(ErrorKind::InvalidLength).into();
    bytes(args, name)?.try_into().map_err(invalid_length)
}

/// Reads an integer from a number or a decimal string. Fails with `out_of_range` if `T` cannot represent it.
pub(crate) fn integer<T: TryFrom<i128>>(args: &Value, name: &'static str) -> Result<T, Failure> {
    let number = args[name].as_i64().map(i128::from);
    let value = number.or_else(|| args[name].as_str()?.parse().ok());
    let value = value.ok_or_else(|| {
        Failure::Unexpected(format!("expected an integer as {name}, found {}", args[name]))
    })?;
    T::try_from(value).map_err(|_| Error::field_error(ErrorKind::OutOfRange, name).into())
}

/// Reads an optional integer argument.
pub(crate) fn optional_integer<T: TryFrom<i128>>(
    args: &Value,
    name: &'static str,
) -> Result<Option<T>, Failure> {
    if args[name].is_null() { Ok(None) } else { integer(args, name).map(Some) }
}
