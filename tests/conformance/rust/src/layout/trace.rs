//! Traces of layout generators.

use std::rc::Rc;

use data_encoding::HEXLOWER;
use polyflake::layout::{Builder, Generator, Snapshot, Values};
use serde_json::{Value, json};

use super::layout;
use crate::{
    args::{Answer, Failure, integer, optional_integer, text, unexpected_failure},
    stage::{ScriptedClock, Stage, TracedGenerator, max_wait, on_exhausted, window},
    values,
};

impl TracedGenerator for Generator<ScriptedClock> {
    fn build(options: &Value, clock: ScriptedClock) -> Result<Self, Failure> {
        Ok(builder(options, clock)?.build()?)
    }

    fn call(&self, step: &Value, stage: &Rc<Stage<Self>>) -> Answer {
        match text(step, "op")? {
            "generate" => generate(self, step),
            "stats" => Ok(stats(self)),
            "extend_window" => {
                self.extend_window(integer::<i64>(step, "end_ms")?)?;
                Ok(Value::Null)
            }
            "close" => Ok(snapshot_to_json(self.close()?)),
            "restore" => restore(self, stage),
            _ => Err(Failure::UnknownOp),
        }
    }
}

fn builder(options: &Value, clock: ScriptedClock) -> Result<Builder<ScriptedClock>, Failure> {
    let mut builder = Builder::with_clock(layout(options)?, clock);
    for (name, value) in values::read_all(options, "bindables")? {
        builder = builder.bind(name, value);
    }
    if let Some([name, numbers @ ..]) = options["range"].as_array().map(Vec::as_slice) {
        let name = name.as_str().unwrap_or_default();
        let numbers = json!({"first": numbers[0], "last": numbers[1]});
        builder = builder.range(name, integer(&numbers, "first")?..=integer(&numbers, "last")?);
    }
    if let Some((start, end)) = window(options)? {
        builder = builder.window(start, end);
    }
    if let Some(wait) = max_wait(options)? {
        builder = builder.max_wait(wait);
    }
    if let Some(chosen) = on_exhausted(options) {
        builder = builder.on_exhausted(chosen);
    }
    Ok(builder.sequence_only(options["sequence_only"] == true))
}

fn generate(generator: &Generator<ScriptedClock>, step: &Value) -> Answer {
    let given = values::read_all(step, "bindables")?;
    let mut bound = generator.values();
    for (name, value) in &given {
        bound.bind(name, value.clone())?;
    }
    let Some(count) = optional_integer::<usize>(step, "count")? else {
        let id = if step["bindables"].is_null() {
            generator.generate()?
        } else {
            generator.generate_with(&bound)?
        };
        return Ok(json!([id.to_string()]));
    };
    if generator.layout().is_integer() {
        integers(generator, &bound, count)
    } else {
        byte_ids(generator, &bound, count)
    }
}

fn integers(generator: &Generator<ScriptedClock>, bound: &Values<'_>, count: usize) -> Answer {
    let mut made = vec![0; count];
    generator.fill_with(bound, &mut *made)?;
    Ok(made.iter().map(i64::to_string).collect())
}

fn byte_ids(generator: &Generator<ScriptedClock>, bound: &Values<'_>, count: usize) -> Answer {
    let length = generator.layout().bits() as usize / 8;
    let mut made = vec![0; count * length];
    generator.fill_with(bound, &mut *made)?;
    Ok(made.chunks(length).map(|id| HEXLOWER.encode(id)).collect())
}

/// Closes the generator, and continues with a generator restored from its snapshot after a round trip through JSON.
fn restore(
    generator: &Generator<ScriptedClock>,
    stage: &Rc<Stage<Generator<ScriptedClock>>>,
) -> Answer {
    let snapshot = generator.close()?;
    let json = serde_json::to_string(&snapshot).map_err(unexpected_failure)?;
    let again = serde_json::from_str(&json).map_err(unexpected_failure)?;
    stage.replace(builder(&stage.options, stage.clock())?.restore(again)?);
    Ok(snapshot_to_json(snapshot))
}

fn snapshot_to_json(snapshot: Snapshot) -> Value {
    json!({
        "tick": snapshot.tick.to_string(),
        "next_sequence": snapshot.next_sequence.to_string(),
    })
}

fn stats(generator: &Generator<ScriptedClock>) -> Value {
    let stats = generator.stats();
    json!({
        "last_ms": stats.last_ms.map(|unix_ms| unix_ms.to_string()),
        "len": stats.len.to_string(),
        "closed": stats.closed,
    })
}
