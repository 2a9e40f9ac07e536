//! A layout as JSON, the same in every language:
//!
//! ```json
//! {"id": "integer", "bits": 64, "fields": [
//!   {"kind": "unused", "bits": 1},
//!   {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1483228800000},
//!   {"kind": "constant", "bits": 5, "name": "data-center-id", "value": 1},
//!   {"kind": "bindable", "bits": 5, "name": "shard"},
//!   {"kind": "sequence", "bits": 12, "start": 0}]}
//! ```

use alloc::{format, string::ToString, vec::Vec};

use serde_core::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::Error as _,
    ser::{SerializeMap, SerializeSeq},
};

use super::{
    Description, Field, FieldDescription, Layout, Tick, Type, Value,
    build::invalid,
    json::{Json, JsonMembers, JsonValue},
    layout::Shape,
    placed::{Placed, Role},
};
use crate::Result;

impl Layout {
    /// The layout of a description; everything wrong with it is `invalid_layout`, a constant or start that does not fit
    /// `out_of_range`.
    pub(super) fn from_description(json: Json) -> Result<Self> {
        let mut members = JsonMembers::new("the layout".into(), json)?;
        let (id, bits) = (members.text("id")?, members.small::<u32>("bits")?);
        let fields = members.list("fields")?;
        members.end()?;
        let fields = fields
            .into_iter()
            .enumerate()
            .map(|(index, json)| read_field(index, json))
            .collect::<Result<Vec<_>>>()?;
        match &*id {
            "integer" if bits == 64 => Self::integer(fields),
            "integer" => Err(invalid(format!("expected 64 bits for an integer ID, found {bits}"))),
            "bytes" if bits % 8 == 0 => Self::bytes(bits as usize / 8, fields),
            "bytes" => {
                Err(invalid(format!("expected a multiple of 8 bits for a byte ID, found {bits}")))
            }
            other => Err(invalid(format!(
                "expected \"integer\" or \"bytes\" for \"id\", found {other:?}"
            ))),
        }
    }

    /// The layout of a JSON text: `invalid_layout` for everything wrong with it, `out_of_range` for a constant or start that
    /// does not fit.
    ///
    /// ```
    /// use polyflake::layout::Layout;
    ///
    /// let json = r#"{"id":"bytes","bits":8,"fields":[{"kind":"bindable","bits":8,"name":"shard"}]}"#;
    /// let layout = Layout::from_json(json)?;
    /// assert_eq!(layout.to_json(), json);
    /// # Ok::<(), polyflake::Error>(())
    /// ```
    #[cfg(feature = "json")]
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| invalid(format!("expected JSON: {error}")))
            .and_then(Self::from_description)
    }

    /// The layout as a JSON text.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> alloc::string::String {
        // Maps with text keys, integers, booleans and texts: nothing in it that JSON cannot say.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn read_field(index: usize, json: Json) -> Result<Field> {
    let mut members = JsonMembers::new(format!("field {index}"), json)?;
    let (kind, bits) = (members.text("kind")?, members.small("bits")?);
    let invert = members.flag("invert")?;
    let field = match &*kind {
        "unused" => Field::unused(bits),
        "timestamp" => Field::timestamp(
            bits,
            members.text("tick")?.parse::<Tick>()?,
            members.small("epoch_ms")?,
        ),
        "sequence" if members.has("start") => Field::sequence_from(bits, members.integer("start")?),
        "sequence" => Field::sequence(bits),
        "constant" => {
            let (name, kind) = (read_name(&mut members)?, read_type(&mut members)?);
            Field::constant(bits, name.as_deref(), read_value(&mut members, kind)?)
        }
        "bindable" => {
            let name = read_name(&mut members)?;
            Field::bindable_of(read_type(&mut members)?, bits, name.as_deref())
        }
        other => {
            return Err(invalid(format!(
                "expected a kind of field for \"kind\" in field {index}, found {other:?}"
            )));
        }
    };
    members.end()?;
    Ok(if invert { field.inverted() } else { field })
}

fn read_name(members: &mut JsonMembers) -> Result<Option<alloc::string::String>> {
    if members.has("name") { members.text("name").map(Some) } else { Ok(None) }
}

fn read_type(members: &mut JsonMembers) -> Result<Type> {
    if !members.has("type") {
        return Ok(Type::Integer);
    }
    let name = members.text("type")?;
    let kinds = [Type::Integer, Type::Bytes, Type::Text];
    let kind = kinds.into_iter().find(|kind| kind.as_str() == name);
    kind.ok_or_else(|| {
        invalid(format!("expected \"integer\", \"bytes\" or \"text\" for \"type\", found {name:?}"))
    })
}

fn read_value(members: &mut JsonMembers, kind: Type) -> Result<Value<'static>> {
    match kind {
        Type::Integer => members.integer("value"),
        Type::Text => members.text("value").map(Value::from),
        Type::Bytes => {
            let hex = members.text("value")?;
            read_hex(&hex).map(Value::from).ok_or_else(|| {
                invalid(format!("expected bytes in hex for \"value\", found {hex:?}"))
            })
        }
    }
}

fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let byte = |pair: &[u8]| {
        let nibble = |c: u8| char::from(c).to_digit(16).and_then(|n| u8::try_from(n).ok());
        Some(nibble(pair[0])? << 4 | nibble(pair[1])?)
    };
    if digits.len().is_multiple_of(2) { digits.chunks(2).map(byte).collect() } else { None }
}

impl<'de> Deserialize<'de> for Layout {
    /// From a format that says what its values are, as JSON does.
    fn deserialize<D: Deserializer<'de>>(from: D) -> core::result::Result<Self, D::Error> {
        Self::from_description(Json::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, to: S) -> core::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(3))?;
        map.serialize_entry("id", if self.shape == Shape::Integer { "integer" } else { "bytes" })?;
        map.serialize_entry("bits", &self.bits())?;
        map.serialize_entry("fields", &Fields(&self.fields))?;
        map.end()
    }
}

struct Fields<'a>(&'a [Placed]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> core::result::Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|field| list.serialize_element(&One(field)))?;
        list.end()
    }
}

struct One<'a>(&'a Placed);

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> core::result::Result<S::Ok, S::Error> {
        let field = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("kind", field.role.as_str())?;
        map.serialize_entry("bits", &field.width.bits)?;
        match &field.role {
            Role::Timestamp(timeline) => {
                map.serialize_entry("tick", &timeline.tick().to_string())?;
                map.serialize_entry("epoch_ms", &JsonValue(&timeline.epoch_ms().into()))?;
            }
            Role::Sequence { start } => map.serialize_entry("start", &JsonValue(start))?,
            Role::Constant(value) => {
                map.serialize_entry("name", &field.name)?;
                write_type(&mut map, value.kind().unwrap_or(Type::Integer))?;
                map.serialize_entry("value", &JsonValue(value))?;
            }
            Role::Bindable(kind) => {
                map.serialize_entry("name", &field.name)?;
                write_type(&mut map, *kind)?;
            }
            Role::Unused => {}
        }
        if field.invert {
            map.serialize_entry("invert", &true)?;
        }
        map.end()
    }
}

/// Integers are what is meant where nothing is said.
fn write_type<M: SerializeMap>(map: &mut M, kind: Type) -> core::result::Result<(), M::Error> {
    if kind == Type::Integer { Ok(()) } else { map.serialize_entry("type", kind.as_str()) }
}

impl Serialize for Description {
    fn serialize<S: Serializer>(&self, to: S) -> core::result::Result<S::Ok, S::Error> {
        let integer = |number: Option<u128>| number.map(Value::from);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("bits", &self.bits)?;
        map.serialize_entry("fields", &self.fields)?;
        map.serialize_entry("per_second", &integer(self.per_second).as_ref().map(JsonValue))?;
        map.serialize_entry(
            "per_second_in_all",
            &integer(self.per_second_in_all).as_ref().map(JsonValue),
        )?;
        map.serialize_entry("first_ms", &self.first_ms.map(Value::from).as_ref().map(JsonValue))?;
        map.serialize_entry("last_ms", &self.last_ms.map(Value::from).as_ref().map(JsonValue))?;
        map.serialize_entry("sorts_by_time", &self.sorts_by_time)?;
        map.serialize_entry("below_2_53", &self.below_2_53)?;
        map.serialize_entry("below_2_63", &self.below_2_63)?;
        map.end()
    }
}

impl Serialize for FieldDescription {
    fn serialize<S: Serializer>(&self, to: S) -> core::result::Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(4))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("kind", self.kind)?;
        map.serialize_entry("offset", &self.offset)?;
        map.serialize_entry("bits", &self.bits)?;
        map.end()
    }
}
