//! Serializes layouts, their descriptions and snapshots in all serde data formats. Human-readable formats contain a JSON
//! value. Binary formats contain a JSON string, because some binary formats do not record the types of values.

use alloc::{string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
    ser::Error as _,
};

use crate::{
    Description,
    layout::{Json, Layout, Parsed, Snapshot, fields::validation::invalid_layout_error},
};

impl Layout {
    /// Parses a layout from a JSON string. Returns `out_of_range` if a constant or the start of the sequence does not fit
    /// in its field, or `invalid_layout` for any other error.
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
        json.map_err(|error| invalid_layout_error(alloc::format!("expected JSON: {error}")))
            .and_then(Self::from_value)
    }

    /// Returns the layout as a JSON string.
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
        // A layout consists of named strings, integers and booleans, all of which JSON can represent.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !to.is_human_readable() {
            return to.serialize_str(&serde_json::to_string(self).map_err(S::Error::custom)?);
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
            from.deserialize_any(JsonVisitor)
        } else {
            serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
        }
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
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

/// Implements `Serialize` for a type by converting it to a JSON value and serializing that value.
macro_rules! serialize_as_json {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.to_value().serialize(to)
            }
        }
    )*};
}

/// Implements `Deserialize` for a type by deserializing a JSON value and converting it to the type.
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
