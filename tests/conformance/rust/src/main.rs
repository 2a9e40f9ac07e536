//! Answers the conformance suite's requests in Rust: reads and writes one JSON value per line (`tests/README.md`).

mod args;
mod describe;
mod hotguid;
mod layout;
mod public;
mod randflake;
mod sno;
mod sparx64;
mod stage;
mod uuid7;
mod values;

use std::{
    io::{self, BufRead},
    panic::catch_unwind,
};

use serde_json::{Value, json};

use crate::args::{Answer, Failure};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let answer =
            catch_unwind(|| answer(&line)).unwrap_or_else(|_| unexpected_failure_reply("a panic"));
        println!("{answer}");
    }
    Ok(())
}

fn answer(line: &str) -> Value {
    let request: Value = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => return unexpected_failure_reply(&error.to_string()),
    };
    answer_reply(run(request["op"].as_str().unwrap_or_default(), &request["args"]))
}

/// Returns a result in the protocol's form.
fn answer_reply(answer: Answer) -> Value {
    match answer {
        Ok(value) => json!({ "ok": value }),
        Err(failure) => failure_reply(failure),
    }
}

fn failure_reply(failure: Failure) -> Value {
    match failure {
        Failure::Refused(error) => json!({ "error": args::error_to_json(&error) }),
        Failure::UnknownOp => json!({"error": {"code": "unknown_op"}}),
        Failure::Unexpected(message) => unexpected_failure_reply(&message),
    }
}

fn unexpected_failure_reply(message: &str) -> Value {
    json!({"error": {"code": "unexpected", "message": message}})
}

fn run(op: &str, args: &Value) -> Answer {
    match op.split_once('.') {
        Some(("sno", op)) => sno::run(op, args),
        Some(("sparx64", op)) => sparx64::run(op, args),
        Some(("randflake", op)) => randflake::run(op, args),
        Some(("hotguid", op)) => hotguid::run(op, args),
        Some(("layout", op)) => layout::run(op, args),
        Some(("uuid7", op)) => uuid7::run(op, args),
        Some(("public", op)) => public::run(op, args),
        None if op == "describe" => describe::family(args),
        _ => Err(Failure::UnknownOp),
    }
}
