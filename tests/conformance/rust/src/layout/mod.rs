//! Custom layouts.

mod trace;

use data_encoding::HEXLOWER;
use polyflake::layout::{Generator, Id, Layout, Parsed, Value as Field, Values, preset};
use serde_json::{Map, Value, json};

use crate::{
    args::{Answer, Failure, integer, text, unexpected_failure},
    describe,
    stage::{self, ScriptedClock},
    values,
};

pub(crate) fn run(op: &str, args: &Value) -> Answer {
    match op {
        "generator" => return stage::run::<Generator<ScriptedClock>>(args),
        "from_json" => return Ok(Layout::from_json(text(args, "text")?)?.to_json().into()),
        _ => {}
    }
    let layout = layout(args)?;
    match op {
        "json" => Ok(layout.to_json().into()),
        "describe" => Ok(describe::description_to_json(&layout.describe())),
        "pack" => Ok(values_to_pack(&layout, args)?.pack()?.to_string().into()),
        "parse" => Ok(fields(&layout.parse(&id(&layout, args)?)?)),
        "time_range" => time_range(&layout, args),
        "generate" => generate(layout, args),
        _ => Err(Failure::UnknownOp),
    }
}

/// Returns the layout that is specified by a description or by the name of a preset.
fn layout(args: &Value) -> Result<Layout, Failure> {
    let layout = &args["layout"];
    if layout["preset"].is_null() {
        return Ok(Layout::from_json(&layout.to_string())?);
    }
    let machine = values::read_all(layout, "fields")?;
    let machine = machine.iter().map(|(name, value)| (name.as_str(), value.clone()));
    Ok(preset(text(layout, "preset")?, machine)?)
}

/// Returns the values to pack.
fn values_to_pack<'v>(layout: &'v Layout, args: &Value) -> Result<Values<'v>, Failure> {
    let mut given = layout.values();
    for (name, value) in values::read_all(args, "bindables")? {
        given.bind(&name, value)?;
    }
    for (name, value) in values::read_all(args, "constants")? {
        given.constant(&name, value)?;
    }
    if let Some(time) = args.get("timestamp_ms") {
        given.time(values::read(time)?)?;
    }
    if let Some(sequence) = args.get("sequence") {
        given.sequence(values::read(sequence)?)?;
    }
    Ok(given)
}

/// Reads an ID, which is a decimal string for an integer layout and hexadecimal otherwise. If the ID is passed as a VALUE
/// in `id_value`, it may also be of the wrong kind, or be the string form of an integer ID.
fn id(layout: &Layout, args: &Value) -> Result<Id, Failure> {
    if let Some(value) = args.get("id_value") {
        return match values::read(value)? {
            Field::Bytes(bytes) => Ok(Id::Bytes(bytes.into_owned())),
            Field::Text(text) => Ok(Id::from_decimal(&text)?),
            _ => integer(args, "id_value").map(Id::Integer),
        };
    }
    if layout.is_integer() {
        return integer(args, "id").map(Id::Integer);
    }
    Ok(HEXLOWER.decode(text(args, "id")?.as_bytes()).map_err(unexpected_failure)?.into())
}

fn time_range(layout: &Layout, args: &Value) -> Answer {
    let bindables = values::read_all(args, "bindables")?;
    let bindables = bindables.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let (from_ms, to_ms) = (integer::<i64>(args, "from_ms")?, integer::<i64>(args, "to_ms")?);
    let (lowest, highest) = layout.time_range(from_ms, to_ms, bindables)?;
    Ok(json!({"lowest": lowest.to_string(), "highest": highest.to_string()}))
}

/// Generates an ID using the system clock, and returns its fields.
fn generate(layout: Layout, args: &Value) -> Answer {
    let mut builder = Generator::builder(layout);
    for (name, value) in values::read_all(args, "bindables")? {
        builder = builder.bind(name, value);
    }
    let generator = builder.build()?;
    let id = generator.generate()?;
    Ok(json!({"id": id.to_string(), "parsed": fields(&generator.layout().parse(&id)?)}))
}

/// Returns the protocol's PARSED object, which contains only fields that the layout has.
fn fields(parsed: &Parsed<'_>) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    };
    put("timestamp_ms", parsed.unix_ms().map(|unix_ms| unix_ms.to_string().into()));
    put("sequence", parsed.sequence().map(|sequence| sequence.to_string().into()));
    put("bindables", fields_to_json(parsed.bindables()));
    put("constants", fields_to_json(parsed.constants()));
    fields.into()
}

fn fields_to_json<'a>(values: impl Iterator<Item = (&'a str, Field<'a>)>) -> Option<Value> {
    let named: Map<_, _> =
        values.map(|(name, value)| (name.to_owned(), values::write(&value))).collect();
    (!named.is_empty()).then(|| named.into())
}
