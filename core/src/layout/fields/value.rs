//! The values that callers provide for fields.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use crate::{Error, ErrorKind, Result};

/// The type of values that a constant or bindable field accepts.
///
/// ```
/// use polyflake::layout::{Field, Layout, ValueType};
///
/// let layout = Layout::bytes(2, [Field::bindable_of(ValueType::Text, 16, "region")])?;
/// assert_eq!(layout.values().bind("region", "eu")?.pack()?.to_string(), "6575");
/// let error = layout.values().bind("region", 7)?.pack().unwrap_err();
/// assert_eq!(error.to_string(), "expected text for `region`, found an integer");
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Integers.
    Integer,
    /// Bytes, read as a big-endian number. Leading zero bytes are not preserved.
    Bytes,
    /// Strings, which are stored as UTF-8.
    Text,
}

impl ValueType {
    /// Returns the type's name as written in a layout's JSON.
    ///
    /// ```
    /// use polyflake::layout::ValueType;
    ///
    /// assert_eq!(ValueType::Bytes.as_str(), "bytes");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Bytes => "bytes",
            Self::Text => "text",
        }
    }

    /// Returns a noun that describes a value of this type in messages.
    pub(in crate::layout) const fn noun(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            other => other.as_str(),
        }
    }
}

/// The value of one field.
///
/// ```
/// use polyflake::layout::Value;
///
/// let wide = Value::parse_integer("4722366482869645213695")?;
/// assert_eq!(wide, Value::from((1_i128 << 72) - 1));
/// # Ok::<(), polyflake::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An integer. The value of a timestamp is the time in Unix milliseconds.
    Integer(i128),
    /// An integer of 2^127 or more.
    Wide(u128),
    /// A time in Unix nanoseconds, for timestamps whose ticks are shorter than a millisecond.
    Nanos(i128),
    /// Bytes, read as a big-endian number.
    Bytes(Cow<'a, [u8]>),
    /// A string.
    Text(Cow<'a, str>),
    /// An integer that no field accepts: less than -2^127, or wider than 128 bits. Bindings to dynamic languages do not
    /// reject these integers themselves, but pass them to the layout, so that the layout determines which error is reported
    /// first. For the same reason, bindings pass the names of unsupported types to the layout. This variant is not part of
    /// the public API.
    #[doc(hidden)]
    Beyond,
    /// The name of a type that no field accepts. This variant is not part of the public API.
    #[doc(hidden)]
    Other(Cow<'a, str>),
}

/// The maximum length, in bytes, of a value that an error message shows in full.
const MAX_SHOWN_BYTES: usize = 32;

impl Value<'_> {
    /// Parses a canonical decimal integer, `-?(0|[1-9][0-9]*)`. Returns `invalid_character` for any other string, or
    /// `out_of_range` for an integer of more than 128 bits.
    ///
    /// ```
    /// use polyflake::layout::Value;
    ///
    /// assert_eq!(Value::parse_integer("-7")?, (-7).into());
    /// assert_eq!(Value::parse_integer("07").unwrap_err().code(), "invalid_character"); // leading zero
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn parse_integer(text: &str) -> Result<Value<'static>> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_plain || digits.starts_with('0') && text != "0" {
            return Err(invalid_decimal(text));
        }
        // The signed type is tried first, so that each number has only one representation and equal values compare as
        // equal.
        match (text.parse::<i128>(), text.parse::<u128>()) {
            (Ok(number), _) => Ok(number.into()),
            (_, Ok(number)) => Ok(number.into()),
            _ => Err(Error::with_reason(
                ErrorKind::OutOfRange,
                "expected an integer of at most 128 bits, found a larger one",
            )),
        }
    }

    /// Returns the same value, with an integer in its canonical representation.
    pub(in crate::layout) fn canonicalize(self) -> Self {
        match self {
            Self::Wide(number) => number.into(),
            other => other,
        }
    }

    /// Returns the same value, with its content copied if it was borrowed.
    ///
    /// ```
    /// use polyflake::layout::Value;
    ///
    /// fn region() -> Value<'static> {
    ///     let read = String::from("eu");
    ///     Value::from(read.as_str()).into_owned() // outlives the string that it was read from
    /// }
    /// assert_eq!(region(), Value::from("eu"));
    /// ```
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Integer(n) => Value::Integer(n),
            Self::Nanos(n) => Value::Nanos(n),
            Self::Wide(n) => Value::Wide(n),
            Self::Beyond => Value::Beyond,
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Other(name) => Value::Other(Cow::Owned(name.into_owned())),
        }
    }

    /// Returns the type of field that accepts the value, or `None` if neither a constant nor a bindable field accepts it.
    ///
    /// ```
    /// use polyflake::layout::{ValueType, Value};
    ///
    /// assert_eq!(Value::from("eu").kind(), Some(ValueType::Text));
    /// assert_eq!(Value::Nanos(0).kind(), None); // only a timestamp accepts it
    /// ```
    pub fn kind(&self) -> Option<ValueType> {
        match self {
            Self::Integer(_) | Self::Wide(_) | Self::Beyond => Some(ValueType::Integer),
            Self::Bytes(_) => Some(ValueType::Bytes),
            Self::Text(_) => Some(ValueType::Text),
            Self::Nanos(_) | Self::Other(_) => None,
        }
    }

    /// Formats the value for an error message. A long value is described by its size.
    pub(in crate::layout) fn to_message(&self) -> String {
        match self {
            Self::Bytes(bytes) if bytes.len() > MAX_SHOWN_BYTES => format!("{} bytes", bytes.len()),
            Self::Text(text) if text.len() > MAX_SHOWN_BYTES => {
                format!("a text of {} bytes", text.len())
            }
            short => short.to_string(),
        }
    }

    /// Returns the name of the value's type for an error message.
    pub(in crate::layout) fn type_name(&self) -> Cow<'static, str> {
        match (self, self.kind()) {
            (Self::Other(name), _) => Cow::Owned(name.clone().into_owned()),
            (_, kind) => Cow::Borrowed(kind.map_or("a time", ValueType::noun)),
        }
    }
}

/// Returns the error for a string that is not an integer. The error reports the first invalid character, or describes the
/// expected form if each character is valid on its own.
#[cold]
fn invalid_decimal(text: &str) -> Error {
    let is_bad = |(i, c): &(usize, char)| !(c.is_ascii_digit() || *c == '-' && *i == 0);
    if let Some((position, character)) = text.chars().enumerate().find(is_bad) {
        return Error::invalid_character_unit(position, character.into());
    }
    Error::with_reason(
        ErrorKind::InvalidCharacter,
        "expected an integer in decimal digits without leading zeros",
    )
}

impl fmt::Display for Value<'_> {
    /// Writes integers in decimal, bytes in hexadecimal, and strings unchanged.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) | Self::Nanos(number) => write!(f, "{number}"),
            Self::Wide(number) => write!(f, "{number}"),
            Self::Beyond => f.write_str("an integer past 128 bits"),
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Self::Text(text) | Self::Other(text) => f.write_str(text),
        }
    }
}

/// Implements the conversion to `Value` from each integer type whose values all fit in a signed 128-bit integer.
macro_rules! impl_from_integers {
    ($($int:ty),*) => {$(
        impl From<$int> for Value<'_> {
            fn from(n: $int) -> Self {
                Self::Integer(n.into())
            }
        }
    )*};
}

impl_from_integers!(u8, u16, u32, u64, i8, i16, i32, i64, i128);

impl From<u128> for Value<'_> {
    fn from(n: u128) -> Self {
        i128::try_from(n).map_or(Self::Wide(n), Self::Integer)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Bytes(bytes.as_slice().into())
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}
