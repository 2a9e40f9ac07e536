//! Random requests about single IDs and their strings, including malformed ones.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    random::{choose, hex, number},
    sparx64::secret,
    texts::maybe_corrupt,
};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

pub(crate) const FIRST_SECOND: i64 = 1_730_000_000;
pub(crate) const END_SECOND: i64 = 2_803_741_824;

/// Creates a random request.
pub(crate) fn id_case(rng: &mut Rng) -> Case {
    if rng.u32(..30) == 0 {
        return foreign_value_case(rng);
    }
    let (op, args) = match rng.u32(..8) {
        0..=2 => ("randflake.decode", json!({"text": text(rng)})),
        3 => ("randflake.encode", json!({"id": random_signed(rng)})),
        4 => ("randflake.to_unsigned", json!({"id": random_signed(rng)})),
        5 => ("randflake.from_unsigned", json!({"value": random_unsigned(rng)})),
        6 => ("randflake.inspect", json!({"secret": secret(rng), "id": random_signed(rng)})),
        _ => ("randflake.encrypt", fields(rng)),
    };
    Case::new(op, op, args, Pattern::Any)
}

/// Returns a request with a value that is neither an ID nor an ID's string form.
fn foreign_value_case(rng: &mut Rng) -> Case {
    let bytes = json!({"hex": hex(rng, 8)});
    let value = [bytes, json!(true), json!(1.5), json!([]), Value::Null][rng.usize(..5)].clone();
    let [decode, encode] = [("randflake.decode_value", "text"), ("randflake.encode", "id")];
    let (op, argument) = if rng.bool() { decode } else { encode };
    Case::new(op, op, json!({argument: value}), Pattern::Any).for_dynamic_languages()
}

/// Returns an ID's string form, which is sometimes invalid, for example because it has leading zeros or exceeds 64 bits.
fn text(rng: &mut Rng) -> String {
    let length = if rng.bool() { 13 } else { rng.usize(..=14) };
    let mut text: String = (0..length).map(|_| char::from(choose(rng, ALPHABET))).collect();
    if length == 13 && rng.u32(..4) > 0 {
        text.replace_range(..1, choose(rng, &["1", "7", "8", "f", "g"]));
    }
    if rng.bool() { text } else { maybe_corrupt(rng, text) }
}

/// Returns a 64-bit number, often near one of the limits and occasionally out of range.
fn near_limit(rng: &mut Rng, ends: [i128; 3]) -> String {
    if rng.bool() {
        return rng.u64(..).cast_signed().to_string();
    }
    (choose(rng, &ends) + i128::from(rng.i64(-3..=3))).to_string()
}

fn random_signed(rng: &mut Rng) -> String {
    near_limit(rng, [i64::MIN.into(), 0, i64::MAX.into()])
}

fn random_unsigned(rng: &mut Rng) -> String {
    near_limit(rng, [0, 1 << 63, u64::MAX.into()])
}

/// Returns fields, at most one of which is out of range, because the format does not specify the order in which arguments
/// are checked.
fn fields(rng: &mut Rng) -> Value {
    let wrong = rng.u32(..12);
    let timestamp = match rng.u32(..4) {
        _ if wrong == 0 => [FIRST_SECOND - 1, END_SECOND, number(rng)][rng.usize(..3)],
        0 => FIRST_SECOND + rng.i64(0..=3),
        1 => END_SECOND - rng.i64(1..=3),
        2 => 2_266_870_912 + rng.i64(-3..=3),
        _ => rng.i64(FIRST_SECOND..END_SECOND),
    };
    let field = |rng: &mut Rng, place| match rng.u32(..4) {
        _ if wrong == place => [-1, 1 << 17, number(rng)][rng.usize(..3)],
        0 => choose(rng, &[0, (1 << 17) - 1]),
        _ => rng.i64(0..1 << 17),
    };
    json!({
        "secret": if wrong < 3 { hex(rng, 16) } else { secret(rng) },
        "timestamp": timestamp.to_string(),
        "node": field(rng, 1),
        "sequence": field(rng, 2),
    })
}
