//! Valid and invalid values for the fields of random layouts.

use data_encoding::HEXLOWER;
use fastrand::Rng;
use num_bigint::{BigInt, BigUint};
use serde_json::{Value, json};

use super::draw::Part;
use crate::random::{choose, hex};

/// Returns 2 to the power of `bits`.
fn power_of_two(bits: u32) -> BigInt {
    BigInt::from(1) << bits
}

/// Returns a `bits`-bit integer, often the smallest or the largest possible value.
fn random_integer(rng: &mut Rng, bits: u32) -> BigInt {
    match rng.u32(..6) {
        0 => BigInt::ZERO,
        1 => power_of_two(bits) - 1,
        _ => {
            let bytes: Vec<_> = (0..bits.div_ceil(8)).map(|_| rng.u8(..)).collect();
            BigInt::from(BigUint::from_bytes_be(&bytes)) % power_of_two(bits)
        }
    }
}

/// Returns a valid value. For a timestamp, the value is a time in Unix milliseconds, and is valid only if milliseconds can
/// represent the tick's start.
pub(crate) fn valid_value(rng: &mut Rng, part: &Part) -> Value {
    match (part.kind, part.of_type) {
        ("timestamp", _) => time(part, &random_integer(rng, part.bits)).to_string().into(),
        (_, "bytes") => {
            let number = random_integer(rng, part.bits).to_bytes_be().1;
            let zeros = if rng.u32(..4) == 0 { "0000" } else { "" };
            json!({"hex": format!("{zeros}{}", HEXLOWER.encode(&number))})
        }
        (_, "text") => json!({"text": text(rng, part.bits as usize / 8)}),
        _ if part.bits >= 64 && rng.u32(..6) == 0 => {
            choose(rng, &[i64::MIN, i64::MIN + 1, -2, -1]).to_string().into()
        }
        _ => random_integer(rng, part.bits).to_string().into(),
    }
}

/// Returns the start of a tick in Unix milliseconds, rounded down.
fn time(part: &Part, tick: &BigInt) -> BigInt {
    let epoch = i128::from(part.epoch_ms) * 1000;
    let epoch = BigInt::from(epoch.div_euclid(part.tick_us.into()));
    let micros = (tick + epoch) * part.tick_us;
    let ms = &micros / 1000;
    if micros < &ms * 1000 { ms - 1 } else { ms }
}

/// Returns a string of at most `most` bytes, with characters of one to four bytes each.
fn text(rng: &mut Rng, most: usize) -> String {
    let mut text = String::new();
    while text.len() < most && rng.u32(..12) > 0 {
        let c = match rng.u32(..8) {
            0 => rng.char(..),
            1 => choose(rng, &['é', '€', '🜚', '\0', '\u{ffff}', '\u{d7ff}']),
            _ => rng.char('a'..='z'),
        };
        if text.len() + c.len_utf8() <= most {
            text.push(c);
        }
    }
    text
}

/// Returns a value that is out of range or of a type that the field does not accept.
pub(crate) fn invalid_value(rng: &mut Rng, part: &Part) -> Value {
    if rng.u32(..3) == 0 {
        let others = [json!({"hex": "61"}), json!({"text": "a"}), json!({"text": ""}), json!("1")];
        return others[rng.usize(..others.len())].clone();
    }
    match (part.kind, part.of_type) {
        ("timestamp", _) => {
            let beyond = [BigInt::from(-1), power_of_two(part.bits), power_of_two(part.bits) + 7];
            let ms = time(part, &beyond[rng.usize(..3)]);
            let ms = ms.clamp(i64::MIN.into(), i64::MAX.into());
            ms.to_string().into()
        }
        (_, "bytes") => {
            let length = part.bits as usize / 8 + 1;
            let most = rng.usize(length..length + 4);
            json!({"hex": format!("01{}", hex(rng, most))})
        }
        (_, "text") => json!({"text": "z".repeat(part.bits as usize / 8 + 1)}),
        _ => {
            let edges = [
                power_of_two(part.bits),
                BigInt::from(-1),
                -power_of_two(63),
                -power_of_two(63) - 1,
                power_of_two(64),
                -power_of_two(200),
                power_of_two(200),
            ];
            edges[rng.usize(..edges.len())].to_string().into()
        }
    }
}

/// Returns a value that no field accepts.
pub(crate) fn unsupported_value(rng: &mut Rng) -> Value {
    [json!(true), json!(false), json!(1.5), json!([]), Value::Null][rng.usize(..5)].clone()
}
