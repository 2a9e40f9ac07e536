//! The SPARX-64/128 cipher: cases from the vectors, and random cases.

use std::collections::BTreeMap;

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    case::{Case, Pattern},
    random::hex,
    vectors::{label, list, member, text},
};

/// `sparx64.json`: encrypts and decrypts each block, and then processes all blocks with the same key in one batch.
pub(crate) fn block_cases(file: &Value) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut by_key = BTreeMap::<_, (String, String)>::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let name = label(index, case);
        let (key, plain, cipher) =
            (member(case, "key")?, text(case, "plaintext")?, text(case, "ciphertext")?);
        cases.push(op_case(&name, "encrypt", json!({"key": key, "block": plain}), cipher));
        cases.push(op_case(&name, "decrypt", json!({"key": key, "block": cipher}), plain));
        let all = by_key.entry(text(case, "key")?).or_default();
        all.0.push_str(plain);
        all.1.push_str(cipher);
    }
    for (key, (plain, cipher)) in by_key {
        let name = format!("all blocks of key {key}");
        cases.push(op_case(&name, "encrypt_many", json!({"key": key, "blocks": plain}), &cipher));
        cases.push(op_case(&name, "decrypt_many", json!({"key": key, "blocks": cipher}), &plain));
    }
    Ok(cases)
}

fn op_case(name: &str, op: &str, args: Value, expected: &str) -> Case {
    Case::for_op(name, &format!("sparx64.{op}"), args, Pattern::ok(expected.into()))
}

/// Returns a request that encrypts or decrypts random blocks with a random key. The blocks or the key occasionally have an
/// invalid length.
pub(crate) fn random_case(rng: &mut Rng) -> Case {
    let key = secret(rng);
    let (op, args) = match rng.u32(..4) {
        0 => ("sparx64.encrypt", json!({"key": key, "block": block(rng)})),
        1 => ("sparx64.decrypt", json!({"key": key, "block": block(rng)})),
        2 => ("sparx64.encrypt_many", json!({"key": key, "blocks": random_blocks(rng)})),
        _ => ("sparx64.decrypt_many", json!({"key": key, "blocks": random_blocks(rng)})),
    };
    Case::new(op, op, args, Pattern::Any)
}

/// Returns a secret, usually 16 bytes long.
pub(crate) fn secret(rng: &mut Rng) -> String {
    let length = if rng.u32(..12) == 0 { rng.usize(..=33) } else { 16 };
    hex(rng, length)
}

fn block(rng: &mut Rng) -> String {
    let length = if rng.u32(..10) == 0 { rng.usize(..=17) } else { 8 };
    hex(rng, length)
}

/// Returns a random number of blocks, possibly zero. The number is close to the sizes of the groups of blocks that the
/// kernels process together.
fn random_blocks(rng: &mut Rng) -> String {
    let blocks = rng.usize(..=70);
    let rest = if rng.u32(..10) == 0 { rng.usize(..8) } else { 0 };
    hex(rng, 8 * blocks + rest)
}
