//! Operations on single sno IDs.

use data_encoding::HEXLOWER;
use polyflake::sno::{self, Parts, Sno};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::args::{Answer, bytes, integer, optional_integer, text, unexpected_failure};

/// Returns the protocol's FIELDS object.
pub(crate) fn fields(id: Sno) -> Value {
    json!({
        "hex": hex(id),
        "text": id.to_string(),
        "tick": id.tick().to_string(),
        "unix_ms": id.unix_ms().to_string(),
        "tick_tock": u8::from(id.tick_tock()),
        "metabyte": id.metabyte(),
        "partition": id.partition(),
        "sequence": id.sequence(),
    })
}

pub(crate) fn hex(id: Sno) -> String {
    HEXLOWER.encode(&id.to_bytes())
}

pub(crate) fn parse(args: &Value) -> Answer {
    Ok(fields(Sno::parse(text(args, "text")?)?))
}

pub(crate) fn from_bytes(args: &Value) -> Answer {
    Ok(fields(Sno::from_slice(&bytes(args, "hex")?)?))
}

pub(crate) fn from_parts(args: &Value) -> Answer {
    let parts = Parts {
        tick: integer(args, "tick")?,
        tick_tock: integer::<u8>(args, "tick_tock")? == 1,
        metabyte: integer(args, "metabyte")?,
        partition: integer(args, "partition")?,
        sequence: integer(args, "sequence")?,
    };
    Ok(fields(Sno::from_parts(parts)?))
}

pub(crate) fn metabyte(args: &Value) -> Answer {
    Ok(sno::metabyte(text(args, "text")?)?.into())
}

pub(crate) fn with_fields(args: &Value) -> Answer {
    let mut id = Sno::parse(text(args, "text")?)?;
    if let Some(metabyte) = optional_integer(args, "metabyte")? {
        id = id.with_metabyte(metabyte);
    }
    if let Some(partition) = optional_integer(args, "partition")? {
        id = id.with_partition(partition);
    }
    if let Some(sequence) = optional_integer(args, "sequence")? {
        id = id.with_sequence(sequence);
    }
    Ok(fields(id))
}

pub(crate) fn time_range(args: &Value) -> Answer {
    let (lowest, highest) =
        Sno::time_range(integer::<i64>(args, "from_ms")?, integer::<i64>(args, "to_ms")?)?;
    let end = |id| json!({"hex": hex(id), "text": id.to_string()});
    Ok(json!({"lowest": end(lowest), "highest": end(highest)}))
}

pub(crate) fn to_uuid(args: &Value) -> Answer {
    let id = Sno::parse(text(args, "text")?)?;
    Ok(Uuid::from_bytes(id.to_uuid_bytes()).to_string().into())
}

pub(crate) fn from_uuid(args: &Value) -> Answer {
    let uuid = Uuid::parse_str(text(args, "uuid")?).map_err(unexpected_failure)?;
    Ok(fields(Sno::from_uuid_bytes(uuid.into_bytes())?))
}

pub(crate) fn to_uuid8(args: &Value) -> Answer {
    let id = Sno::parse(text(args, "text")?)?;
    Ok(Uuid::from_bytes(id.to_uuid8_bytes()).to_string().into())
}

pub(crate) fn from_uuid8(args: &Value) -> Answer {
    let uuid = Uuid::parse_str(text(args, "uuid")?).map_err(unexpected_failure)?;
    Ok(fields(Sno::from_uuid8_bytes(uuid.into_bytes())?))
}

/// Generates an ID with the default generator.
pub(crate) fn generate(args: &Value) -> Answer {
    Ok(fields(sno::generate(integer(args, "metabyte")?)?))
}
