//! Random questions about single IDs, malformed ones included.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::conformance::{
    case::{Case, Pattern},
    random::{hex, number, one_of},
    sno::uuid_of,
    texts::maybe_garbled,
};

/// One past the last millisecond.
const END: i64 = 4_294_967_296_000;

/// One random question.
pub fn id(rng: &mut Rng) -> Case {
    let (op, args) = match rng.u32(..9) {
        0..=2 => ("hotguid.parse", json!({"text": text(rng)})),
        3 => ("hotguid.to_sql", json!({"text": text(rng)})),
        4 => ("hotguid.from_sql", json!({"text": text(rng)})),
        5 => ("hotguid.from_parts", parts(rng)),
        6 => ("hotguid.from_dotnet", json!({"hex": dotnet(rng)})),
        7 => ("hotguid.from_bytes", json!({"hex": hex(rng, 16)})),
        _ => ("hotguid.time_range", time_range(rng)),
    };
    Case::new(op, op, args, Pattern::Any)
}

/// The text of a GUID, or almost; also in other spellings, in braces or without hyphens.
fn text(rng: &mut Rng) -> String {
    let mut bytes = [0; 16];
    bytes.fill_with(|| rng.u8(..));
    let text = uuid_of(&bytes);
    match rng.u32(..8) {
        0 => text.to_uppercase(),
        1 => text.replace('-', ""),
        2 => format!("{{{text}}}"),
        3 => format!("urn:uuid:{text}"),
        4 | 5 => text,
        _ => maybe_garbled(rng, text),
    }
}

/// Fields, of which at most one does not fit: the order in which arguments are refused is not part of the format.
fn parts(rng: &mut Rng) -> Value {
    let wrong = rng.u32(..12);
    let field = |rng: &mut Rng, place, bits: u32| match rng.u32(..4) {
        _ if wrong == place => [-1, 1_i64 << bits, number(rng)][rng.usize(..3)],
        0 => one_of(rng, &[0, (1_i64 << bits) - 1_i64]),
        _ => rng.i64(0..1_i64 << bits),
    };
    let length = if wrong == 3 { rng.usize(..8) } else { 5 };
    json!({
        "timestamp": field(rng, 0, 32).to_string(),
        "machine": hex(rng, length),
        "counter": field(rng, 1, 24),
        "shard_key": field(rng, 2, 32),
    })
}

fn dotnet(rng: &mut Rng) -> String {
    let length = if rng.u32(..8) == 0 { rng.usize(..=20) } else { 16 };
    hex(rng, length)
}

/// A span, mostly within the format's time; also empty, reversed and outside ones.
fn time_range(rng: &mut Rng) -> Value {
    let mut end = || match rng.u32(..6) {
        0 => rng.i64(-2000..=2000),
        1 => END + rng.i64(-2000..=2000),
        2 => number(rng),
        _ => rng.i64(0..END),
    };
    let (from, other) = (end(), end());
    let to = if rng.bool() {
        from + one_of(rng, &[-1000, 0, 1, 999, 1000, 1001, 86_400_000])
    } else {
        other
    };
    json!({"from_ms": from.to_string(), "to_ms": to.to_string()})
}
