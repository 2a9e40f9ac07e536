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
//!
//! `"only_read": true` forbids generators of the layout.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    Result,
    layout::{
        Field, Json, Layout, Type, Value,
        json::value::{Object, ObjectReader},
        shape::{
            layout::Shape,
            placed::{Placed, Role},
        },
    },
};

impl Layout {
    /// The layout of a description. Any fault of it is `invalid_layout`, except `out_of_range` for a constant or start that does
    /// not fit.
    ///
    /// Not part of the public API: for bindings.
    #[doc(hidden)]
    pub fn from_value(description: Json) -> Result<Self> {
        let mut members = ObjectReader::new("the layout".into(), description)?;
        let (id, bits) = (members.text("id")?, members.small::<u32>("bits")?);
        let mut fields = Vec::new();
        for (index, json) in members.list("fields")?.into_iter().enumerate() {
            fields.push(field(index, json)?);
        }
        let only_read = members.flag("only_read")?;
        let layout = match &*id {
            "integer" if bits == 64 => members.end().and_then(|()| Self::integer(fields)),
            "bytes" if bits % 8 == 0 => {
                members.end().and_then(|()| Self::bytes(bits as usize / 8, fields))
            }
            "integer" => Err(members.wrong("bits", "64", &bits.to_string())),
            "bytes" => Err(members.wrong("bits", "a multiple of 8", &bits.to_string())),
            other => Err(members.wrong("id", "integer or bytes", other)),
        };
        Ok(Self { only_read, ..layout? })
    }

    /// The layout's description.
    ///
    /// Not part of the public API: for bindings.
    #[doc(hidden)]
    pub fn to_value(&self) -> Json {
        let mut object = Object::default();
        object.put("id", if self.shape == Shape::Integer { "integer" } else { "bytes" }.into());
        object.put("bits", self.bits().into());
        object.put("fields", Json::List(self.fields.iter().map(Json::from).collect()));
        if self.only_read {
            object.put("only_read", true.into());
        }
        object.into()
    }
}

fn field(index: usize, json: Json) -> Result<Field> {
    let mut members = ObjectReader::new(format!("field {index}"), json)?;
    let (kind, bits) = (members.text("kind")?, members.small("bits")?);
    let invert = members.flag("invert")?;
    let field = match &*kind {
        "unused" => Field::unused(bits),
        "timestamp" => {
            let tick = members.text("tick")?.parse()?;
            Field::timestamp(bits, tick, members.small("epoch_ms")?)
        }
        "sequence" if members.has("start") => Field::sequence_from(bits, members.integer("start")?),
        "sequence" => Field::sequence(bits),
        "constant" => {
            let (name, kind) = (name(&mut members)?, value_type(&mut members)?);
            Field::constant(bits, name.as_deref(), value(&mut members, kind)?)
        }
        "bindable" => {
            let (name, kind) = (name(&mut members)?, value_type(&mut members)?);
            Field::bindable_of(kind, bits, name.as_deref())
        }
        other => return Err(members.wrong("kind", "a kind of field", other)),
    };
    members.end()?;
    Ok(if invert { field.inverted() } else { field })
}

fn name(members: &mut ObjectReader) -> Result<Option<String>> {
    if members.has("name") { members.text("name").map(Some) } else { Ok(None) }
}

fn value_type(members: &mut ObjectReader) -> Result<Type> {
    if !members.has("type") {
        return Ok(Type::Integer);
    }
    let name = members.text("type")?;
    let kinds = [Type::Integer, Type::Bytes, Type::Text];
    let kind = kinds.into_iter().find(|kind| kind.as_str() == name);
    kind.ok_or_else(|| members.wrong("type", "integer, bytes or text", &name))
}

fn value(members: &mut ObjectReader, kind: Type) -> Result<Value<'static>> {
    match kind {
        Type::Integer => members.integer("value"),
        Type::Text => members.text("value").map(Value::from),
        Type::Bytes => {
            let text = members.text("value")?;
            let bytes = from_hex(text.as_bytes());
            bytes.map(Value::from).ok_or_else(|| members.wrong("value", "bytes in hex", &text))
        }
    }
}

pub(in crate::layout) fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |c: u8| char::from(c).to_digit(16).and_then(|n| u8::try_from(n).ok());
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

impl From<&Placed> for Json {
    fn from(field: &Placed) -> Self {
        let mut object = Object::default();
        object.put("kind", field.role.as_str().into());
        object.put("bits", field.width.bits.into());
        match &field.role {
            Role::Timestamp(timeline) => {
                object.put("tick", Json::Text(timeline.tick().to_string()));
                object.put_integer("epoch_ms", Some(timeline.epoch_ms().into()));
            }
            Role::Sequence(start) => object.put("start", start.into()),
            Role::Constant(_) | Role::Bindable(_) => {
                object.put("name", field.name.as_str().into());
                if field.kind() != Type::Integer {
                    object.put("type", field.kind().as_str().into());
                }
            }
            Role::Unused => {}
        }
        if let Role::Constant(value) = &field.role {
            object.put("value", value.into());
        }
        if field.invert {
            object.put("invert", true.into());
        }
        object.into()
    }
}
