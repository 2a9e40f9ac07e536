//! Layouts, their figures and snapshots in every format of serde: as JSON values in text formats, and as the same values with
//! a tag each in binary ones, since some binary formats do not tell a value's type. IDs as texts in all of them.

mod tagged;

use alloc::{string::String, vec::Vec};
use core::fmt;

use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Unexpected, Visitor},
};

#[cfg(feature = "json")]
use crate::layout::shape::fit::invalid;
use crate::layout::{
    Description, Id, Json, Layout, Parsed, Snapshot, Value, json::description::from_hex,
};

#[cfg(feature = "json")]
impl Layout {
    /// The layout of a JSON text. Any fault of it is `invalid_layout`, except `out_of_range` for a constant or start that does not
    /// fit.
    ///
    /// ```
    /// use polyflake::layout::Layout;
    ///
    /// let json = r#"{"id":"bytes","bits":8,"fields":[{"kind":"bindable","bits":8,"name":"shard"}]}"#;
    /// let layout = Layout::from_json(json)?;
    /// assert_eq!(layout.to_json(), json);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn from_json(text: &str) -> crate::Result<Self> {
        let json = serde_json::from_str(text);
        json.map_err(|error| invalid(alloc::format!("expected JSON: {error}")))
            .and_then(Self::from_value)
    }

    /// The layout as a JSON text.
    ///
    /// ```
    /// use polyflake::layout::{Layout, preset};
    ///
    /// let json = preset("twitter", [])?.to_json();
    /// assert!(json.starts_with(r#"{"id":"integer","bits":64,"fields":[{"kind":"unused","bits":1},"#));
    /// assert_eq!(Layout::from_json(&json)?, preset("twitter", [])?);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    pub fn to_json(&self) -> String {
        // Texts, integers and booleans under names: JSON can express all of them.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !to.is_human_readable() {
            return tagged::serialize(self, to);
        }
        match self {
            Self::Null | Self::Fraction => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Integer(number) => to.serialize_i64(*number),
            Self::Text(text) => to.serialize_str(text),
            Self::List(list) => to.collect_seq(list),
            Self::Object(members) => {
                to.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if from.is_human_readable() {
            from.deserialize_any(Reader)
        } else {
            tagged::deserialize(from)
        }
    }
}

/// Writes a text: integers in decimal, bytes in hex after `0x`, by which a reader tells the two apart.
impl Serialize for Id {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let prefix = if self.as_bytes().is_some() { "0x" } else { "" };
        to.collect_str(&format_args!("{prefix}{self}"))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let found = match text.strip_prefix("0x") {
            Some(digits) if digits.contains(|c: char| c.is_ascii_uppercase()) => None,
            Some(digits) => from_hex(digits.as_bytes()).map(Self::Bytes),
            None => match Value::parse_integer(&text).map_err(D::Error::custom)? {
                Value::Integer(number) => number.try_into().ok().map(Self::Integer),
                _ => None,
            },
        };
        let expected = &"an integer of 64 bits in decimal, or 0x and bytes in hex";
        found.ok_or_else(|| D::Error::invalid_value(Unexpected::Str(&text), expected))
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Integer(number))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(number.try_into().map_or(Json::Fraction, Json::Integer))
    }
    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Fraction)
    }
    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.into()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = from.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = from.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

/// Implements `Serialize` by a type's JSON value.
macro_rules! serialize_as_json {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.to_value().serialize(to)
            }
        }
    )*};
}

/// Implements `Deserialize` by a type's JSON value.
macro_rules! deserialize_from_json {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::from_value(Json::deserialize(from)?).map_err(D::Error::custom)
            }
        }
    )*};
}

serialize_as_json!(Layout, Description, Snapshot, Parsed<'_>);
deserialize_from_json!(Layout, Snapshot);
