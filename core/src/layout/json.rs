//! A JSON value as it was read, and what a description may ask of it. Everything wrong with one is `invalid_layout`.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

use super::{Value, build::invalid};
use crate::Result;

/// Integers of at most this magnitude are numbers in JSON, larger ones decimal strings: what JavaScript reads exactly.
const LARGEST_NUMBER: u64 = 1 << 53;

#[derive(Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// A number; none if it is no integer within ±2^53.
    Number(Option<i64>),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn integer(number: Option<i64>) -> Self {
        Self::Number(number.filter(|number| number.unsigned_abs() <= LARGEST_NUMBER))
    }

    /// What to call it in an error.
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(Some(_)) => "a number",
            Self::Number(None) => "a number that is not an integer of at most 2^53",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> core::result::Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> core::result::Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> core::result::Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E>(self, number: i64) -> core::result::Result<Json, E> {
        Ok(Json::integer(Some(number)))
    }
    fn visit_u64<E>(self, number: u64) -> core::result::Result<Json, E> {
        Ok(Json::integer(number.try_into().ok()))
    }
    fn visit_f64<E>(self, _: f64) -> core::result::Result<Json, E> {
        Ok(Json::Number(None))
    }
    fn visit_str<E>(self, text: &str) -> core::result::Result<Json, E> {
        Ok(Json::Text(text.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> core::result::Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = from.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> core::result::Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = from.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

/// The members of an object, taken out one by one, so that those which nobody asked for are left.
pub(crate) struct JsonMembers {
    /// What the object is, for errors.
    of: String,
    left: Vec<(String, Json)>,
}

impl JsonMembers {
    /// The members of an object that is read; what it is, is for errors.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
        of: &str,
    ) -> core::result::Result<Self, D::Error> {
        Self::new(of.into(), Json::deserialize(from)?).map_err(D::Error::custom)
    }

    pub(super) fn new(of: String, json: Json) -> Result<Self> {
        match json {
            Json::Object(left) => Ok(Self { of, left }),
            other => Err(invalid(format!("expected an object for {of}, found {}", other.name()))),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.left.iter().any(|(member, _)| member == name)
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        let index = self.left.iter().position(|(member, _)| member == name)?;
        Some(self.left.swap_remove(index).1)
    }

    fn need(&mut self, name: &str) -> Result<Json> {
        self.take(name).ok_or_else(|| invalid(format!("expected {name:?} in {}", self.of)))
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String> {
        match self.need(name)? {
            Json::Text(text) => Ok(text),
            other => Err(self.wrong(name, "text", &other)),
        }
    }

    pub(super) fn list(&mut self, name: &str) -> Result<Vec<Json>> {
        match self.need(name)? {
            Json::List(list) => Ok(list),
            other => Err(self.wrong(name, "a list", &other)),
        }
    }

    /// `true` or `false`; `false` where it is absent.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Json::Bool(value)) => Ok(value),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    /// An integer of any size.
    pub(super) fn integer(&mut self, name: &str) -> Result<Value<'static>> {
        match self.need(name)? {
            Json::Number(Some(number)) => Ok(number.into()),
            Json::Text(text) => Value::parse_integer(&text).map_err(|_| {
                invalid(format!(
                    "expected decimal digits for {name:?} in {}, found {text:?}",
                    self.of
                ))
            }),
            other => Err(self.wrong(name, "an integer", &other)),
        }
    }

    /// An integer that a type of the language holds.
    pub(crate) fn small<T: TryFrom<i128>>(&mut self, name: &str) -> Result<T> {
        let value = self.integer(name)?;
        let number =
            if let Value::Integer(number) = value { T::try_from(number).ok() } else { None };
        number.ok_or_else(|| {
            invalid(format!("expected {name:?} of {} in its range, found {value}", self.of))
        })
    }

    /// Refuses what is left.
    pub(crate) fn end(self) -> Result<()> {
        match self.left.first() {
            None => Ok(()),
            Some((name, _)) => Err(invalid(format!("expected no {name:?} in {}", self.of))),
        }
    }

    #[cold]
    fn wrong(&self, name: &str, expected: &str, found: &Json) -> crate::Error {
        invalid(format!("expected {expected} for {name:?} in {}, found {}", self.of, found.name()))
    }
}

/// A value as JSON has it.
pub(crate) struct JsonValue<'a>(pub(crate) &'a Value<'a>);

impl Serialize for JsonValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> core::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Integer(n) if n.unsigned_abs() <= LARGEST_NUMBER.into() => {
                to.serialize_i64(i64::try_from(*n).unwrap_or(0))
            }
            other => to.collect_str(other),
        }
    }
}
