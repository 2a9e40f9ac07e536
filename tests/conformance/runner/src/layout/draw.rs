//! Random layouts, and values for their fields.

use fastrand::Rng;
use serde_json::{Value, json};

use super::values::valid_value;
use crate::random::choose;

/// A layout and its fields, starting with the most significant field.
pub(crate) struct RandomLayout {
    pub(crate) layout: Value,
    pub(crate) parts: Vec<Part>,
}

/// A field of a random layout.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) kind: &'static str,
    pub(crate) of_type: &'static str,
    pub(crate) bits: u32,
    /// The field's name. It is empty for a timestamp, a sequence or unused bits.
    pub(crate) name: String,
    /// The duration of a tick, in microseconds.
    pub(crate) tick_us: u64,
    pub(crate) epoch_ms: i64,
}

/// Field names, some of which could cause problems in some languages.
const NAMES: [&str; 14] = [
    "shard",
    "worker",
    "data-center",
    "a",
    "b",
    "c",
    "7",
    "10",
    "",
    "é",
    "🜚",
    "__proto__",
    "constructor",
    "toString",
];

const TICKS: [(&str, u64); 9] = [
    ("1ms", 1000),
    ("10ms", 10_000),
    ("1s", 1_000_000),
    ("4ms", 4000),
    ("1us", 1),
    ("250us", 250),
    ("1500us", 1500),
    ("7ms", 7000),
    ("3600s", 3_600_000_000),
];

/// Properties of a layout that constrain its fields.
pub(crate) struct Constraints {
    /// The width of an ID in bits.
    pub(crate) bits: u32,
    pub(crate) is_bytes: bool,
    pub(crate) epochs: fn(&mut Rng) -> i64,
}

/// Returns a random layout with fields of any kind and type. Its IDs are 64-bit integers, or byte strings of 1 to 40 bytes,
/// occasionally more.
pub(crate) fn layout(rng: &mut Rng) -> RandomLayout {
    let is_bytes = rng.u32(..3) > 0;
    let length = if rng.u32(..40) == 0 { rng.u32(41..=128) } else { rng.u32(1..=40) };
    let bits = if is_bytes { 8 * length } else { 64 };
    let needs = Constraints { bits, is_bytes, epochs: epoch };
    let mut parts = Vec::new();
    while remaining_bits(&needs, &parts) > 0 && parts.len() < 16 {
        let bits = width(rng).min(remaining_bits(&needs, &parts));
        parts.push(part(rng, &needs, &parts, bits));
    }
    if rng.u32(..4) == 0 {
        parts.push(part(rng, &needs, &parts, 0));
    }
    fill_layout(rng, &needs, parts)
}

/// Returns a layout with the given fields, plus a field that fills the remaining bits.
pub(crate) fn fill_layout(
    rng: &mut Rng,
    needs: &Constraints,
    mut parts: Vec<Part>,
) -> RandomLayout {
    let rest = remaining_bits(needs, &parts);
    if rest > 0 {
        let kind = choose(rng, &["unused", "bindable"]);
        parts.push(field_of_kind(rng, needs, &parts, kind, rest));
    }
    assign_default_names(&mut parts);
    let fields: Vec<_> = parts.iter().map(|part| describe(rng, part)).collect();
    let id = if needs.is_bytes { "bytes" } else { "integer" };
    RandomLayout { layout: json!({"id": id, "bits": needs.bits, "fields": fields}), parts }
}

fn remaining_bits(needs: &Constraints, parts: &[Part]) -> u32 {
    needs.bits - parts.iter().map(|part| part.bits).sum::<u32>()
}

fn width(rng: &mut Rng) -> u32 {
    match rng.u32(..8) {
        0 => rng.u32(..=1),
        1 => rng.u32(60..=70),
        2 => rng.u32(1..=200),
        3 => 64,
        4 => 8 * rng.u32(1..=8),
        _ => rng.u32(1..=42),
    }
}

fn epoch(rng: &mut Rng) -> i64 {
    match rng.u32(..8) {
        0 => 0,
        1 => rng.i64(-2_000_000_000_000..0),
        2 => choose(rng, &[i64::MIN, i64::MAX, -1, 1, 1 << 53, (1 << 53) + 1]),
        3 => rng.i64(..),
        _ => rng.i64(1_288_834_974_657..1_800_000_000_000),
    }
}

fn part(rng: &mut Rng, needs: &Constraints, parts: &[Part], bits: u32) -> Part {
    let has = |kind| parts.iter().any(|part| part.kind == kind);
    let kind = match rng.u32(..8) {
        0 | 1 if !has("timestamp") && bits <= 64 => "timestamp",
        2 if !has("sequence") && bits <= 64 => "sequence",
        3 | 4 => "constant",
        5 => "unused",
        _ => "bindable",
    };
    field_of_kind(rng, needs, parts, kind, bits)
}

/// Returns a field of the given kind, with or without a name.
pub(crate) fn field_of_kind(
    rng: &mut Rng,
    needs: &Constraints,
    parts: &[Part],
    kind: &'static str,
    bits: u32,
) -> Part {
    let of_type = match kind {
        "constant" | "bindable" if needs.is_bytes => {
            // Layouts reject integers of more than 128 bits, so most fields of that width contain bytes or text instead. A
            // few remain integers, so that the rejections are also compared.
            let is_wide = bits > 128 && rng.u32(..16) > 0;
            let integer = if is_wide { "bytes" } else { "integer" };
            choose(rng, &[integer, integer, "bytes", "text"])
        }
        _ => "integer",
    };
    let taken = |name: &str| parts.iter().any(|part| part.kind == kind && part.name == name);
    let name = match kind {
        "constant" | "bindable" => choose(rng, &NAMES),
        _ => "",
    };
    // If the name is already in use, the field gets its default name.
    let name = if taken(name) || rng.u32(..6) == 0 { NAME_PLACEHOLDER } else { name };
    Part {
        kind,
        of_type,
        bits,
        name: name.to_owned(),
        tick_us: choose(rng, &TICKS).1,
        epoch_ms: (needs.epochs)(rng),
    }
}

/// A placeholder for the default name of a field whose offset is not known yet. No real field has this name.
const NAME_PLACEHOLDER: &str = "\0";

/// Gives each unnamed field its default name, which consists of its kind, offset and width.
fn assign_default_names(parts: &mut [Part]) {
    let mut offset = 0;
    for part in parts {
        let prefix = if part.kind == "constant" { "const" } else { part.kind };
        if part.name == NAME_PLACEHOLDER {
            part.name = format!("{prefix}-{offset}-{}", part.bits);
        }
        offset += part.bits;
    }
}

/// Returns a field's description. Half of the time, the description omits a default name.
fn describe(rng: &mut Rng, part: &Part) -> Value {
    let mut field = json!({"kind": part.kind, "bits": part.bits});
    match part.kind {
        "timestamp" => {
            let tick = TICKS.iter().find(|(_, us)| *us == part.tick_us);
            field["tick"] = tick.map_or("1ms", |(tick, _)| tick).into();
            field["epoch_ms"] = integer(rng, &part.epoch_ms.to_string());
        }
        "sequence" if rng.u32(..3) == 0 => {
            let start = valid_value(rng, part);
            field["start"] = decimal(rng, &start);
        }
        "constant" => {
            let value = valid_value(rng, part);
            field["value"] = match part.of_type {
                "integer" => decimal(rng, &value),
                "bytes" => value["hex"].clone(),
                _ => value["text"].clone(),
            };
        }
        _ => {}
    }
    if matches!(part.kind, "constant" | "bindable") {
        if !part.name.contains('-') || part.name == "data-center" || rng.bool() {
            field["name"] = part.name.clone().into();
        }
        if part.of_type != "integer" || rng.u32(..4) == 0 {
            field["type"] = part.of_type.into();
        }
    }
    match rng.u32(..8) {
        0..=2 => field["invert"] = true.into(),
        3 => field["invert"] = false.into(),
        _ => {}
    }
    field
}

fn decimal(rng: &mut Rng, value: &Value) -> Value {
    integer(rng, value.as_str().unwrap_or_default())
}

/// Returns an integer as a decimal string or, if a JSON number represents it exactly, sometimes as a number.
fn integer(rng: &mut Rng, decimal: &str) -> Value {
    match decimal.parse::<i64>() {
        Ok(number) if number.unsigned_abs() <= 1 << 53 && rng.bool() => number.into(),
        _ => decimal.into(),
    }
}
