//! Runs the traces of Randflake generators.

use std::rc::Rc;

use polyflake::randflake::{Builder, Generator, Grant, Randflake};
use serde_json::{Value, json};

use super::{codec, id_to_json};
use crate::{
    args::{Answer, Failure, integer, optional_integer, text},
    stage::{ScriptedClock, Stage, TracedGenerator, max_wait, on_exhausted},
};

impl TracedGenerator for Generator<ScriptedClock> {
    fn build(options: &Value, clock: ScriptedClock) -> Result<Self, Failure> {
        let mut builder = Builder::with_clock(lease(options)?, codec(options)?, clock);
        if let Some(second) = optional_integer(options, "resume_after")? {
            builder = builder.resume_after(second);
        }
        if let Some(wait) = max_wait(options)? {
            builder = builder.max_wait(wait);
        }
        if let Some(chosen) = on_exhausted(options) {
            builder = builder.on_exhausted(chosen);
        }
        Ok(builder.build()?)
    }

    fn call(&self, step: &Value, _: &Rc<Stage<Self>>) -> Answer {
        match text(step, "op")? {
            "generate" => generate(self, step),
            "extend_lease" => {
                self.extend_grant(lease(step)?)?;
                Ok(grant_of(self))
            }
            "stats" => Ok(stats(self)),
            "close" => Ok(second_to_json(self.close()?)),
            _ => Err(Failure::UnknownOp),
        }
    }
}

/// Returns a grant. `nodes` is a node ID, or the first and last node ID of a range. `lease` is the grant's start and end.
pub(super) fn lease(args: &Value) -> Result<Grant, Failure> {
    let (nodes, span) = (&args["nodes"], &args["lease"]);
    let (first, last) = if nodes.is_array() { (&nodes[0], &nodes[1]) } else { (nodes, nodes) };
    let given = json!({"node": first, "last node": last, "start": span[0], "end": span[1]});
    let nodes = integer(&given, "node")?..=integer(&given, "last node")?;
    Ok(Grant::with_nodes(nodes, integer(&given, "start")?, integer(&given, "end")?)?)
}

fn generate(generator: &Generator<ScriptedClock>, step: &Value) -> Answer {
    let Some(count) = optional_integer::<usize>(step, "count")? else {
        return Ok(json!([id_to_json(generator.generate()?)]));
    };
    let mut made = vec![Randflake::default(); count];
    generator.fill(&mut made)?;
    Ok(made.into_iter().map(id_to_json).collect())
}

fn grant_of(generator: &Generator<ScriptedClock>) -> Value {
    let lease = generator.grant();
    json!({
        "nodes": [lease.nodes().start(), lease.nodes().end()],
        "start": lease.start().to_string(),
        "end": lease.end().to_string(),
    })
}

fn stats(generator: &Generator<ScriptedClock>) -> Value {
    let stats = generator.stats();
    json!({
        "last_second": second_to_json(stats.last_second),
        "len": stats.len.to_string(),
        "closed": stats.closed,
    })
}

fn second_to_json(second: Option<i64>) -> Value {
    second.map(|second| second.to_string()).into()
}
