//! Version 7 UUIDs.

mod trace;

use data_encoding::HEXLOWER;
use polyflake::uuid7::{self, Parts, Uuid7, worker_id};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, bytes, integer, text},
    stage,
};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    match op {
        "parse" => Ok(fields(Uuid7::parse(text(args, "text")?)?)),
        "from_parts" => from_parts(args),
        "from_bytes" => Ok(fields(Uuid7::from_slice(&bytes(args, "hex")?)?)),
        "time_range" => time_range(args),
        "generate" => Ok(fields(uuid7::generate()?)),
        "generator" => stage::run::<trace::TraceState>(args),
        _ => Err(Failure::UnknownOp),
    }
}

fn from_parts(args: &Value) -> Answer {
    let parts = Parts {
        unix_ms: integer(args, "unix_ms")?,
        sequence: integer(args, "sequence")?,
        random: integer(args, "random")?,
    };
    Ok(fields(Uuid7::from_parts(parts)?))
}

fn time_range(args: &Value) -> Answer {
    let (lowest, highest) =
        Uuid7::time_range(integer::<i64>(args, "from_ms")?, integer::<i64>(args, "to_ms")?)?;
    let end = |id: Uuid7| json!({"text": *id.text()});
    Ok(json!({"lowest": end(lowest), "highest": end(highest)}))
}

/// Returns the protocol's UUID7 object.
fn fields(id: Uuid7) -> Value {
    let parts = id.parts();
    json!({
        "text": *id.text(),
        "unix_ms": parts.unix_ms.to_string(),
        "sequence": parts.sequence,
        "random": format!("{:014x}", parts.random),
        "worker_id": worker_id(id),
        "hex": HEXLOWER.encode(&id.to_bytes()),
    })
}
