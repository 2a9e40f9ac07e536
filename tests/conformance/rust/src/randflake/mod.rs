//! Randflake.

mod trace;

use polyflake::randflake::{Codec, Generator, Parts, Randflake};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, bytes, integer, text},
    stage::{self, ScriptedClock},
};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    match op {
        "encode" => Ok(id(args)?.to_string().into()),
        "decode" => Ok(id_to_json(Randflake::parse(text(args, "text")?)?)),
        "to_unsigned" => Ok(id(args)?.to_u64().to_string().into()),
        "from_unsigned" => Ok(id_to_json(Randflake::from_u64(integer(args, "value")?))),
        "encrypt" => encrypt(args),
        "inspect" => Ok(fields(&codec(args)?, id(args)?)),
        "generate" => generate(args),
        "generator" => stage::run::<Generator<ScriptedClock>>(args),
        _ => Err(Failure::UnknownOp),
    }
}

fn codec(args: &Value) -> Result<Codec, Failure> {
    Ok(Codec::from_slice(&bytes(args, "secret")?)?)
}

fn encrypt(args: &Value) -> Answer {
    let codec = codec(args)?;
    let parts = Parts {
        timestamp: integer(args, "timestamp")?,
        node: integer(args, "node")?,
        sequence: integer(args, "sequence")?,
    };
    Ok(id_to_json(codec.encrypt(parts)?))
}

fn id(args: &Value) -> Result<Randflake, Failure> {
    integer(args, "id").map(Randflake::from_i64)
}

fn id_to_json(id: Randflake) -> Value {
    id.to_i64().to_string().into()
}

/// Generates an ID using the system clock.
fn generate(args: &Value) -> Answer {
    let generator = Generator::builder(trace::lease(args)?, codec(args)?).build()?;
    Ok(fields(&codec(args)?, generator.generate()?))
}

/// Returns the protocol's FLAKE object.
fn fields(codec: &Codec, id: Randflake) -> Value {
    let parts = codec.inspect(id);
    json!({
        "id": id_to_json(id),
        "text": id.to_string(),
        "timestamp": parts.timestamp.to_string(),
        "node": parts.node,
        "sequence": parts.sequence,
    })
}
