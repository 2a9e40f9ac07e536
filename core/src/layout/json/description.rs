//! The JSON description of a layout, which is the same in every language:
//!
//! ```json
//! {"id": "integer", "bits": 64, "fields": [
//!   {"kind": "unused", "bits": 1},
//!   {"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 1483228800000},
//!   {"kind": "constant", "bits": 5, "name": "data-center-id", "value": 1},
//!   {"kind": "bindable", "bits": 5, "name": "shard"},
//!   {"kind": "sequence", "bits": 12, "start": 0}]}
//! ```
//!
//! With `"only_read": true`, IDs with the layout can be parsed but not generated.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    Result,
    layout::{
        Field, Json, Layout, Representation, ResolvedField, Role, Value, ValueType,
        fields::validation::resolve, json::value::ObjectReader,
    },
};

impl Layout {
    /// Creates a layout from its description. Returns `out_of_range` if a constant or the start of the sequence does not
    /// fit in its field, or `invalid_layout` for any other error.
    ///
    /// This function is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub fn from_value(description: Json) -> Result<Self> {
        let mut members = ObjectReader::new("the layout".into(), description)?;
        let (id, bits) = (members.text("id")?, members.small_integer::<u32>("bits")?);
        let mut fields = Vec::new();
        for (index, json) in members.list("fields")?.into_iter().enumerate() {
            fields.push(read_field(index, json)?);
        }
        let only_read = members.flag("only_read")?;
        let representation = match (&*id, bits) {
            ("integer", 64) => Representation::Integer,
            ("bytes", bits) if bits % 8 == 0 => Representation::Bytes(bits as usize / 8),
            ("integer", _) => return Err(members.invalid_member("bits", "64", &bits.to_string())),
            ("bytes", _) => {
                return Err(members.invalid_member("bits", "a multiple of 8", &bits.to_string()));
            }
            (other, _) => return Err(members.invalid_member("id", "integer or bytes", other)),
        };
        members.end()?;
        Ok(Self { only_read, ..resolve(representation, fields)? })
    }

    /// Returns the description of the layout.
    ///
    /// This method is not part of the public API. It exists for bindings.
    #[doc(hidden)]
    pub fn to_value(&self) -> Json {
        let id = if self.is_integer() { "integer" } else { "bytes" };
        let fields = Json::List(self.fields.iter().map(Json::from).collect());
        let mut object = Json::object();
        object.insert("id", Json::from_value(id));
        object.insert("bits", Json::from_value(self.bits()));
        object.insert("fields", fields);
        if self.only_read {
            object.insert("only_read", Json::Bool(true));
        }
        object
    }
}

fn read_field(index: usize, json: Json) -> Result<Field> {
    let mut members = ObjectReader::new(format!("field {index}"), json)?;
    let (kind, bits) = (members.text("kind")?, members.small_integer("bits")?);
    let invert = members.flag("invert")?;
    let field = match &*kind {
        "unused" => Field::unused(bits),
        "timestamp" => {
            let tick = members.text("tick")?.parse()?;
            Field::timestamp(bits, tick, members.small_integer("epoch_ms")?)
        }
        "sequence" => {
            let start = members.optional("start", ObjectReader::integer)?;
            Field::sequence_from(bits, start.unwrap_or(Value::Integer(0)))
        }
        "constant" => {
            let (name, kind) = read_name_and_type(&mut members)?;
            Field::constant(bits, name.as_deref(), read_value(&mut members, kind)?)
        }
        "bindable" => {
            let (name, kind) = read_name_and_type(&mut members)?;
            Field::bindable_of(kind, bits, name.as_deref())
        }
        other => return Err(members.invalid_member("kind", "a kind of field", other)),
    };
    members.end()?;
    Ok(if invert { field.inverted() } else { field })
}

fn read_name_and_type(members: &mut ObjectReader) -> Result<(Option<String>, ValueType)> {
    let name = members.optional("name", ObjectReader::text)?;
    let Some(kind) = members.optional("type", ObjectReader::text)? else {
        return Ok((name, ValueType::Integer));
    };
    let kinds = [ValueType::Integer, ValueType::Bytes, ValueType::Text];
    match kinds.into_iter().find(|known| known.as_str() == kind) {
        Some(kind) => Ok((name, kind)),
        None => Err(members.invalid_member("type", "integer, bytes or text", &kind)),
    }
}

fn read_value(members: &mut ObjectReader, kind: ValueType) -> Result<Value<'static>> {
    match kind {
        ValueType::Integer => members.integer("value"),
        ValueType::Text => members.text("value").map(Value::from),
        ValueType::Bytes => {
            let text = members.text("value")?;
            let bytes = decode_hex(text.as_bytes());
            bytes
                .map(Value::from)
                .ok_or_else(|| members.invalid_member("value", "bytes in hex", &text))
        }
    }
}

pub(in crate::layout) fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |c: u8| char::from(c).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

impl From<&ResolvedField> for Json {
    fn from(field: &ResolvedField) -> Self {
        let mut object = Json::object();
        object.insert("kind", Json::from_value(field.role.as_str()));
        object.insert("bits", Json::from_value(field.width.bits));
        match &field.role {
            Role::Timestamp(timeline) => {
                object.insert("tick", Json::from_value(timeline.tick().to_string()));
                object.insert("epoch_ms", Json::from_value(timeline.epoch_ms()));
            }
            Role::Sequence(start) => object.insert("start", Json::from_value(start.clone())),
            Role::Constant(_) | Role::Bindable(_) => {
                object.insert("name", Json::from_value(&*field.name));
            }
            Role::Unused => {}
        }
        if field.kind() != ValueType::Integer {
            object.insert("type", Json::from_value(field.kind().as_str()));
        }
        if let Role::Constant(value) = &field.role {
            object.insert("value", Json::from_value(value.clone()));
        }
        if field.invert {
            object.insert("invert", Json::Bool(true));
        }
        object
    }
}
