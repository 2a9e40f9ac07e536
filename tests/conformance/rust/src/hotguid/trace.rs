//! Traces of Hot Guid generators. Only the parts of IDs that do not depend on random bytes are compared.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use polyflake::hotguid::{Generator, HotGuid, LAST_COUNTER, Parts, Uuid8Parts};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, integer, optional_integer, text},
    stage::{ScriptedClock, Stage, TracedGenerator, max_wait, on_exhausted, window},
};

/// A generator, the timestamp and first counter value of the last second, and the machines seen so far in the trace.
pub(crate) struct TraceState {
    generator: Generator<ScriptedClock>,
    uuid8: bool,
    first: Cell<Option<(i64, u32)>>,
    machines: RefCell<Vec<u64>>,
}

impl TracedGenerator for TraceState {
    fn build(options: &Value, clock: ScriptedClock) -> Result<Self, Failure> {
        let uuid8 = options["uuid8"] == true;
        let mut builder = Generator::builder().uuid8(uuid8).clock(clock);
        if let Some((start, end)) = window(options)? {
            builder = builder.window(start, end);
        }
        if let Some(wait) = max_wait(options)? {
            builder = builder.max_wait(wait);
        }
        if let Some(chosen) = on_exhausted(options) {
            builder = builder.on_exhausted(chosen);
        }
        let generator = builder.build()?;
        Ok(Self { generator, uuid8, first: Cell::default(), machines: RefCell::default() })
    }

    fn call(&self, step: &Value, _: &Rc<Stage<Self>>) -> Answer {
        match text(step, "op")? {
            "generate" => self.generate(step),
            "stats" => Ok(self.stats()),
            "extend_window" => {
                self.generator.extend_window(integer::<i64>(step, "end_ms")?)?;
                Ok(Value::Null)
            }
            "close" => {
                self.generator.close()?;
                Ok(Value::Null)
            }
            _ => Err(Failure::UnknownOp),
        }
    }
}

impl TraceState {
    fn generate(&self, step: &Value) -> Answer {
        let shard_key = integer(step, "shard_key")?;
        let made = match optional_integer::<usize>(step, "count")? {
            None => vec![self.generator.generate(shard_key)?],
            Some(count) => {
                let mut made = vec![HotGuid::default(); count];
                self.generator.fill(shard_key, &mut made)?;
                made
            }
        };
        made.into_iter().map(|id| self.describe(id)).collect()
    }

    /// Describes an ID by the index of its machine in the trace and by its counter relative to the first ID of the same
    /// second.
    fn describe(&self, id: HotGuid) -> Answer {
        let parts = if self.uuid8 { id.uuid8_parts()? } else { as_uuid8(id.parts()) };
        let known = self.first.get().filter(|(second, _)| *second == parts.timestamp);
        let (_, first) = known.unwrap_or((parts.timestamp, parts.counter));
        self.first.set(Some((parts.timestamp, first)));
        Ok(json!({
            "timestamp": parts.timestamp.to_string(),
            "machine": self.machine_index(parts.machine),
            "counter": parts.counter.wrapping_sub(first) & LAST_COUNTER,
            "shard_key": parts.shard_key,
        }))
    }

    /// Returns a machine's index. Machines are numbered in the order of their first occurrence in the trace.
    fn machine_index(&self, machine: u64) -> usize {
        let mut known = self.machines.borrow_mut();
        known.iter().position(|one| *one == machine).unwrap_or_else(|| {
            known.push(machine);
            known.len() - 1
        })
    }

    fn stats(&self) -> Value {
        let stats = self.generator.stats();
        json!({
            "last_second": stats.last_second.map(|second| second.to_string()),
            "len": stats.len,
            "closed": stats.closed,
        })
    }
}

/// Returns the fields of the compatible form, with the machine's bytes as a number.
fn as_uuid8(parts: Parts) -> Uuid8Parts {
    let Parts { timestamp, machine, counter, shard_key } = parts;
    let machine = machine.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    Uuid8Parts { timestamp, machine, counter, shard_key }
}
