//! Descriptions with something wrong in them.

use fastrand::Rng;
use serde_json::{Value, json};

use super::draw::layout;
use crate::conformance::{
    case::{Case, Pattern},
    random::one_of,
};

/// A layout drawn at random in which something is changed, mostly for the worse.
pub fn description(rng: &mut Rng) -> Case {
    let mut layout = layout(rng).layout;
    for _ in 0..rng.usize(1..=2) {
        spoil(rng, &mut layout);
    }
    let op = one_of(rng, &["layout.json", "layout.json", "layout.describe"]);
    Case::new(format!("{op} of a spoiled layout"), op, json!({"layout": layout}), Pattern::Any)
}

fn spoil(rng: &mut Rng, layout: &mut Value) {
    let count = layout["fields"].as_array().map_or(0, Vec::len);
    match rng.u32(..10) {
        0 => layout["bits"] = odd(rng),
        1 => layout["id"] = odd(rng),
        2 => layout["fields"] = odd(rng),
        3 => remove(rng, layout, &["id", "bits", "fields"]),
        4 => layout["size"] = odd(rng),
        _ if count == 0 => {}
        5 => {
            let fields = layout["fields"].as_array_mut().expect("fields were counted");
            let again = fields[rng.usize(..count)].clone();
            fields.insert(rng.usize(..=count), again);
        }
        _ => {
            let field = &mut layout["fields"][rng.usize(..count)];
            spoil_field(rng, field);
        }
    }
}

fn spoil_field(rng: &mut Rng, field: &mut Value) {
    const MEMBERS: [&str; 10] =
        ["kind", "bits", "name", "type", "value", "tick", "epoch_ms", "start", "invert", "size"];
    if !field.is_object() {
        return;
    }
    match rng.u32(..4) {
        0 => remove(rng, field, &MEMBERS),
        1 => *field = odd(rng),
        2 => {
            field["bits"] =
                one_of(rng, &[-1_i64, 0, 1, 8, 63, 64, 65, 128, 1 << 31, 1 << 32]).into();
        }
        _ => field[one_of(rng, &MEMBERS)] = odd(rng),
    }
}

fn remove(rng: &mut Rng, object: &mut Value, names: &[&str]) {
    if let Some(members) = object.as_object_mut() {
        members.remove(one_of(rng, names));
    }
}

/// What may stand where something else is expected.
fn odd(rng: &mut Rng) -> Value {
    const TEXTS: [&str; 30] = [
        "",
        "0",
        "1",
        "-1",
        "64",
        "08",
        "+8",
        " 8",
        "8.0",
        "1e3",
        "0x10",
        "1_000",
        "x",
        "integer",
        "bytes",
        "text",
        "unused",
        "timestamp",
        "sequence",
        "constant",
        "bindable",
        "1ms",
        "0ms",
        "1.5ms",
        "1m",
        "ms",
        "9223372036854775808us",
        "1 ms",
        "ab",
        "-9223372036854775809",
    ];
    match rng.u32(..12) {
        0 => Value::Null,
        1 => rng.bool().into(),
        2 => json!([]),
        3 => json!({}),
        4 => json!(1.5),
        5 => one_of(rng, &[-1, 0, 7, 8, 64, 65, 1 << 53, (1 << 53) + 2, i64::MIN]).into(),
        _ => one_of(rng, &TEXTS).into(),
    }
}
