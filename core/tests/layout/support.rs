//! Reading the vectors: their descriptions have the original's member names, translated here into this library's.

use polyflake::Result;
use polyflake::layout::{Id, Layout, Parsed, Value, Values};
use serde_json::{Map, Value as Json, json};

pub(crate) use crate::shared::assert_code;

pub(crate) fn list<'a>(json: &'a Json, name: &str) -> &'a [Json] {
    json[name].as_array().map_or(&[], Vec::as_slice)
}

/// The answer expected of this library: the original's members, overridden by the members of `ours`. If one of the two is an
/// error and the other is not, only `ours` counts.
pub(crate) fn ours(case: &Json) -> Map<String, Json> {
    let mut merged = case.as_object().unwrap().clone();
    let Some(Json::Object(over)) = merged.remove("ours") else { return merged };
    merged.remove("error");
    merged.extend(over);
    merged
}

/// The layout of a vector's description.
pub(crate) fn layout(vector: &Json) -> Result<Layout> {
    Layout::from_json(&description(vector).to_string())
}

pub(crate) fn description(vector: &Json) -> Json {
    let is_bytes = |field: &Json| {
        ["_bytes", "_string"].iter().any(|end| field["kind"].as_str().unwrap().ends_with(end))
    };
    let bytes = list(vector, "fields").iter().any(is_bytes);
    let id = if vector.get("size_bytes").is_some() || bytes || vector["size_bits"] != 64 {
        "bytes"
    } else {
        "integer"
    };
    json!({"id": id, "bits": vector["size_bits"], "fields": list(vector, "fields").iter().map(field).collect::<Vec<_>>()})
}

fn field(field: &Json) -> Json {
    let mut ours = field.as_object().unwrap().clone();
    let kind = field["kind"].as_str().unwrap();
    let (kind, value_type) = match kind.split_once('_') {
        Some((kind, "bytes")) => (kind, "bytes"),
        Some((kind, "string")) => (kind, "text"),
        Some((kind, "flip_before")) => {
            ours.insert("invert".into(), true.into());
            (kind, "integer")
        }
        None => (kind, "integer"),
        Some(_) => panic!("kind {kind}"),
    };
    ours.insert("kind".into(), kind.into());
    if value_type != "integer" {
        ours.insert("type".into(), value_type.into());
    }
    if let Some(tick) = field.get("tick") {
        let tick = match tick.as_str().unwrap() {
            "ms" => "1ms",
            "s" | "s_builtin" => "1s",
            tick => tick,
        };
        ours.insert("tick".into(), tick.into());
    }
    if let Some(value) = field.get("value").filter(|value| value.is_object()) {
        ours.insert("value".into(), value.get("text").unwrap_or(&value["hex"]).clone());
    }
    Json::Object(ours)
}

/// A value of a vector: a decimal string, `{"hex"}` or `{"text"}`.
pub(crate) fn value(json: &Json) -> Value<'static> {
    match json {
        Json::String(decimal) => Value::parse_integer(decimal).unwrap(),
        Json::Object(object) if object.contains_key("text") => {
            object["text"].as_str().unwrap().to_owned().into()
        }
        Json::Object(object) => hex(object["hex"].as_str().unwrap()).into(),
        other => panic!("{other}"),
    }
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

/// The values of a vector's `inputs`.
pub(crate) fn values<'v>(layout: &'v Layout, inputs: &Json) -> Result<Values<'v>> {
    let mut values = layout.values();
    for (name, given) in inputs.as_object().unwrap() {
        match &**name {
            "timestamp_ms" => values.time(value(given)).map(|_| ())?,
            "sequence" => values.sequence(value(given)).map(|_| ())?,
            "bind" => bind(&mut values, given)?,
            "constant_override" => {
                for (name, given) in given.as_object().unwrap() {
                    values.constant(name, value(given))?;
                }
            }
            other => panic!("{other}"),
        }
    }
    Ok(values)
}

pub(crate) fn bind(values: &mut Values<'_>, given: &Json) -> Result<()> {
    for (name, given) in given.as_object().into_iter().flatten() {
        values.bind(name, value(given))?;
    }
    Ok(())
}

/// An ID of a vector: decimal or hex, as its layout is.
pub(crate) fn id(layout: &Layout, text: &str) -> Id {
    if layout.is_integer() { Id::Integer(text.parse().unwrap()) } else { Id::Bytes(hex(text)) }
}

/// An ID's fields as the vectors write them.
pub(crate) fn fields(parsed: &Parsed<'_>) -> Json {
    let mut fields = Map::new();
    if let Some(unix_ms) = parsed.unix_ms() {
        fields.insert("timestamp_ms".into(), unix_ms.to_string().into());
    }
    if let Some(sequence) = parsed.sequence() {
        fields.insert("sequence".into(), sequence.to_string().into());
    }
    let mut insert = |name: &str, values: Map<String, Json>| {
        if !values.is_empty() {
            fields.insert(name.into(), values.into());
        }
    };
    insert("constants", parsed.constants().map(plain).collect());
    insert("bindables", parsed.bindables().map(plain).collect());
    fields.into()
}

fn plain((name, value): (&str, Value<'_>)) -> (String, Json) {
    let json = match &value {
        Value::Bytes(_) => json!({"hex": value.to_string()}),
        Value::Text(text) => {
            json!({"text": text, "utf8_hex": Value::from(text.as_bytes()).to_string()})
        }
        _ => value.to_string().into(),
    };
    (name.into(), json)
}
