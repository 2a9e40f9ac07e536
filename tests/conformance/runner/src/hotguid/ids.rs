//! Cases from the vectors: fields, byte orders, strings, and time ranges.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::{
    case::{Case, Pattern},
    vectors::{label, list, member, number, our_value, text},
};

/// `hotguid.json`: builds each ID from its fields, string and bytes, and converts it to SQL Server's byte order and back.
pub(crate) fn vector_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "cases")?.iter().enumerate() {
        made.extend(id_cases(&label(index, case), case)?);
    }
    for (index, case) in list(file, "conversions")?.iter().enumerate() {
        let name = format!("conversion {index}");
        made.extend(conversion_cases(&name, member(case, "guid")?, member(case, "sql")?));
    }
    let (guids, sql) =
        (list(file, "project_sorted_guids")?, list(file, "project_sorted_sqlguids")?);
    ensure!(guids.len() == sql.len(), "expected as many GUIDs as SQL GUIDs");
    for (index, (guid, sql)) in guids.iter().zip(sql).enumerate() {
        made.extend(conversion_cases(&format!("sorted {index}"), guid, sql));
    }
    Ok(made)
}

fn id_cases(name: &str, case: &Value) -> Result<Vec<Case>> {
    let fields = fields(case)?;
    let ask = |op: &str, args| {
        Case::for_op(name, &format!("hotguid.{op}"), args, Pattern::ok(fields.clone()))
    };
    let parts = ["timestamp", "machine", "counter", "shard_key"];
    let parts: Value =
        parts.map(|part| (part.to_owned(), fields[part].clone())).into_iter().collect();
    let mut cases = vec![
        ask("parse", json!({"text": fields["text"]})),
        ask("from_parts", parts),
        ask("from_dotnet", json!({"hex": fields["dotnet"]})),
        ask("from_bytes", json!({"hex": fields["rfc"]})),
        sql_bytes_case(name, case)?,
    ];
    cases.extend(conversion_cases(name, &fields["text"], &fields["sql_text"]));
    Ok(cases)
}

/// Returns the case's fields, keyed by the protocol's names.
fn fields(case: &Value) -> Result<Value> {
    Ok(json!({
        "text": text(case, "text")?,
        "timestamp": number(case, "timestamp")?.to_string(),
        "machine": text(case, "machine_pid")?,
        "counter": number(case, "counter")?,
        "shard_key": number(case, "shard_key")?,
        "dotnet": text(case, "bytes_hex")?,
        "rfc": text(case, "text_order_bytes_hex")?,
        "sql_text": text(case, "sql_text")?,
    }))
}

/// Returns a case that checks that the bytes of the converted GUID match its string.
fn sql_bytes_case(name: &str, case: &Value) -> Result<Case> {
    let args = json!({"hex": text(case, "sql_bytes_hex")?});
    let expected = Pattern::ok_with_members([("text", member(case, "sql_text")?.clone())]);
    Ok(Case::new(format!("{name}: bytes of the converted"), "hotguid.from_dotnet", args, expected))
}

fn conversion_cases(name: &str, guid: &Value, sql: &Value) -> [Case; 2] {
    let ask = |op, from: &Value, to: &Value| {
        Case::for_op(name, op, json!({"text": from}), Pattern::ok(to.clone()))
    };
    [ask("hotguid.to_sql", guid, sql), ask("hotguid.from_sql", sql, guid)]
}

/// Hot Guid's part of `uuid8.json`: builds version 8 UUIDs from their fields, and splits them into fields again.
pub(crate) fn uuid8_cases(file: &Value) -> Result<Vec<Case>> {
    let mut made = Vec::new();
    for (index, case) in list(file, "hotguid")?.iter().enumerate() {
        let (name, uuid) = (format!("hotguid {}", label(index, case)), member(case, "uuid8")?);
        let parts = json!({
            "timestamp": number(case, "timestamp")?.to_string(),
            "machine": text(case, "machine")?,
            "counter": number(case, "counter")?,
            "shard_key": number(case, "shard_key")?,
        });
        let there = Pattern::ok(uuid.clone());
        made.push(Case::for_op(&name, "hotguid.from_uuid8_parts", parts.clone(), there));
        let back = json!({ "text": uuid });
        made.push(Case::for_op(&name, "hotguid.uuid8_parts", back, Pattern::ok(parts)));
    }
    Ok(made)
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
    Ok(Case::new(name, "hotguid.time_range", args, expected))
}
