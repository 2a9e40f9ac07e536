//! Generates layout descriptions from the bytes of an input.

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};

use crate::bytes::Bytes;

/// Names that are easily confused with other names.
const NAMES: [&str; 7] = ["shard", "worker", "timestamp", "", "naïve", "const-0-1", "\u{0}"];

/// Returns a description that is mostly valid.
pub(crate) fn random_description(bytes: &mut Bytes<'_>) -> Value {
    let length = if bytes.one_in(3) { Some(1 + bytes.number_below(24)) } else { None };
    let bits = length.map_or(64, |length| length * 8);
    let (mut left, mut fields) = (bits, Vec::new());
    let mut kinds = vec!["bindable", "unused", "constant", "sequence", "timestamp"];
    for _ in 0..bytes.number_below(12) {
        let kind = bytes.choose(&kinds);
        let alone = ["timestamp", "sequence"].contains(&kind);
        let most = if alone { 64 } else { 96 };
        let width = bytes.number_below(left.min(most) + 1);
        left -= width;
        fields.push(field(kind, width, length.is_some(), bytes));
        kinds.retain(|other| !alone || *other != kind);
    }
    fields.push(json!({"kind": "bindable", "bits": left, "name": "rest"}));
    json!({"id": length.map_or("integer", |_| "bytes"), "bits": bits, "fields": fields})
}

fn field(kind: &str, width: usize, of_bytes: bool, bytes: &mut Bytes<'_>) -> Value {
    let mut field = json!({"kind": kind, "bits": width});
    if bytes.one_in(3) {
        field["invert"] = true.into();
    }
    match kind {
        "timestamp" => {
            field["tick"] = tick(bytes).into();
            field["epoch_ms"] = integer(bytes.unusual_integer().into());
        }
        "sequence" if bytes.one_in(3) => field["start"] = integer(number(width, bytes)),
        "constant" | "bindable" => set_kind_and_name(&mut field, kind, width, of_bytes, bytes),
        _ => {}
    }
    field
}

fn tick(bytes: &mut Bytes<'_>) -> String {
    let unit = bytes.choose(&["us", "ms", "s"]);
    let count = bytes.choose(&["1", "4", "10", "250", "1000", "86400", "999999999999"]);
    count.to_owned() + unit
}

fn set_kind_and_name(
    field: &mut Value,
    kind: &str,
    width: usize,
    of_bytes: bool,
    bytes: &mut Bytes<'_>,
) {
    if !bytes.one_in(4) {
        // Two fields with the same name make a layout invalid, so duplicate names are rare.
        let number = if bytes.one_in(16) { 0 } else { bytes.0.len() };
        field["name"] = format!("{}{number}", bytes.choose(&NAMES)).into();
    }
    let value_type = if of_bytes { bytes.choose(&["integer", "bytes", "text"]) } else { "integer" };
    if value_type != "integer" {
        field["type"] = value_type.into();
    }
    if kind == "constant" {
        field["value"] = match value_type {
            "integer" => integer(number(width, bytes)),
            "bytes" => HEXLOWER.encode(bytes.next_bytes(width / 8)).into(),
            _ => ascii(bytes.next_bytes(width / 8)).into(),
        };
    }
}

fn ascii(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(byte % 128)).collect()
}

/// Returns an integer that usually fits in the field.
fn number(width: usize, bytes: &mut Bytes<'_>) -> i128 {
    let number = i128::from_le_bytes(bytes.array());
    if bytes.one_in(16) { number } else { number & ((1 << width.min(96)) - 1) }
}

/// Returns an integer in the form that descriptions use, which is a string if the magnitude exceeds 2^53.
fn integer(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(small) if small.unsigned_abs() <= 1 << 53 => small.into(),
        _ => number.to_string().into(),
    }
}

/// Corrupts one member of a description or of one of its fields.
pub(crate) fn corrupt(description: &mut Value, bytes: &mut Bytes<'_>) {
    let Some(members) = description.as_object_mut() else { return };
    let fields = members.get_mut("fields").and_then(Value::as_array_mut);
    match fields {
        Some(fields) if !fields.is_empty() && !bytes.one_in(4) => {
            let at = bytes.number_below(fields.len());
            if let Some(members) = fields[at].as_object_mut() {
                corrupt_member(members, bytes);
            }
        }
        _ => corrupt_member(members, bytes),
    }
}

fn corrupt_member(members: &mut Map<String, Value>, bytes: &mut Bytes<'_>) {
    let mut names: Vec<String> = members.keys().cloned().collect();
    names.extend(["value", "invert", "colour"].map(String::from));
    let name = bytes.choose(&names);
    match unusual_value(bytes) {
        None => drop(members.remove(&name)),
        Some(value) => drop(members.insert(name, value)),
    }
}

/// Returns a value that some members accept but most reject.
fn unusual_value(bytes: &mut Bytes<'_>) -> Option<Value> {
    Some(match bytes.byte() % 16 {
        0 => return None,
        1 => Value::Null,
        2 => true.into(),
        3 => bytes.unusual_integer().into(),
        4 => integer(i128::from_le_bytes(bytes.array())),
        5 => 1.5.into(),
        6 => json!([]),
        7 => json!({}),
        8 => tick(bytes).into(),
        9 => bytes.choose(&["integer", "bytes", "text", "timestamp", "unused"]).into(),
        10 => bytes.choose(&["-0", "01", "1e3", "0x1", " 1", "٣", "", "-", "1us "]).into(),
        11 => String::from_utf8_lossy(bytes.next_bytes(8)).into(),
        12 => "9".repeat(bytes.number_below(400)).into(),
        13 => u64::MAX.into(),
        14 => 64.into(),
        _ => bytes.byte().into(),
    })
}
