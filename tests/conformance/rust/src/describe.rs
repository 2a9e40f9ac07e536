//! Describes a format's fields and numerical properties.

use polyflake::{Description, hotguid, randflake, sno, uuid7};
use serde_json::{Value, json};

use crate::args::{Answer, Failure, text};

pub(crate) fn family(args: &Value) -> Answer {
    match text(args, "family")? {
        "sno" => Ok(description_to_json(&sno::describe())),
        "randflake" => Ok(description_to_json(&randflake::describe())),
        "hotguid" => Ok(description_to_json(&hotguid::describe())),
        "uuid7" => Ok(description_to_json(&uuid7::describe())),
        _ => Err(Failure::UnknownOp),
    }
}

/// Returns the protocol's FIGURES object.
pub(crate) fn description_to_json(figures: &Description) -> Value {
    let fields = figures.fields().iter().map(|field| {
        json!({"name": field.name(), "kind": field.kind, "offset": field.offset, "bits": field.bits})
    });
    json!({
        "bits": figures.bits,
        "fields": fields.collect::<Vec<_>>(),
        "per_second": figures.per_second.map(|n| n.to_string()),
        "per_second_in_all": figures.per_second_in_all.map(|n| n.to_string()),
        "first_ms": figures.first_ms.map(|n| n.to_string()),
        "last_ms": figures.last_ms.map(|n| n.to_string()),
        "sorts_by_time": figures.sorts_by_time,
        "below_2_53": figures.below_2_53,
        "below_2_63": figures.below_2_63,
    })
}
