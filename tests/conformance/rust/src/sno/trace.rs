//! Runs the traces of sno generators.

use std::rc::Rc;

use polyflake::sno::{Builder, Generator, Snapshot, Sno};
use serde_json::{Value, json};

use super::ids;
use crate::{
    args::{Answer, Failure, integer, optional_integer, text, unexpected_failure},
    stage::{ScriptedClock, Stage, TracedGenerator, max_wait, on_exhausted, window},
};

impl TracedGenerator for Generator<ScriptedClock> {
    fn build(options: &Value, clock: ScriptedClock) -> Result<Self, Failure> {
        let builder = builder(options, clock)?;
        match snapshot(&options["config"])? {
            None => Ok(apply_options(options, builder)?.build()?),
            Some(snapshot) if options["original"] == true => Ok(builder.import_original(snapshot)?),
            Some(snapshot) => Ok(builder.restore(snapshot)?),
        }
    }

    fn call(&self, step: &Value, stage: &Rc<Stage<Self>>) -> Answer {
        match text(step, "op")? {
            "generate" => generate(self, step),
            "generate_at" => generate_at(self, step),
            "stats" => stats(self),
            "extend_window" => {
                self.extend_window(integer::<i64>(step, "end_ms")?)?;
                Ok(Value::Null)
            }
            "close" => snapshot_to_json(&self.close()?),
            "restore" => restore(self, stage),
            _ => Err(Failure::UnknownOp),
        }
    }
}

fn snapshot(config: &Value) -> Result<Option<Snapshot>, Failure> {
    serde_json::from_value(config.clone()).map_err(unexpected_failure)
}

/// Creates a builder with the options that new and restored generators both accept.
fn builder(options: &Value, clock: ScriptedClock) -> Result<Builder<ScriptedClock>, Failure> {
    let mut builder = Generator::builder().clock(clock);
    if let Some((start, end)) = window(options)? {
        builder = builder.window(start, end);
    }
    if let Some(wait) = max_wait(options)? {
        builder = builder.max_wait(wait);
    }
    if let Some(chosen) = on_exhausted(options) {
        builder = builder.on_exhausted(chosen);
    }
    Ok(builder)
}

/// Applies the options that only a new generator accepts. A restored generator takes these settings from its snapshot.
fn apply_options(
    options: &Value,
    mut builder: Builder<ScriptedClock>,
) -> Result<Builder<ScriptedClock>, Failure> {
    if let Some(partition) = optional_integer::<u16>(options, "partition")? {
        builder = builder.partition(partition);
    }
    if let Some(min) = optional_integer(options, "sequence_min")? {
        builder = builder.sequence_min(min);
    }
    if let Some(max) = optional_integer(options, "sequence_max")? {
        builder = builder.sequence_max(max);
    }
    Ok(builder)
}

/// Closes the generator, and continues with a generator restored from its snapshot after a round trip through JSON.
fn restore(
    generator: &Generator<ScriptedClock>,
    stage: &Rc<Stage<Generator<ScriptedClock>>>,
) -> Answer {
    let closed = snapshot_to_json(&generator.close()?)?;
    let snapshot = snapshot(&closed)?.expect("a snapshot is not null");
    stage.replace(builder(&stage.options, stage.clock())?.restore(snapshot)?);
    Ok(closed)
}

fn generate(generator: &Generator<ScriptedClock>, step: &Value) -> Answer {
    let metabyte = integer(step, "metabyte")?;
    let Some(count) = optional_integer::<usize>(step, "count")? else {
        return Ok(json!([ids::hex(generator.generate(metabyte)?)]));
    };
    let mut made = vec![Sno::from_bytes([0; 10]); count];
    generator.fill(metabyte, &mut made)?;
    Ok(made.into_iter().map(ids::hex).collect())
}

fn generate_at(generator: &Generator<ScriptedClock>, step: &Value) -> Answer {
    let id = generator.generate_at(integer::<i64>(step, "unix_ms")?, integer(step, "metabyte")?)?;
    Ok(ids::hex(id).into())
}

fn stats(generator: &Generator<ScriptedClock>) -> Answer {
    let stats = generator.stats()?;
    Ok(json!({
        "sequence": stats.sequence,
        "len": stats.len,
        "now": stats.now,
        "wall_hi": stats.wall_hi,
        "wall_safe": stats.wall_safe,
        "drifts": stats.drifts,
        "partition": stats.partition,
        "sequence_min": stats.sequence_min,
        "sequence_max": stats.sequence_max,
        "closed": stats.closed,
    }))
}

fn snapshot_to_json(snapshot: &Snapshot) -> Answer {
    serde_json::to_value(snapshot).map_err(unexpected_failure)
}
