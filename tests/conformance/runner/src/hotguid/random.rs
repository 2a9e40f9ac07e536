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
const END_MS: i64 = 4_294_967_296_000;

/// Creates a random request.
pub(crate) fn id_case(rng: &mut Rng) -> Case {
    let (op, args) = match rng.u32(..13) {
        0..=2 => ("hotguid.parse", json!({"text": text(rng)})),
        3 => ("hotguid.to_sql", json!({"text": text(rng)})),
        4 => ("hotguid.from_sql", json!({"text": text(rng)})),
        5 => ("hotguid.from_parts", parts(rng)),
        6 => ("hotguid.from_dotnet", json!({"hex": random_dotnet_bytes(rng)})),
        7 | 8 => ("hotguid.uuid8_parts", json!({"text": uuid8(rng)})),
        9 | 10 => ("hotguid.from_uuid8_parts", uuid8_parts(rng)),
        11 => ("hotguid.from_bytes", json!({"hex": hex(rng, 16)})),
        _ => ("hotguid.time_range", time_range(rng)),
    };
    Case::new(op, op, args, Pattern::Any)
}

/// Returns a GUID's string form, sometimes slightly invalid or in a different notation (with braces or without hyphens).
fn text(rng: &mut Rng) -> String {
    let mut bytes = [0; 16];
    bytes.fill_with(|| rng.u8(..));
    let text = format_uuid(&bytes);
    vary_notation(rng, text)
}

/// Returns a version 8 UUID, sometimes slightly invalid.
fn uuid8(rng: &mut Rng) -> String {
    let mut bytes = [0; 16];
    bytes.fill_with(|| rng.u8(..));
    if rng.u32(..8) != 0 {
        (bytes[6], bytes[8]) = (0x80 | bytes[6] & 15, 0x80 | bytes[8] & 63);
    }
    vary_notation(rng, format_uuid(&bytes))
}

fn vary_notation(rng: &mut Rng, text: String) -> String {
    match rng.u32(..8) {
        0 => text.to_uppercase(),
        1 => text.replace('-', ""),
        2 => format!("{{{text}}}"),
        3 => format!("urn:uuid:{text}"),
        4 | 5 => text,
        _ => maybe_corrupt(rng, text),
    }
}

/// Returns fields, at most one of which is out of range, because the format does not specify the order in which arguments
/// are checked.
fn parts(rng: &mut Rng) -> Value {
    let wrong = rng.u32(..12);
    let length = if wrong == 3 { rng.usize(..8) } else { 5 };
    json!({
        "timestamp": field(rng, wrong == 0, 32).to_string(),
        "machine": hex(rng, length),
        "counter": field(rng, wrong == 1, 24),
        "shard_key": field(rng, wrong == 2, 32),
    })
}

/// Returns the fields of a version 8 UUID. As in `parts`, at most one field is out of range.
fn uuid8_parts(rng: &mut Rng) -> Value {
    let wrong = rng.u32(..12);
    json!({
        "timestamp": field(rng, wrong == 0, 32).to_string(),
        "machine": field(rng, wrong == 3, 34).to_string(),
        "counter": field(rng, wrong == 1, 24),
        "shard_key": field(rng, wrong == 2, 32),
    })
}

fn field(rng: &mut Rng, wrong: bool, bits: u32) -> i64 {
    match rng.u32(..4) {
        _ if wrong => [-1, 1_i64 << bits, number(rng)][rng.usize(..3)],
        0 => choose(rng, &[0, (1_i64 << bits) - 1_i64]),
        _ => rng.i64(0..1_i64 << bits),
    }
}

fn random_dotnet_bytes(rng: &mut Rng) -> String {
    let length = if rng.u32(..8) == 0 { rng.usize(..=20) } else { 16 };
    hex(rng, length)
}

/// Returns a time span. It is usually within the format's time range, but sometimes empty, reversed or outside the range.
fn time_range(rng: &mut Rng) -> Value {
    let mut end = || match rng.u32(..6) {
        0 => rng.i64(-2000..=2000),
        1 => END_MS + rng.i64(-2000..=2000),
        2 => number(rng),
        _ => rng.i64(0..END_MS),
    };
    let (from, other) = (end(), end());
    let to = if rng.bool() {
        from + choose(rng, &[-1000, 0, 1, 999, 1000, 1001, 86_400_000])
    } else {
        other
    };
    json!({"from_ms": from.to_string(), "to_ms": to.to_string()})
}
