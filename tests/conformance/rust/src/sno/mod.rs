//! sno.

mod ids;
mod json;
mod trace;

use polyflake::sno::Generator;
use serde_json::Value;

use crate::{
    args::{Answer, Failure},
    stage::{self, ScriptedClock},
};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    match op {
        "parse" => ids::parse(args),
        "from_bytes" => ids::from_bytes(args),
        "from_parts" => ids::from_parts(args),
        "metabyte" => ids::metabyte(args),
        "with" => ids::with_fields(args),
        "time_range" => ids::time_range(args),
        "to_uuid" => ids::to_uuid(args),
        "from_uuid" => ids::from_uuid(args),
        "to_uuid8" => ids::to_uuid8(args),
        "from_uuid8" => ids::from_uuid8(args),
        "generate" => ids::generate(args),
        "json" => json::id_at_pointer(args),
        "json_value" => json::read_id(args),
        "json_value_or_null" => json::read_id_or_null(args),
        "to_json" => json::write_id(args),
        "to_json_or_null" => json::write_id_or_null(args),
        "generator" => stage::run::<Generator<ScriptedClock>>(args),
        _ => Err(Failure::UnknownOp),
    }
}
