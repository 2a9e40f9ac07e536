//! Logs the actions of the processes in the fault tests as lines of JSON. `tests/proof` verifies a model of the lease
//! protocol, and replays the lines against that model.
//!
//! All processes append to one file. The order of its lines is a possible order of the events: the line for a write is
//! logged before the write is sent, the line for a reply is logged after the reply arrives, and a generator generates no ID
//! between an event and the line for that event. The record versions in the store's replies determine when the store
//! applied a write.

use std::{
    env, fs,
    io::Write,
    ops::Range,
    process,
    sync::{Arc, LazyLock, Mutex},
    thread,
    time::Duration,
};

use polyflake::sno::{Generator, Leased, Sno};
use polyflake_lease::{
    Error, ErrorKind, Lease, Options, Result,
    protocol::{Grant, Grantee, Operation, Reply, ReplyContent, Request, Store, open},
};
use serde_json::{Value, json};

use crate::{
    life::{LEASE, WeakenedRule},
    number_from_env,
    run::{Faults, PROCESSES},
    sqlite,
    values::{namespace_to_json, record_to_json},
};

/// The number of cycles, each of which injects one fault. The number is small because each cycle takes one or two seconds.
const CYCLES: usize = 8;

/// The trace file, if a trace is requested.
static TRACE_FILE: LazyLock<Option<fs::File>> = LazyLock::new(|| {
    let path = env::var_os("POLYFLAKE_PRINTED")?;
    Some(fs::OpenOptions::new().create(true).append(true).open(path).unwrap())
});

pub fn is_requested() -> bool {
    TRACE_FILE.is_some()
}

/// Appends a line with a single write.
fn note(event: &Value) {
    if let Some(mut file) = TRACE_FILE.as_ref() {
        file.write_all(format!("{event}\n").as_bytes()).unwrap();
    }
}

/// Logs that a new namespace is used. The logged step and unit are 4, because a sno tick lasts four milliseconds.
pub fn log_namespace_begin(numbers: usize) {
    note(
        &json!({"event": "world", "numbers": numbers, "longest": 1000, "error": 5000, "step": 4, "epoch": 0, "unit": 4}),
    );
}

fn log_process_event(event: &str, mut values: Value) {
    values["event"] = event.into();
    values["process"] = process::id().into();
    note(&values);
}

/// A store that logs writes and replies.
struct TracedStore<S>(S);

impl<S: Store> Store for TracedStore<S> {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let number = request.number;
        if let Operation::Put { old, new } = &request.operation {
            let (old, new) = (record_to_json(old), record_to_json(new));
            log_process_event("sent", json!({"life": 0, "number": number, "old": old, "new": new}));
        }
        let reply = self.0.answer(request)?;
        let (is_put, is_done) = (
            matches!(request.operation, Operation::Put { .. }),
            reply.content == ReplyContent::Done,
        );
        let records: Vec<_> = match &reply.content {
            ReplyContent::Records(records) => records.iter().map(record_to_json).collect(),
            ReplyContent::Differs(found) if is_put => found.iter().map(record_to_json).collect(),
            _ => Vec::new(),
        };
        let namespace = reply.namespace.as_ref().map(namespace_to_json);
        log_process_event(
            "heard",
            json!({"life": 0, "number": number, "is_put": is_put, "is_done": is_done, "now": reply.now,
                "namespace": namespace, "records": records}),
        );
        Ok(reply)
    }
}

/// A generator that receives one grant after another. It holds a lock while an event occurs and is logged, so that no ID is
/// generated in between.
#[derive(Default)]
struct TracedGenerator(Mutex<Option<(Leased, u32)>>);

fn generator(grant: &Grant, window: Range<i64>) -> polyflake::Result<Generator> {
    let number = u16::try_from(*grant.worker_ids().start()).unwrap();
    Generator::builder().partition(number).window(window.start, window.end).build()
}

impl TracedGenerator {
    fn make_id(&self, note: &mut impl FnMut(Sno)) {
        let Some((leased, _)) = &*self.0.lock().unwrap() else { return };
        if let Ok(id) = leased.try_generate(0) {
            let values = json!({"life": 0, "first": id.partition(), "tick": id.unix_ms()});
            log_process_event("made", values);
            note(id);
        }
    }
}

impl Grantee for TracedGenerator {
    fn begin(&self, grant: Grant) -> Result<()> {
        let (start, end) = (grant.start().cast_signed(), grant.end().cast_signed());
        let mut place = self.0.lock().unwrap();
        log_process_event("begin", json!({"start": start, "end": end}));
        let begun = if let Some((leased, newest)) = &mut *place {
            let from = |last: Option<Range<i64>>| last.map_or(start, |last| last.start.max(start));
            let moved = leased.move_to(|last| generator(&grant, from(last)..end));
            moved.map(|grant| *newest = grant)
        } else {
            let leased = generator(&grant, start..end).and_then(Leased::new);
            leased.map(|leased| *place = Some((leased, 0)))
        };
        let rejected = |error: polyflake::Error| {
            log_process_event("over", json!({}));
            Error::new(ErrorKind::LeaseUnavailable, error.to_string())
        };
        begun.map_err(rejected)
    }

    fn extend(&self, end: u64) {
        let place = self.0.lock().unwrap();
        let Some((leased, grant)) = &*place else { return };
        leased.extend(*grant, end.cast_signed()).unwrap();
        log_process_event("extend", json!({"end": end}));
    }

    fn seal(&self) -> Option<u64> {
        let place = self.0.lock().unwrap();
        let last = place.as_ref().and_then(|(leased, grant)| leased.seal(*grant).unwrap());
        log_process_event("over", json!({}));
        last.map(|last| last.end.cast_unsigned())
    }
}

/// Generates IDs as [`crate::life`] does, and logs each event.
pub fn generate(
    url: &str,
    options: Options,
    should_continue: impl Fn() -> bool,
    mut note: impl FnMut(Sno),
) {
    let (place, url) = (Arc::new(TracedGenerator::default()), url.to_owned());
    let lease = Lease::start(move || open(&url).map(TracedStore), options, place.clone()).unwrap();
    while should_continue() {
        place.make_id(&mut note);
        thread::sleep(Duration::from_millis(1));
    }
    lease.close();
}

#[test]
#[ignore = "prints for tests/proof"]
fn record_fault_traces() {
    assert!(is_requested(), "expected the file to print into");
    let (_folder, stage) = sqlite();
    let mut faults = Faults::new(&stage, WeakenedRule::Nowhere);
    faults.begin_namespace();
    // Holders release their worker IDs, and other processes claim them.
    (0..PROCESSES).for_each(|place| faults.restart(place));
    thread::sleep(LEASE);
    (0..number_from_env("POLYFLAKE_CYCLES").unwrap_or(CYCLES)).for_each(|_| faults.cycle());
    faults.end();
    assert_eq!((faults.found.ticks_twice, faults.found.grants_twice), (0, 0));
}
