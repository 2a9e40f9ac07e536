//! Cases from the vectors: fields, bytes, strings, and time ranges.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    vectors::{label, list, member, number, our_value, text},
};

/// `uuid7.json`: builds each ID from its fields, string and bytes, and checks UUIDs of other versions and variants.
pub(crate) fn vector_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "ids")?.iter().enumerate() {
        made.extend(id_cases(&label(index, case), case)?);
    }
    for case in list(file, "others")? {
        let (name, text) = (text(case, "what")?, text(case, "text")?);
        let rejected = || Pattern::error(&json!("not_canonical"), None);
        let hex = json!({"hex": text.replace('-', "")});
        made.push(Case::for_op(name, "uuid7.parse", json!({"text": text}), rejected()));
        made.push(Case::for_op(name, "uuid7.from_bytes", hex, rejected()));
    }
    Ok(made)
}

fn id_cases(name: &str, case: &Value) -> Result<[Case; 4]> {
    let fields = fields(case)?;
    let ask = |op: &str, args| {
        Case::for_op(name, &format!("uuid7.{op}"), args, Pattern::ok(fields.clone()))
    };
    let parts = json!({
        "unix_ms": fields["unix_ms"],
        "sequence": fields["sequence"],
        "random": u64::from_str_radix(text(case, "random")?, 16)?.to_string(),
    });
    Ok([
        ask("parse", json!({"text": fields["text"]})),
        ask("parse", json!({"text": text(case, "text")?.to_uppercase()})),
        ask("from_bytes", json!({"hex": fields["hex"]})),
        ask("from_parts", parts),
    ])
}

/// Returns the case's fields, keyed by the protocol's names.
fn fields(case: &Value) -> Result<Value> {
    let (text, random) = (text(case, "text")?, text(case, "random")?);
    ensure!(random.len() == 14, "expected 14 digits as random, found {random}");
    Ok(json!({
        "text": text,
        "unix_ms": number(case, "unix_ms")?.to_string(),
        "sequence": number(case, "sequence")?,
        "random": random,
        "worker_id": u16::from_str_radix(&random[..4], 16)?,
        "hex": text.replace('-', ""),
    }))
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
    Ok(Case::new(name, "uuid7.time_range", args, expected))
}
