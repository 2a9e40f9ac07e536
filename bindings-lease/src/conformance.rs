//! The public suite of stores over a driver of JavaScript, which answers at once.

use polyflake_lease::{
    Random, Reply, Request, Result, Store, conformance,
    steps::{Engine, Failure, Known, Outcome, Statement, Step, Steps, Value},
};
use serde_json::{Value as Json, json};

use crate::{put, taken};

#[link(wasm_import_module = "driver")]
unsafe extern "C" {
    /// Takes a text of a length, and leaves one of the returned length: `{"open":true}` -> the name of the file or null,
    /// `{"run":[[TEXT,[VALUE,..]],..]}` -> `{"rows":..,"failure":..}`, `{"close":true}` -> null, `{"failed":TEXT}` -> null.
    fn driver(length: usize) -> usize;
}

fn ask(asked: &Json) -> Json {
    let length = put(asked.to_string());
    // SAFETY: it takes and returns lengths, and calls `room` alone meanwhile.
    let length = unsafe { driver(length) };
    serde_json::from_slice(&taken(length)).unwrap_or_default()
}

/// A store whose connection is opened for each request.
struct Driven {
    known: Known,
    random: u128,
}

impl Store for Driven {
    fn answer(&mut self, request: &Request) -> Result<Reply> {
        let name = ask(&json!({ "open": true })).as_str().map(ToOwned::to_owned);
        self.random += 1;
        let engine = name.map_or(Engine::Postgresql, Engine::Sqlite);
        let mut steps = Steps::new(engine, request, Random(self.random));
        let mut outcome = Outcome::default();
        let reply = loop {
            match steps.next_with(outcome, &mut self.known) {
                Ok(Step::Run(statements)) => outcome = run(&statements),
                Ok(Step::Done(reply)) => break Ok(*reply),
                Err(error) => break Err(error),
            }
        };
        ask(&json!({ "close": true }));
        reply
    }
}

fn run(statements: &[Statement]) -> Outcome {
    let value = |value: &Value| match value {
        Value::Integer(integer) => json!(integer),
        Value::Text(text) => json!(text),
        Value::Null => Json::Null,
    };
    let statement = |Statement { text, values }: &Statement| {
        json!([text, values.iter().map(value).collect::<Vec<_>>()])
    };
    let found = ask(&json!({ "run": statements.iter().map(statement).collect::<Vec<_>>() }));
    let list = |value: &Json| value.as_array().cloned().unwrap_or_default();
    let value = |value: &Json| match value {
        Json::String(text) => Value::Text(text.clone()),
        other => other.as_i64().map_or(Value::Null, Value::Integer),
    };
    let row = |row: &Json| list(row).iter().map(value).collect();
    let failure = found["failure"].as_object().map(|failure| Failure {
        code: failure["code"].as_str().map(ToOwned::to_owned),
        message: failure["message"].as_str().unwrap_or_default().to_owned(),
    });
    let rows = list(&found["rows"]);
    Outcome {
        rows: rows.iter().map(|rows| list(rows).iter().map(row).collect()).collect(),
        failure,
    }
}

/// Runs the suite; a fault is told to the driver, and traps.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn check() {
    std::panic::set_hook(Box::new(|fault| {
        ask(&json!({ "failed": fault.to_string() }));
    }));
    conformance::check(&mut Driven { known: Known::default(), random: 0 });
}
