//! Random requests about single IDs, including malformed ones.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    random::{choose, hex, number},
    sno::format_uuid,
    texts::maybe_corrupt,
};

/// The first millisecond after the format's time range.
const END_MS: i64 = 1 << 48;

/// Creates a random request.
pub(crate) fn id_case(rng: &mut Rng) -> Case {
    let (op, args) = match rng.u32(..8) {
        0..=3 => ("uuid7.parse", json!({"text": text(rng)})),
        4 => ("uuid7.from_bytes", json!({"hex": bytes(rng)})),
        5 | 6 => ("uuid7.from_parts", parts(rng)),
        _ => ("uuid7.time_range", time_range(rng)),
    };
    Case::new(op, op, args, Pattern::Any)
}

/// Returns 16 bytes, usually with the version and variant of a version 7 UUID.
fn marked_bytes(rng: &mut Rng) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.fill_with(|| rng.u8(..));
    if rng.u32(..8) != 0 {
        (bytes[6], bytes[8]) = (0x70 | bytes[6] & 15, 0x80 | bytes[8] & 63);
    }
    bytes
}

/// Returns an ID's string form, sometimes slightly invalid or in a different notation (with braces or without hyphens).
fn text(rng: &mut Rng) -> String {
    let text = format_uuid(&marked_bytes(rng));
    match rng.u32(..8) {
        0 => text.to_uppercase(),
        1 => text.replace('-', ""),
        2 => format!("{{{text}}}"),
        3 | 4 => maybe_corrupt(rng, text),
        _ => text,
    }
}

fn bytes(rng: &mut Rng) -> String {
    if rng.u32(..8) == 0 {
        let length = rng.usize(..=20);
        return hex(rng, length);
    }
    format_uuid(&marked_bytes(rng)).replace('-', "")
}

/// Returns fields, at most one of which is out of range, because the format does not specify the order in which arguments
/// are checked.
fn parts(rng: &mut Rng) -> Value {
    let wrong = rng.u32(..10);
    json!({
        "unix_ms": field(rng, wrong == 0, 48).to_string(),
        "sequence": field(rng, wrong == 1, 18),
        "random": field(rng, wrong == 2, 56).to_string(),
    })
}

fn field(rng: &mut Rng, wrong: bool, bits: u32) -> i64 {
    match rng.u32(..4) {
        _ if wrong => choose(rng, &[-1, 1_i64 << bits]),
        0 => choose(rng, &[0, (1_i64 << bits) - 1_i64]),
        _ => rng.i64(0..1_i64 << bits),
    }
}

/// Returns a time span. It is usually within the format's time range, but sometimes empty, reversed or outside the range.
fn time_range(rng: &mut Rng) -> Value {
    let mut end = || match rng.u32(..6) {
        0 => rng.i64(-2..=2),
        1 => END_MS + rng.i64(-2..=2),
        2 => number(rng),
        _ => rng.i64(0..END_MS),
    };
    let (from, other) = (end(), end());
    let to = if rng.bool() { from + choose(rng, &[-1, 0, 1, 2, 1000, 86_400_000]) } else { other };
    json!({"from_ms": from.to_string(), "to_ms": to.to_string()})
}
