//! Vectors for single IDs: the encryption of fields with a secret, strings, and values that are not IDs.

use anyhow::{Context, Result, ensure};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    python,
    vectors::{label, list, member, number, our_value, text},
};

/// `randflake.json`: builds each ID from its fields and from its string, converts it back, and encrypts its raw value.
pub(crate) fn vector_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let (name, secret) = (label(index, case), text(case, "secret")?);
        let (id, encoded) = (text(case, "encrypted_id")?, text(case, "encoded")?);
        made.extend(field_cases(&name, secret, id, case)?);
        made.extend(text_cases(&name, encoded, id)?);
        made.push(encryption_case(&name, secret, text(case, "raw_id")?, id)?);
    }
    Ok(made)
}

/// Returns cases that build an ID from its fields and convert it back. `case` contains the fields and the string.
pub(crate) fn field_cases(name: &str, secret: &str, id: &str, case: &Value) -> Result<[Case; 2]> {
    let mut fields = json!({
        "timestamp": number(case, "timestamp")?.to_string(),
        "node": member(case, "node_id")?,
        "sequence": member(case, "sequence")?,
    });
    let mut encrypt = fields.clone();
    encrypt["secret"] = secret.into();
    fields["id"] = id.into();
    fields["text"] = text(case, "encoded")?.into();
    let inspect = json!({"secret": secret, "id": id});
    Ok([
        Case::for_op(name, "randflake.encrypt", encrypt, Pattern::ok(id.into())),
        Case::for_op(name, "randflake.inspect", inspect, Pattern::ok(fields)),
    ])
}

/// Returns cases that build an ID from its string and from its unsigned value, and convert it back.
pub(crate) fn text_cases(name: &str, encoded: &str, id: &str) -> Result<[Case; 4]> {
    let unsigned = id.parse::<i64>()?.cast_unsigned().to_string();
    let ask = |op: &str, args, expected: &str| {
        Case::for_op(name, &format!("randflake.{op}"), args, Pattern::ok(expected.into()))
    };
    Ok([
        ask("encode", json!({"id": id}), encoded),
        ask("decode", json!({"text": encoded}), id),
        ask("to_unsigned", json!({"id": id}), &unsigned),
        ask("from_unsigned", json!({"value": unsigned}), id),
    ])
}

/// Returns a case that checks that encrypting the raw value yields the ID. Both are represented as little-endian bytes.
fn encryption_case(name: &str, secret: &str, raw: &str, id: &str) -> Result<Case> {
    let block = HEXLOWER.encode(&raw.parse::<u64>()?.to_le_bytes());
    let expected = HEXLOWER.encode(&id.parse::<i64>()?.to_le_bytes());
    let args = json!({"key": secret, "block": block});
    Ok(Case::for_op(name, "sparx64.encrypt", args, Pattern::ok(expected.into())))
}

/// `randflake_invalid.json`: strings and values that must be rejected, and similar strings that must still be accepted.
pub(crate) fn invalid_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let error = our_value(case, "error").context("expected ours with an error")?;
        let expected = Pattern::error(error, our_value(case, "position"));
        let args = json!({"text": text(case, "input")?});
        made.push(Case::for_op(&label(index, case), "randflake.decode", args, expected));
    }
    for boundary in list(file, "accepted_boundaries")? {
        let (encoded, id) = (text(boundary, "input")?, text(boundary, "value")?);
        made.extend(text_cases(&format!("boundary {encoded}"), encoded, id)?);
    }
    made.extend(value_cases(file, "non_strings_rejected", "randflake.decode_value", "text")?);
    made.extend(value_cases(file, "out_of_range_integers_rejected", "randflake.encode", "id")?);
    Ok(made)
}

/// Returns cases for the Python expressions in the list called `name`. The list of the same name in `ours` contains the
/// expected answers, in the same order.
fn value_cases(file: &Value, name: &str, op: &str, argument: &str) -> Result<Vec<Case>> {
    let expressions = list(file, name)?;
    let answers = list(member(file, "ours")?, name)?;
    ensure!(expressions.len() == answers.len(), "expected as many answers as values in {name}");
    let mut made = Vec::new();
    for (expression, answer) in expressions.iter().zip(answers) {
        let expression = expression.as_str().context("expected a Python expression")?;
        let value = python::parse_expression(expression)?;
        let is_integer = value.is_string();
        let mut args = json!({});
        args[argument] = value;
        let expected = Pattern::error(member(answer, "error")?, None);
        let case = Case::for_op(&format!("{name} {expression}"), op, args, expected);
        made.push(if is_integer && argument == "id" { case } else { case.for_dynamic_languages() });
    }
    Ok(made)
}
