//! Traces of version 7 UUID generators. Only the parts of IDs that do not depend on random bytes are compared.

use std::{cell::Cell, rc::Rc};

use polyflake::uuid7::{Generator, LAST_SEQUENCE, Uuid7, worker_id};
use serde_json::{Value, json};

use crate::{
    args::{Answer, Failure, integer, optional_integer, text},
    stage::{ScriptedClock, Stage, TracedGenerator, max_wait, on_exhausted, window},
};

/// A generator, and the timestamp and first sequence of the most recent millisecond.
pub(crate) struct TraceState {
    generator: Generator<ScriptedClock>,
    first: Cell<Option<(i64, u32)>>,
}

impl TracedGenerator for TraceState {
    fn build(options: &Value, clock: ScriptedClock) -> Result<Self, Failure> {
        let mut builder = Generator::builder().clock(clock);
        if let Some(worker_id) = optional_integer(options, "worker_id")? {
            builder = builder.worker_id(worker_id);
        }
        if let Some(unix_ms) = optional_integer(options, "resume_after")? {
            builder = builder.resume_after(unix_ms);
        }
        builder = builder.follow_rollbacks(options["follow_rollbacks"] == true);
        if let Some((start, end)) = window(options)? {
            builder = builder.window(start, end);
        }
        if let Some(wait) = max_wait(options)? {
            builder = builder.max_wait(wait);
        }
        if let Some(chosen) = on_exhausted(options) {
            builder = builder.on_exhausted(chosen);
        }
        Ok(Self { generator: builder.build()?, first: Cell::default() })
    }

    fn call(&self, step: &Value, _: &Rc<Stage<Self>>) -> Answer {
        match text(step, "op")? {
            "generate" => self.generate(step),
            "stats" => Ok(self.stats()),
            "extend_window" => {
                self.generator.extend_window(integer::<i64>(step, "end_ms")?)?;
                Ok(Value::Null)
            }
            "close" => Ok(ms_to_json(self.generator.close()?)),
            _ => Err(Failure::UnknownOp),
        }
    }
}

impl TraceState {
    fn generate(&self, step: &Value) -> Answer {
        let made = match optional_integer::<usize>(step, "count")? {
            None => vec![self.generator.generate()?],
            Some(count) => {
                let mut made = vec![Uuid7::MIN; count];
                self.generator.fill(&mut made)?;
                made
            }
        };
        Ok(made.into_iter().map(|id| self.describe(id)).collect())
    }

    /// Describes an ID. The sequence is relative to the first ID of the same millisecond.
    fn describe(&self, id: Uuid7) -> Value {
        let parts = id.parts();
        let known = self.first.get().filter(|(unix_ms, _)| *unix_ms == parts.unix_ms);
        let (_, first) = known.unwrap_or((parts.unix_ms, parts.sequence));
        self.first.set(Some((parts.unix_ms, first)));
        json!({
            "unix_ms": parts.unix_ms.to_string(),
            "sequence": parts.sequence.wrapping_sub(first) & LAST_SEQUENCE,
            "worker_id": self.generator.stats().worker_id.map(|_| worker_id(id)),
        })
    }

    fn stats(&self) -> Value {
        let stats = self.generator.stats();
        json!({
            "worker_id": stats.worker_id,
            "last_ms": ms_to_json(stats.last_ms),
            "rollbacks": stats.rollbacks,
            "closed": stats.closed,
        })
    }
}

fn ms_to_json(unix_ms: Option<i64>) -> Value {
    unix_ms.map(|unix_ms| unix_ms.to_string()).into()
}
