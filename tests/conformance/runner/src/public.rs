//! Public IDs: cases from the vectors, values that no type accepts, and random cases.

use std::{collections::BTreeMap, iter};

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    case::{Case, Pattern},
    random::{choose, hex, number},
    texts::maybe_corrupt,
    vectors::{label, list, member, text},
};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// `public.json`: converts each number to its string and back. Then converts all numbers that have the same secret and type
/// in one batch.
pub(crate) fn text_cases(file: &Value) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut by_type = BTreeMap::<String, (Value, Vec<&str>, Vec<&str>)>::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let name = label(index, case);
        let (number, encoded) = (text(case, "number")?, text(case, "text")?);
        let mut secrets = json!({});
        secrets[member(case, "version")?.to_string()] = member(case, "secret")?.clone();
        let of = json!({"secrets": secrets, "type": member(case, "type")?, "bits": member(case, "bits")?});
        cases.push(op_case(&name, "encode", &of, "number", number.into(), encoded.into()));
        cases.push(op_case(&name, "decode", &of, "text", encoded.into(), number.into()));
        let (_, numbers, texts) =
            by_type.entry(of.to_string()).or_insert_with(|| (of, vec![], vec![]));
        numbers.push(number);
        texts.push(encoded);
    }
    for (name, (of, numbers, texts)) in by_type {
        let (numbers, texts) = (json!(numbers), json!(texts));
        cases.push(op_case(&name, "encode_many", &of, "numbers", numbers.clone(), texts.clone()));
        cases.push(op_case(&name, "decode_many", &of, "texts", texts, numbers));
    }
    cases.extend(invalid_type_cases());
    cases.extend(wrong_width_cases(file)?);
    Ok(cases)
}

fn op_case(
    name: &str,
    op: &str,
    of: &Value,
    argument: &str,
    value: Value,
    expected: Value,
) -> Case {
    Case::for_op(
        name,
        &format!("public.{op}"),
        args_with(of, argument, value),
        Pattern::ok(expected),
    )
}

fn args_with(of: &Value, argument: &str, value: Value) -> Value {
    let mut args = of.clone();
    args[argument] = value;
    args
}

/// Returns cases that pass values other than numbers to `encode`, and values other than strings to `decode`.
fn invalid_type_cases() -> impl Iterator<Item = Case> {
    let of = json!({"secrets": {"1": "07".repeat(32)}, "type": "order", "bits": 48});
    let values = [json!(null), json!(true), json!([]), json!({"hex": "2a"})];
    let numbers = values.clone().map(|value| ("encode", "number", value));
    let texts = values.map(|value| ("decode", "text", value));
    numbers.into_iter().chain(texts).map(move |(op, argument, value)| {
        let expected = Pattern::error(&"invalid_type".into(), None);
        let args = args_with(&of, argument, value);
        Case::for_op("another type", &format!("public.{op}"), args, expected)
            .for_dynamic_languages()
    })
}

/// Returns cases that decode strings of a 48-bit type using a type with the same name and secret but a different width. The
/// width is part of the key, so the decrypted number is random and is unlikely to fit in 1 bit.
fn wrong_width_cases(file: &Value) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        if member(case, "bits")?.as_u64() != Some(48) {
            continue;
        }
        let mut secrets = json!({});
        secrets[member(case, "version")?.to_string()] = member(case, "secret")?.clone();
        let of = json!({"secrets": secrets, "type": member(case, "type")?, "bits": 1});
        let args = args_with(&of, "text", text(case, "text")?.into());
        let expected = Pattern::error(&"unknown_id".into(), None);
        let name = format!("{}, another width", label(index, case));
        cases.push(Case::for_op(&name, "public.decode", args, expected));
    }
    Ok(cases)
}

/// Returns a request that encodes a random number or decodes a random string. The number or string is usually valid.
pub(crate) fn random_case(rng: &mut Rng) -> Case {
    let versions = rng.usize(1..=3);
    let mut secrets = json!({});
    for _ in 0..versions {
        let length = if rng.u32(..30) == 0 { rng.usize(..=40) } else { 32 };
        secrets[rng.u32(..32).to_string()] = hex(rng, length).into();
    }
    let known = secrets.as_object().and_then(|secrets| secrets.keys().next()?.parse().ok());
    let version = if rng.u32(..10) == 0 { rng.u8(..32) } else { known.unwrap_or_default() };
    let name = choose(rng, &["order", "order", "invoice", "line_item2", "a_", "", "Order", "1st"]);
    // At most one of the name and the width is invalid.
    let most = if name == "order" { 10 } else { 8 };
    let bits = choose(rng, &[64, 64, 64, 63, 48, 48, 40, 1, 0, 65][..most]);
    let of = json!({"secrets": secrets, "type": name, "bits": bits});
    let (op, args) = match rng.u32(..4) {
        0 => ("public.encode", args_with(&of, "number", number(rng).to_string().into())),
        1 => ("public.encode", args_with(&of, "number", rng.u64(..).to_string().into())),
        2 => ("public.decode", args_with(&of, "text", random_public_id(rng, name, version).into())),
        _ => {
            let text = random_public_id(rng, name, version);
            ("public.decode", args_with(&of, "text", maybe_corrupt(rng, text).into()))
        }
    };
    Case::new(op, op, args, Pattern::Any)
}

/// Returns a string that encodes a random block and ends with a correct check character.
fn random_public_id(rng: &mut Rng, name: &str, version: u8) -> String {
    let block = rng.u64(..);
    let block = (0..13).map(|at| usize::try_from(block >> (60 - 5 * at) & 31).expect("five bits"));
    let mut values: Vec<_> = iter::once(version.into()).chain(block).collect();
    values.push(values.iter().fold(0, |sum, value| double(sum ^ value)));
    let characters = values.iter().map(|value| char::from(ALPHABET[*value]));
    format!("{name}_{}", characters.collect::<String>())
}

/// Doubles a value in the finite field that the check character uses.
const fn double(value: usize) -> usize {
    ((value << 1) ^ ((value >> 4) * 0b10_0101)) & 31
}
