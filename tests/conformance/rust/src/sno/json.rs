//! Reads and writes sno IDs as JSON through serde.

use polyflake::{
    Error,
    sno::{Sno, json_null},
};
use serde_json::{Value, json};

use super::ids::fields;
use crate::args::{Answer, Failure, text, unexpected_failure};

/// Returns the ID at a JSON pointer in a JSON text, and its metabyte.
pub(crate) fn id_at_pointer(args: &Value) -> Answer {
    let document = parse_json(text(args, "json")?)?;
    let pointer = text(args, "pointer")?;
    let found = document
        .pointer(pointer)
        .ok_or_else(|| Failure::Unexpected(format!("nothing at {pointer}")))?;
    let id = decode_id(found)?;
    Ok(json!({"id": id.to_string(), "metabyte": id.metabyte()}))
}

/// Reads an ID from JSON.
pub(crate) fn read_id(args: &Value) -> Answer {
    Ok(fields(decode_id(&parse_json(text(args, "json")?)?)?))
}

/// Reads an ID from a JSON text, where `null` represents the zero ID as in the original library.
pub(crate) fn read_id_or_null(args: &Value) -> Answer {
    let value = parse_json(text(args, "json")?)?;
    let by_hand = if value.is_null() { Ok(Sno::default()) } else { decode_id_by_hand(&value) };
    Ok(fields(require_agreement(json_null::deserialize(value), by_hand)?))
}

/// Writes an ID as a JSON text.
pub(crate) fn write_id(args: &Value) -> Answer {
    let id = Sno::parse(text(args, "text")?)?;
    Ok(serde_json::to_string(&id).map_err(unexpected_failure)?.into())
}

/// Writes an ID as a JSON text, where `null` represents the zero ID as in the original library.
pub(crate) fn write_id_or_null(args: &Value) -> Answer {
    let id = Sno::parse(text(args, "text")?)?;
    let value =
        json_null::serialize(&id, serde_json::value::Serializer).map_err(unexpected_failure)?;
    Ok(value.to_string().into())
}

fn parse_json(json: &str) -> Result<Value, Failure> {
    serde_json::from_str(json).map_err(unexpected_failure)
}

fn decode_id(value: &Value) -> Result<Sno, Failure> {
    require_agreement(serde_json::from_value(value.clone()), decode_id_by_hand(value))
}

fn decode_id_by_hand(value: &Value) -> polyflake::Result<Sno> {
    match value {
        Value::String(text) => Sno::parse(text),
        other => Err(Error::invalid_type("a text", kind(other))),
    }
}

/// Compares serde's result with the result of parsing the value directly. Both must return the same ID, or both must reject
/// the value. serde's errors have no code, so a returned error comes from direct parsing.
fn require_agreement(
    by_serde: serde_json::Result<Sno>,
    by_hand: polyflake::Result<Sno>,
) -> Result<Sno, Failure> {
    match (by_serde, by_hand) {
        (Ok(id), Ok(same)) if id == same => Ok(id),
        (Err(_), Err(error)) => Err(error.into()),
        (by_serde, by_hand) => {
            Err(Failure::Unexpected(format!("serde: {by_serde:?}, parse: {by_hand:?}")))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
