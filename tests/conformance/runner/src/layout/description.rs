//! Translates the member names in the vectors' descriptions from the original library's names to this project's names. No
//! other module uses the original names.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::vectors::{list, member, number, text};

/// Returns a vector's layout. The layout is a byte layout if its size is given in bytes or is not 64 bits, or if only bytes
/// can represent its fields.
pub(crate) fn translate(vector: &Value) -> Result<Value> {
    let fields = list(vector, "fields")?.iter().map(field).collect::<Result<Vec<_>>>()?;
    let bits = number(vector, "size_bits")?;
    let has_bytes = fields.iter().any(|field| field.get("type").is_some());
    let is_bytes = vector.get("size_bytes").is_some() || bits != 64 || has_bytes;
    Ok(json!({"id": if is_bytes { "bytes" } else { "integer" }, "bits": bits, "fields": fields}))
}

fn field(theirs: &Value) -> Result<Value> {
    let kind = text(theirs, "kind")?;
    let (kind, of_type) = match kind.split_once('_') {
        None => (kind, None),
        Some((kind, "bytes")) => (kind, Some("bytes")),
        Some((kind, "string")) => (kind, Some("text")),
        // The original library ignored the inversion of this constant.
        Some(("constant", "flip_before")) => ("constant", None),
        Some(_) => bail!("expected a kind of field that the suite knows, found {kind}"),
    };
    let mut ours = json!({"kind": kind, "bits": member(theirs, "bits")?});
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            ours[name] = value;
        }
    };
    put("type", of_type.map(Value::from));
    put("name", theirs.get("name").cloned());
    put("epoch_ms", theirs.get("epoch_ms").cloned());
    put("start", theirs.get("start_at").cloned());
    put("tick", theirs.get("tick").map(tick).transpose()?);
    put("value", theirs.get("value").map(constant_value).transpose()?);
    let inverted = theirs["kind"] == "constant_flip_before" || theirs["invert"] == true;
    put("invert", inverted.then_some(true.into()));
    Ok(ours)
}

/// Translates a tick. `s_builtin` is the original library's built-in one-second tick, which is broken.
fn tick(theirs: &Value) -> Result<Value> {
    Ok(match theirs.as_str().context("expected a text as tick")? {
        "ms" => "1ms",
        "s" | "s_builtin" => "1s",
        tick => tick,
    }
    .into())
}

/// Returns a constant's value, whose form depends on the constant's type.
fn constant_value(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::Object(tagged) if tagged.contains_key("text") => tagged["text"].clone(),
        Value::Object(_) => member(value, "hex")?.clone(),
        decimal => decimal.clone(),
    })
}

/// Returns the values to pack, keyed by the protocol's names.
pub(crate) fn values_to_pack(theirs: &Value) -> Result<Map<String, Value>> {
    let mut ours = Map::new();
    for (name, value) in theirs.as_object().context("expected an object as inputs")? {
        let name = match name.as_str() {
            "timestamp_ms" | "sequence" => name,
            "bind" => "bindables",
            "constant_override" => "constants",
            other => bail!("expected an input that the suite knows, found {other}"),
        };
        ours.insert(name.to_owned(), values(value));
    }
    Ok(ours)
}

/// Translates the original library's values. These values contain each string together with its UTF-8 bytes, and the
/// translated values contain only the string.
pub(crate) fn values(theirs: &Value) -> Value {
    match theirs {
        Value::Object(tagged) if tagged.contains_key("utf8_hex") => json!({"text": tagged["text"]}),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), values(value))).collect()
        }
        other => other.clone(),
    }
}

/// Parses the notation of the generator vectors, which consists of fields separated by commas. Each field has one of the
/// forms `N unused`, `N ts ms` and `N seq [from S]`.
pub(crate) fn parse_short_notation(words: &str, epoch_ms: &Value) -> Result<Value> {
    let fields = words.split(", ").map(|field| short_field(field, epoch_ms));
    Ok(json!({"id": "integer", "bits": 64, "fields": fields.collect::<Result<Vec<_>>>()?}))
}

fn short_field(words: &str, epoch_ms: &Value) -> Result<Value> {
    let words: Vec<_> = words.split(' ').collect();
    let bits: u32 = words[0].parse().context("expected a width")?;
    Ok(match words[1..] {
        ["unused"] => json!({"kind": "unused", "bits": bits}),
        ["ts", "ms"] => {
            json!({"kind": "timestamp", "bits": bits, "tick": "1ms", "epoch_ms": epoch_ms})
        }
        ["seq"] => json!({"kind": "sequence", "bits": bits}),
        ["seq", "from", start] => json!({"kind": "sequence", "bits": bits, "start": start}),
        _ => bail!("expected a field that the suite knows, found {words:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_originals_names_are_translated() {
        let vector = json!({"size_bits": 64, "fields": [
            {"kind": "timestamp", "bits": 32, "epoch_ms": "0", "tick": "s_builtin", "invert": true},
            {"kind": "constant_flip_before", "bits": 8, "name": "k", "value": "15", "invert": false},
            {"kind": "sequence", "bits": 24, "start_at": "7", "invert": false},
        ]});
        let ours = json!({"id": "integer", "bits": 64, "fields": [
            {"kind": "timestamp", "bits": 32, "epoch_ms": "0", "tick": "1s", "invert": true},
            {"kind": "constant", "bits": 8, "name": "k", "value": "15", "invert": true},
            {"kind": "sequence", "bits": 24, "start": "7"},
        ]});
        assert_eq!(translate(&vector).unwrap(), ours);
    }

    #[test]
    fn typed_fields_make_a_byte_layout() {
        let vector = json!({"size_bits": 64, "fields": [
            {"kind": "constant_string", "bits": 64, "name": "k", "value": {"text": "a", "utf8_hex": "61"}}]});
        let ours = json!({"id": "bytes", "bits": 64, "fields": [
            {"kind": "constant", "bits": 64, "name": "k", "type": "text", "value": "a"}]});
        assert_eq!(translate(&vector).unwrap(), ours);
    }

    #[test]
    fn short_layout_descriptions_are_parsed() {
        let fields = parse_short_notation("1 unused, 41 ts ms, 22 seq from 100", &json!(5))
            .unwrap()["fields"]
            .clone();
        assert_eq!(
            fields[1],
            json!({"kind": "timestamp", "bits": 41, "tick": "1ms", "epoch_ms": 5})
        );
        assert_eq!(fields[2], json!({"kind": "sequence", "bits": 22, "start": "100"}));
    }
}
