//! Traces of Hot Guid, with the parts of IDs that do not depend on random bytes.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use polyflake::hotguid::{Generator, HotGuid, LAST_COUNTER};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, integer, maybe, text},
    stage::{Play, Script, Stage, max_wait, on_exhausted, window},
};

/// A generator, the counter of its first ID, and the machines seen so far.
pub(crate) struct Stand {
    generator: Generator<Script>,
    first: Cell<Option<u32>>,
    machines: RefCell<Vec<[u8; 5]>>,
}

impl Play for Stand {
    fn build(options: &Value, clock: Script) -> Result<Self, Failure> {
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
        let generator = builder.build()?;
        Ok(Self { generator, first: Cell::default(), machines: RefCell::default() })
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

impl Stand {
    fn generate(&self, step: &Value) -> Answer {
        let shard_key = integer(step, "shard_key")?;
        let made = match maybe::<usize>(step, "count")? {
            None => vec![self.generator.generate(shard_key)?],
            Some(count) => {
                let mut made = vec![HotGuid::default(); count];
                self.generator.fill(shard_key, &mut made)?;
                made
            }
        };
        Ok(made.into_iter().map(|id| self.shown(id)).collect())
    }

    /// An ID, with the machine as its number in the trace and the counter relative to the first ID.
    fn shown(&self, id: HotGuid) -> Value {
        let parts = id.parts();
        let first = self.first.get().unwrap_or(parts.counter);
        self.first.set(Some(first));
        json!({
            "timestamp": parts.timestamp.to_string(),
            "machine": self.number_of(parts.machine),
            "counter": parts.counter.wrapping_sub(first) & LAST_COUNTER,
            "shard_key": parts.shard_key,
        })
    }

    /// Number of a machine, in the order in which machines occur in the trace.
    fn number_of(&self, machine: [u8; 5]) -> usize {
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
