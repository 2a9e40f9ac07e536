//! Random requests about single IDs, including malformed ones.

use fastrand::Rng;
use serde_json::{Value, json};

use super::ids::format_uuid;
use crate::{
    case::{Case, Pattern},
    random::{choose, field, hex, number},
    texts::maybe_corrupt,
};

const ALPHABET: &[u8; 32] = b"23456789abcdefghijklmnopqrstuvwx";

/// Creates a random request.
pub(crate) fn id_case(rng: &mut Rng) -> Case {
    let (op, args) = match rng.u32(..15) {
        0 | 1 => ("sno.parse", json!({"text": any_text(rng)})),
        2 => ("sno.metabyte", json!({"text": any_text(rng)})),
        3 => ("sno.from_bytes", json!({"hex": bytes(rng)})),
        4 => ("sno.from_parts", parts(rng)),
        5 => ("sno.with", with_args(rng)),
        6 => ("sno.time_range", time_range(rng)),
        7 => ("sno.to_uuid", json!({"text": any_text(rng)})),
        8 => ("sno.from_uuid", json!({"uuid": uuid(rng)})),
        9 => ("sno.json", random_document(rng)),
        13 => ("sno.to_uuid8", json!({"text": any_text(rng)})),
        14 => ("sno.from_uuid8", json!({"uuid": uuid8(rng)})),
        10 => ("sno.json_value_or_null", json!({"json": json_value(rng).to_string()})),
        11 => ("sno.to_json_or_null", json!({"text": any_text(rng)})),
        _ => ("sno.json_value", json!({"json": json_value(rng).to_string()})),
    };
    Case::new(op, op, args, Pattern::Any)
}

fn valid_text(rng: &mut Rng) -> String {
    (0..16).map(|_| char::from(choose(rng, ALPHABET))).collect()
}

/// Returns a sno ID's string form, sometimes slightly invalid.
fn any_text(rng: &mut Rng) -> String {
    let text = valid_text(rng);
    maybe_corrupt(rng, text)
}

fn bytes(rng: &mut Rng) -> String {
    let length = if rng.u32(..5) == 0 { rng.usize(..=20) } else { 10 };
    hex(rng, length)
}

fn parts(rng: &mut Rng) -> Value {
    json!({
        "tick": field(rng, 39).to_string(),
        "tick_tock": rng.u8(..=1),
        "metabyte": field(rng, 8),
        "partition": field(rng, 16),
        "sequence": field(rng, 16),
    })
}

fn with_args(rng: &mut Rng) -> Value {
    let (name, bits) = choose(rng, &[("metabyte", 8), ("partition", 16), ("sequence", 16)]);
    json!({"text": any_text(rng), name: field(rng, bits)})
}

/// Returns a time span. It is usually within the format's range, but sometimes empty, reversed or outside the range.
fn time_range(rng: &mut Rng) -> Value {
    const FIRST_MS: i64 = 1_262_304_000_000;
    const END_MS: i64 = 3_461_327_255_552;
    let from = match rng.u32(..6) {
        0 => FIRST_MS + rng.i64(-9..=9),
        1 => END_MS - rng.i64(-9..=9),
        2 => number(rng),
        _ => rng.i64(FIRST_MS..END_MS),
    };
    let to = match rng.u32(..4) {
        0 => from + rng.i64(-9..=9),
        1 => END_MS + rng.i64(-9..=9),
        2 => number(rng),
        _ => rng.i64(FIRST_MS..END_MS),
    };
    json!({"from_ms": from.to_string(), "to_ms": to.to_string()})
}

/// Returns a valid or slightly invalid string in UUID form, or a random UUID.
fn uuid(rng: &mut Rng) -> String {
    let mut bytes = valid_text(rng).into_bytes();
    match rng.u32(..4) {
        0 => bytes[rng.usize(..16)] = rng.u8(..),
        1 => bytes.fill_with(|| rng.u8(..)),
        _ => {}
    }
    format_uuid(&bytes)
}

/// Returns the version 8 UUID of an ID, sometimes slightly invalid.
fn uuid8(rng: &mut Rng) -> String {
    const FIXED_BITS_MASK: u128 = 15 << 76 | 3 << 62 | ((1 << 42) - 1);
    let mut bits = rng.u128(..) & !FIXED_BITS_MASK | 8 << 76 | 2 << 62;
    match rng.u32(..4) {
        0 => bits ^= 1 << rng.u32(..128),
        1 => bits = rng.u128(..),
        _ => {}
    }
    format_uuid(&bits.to_be_bytes())
}

/// Returns a JSON text that contains an ID, and a pointer to that ID.
fn random_document(rng: &mut Rng) -> Value {
    let mut value = json_value(rng);
    let mut pointer = String::new();
    for _ in 0..rng.usize(..6) {
        let (step, outer) = match rng.u32(..4) {
            0 => ("/0", json!([value])),
            1 => ("/1", json!([valid_text(rng), value, null_or_text(rng)])),
            2 => ("/a~1b", json!({"a/b": value, "id": valid_text(rng)})),
            _ => ("/id", json!({"parent_id": valid_text(rng), "id": value, "total": 5.5})),
        };
        value = outer;
        pointer.insert_str(0, step);
    }
    json!({"json": value.to_string(), "pointer": pointer})
}

fn null_or_text(rng: &mut Rng) -> Value {
    if rng.bool() { Value::Null } else { valid_text(rng).into() }
}

/// Returns a JSON value to use where an ID is expected.
fn json_value(rng: &mut Rng) -> Value {
    match rng.u32(..12) {
        0 => Value::Null,
        1 => number(rng).into(),
        2 => rng.bool().into(),
        3 => json!([valid_text(rng)]),
        4 => json!({"id": valid_text(rng)}),
        _ => any_text(rng).into(),
    }
}
