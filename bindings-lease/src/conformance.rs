//! The public suite of stores over a driver of JavaScript, which answers at once.

use polyflake_lease::{
    Random, Reply, Request, Result, Store, conformance,
    steps::{Engine, Known, Outcome, Statement, Step, Steps},
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
    let statements: Vec<_> = statements.iter().map(Json::from).collect();
    Outcome::from(&ask(&json!({ "run": statements })))
}

/// Runs the suite; a fault is told to the driver, and traps.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn check() {
    std::panic::set_hook(Box::new(|fault| {
        ask(&json!({ "failed": fault.to_string() }));
    }));
    conformance::check(&mut Driven { known: Known::default(), random: 0 });
}
