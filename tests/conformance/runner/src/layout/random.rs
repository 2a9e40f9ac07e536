//! Random requests about random layouts and their IDs.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{
    draw::{Part, RandomLayout, layout},
    values::{invalid_value, unsupported_value, valid_value},
};
use crate::{
    case::{Case, Pattern},
    random::{choose, hex, number},
};

const PRESETS: [(&str, &[&str]); 7] = [
    ("twitter", &["datacenter", "worker"]),
    ("discord", &["worker", "process"]),
    ("instagram", &["shard"]),
    ("sonyflake", &["machine"]),
    ("mastodon", &["sequence_data"]),
    ("baidu", &["worker"]),
    ("bluebird", &["worker"]),
];

/// Creates a random request.
pub(crate) fn id_case(rng: &mut Rng) -> Case {
    match rng.u32(..14) {
        0 | 1 => random_preset_case(rng),
        2 | 3 => time_range_case(rng),
        kind => random_layout_case(rng, kind),
    }
}

fn random_layout_case(rng: &mut Rng, kind: u32) -> Case {
    let drawn = layout(rng);
    let (op, args) = match kind {
        4..=8 => ("layout.pack", values(rng, &drawn)),
        9..=11 => ("layout.parse", any_id(rng, &drawn)),
        12 => ("layout.describe", json!({})),
        _ => ("layout.json", json!({})),
    };
    case(op, args, drawn.layout)
}

/// Returns a request for a time range. In most cases, the layout has a timestamp, and all fields above the timestamp have
/// values.
fn time_range_case(rng: &mut Rng) -> Case {
    let is_timed = |drawn: &RandomLayout| {
        let place = |kind| drawn.parts.iter().position(|part| part.kind == kind);
        place("timestamp").is_some_and(|time| place("sequence").is_none_or(|at| at > time))
    };
    let mut drawn = layout(rng);
    while !is_timed(&drawn) && rng.u32(..20) > 0 {
        drawn = layout(rng);
    }
    case("layout.time_range", time_range(rng, &drawn), drawn.layout)
}

fn case(op: &str, mut args: Value, layout: Value) -> Case {
    args["layout"] = layout;
    Case::new(op, op, args, Pattern::Any)
}

/// Returns field values. In most cases, every field has a valid value.
fn values(rng: &mut Rng, drawn: &RandomLayout) -> Value {
    let mut args = json!({"bindables": {}, "constants": {}});
    let faulty = rng.u32(..3) == 0;
    for part in &drawn.parts {
        let is_wanted = match part.kind {
            "unused" => false,
            "constant" => rng.u32(..4) == 0,
            _ => true,
        };
        let value = if faulty { any_value(rng, part) } else { Some(valid_value(rng, part)) };
        if let Some(value) = value.filter(|_| is_wanted) {
            insert_value(&mut args, part, value);
        }
    }
    if faulty && rng.u32(..8) == 0 {
        let group = choose(rng, &["bindables", "constants"]);
        args[group][choose(rng, &["nobody", "timestamp", "sequence"])] = "1".into();
    }
    if faulty && rng.u32(..16) == 0 {
        args[choose(rng, &["timestamp_ms", "sequence"])] = "1".into();
    }
    args
}

/// Returns a value for a field. It is usually valid, but sometimes missing or invalid.
fn any_value(rng: &mut Rng, part: &Part) -> Option<Value> {
    match rng.u32(..12) {
        0 => None,
        1 | 2 => Some(invalid_value(rng, part)),
        3 if matches!(part.kind, "bindable" | "constant") => Some(unsupported_value(rng)),
        _ => Some(valid_value(rng, part)),
    }
}

fn insert_value(args: &mut Value, part: &Part, value: Value) {
    match part.kind {
        "timestamp" => args["timestamp_ms"] = value,
        "sequence" => args["sequence"] = value,
        "constant" => args["constants"][&part.name] = value,
        _ => args["bindables"][&part.name] = value,
    }
}

/// Returns an ID of the layout's kind (integer or bytes), or occasionally one of the wrong kind.
fn any_id(rng: &mut Rng, drawn: &RandomLayout) -> Value {
    let id = random_id(rng, drawn);
    match (rng.u32(..20), drawn.layout["id"] == "integer") {
        (0, true) => json!({"id_value": {"hex": hex(rng, 8)}}),
        (0, false) => json!({"id_value": rng.i64(..).to_string()}),
        _ => json!({"id": id}),
    }
}

/// Returns an ID of the layout's kind, occasionally with the wrong length.
fn random_id(rng: &mut Rng, drawn: &RandomLayout) -> String {
    if drawn.layout["id"] == "integer" {
        return rng.u64(..).cast_signed().to_string();
    }
    let length = drawn.parts.iter().map(|part| part.bits as usize).sum::<usize>() / 8;
    let length = if rng.u32(..16) == 0 { rng.usize(..=40) } else { length };
    match rng.u32(..4) {
        0 => "00".repeat(length),
        1 => "61".repeat(length),
        _ => hex(rng, length),
    }
}

/// Returns a time span. It usually lasts a few ticks, but is sometimes empty, reversed or outside the layout's range.
fn time_range(rng: &mut Rng, drawn: &RandomLayout) -> Value {
    let times = drawn.parts.iter().find(|part| part.kind == "timestamp");
    let end = |rng: &mut Rng| match times {
        Some(part) if rng.u32(..12) > 0 => {
            let time =
                if rng.u32(..12) == 0 { invalid_value(rng, part) } else { valid_value(rng, part) };
            let exact = time.as_str().and_then(|text| text.parse().ok()).filter(|ms| is_exact(*ms));
            exact.unwrap_or_else(|| number(rng))
        }
        _ => number(rng),
    };
    let (from, other) = (end(rng), end(rng));
    let (from, to) = match rng.u32(..8) {
        0 => (from, other),
        1 => (from, from + rng.i64(-2..=2)),
        _ => (from.min(other), from.max(other)),
    };
    let mut bindables = Map::new();
    for part in drawn.parts.iter().filter(|part| part.kind == "bindable") {
        if rng.u32(..16) > 0 {
            let value =
                if rng.u32(..16) == 0 { invalid_value(rng, part) } else { valid_value(rng, part) };
            bindables.insert(part.name.clone(), value);
        }
    }
    json!({"from_ms": from.to_string(), "to_ms": to.to_string(), "bindables": bindables})
}

/// Returns whether JavaScript numbers can represent an integer and its neighbors exactly.
fn is_exact(ms: i64) -> bool {
    ms.unsigned_abs() < (1 << 53) - 2
}

/// Returns a request that uses a preset, which usually exists, with values for some of its machine ID fields.
fn random_preset_case(rng: &mut Rng) -> Case {
    let (name, machine) = choose(rng, &PRESETS);
    let mut fields = Map::new();
    for field in machine {
        let value = if rng.u32(..4) == 0 { rng.i64(-2..1 << 33) } else { rng.i64(0..32) };
        if rng.u32(..4) == 0 {
            fields.insert((*field).to_owned(), value.to_string().into());
        }
    }
    if rng.u32(..16) == 0 {
        fields.insert("nobody".to_owned(), "1".into());
    }
    let layout = json!({"preset": name, "fields": fields});
    match rng.u32(..4) {
        0 => case("layout.json", json!({}), layout),
        1 => case("layout.describe", json!({}), layout),
        _ => case("layout.parse", json!({"id": rng.u64(..).cast_signed().to_string()}), layout),
    }
}
