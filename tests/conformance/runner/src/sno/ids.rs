//! Vectors for single IDs: fields, strings, UUID columns, JSON and time ranges.

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    vectors::{label, list, member, number, our_value, text},
};

/// `sno.json`: builds each ID from its string, bytes, fields and UUID column, and converts it back.
pub(crate) fn vector_cases(file: &Value) -> Result<Vec<Case>> {
    let cases = list(file, "cases")?;
    let next = cases.iter().cycle().skip(1);
    let mut made = Vec::new();
    for (index, (case, other)) in cases.iter().zip(next).enumerate() {
        made.extend(id_cases(&label(index, case), case, other)?);
    }
    Ok(made)
}

fn id_cases(name: &str, case: &Value, other: &Value) -> Result<Vec<Case>> {
    let (fields, encoded, hex) = (fields(case)?, text(case, "encoded")?, text(case, "hex")?);
    let uuid = format_uuid(encoded.as_bytes());
    let ask = |op: &str, args: Value, expected: &Value| {
        Case::new(format!("{name}: {op}"), op, args, Pattern::ok(expected.clone()))
    };
    let mut cases = vec![
        ask("sno.parse", json!({ "text": encoded }), &fields),
        ask("sno.from_bytes", json!({ "hex": hex }), &fields),
        ask("sno.from_parts", parts(&fields), &fields),
        ask("sno.metabyte", json!({ "text": encoded }), member(case, "metabyte")?),
        ask("sno.json_value", json!({ "json": format!("\"{encoded}\"") }), &fields),
        ask("sno.to_uuid", json!({ "text": encoded }), &json!(uuid)),
        ask("sno.from_uuid", json!({ "uuid": uuid }), &fields),
    ];
    for field in ["metabyte", "partition", "sequence"] {
        let args = json!({"text": encoded, field: member(other, field)?});
        let changed = json!(with_field(hex, text(other, "hex")?, field));
        let expected = Pattern::ok_with(Pattern::Has(vec![("hex", Pattern::Is(changed))]));
        cases.push(Case::new(format!("{name}: sno.with {field}"), "sno.with", args, expected));
    }
    Ok(cases)
}

/// sno's part of `uuid8.json`: converts IDs to version 8 UUIDs and back, and checks UUIDs that must be rejected.
pub(crate) fn uuid8_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "sno")?.iter().enumerate() {
        let (name, uuid) = (format!("sno {}", label(index, case)), member(case, "uuid8")?);
        let there = json!({"text": member(case, "encoded")?});
        made.push(Case::for_op(&name, "sno.to_uuid8", there, Pattern::ok(uuid.clone())));
        let id = Pattern::ok_with_members([("hex", member(case, "hex")?.clone())]);
        made.push(Case::for_op(&name, "sno.from_uuid8", json!({ "uuid": uuid }), id));
    }
    for (index, case) in list(file, "sno_invalid")?.iter().enumerate() {
        let args = json!({"uuid": member(case, "uuid")?});
        let expected = Pattern::error(member(case, "error")?, None);
        made.push(Case::for_op(&label(index, case), "sno.from_uuid8", args, expected));
    }
    Ok(made)
}

/// Returns a case's fields, keyed by the protocol's names.
pub(crate) fn fields(case: &Value) -> Result<Value> {
    Ok(json!({
        "hex": member(case, "hex")?,
        "text": member(case, "encoded")?,
        "tick": number(case, "timestamp_units")?.to_string(),
        "unix_ms": number(case, "timestamp_unix_ms")?.to_string(),
        "tick_tock": member(case, "tick")?,
        "metabyte": member(case, "metabyte")?,
        "partition": member(case, "partition")?,
        "sequence": member(case, "sequence")?,
    }))
}

fn parts(fields: &Value) -> Value {
    let names = ["tick", "tick_tock", "metabyte", "partition", "sequence"];
    names.iter().map(|name| ((*name).to_owned(), fields[*name].clone())).collect()
}

/// Returns the value of a UUID column whose 16 bytes are the 16 characters of an ID.
pub(crate) fn format_uuid(bytes: &[u8]) -> String {
    let hex = HEXLOWER.encode(bytes);
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| &hex[group]).join("-")
}

/// Returns `hex` after replacing one of its fields with the same field of `other`. The field occupies whole bytes.
fn with_field(hex: &str, other: &str, field: &str) -> String {
    let span = match field {
        "metabyte" => 10..12,
        "partition" => 12..16,
        _ => 16..20,
    };
    format!("{}{}{}", &hex[..span.start], &other[span.clone()], &hex[span.end..])
}

/// `sno_invalid.json`: strings that must be rejected, and JSON values with the IDs that they represent.
pub(crate) fn invalid_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        let error = our_value(case, "error").context("expected ours with an error")?;
        let expected = Pattern::error(error, our_value(case, "position"));
        let args = json!({"text": text(case, "input")?});
        made.push(Case::new(label(index, case), "sno.parse", args.clone(), expected));
        made.push(Case::new(
            format!("{}: metabyte", label(index, case)),
            "sno.metabyte",
            args,
            Pattern::Any,
        ));
    }
    for (index, note) in list(file, "json_notes")?.iter().enumerate() {
        made.extend(json_note_cases(&format!("JSON note {index}"), note)?);
    }
    Ok(made)
}

/// Returns the cases for one item in `json_notes`. The zero ID and `null` have two cases each, because `null` represents
/// the zero ID in the original library's mode but not in the default mode. A value that `ours` marks as skipped has no
/// cases.
fn json_note_cases(name: &str, note: &Value) -> Result<Vec<Case>> {
    if let Some(written) = our_value(note, "marshal_zero") {
        let ask = |op, written: &Value| {
            Case::for_op(
                name,
                op,
                json!({"text": "2222222222222222"}),
                Pattern::ok(written.clone()),
            )
        };
        let theirs = ask("sno.to_json_or_null", member(note, "marshal_zero")?);
        return Ok(vec![ask("sno.to_json", written), theirs]);
    }
    if our_value(note, "skip").is_some() {
        return Ok(Vec::new());
    }
    let (args, id) = (json!({"json": text(note, "input")?}), member(note, "id")?);
    let read = || Pattern::ok_with_members([("hex", id.clone())]);
    let expected = our_value(note, "error").map_or_else(read, |code| Pattern::error(code, None));
    let mut made = vec![Case::for_op(name, "sno.json_value", args.clone(), expected)];
    if note["input"] == "null" {
        made.push(Case::for_op(name, "sno.json_value_or_null", args, read()));
    }
    Ok(made)
}

/// `polymorphic.json`: finds IDs in JSON texts, and reads their metabytes.
pub(crate) fn polymorphic_cases(file: &Value) -> Result<Vec<Case>> {
    let cases = list(file, "cases")?.iter().enumerate();
    cases
        .map(|(index, case)| {
            let args = json!({"json": text(case, "json")?, "pointer": text(case, "pointer")?});
            let found = json!({"id": text(case, "id")?, "metabyte": number(case, "metabyte")?});
            Ok(Case::new(label(index, case), "sno.json", args, Pattern::ok(found)))
        })
        .collect()
}

/// Converts an entry of `ranges.json` to a case.
pub(crate) fn range_case(name: &str, case: &Value) -> Result<Case> {
    let args = json!({"from_ms": text(case, "from_ms")?, "to_ms": text(case, "to_ms")?});
    let expected = match our_value(case, "error") {
        Some(code) => Pattern::error(code, None),
        None => Pattern::ok(
            json!({"lowest": member(case, "lowest")?, "highest": member(case, "highest")?}),
        ),
    };
    Ok(Case::new(name, "sno.time_range", args, expected))
}
