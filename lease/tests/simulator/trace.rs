//! Records the events of a simulated world as lines of JSON. `tests/proof` verifies a model of the lease protocol, and
//! replays the lines against that model.

use std::{cell::RefCell, env, fs};

use polyflake_lease::protocol::{Operation, Record, Reply, ReplyContent, Request};
use serde_json::{Value, json};

use crate::{
    generator::Family,
    values::{namespace_to_json, record_to_json},
    world::{WeakenedRule, World},
};

/// The number of worlds, and the maximum number of events in each world. Larger numbers would only repeat the same kinds of
/// steps.
const WORLDS: u64 = 200;
const EVENTS: usize = 600;

// Each test thread simulates its own world. The value is `None` while no trace is written.
thread_local! {
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Records an event if a trace is being written.
pub fn record_event(event: impl FnOnce() -> Value) {
    LINES.with_borrow_mut(|lines| {
        if let Some(lines) = lines {
            lines.push(event().to_string());
        }
    });
}

/// Records a write that a process sends.
pub fn record_write(process: usize, life: u32, request: &Request) {
    if let Operation::Put { old, new } = &request.operation {
        record_event(|| {
            let (old, new) = (record_to_json(old), record_to_json(new));
            json!({"event": "sent", "process": process, "life": life, "number": request.number, "old": old, "new": new})
        });
    }
}

/// Records how the store processed a request, and which records the store then contains.
pub fn record_reply(
    process: usize,
    life: u32,
    request: &Request,
    reply: &Reply,
    records: &[Record],
) {
    record_event(|| {
        let (is_put, is_done) = (
            matches!(request.operation, Operation::Put { .. }),
            reply.content == ReplyContent::Done,
        );
        let records: Vec<_> = records.iter().map(record_to_json).collect();
        json!({"event": "stored", "process": process, "life": life, "number": request.number, "is_put": is_put,
            "is_done": is_done, "now": reply.now, "namespace": reply.namespace.as_ref().map(namespace_to_json),
            "records": records})
    });
}

/// Records the beginning of a world. Ticks are counted from `epoch` in units of `step` milliseconds. The tick in an ID is
/// multiplied by `unit`.
pub fn record_start(seed: u64, family: Family, numbers: u64, (lease_ms, error): (u64, u64)) {
    let (step, epoch, unit) = match family {
        Family::Sno => (4, 0, 4),
        Family::Randflake | Family::HotGuid => (1000, 0, 1),
        Family::Uuid7 => (1, 0, 1),
        Family::Layout => (1, 1_483_228_800_000_u64, 1),
    };
    record_event(|| {
        json!({"event": "world", "seed": seed, "numbers": numbers, "longest": lease_ms, "error": error,
            "step": step, "epoch": epoch, "unit": unit})
    });
}

#[test]
#[ignore = "prints for tests/proof"]
fn record_world_traces() {
    let file = env::var_os("POLYFLAKE_PRINTED").expect("the file to print into");
    LINES.set(Some(Vec::new()));
    for seed in 0..WORLDS {
        let fault = World::new(seed, WeakenedRule::Nowhere).run(EVENTS);
        assert_eq!(fault, None, "POLYFLAKE_SEED={seed}");
    }
    fs::write(file, LINES.take().unwrap().join("\n")).unwrap();
}
