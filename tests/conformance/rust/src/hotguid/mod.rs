//! Hot Guid.

mod trace;

use data_encoding::HEXLOWER;
use polyflake::hotguid::{self, HotGuid, Parts, Uuid8Parts};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, array, bytes, integer, text},
    stage,
};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    match op {
        "parse" => Ok(fields(id(args)?)),
        "from_parts" => from_parts(args),
        "uuid8_parts" => uuid8_parts(args),
        "from_uuid8_parts" => from_uuid8_parts(args),
        "from_bytes" => Ok(fields(HotGuid::from_bytes(array(args, "hex")?))),
        "from_dotnet" => {
            let id = HotGuid::from_slice(&bytes(args, "hex")?)?;
            Ok(fields(HotGuid::from_dotnet_bytes(id.to_bytes())))
        }
        "to_sql" => Ok((*id(args)?.sql_text()).into()),
        "from_sql" => Ok((*HotGuid::parse_sql(text(args, "text")?)?.text()).into()),
        "time_range" => time_range(args),
        "generate" => Ok(fields(hotguid::generate(integer(args, "shard_key")?)?)),
        "generator" => stage::run::<trace::TraceState>(args),
        _ => Err(Failure::UnknownOp),
    }
}

fn id(args: &Value) -> Result<HotGuid, Failure> {
    Ok(HotGuid::parse(text(args, "text")?)?)
}

fn from_parts(args: &Value) -> Answer {
    let parts = Parts {
        timestamp: integer(args, "timestamp")?,
        machine: array(args, "machine")?,
        counter: integer(args, "counter")?,
        shard_key: integer(args, "shard_key")?,
    };
    Ok(fields(HotGuid::from_parts(parts)?))
}

fn uuid8_parts(args: &Value) -> Answer {
    let parts = id(args)?.uuid8_parts()?;
    Ok(json!({
        "timestamp": parts.timestamp.to_string(),
        "machine": parts.machine.to_string(),
        "counter": parts.counter,
        "shard_key": parts.shard_key,
    }))
}

fn from_uuid8_parts(args: &Value) -> Answer {
    let parts = Uuid8Parts {
        timestamp: integer(args, "timestamp")?,
        machine: integer(args, "machine")?,
        counter: integer(args, "counter")?,
        shard_key: integer(args, "shard_key")?,
    };
    Ok((*HotGuid::from_uuid8_parts(parts)?.text()).into())
}

fn time_range(args: &Value) -> Answer {
    let (lowest, highest) =
        HotGuid::time_range(integer::<i64>(args, "from_ms")?, integer::<i64>(args, "to_ms")?)?;
    let end = |id: HotGuid| json!({"text": *id.text(), "sql_text": *id.sql_text()});
    Ok(json!({"lowest": end(lowest), "highest": end(highest)}))
}

/// Returns the protocol's GUID object.
fn fields(id: HotGuid) -> Value {
    let parts = id.parts();
    json!({
        "text": *id.text(),
        "timestamp": parts.timestamp.to_string(),
        "machine": HEXLOWER.encode(&parts.machine),
        "counter": parts.counter,
        "shard_key": parts.shard_key,
        "dotnet": HEXLOWER.encode(&id.to_dotnet_bytes()),
        "rfc": HEXLOWER.encode(&id.to_bytes()),
        "sql_text": *id.sql_text(),
    })
}
