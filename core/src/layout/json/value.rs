//! The JSON values that layout descriptions consist of, and the code that reads descriptions from these values. Every error
//! is reported as `invalid_layout`.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    Error, ErrorKind, Result,
    layout::{
        Value,
        fields::validation::{invalid_layout_error, truncate_for_message},
    },
};

/// The largest magnitude of an integer that is written as a JSON number. JavaScript cannot represent every larger integer
/// exactly, so larger integers are written as decimal strings.
const MAX_SAFE_INTEGER: u64 = 1 << 53;

/// A JSON value. This is the intermediate form in which layouts, layout descriptions and snapshots are read and written.
/// Language bindings use this form to convert objects of the host language without an intermediate JSON string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// The value `null`.
    Null,
    /// The value `true` or `false`.
    Bool(bool),
    /// An integer. Layouts and snapshots represent integers above 2^53 as strings.
    Integer(i64),
    /// Any other number, such as a fraction or an integer that does not fit in a signed 64-bit integer. No valid
    /// description contains such a number.
    Fraction,
    /// A string.
    Text(String),
    /// A list of values.
    List(Vec<Json>),
    /// An object, with its members in order. In a valid object, each name occurs only once.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) const fn object() -> Self {
        Self::Object(Vec::new())
    }

    /// Adds a member to an object.
    pub(crate) fn insert(&mut self, name: &str, value: Self) {
        if let Self::Object(members) = self {
            members.push((name.into(), value));
        }
    }

    /// Converts a field value to JSON: bytes become a hexadecimal string, and an integer above 2^53 becomes a decimal
    /// string.
    pub(crate) fn from_value<'v>(value: impl Into<Value<'v>>) -> Self {
        Self::from(value.into())
    }

    /// Works like [`Json::from_value`], but converts `None` to `null`.
    pub(crate) fn from_option<'v>(value: Option<impl Into<Value<'v>>>) -> Self {
        value.map_or(Self::Null, Self::from_value)
    }

    /// Returns the name of the value's type, for error messages.
    fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Fraction => "another number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl From<Value<'_>> for Json {
    fn from(value: Value<'_>) -> Self {
        match value {
            // Parsers in other languages may silently round a number above 2^53, so larger integers are written as strings.
            Value::Integer(n) if n.unsigned_abs() <= MAX_SAFE_INTEGER.into() => {
                i64::try_from(n).map_or(Self::Fraction, Self::Integer)
            }
            other => Self::Text(other.to_string()),
        }
    }
}

/// Reads the members of an object. Each member is removed when it is read, so only unknown members remain at the end.
pub(crate) struct ObjectReader {
    /// The name of the object in error messages.
    of: String,
    left: Vec<(String, Json)>,
}

impl ObjectReader {
    /// Creates a reader for an object. `of` is the object's name in error messages.
    pub(crate) fn new(of: String, json: Json) -> Result<Self> {
        match json {
            Json::Object(left) => Ok(Self { of, left }),
            other => Err(invalid_layout_error(format!(
                "expected an object for {of}, found {}",
                other.type_name()
            ))),
        }
    }

    /// Reads a member if it exists.
    pub(in crate::layout) fn optional<T>(
        &mut self,
        name: &str,
        read: fn(&mut Self, &str) -> Result<T>,
    ) -> Result<Option<T>> {
        let is_there = self.left.iter().any(|(member, _)| member == name);
        is_there.then(|| read(self, name)).transpose()
    }

    fn remove(&mut self, name: &str) -> Option<Json> {
        let index = self.left.iter().position(|(member, _)| member == name)?;
        // The order of the members has no meaning, so the last member can move into the removed member's position.
        Some(self.left.swap_remove(index).1)
    }

    fn require(&mut self, name: &str) -> Result<Json> {
        self.remove(name).ok_or_else(|| self.invalid_member(name, "a value", "none"))
    }

    pub(in crate::layout) fn text(&mut self, name: &str) -> Result<String> {
        match self.require(name)? {
            Json::Text(text) => Ok(text),
            other => Err(self.invalid_member(name, "text", other.type_name())),
        }
    }

    pub(in crate::layout) fn list(&mut self, name: &str) -> Result<Vec<Json>> {
        match self.require(name)? {
            Json::List(list) => Ok(list),
            other => Err(self.invalid_member(name, "a list", other.type_name())),
        }
    }

    /// Reads `true` or `false`. A missing member counts as `false`.
    pub(in crate::layout) fn flag(&mut self, name: &str) -> Result<bool> {
        match self.remove(name) {
            None => Ok(false),
            Some(Json::Bool(value)) => Ok(value),
            Some(other) => Err(self.invalid_member(name, "true or false", other.type_name())),
        }
    }

    /// Reads an integer of any size, given as a number up to 2^53 or as a decimal string.
    pub(in crate::layout) fn integer(&mut self, name: &str) -> Result<Value<'static>> {
        match self.require(name)? {
            Json::Integer(number) if number.unsigned_abs() <= MAX_SAFE_INTEGER => Ok(number.into()),
            Json::Integer(_) => {
                Err(self.invalid_member(name, "a text for an integer past 2^53", "a number"))
            }
            Json::Text(text) => match Value::parse_integer(&text) {
                Err(error) if error.kind() == ErrorKind::OutOfRange => Ok(Value::Beyond),
                Err(_) => Err(self.invalid_member(name, "an integer in decimal digits", &text)),
                number => number,
            },
            other => Err(self.invalid_member(name, "an integer", other.type_name())),
        }
    }

    /// Reads an integer that fits in `T`.
    pub(crate) fn small_integer<T: TryFrom<i128>>(&mut self, name: &str) -> Result<T> {
        let value = self.integer(name)?;
        let number = if let Value::Integer(n) = value { T::try_from(n).ok() } else { None };
        number
            .ok_or_else(|| self.invalid_member(name, "an integer in its range", &value.to_string()))
    }

    /// Returns an error if any member has not been read.
    pub(crate) fn end(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some((name, value)) => Err(self.invalid_member(name, "no value", value.type_name())),
        }
    }

    /// Returns the error for an invalid member.
    #[cold]
    pub(in crate::layout) fn invalid_member(
        &self,
        name: &str,
        expected: &str,
        found: &str,
    ) -> Error {
        let (name, found, of) = (truncate_for_message(name), truncate_for_message(found), &self.of);
        invalid_layout_error(format!("expected {expected} for `{name}` in {of}, found {found}"))
    }
}
